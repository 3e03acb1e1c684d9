/*
 * The Winograd transforms of filters, images and products, in both layouts.
 *
 * A transform works on one vector of lanes: the same position of V32F_N tiles. In NHWC the lanes are channels, and a tile is
 * read and written in place. In NCHW the lanes are rows of tiles, counted across the channels: image rows that are a block
 * apart are transposed into pixels of V32F_N lanes, including padding, and coefficients are transposed back. So lanes are
 * full both with few channels and large images and with many channels and small ones; with the tiles of one row as lanes,
 * most lanes would be empty in small images.
 *
 * Instances are unrolled and process whole vectors; partial vectors, and outputs at an edge, use a padded copy.
 */
#include <string.h>

#include "contract/winograd.h"
#include "kernels/activate.h"
#include "kernels/install.h"
#include "kernels/winograd/filters.h"
#include "kernels/winograd/parts.h"
#include "kernels/winograd/planes.h"
#include "kernels/winograd/tile.h"

/* ---- padded copies: for fewer channels than the lanes of a vector, and for outputs that lie partly outside the image */

/* Copies vectors that are `from` and `to` apart; lanes that are not loaded become 0. */
static void load_vectors(const sn_32f * src, size_t from, sn_32f * dst, size_t to, size_t count, size_t lanes)
{
    for (size_t i = 0; i < count; ++i, src += from, dst += to) v_store_32f(dst, load_lanes(src, lanes));
}

static void store_vectors(const sn_32f * src, size_t from, sn_32f * dst, size_t to, size_t count, size_t lanes)
{
    for (size_t i = 0; i < count; ++i, src += from, dst += to) store_lanes(dst, v_load_32f(src), lanes);
}

/* The channels of a tile of the input from c on, fewer than a vector. */
static void input_rest(const struct sn_winograd_input_32f * job, struct tile t, size_t c)
{
    const struct sn_winograd_size s = sn_winograd_size(job->kind);
    const size_t planes = sn_winograd_planes(s), row = sn_winograd_columns(s) * V32F_N, lanes = job->channels - c;
    float pixels[SIDE * SIDE * V32F_N] SN_ALIGNED, coefficients[SIDE * SIDE * V32F_N] SN_ALIGNED;
    struct tile copy = {.src = pixels, .stepY = row, .stepX = V32F_N, .dst = coefficients, .plane = V32F_N};
    memset(pixels, 0, planes * V32F_N * sizeof(float));
    for (size_t y = t.top; y < t.top + t.rows; ++y)
        load_vectors(t.src + y * t.stepY + t.left * t.stepX + c, t.stepX, pixels + y * row + t.left * V32F_N, V32F_N,
                     t.columns, lanes);
    transform(input, job->kind, &copy, V32F_N);
    store_vectors(coefficients, V32F_N, t.dst + c, t.plane, planes, lanes);
}

/* The channels from c on of a tile; only its first rows and columns are inside the image, or lanes are missing. */
static void output_part(const struct sn_winograd_output_32f * job, const transform_fn * list, struct tile t, size_t c)
{
    const struct sn_winograd_size s = sn_winograd_size(job->kind);
    const size_t planes = sn_winograd_planes(s), row = s.blockX * V32F_N;
    float pixels[4 * 4 * V32F_N] SN_ALIGNED, coefficients[SIDE * SIDE * V32F_N] SN_ALIGNED;
    struct tile copy = t;
    copy.dst = pixels, copy.add = pixels, copy.stepY = row, copy.stepX = V32F_N;
    for (; c < job->channels; c += V32F_N) {
        const size_t lanes = sn_min(job->channels - c, V32F_N);
        const bool whole = lanes == V32F_N;
        if (!whole)
            load_vectors(t.src + c, t.plane, coefficients, V32F_N, planes, lanes);
        copy.src = whole ? t.src + c : coefficients;
        copy.plane = whole ? t.plane : V32F_N;
        copy.bias = job->bias ? t.bias + c : NULL;
        if (job->add) {
            memset(pixels, 0, sizeof(pixels));
            for (size_t y = 0; y < t.rows; ++y)
                load_vectors(t.add + y * t.stepY + c, t.stepX, pixels + y * row, V32F_N, t.columns, lanes);
        }
        transform(list, job->kind, &copy, V32F_N);
        for (size_t y = 0; y < t.rows; ++y)
            store_vectors(pixels + y * row, V32F_N, t.dst + y * t.stepY + c, t.stepX, t.columns, lanes);
    }
}

/* ---- NHWC */

static void input_pixels(const struct sn_winograd_input_32f * job)
{
    const struct sn_winograd_size s = sn_winograd_size(job->kind);
    const size_t rows = sn_winograd_rows(s), columns = sn_winograd_columns(s), vectors = job->channels / V32F_N * V32F_N;
    const size_t dilationY = job->dilationY, dilationX = job->dilationX, line = job->width * job->pixel;
    struct tile t = {.stepY = dilationY * line, .stepX = dilationX * job->pixel, .plane = job->plane, .dst = job->dst};
    size_t ty = job->begin / job->tilesX, tx = job->begin % job->tilesX;
    for (size_t left = job->end - job->begin; left; ++ty, tx = 0) {
        const size_t y = sn_winograd_place(job->dstH, s.blockY, dilationY, ty).first * s.stride;
        t.rows = inside(y, job->padY, rows, dilationY, job->height, &t.top);
        for (; left && tx < job->tilesX; --left, ++tx, t.dst += job->tile) {
            const size_t x = sn_winograd_place(job->dstW, s.blockX, dilationX, tx).first * s.stride;
            t.columns = inside(x, job->padX, columns, dilationX, job->width, &t.left);
            t.src = job->src + (y - job->padY) * line + (x - job->padX) * job->pixel;
            transform(t.rows == rows && t.columns == columns ? input : input_edge, job->kind, &t, vectors);
            if (vectors < job->channels)
                input_rest(job, t, vectors);
        }
    }
}

/* The activations other than min and max, on a tile that has just been written. */
static void activate_tile(const struct sn_winograd_output_32f * job, const struct tile * t)
{
    const v32f p0 = v_set_32f(job->param[0]), p1 = v_set_32f(job->param[1]);
    if (activates_rows(job->activation)) {
        for (size_t y = 0; y < t->rows; ++y)
            ACTIVATE_ROWS(t->dst + y * t->stepY, t->columns, job->channels, t->stepX, job->activation, job->param);
        return;
    }
    for (size_t y = 0; y < t->rows; ++y)
        for (size_t x = 0; x < t->columns; ++x)
            for (size_t c = 0; c < job->channels; c += V32F_N) {
                sn_32f * to = t->dst + y * t->stepY + x * t->stepX + c;
                const size_t lanes = sn_min(job->channels - c, V32F_N);
                const v32f slope = job->slope ? v_load_32f(job->slope + c) : p0;
                store_lanes(to, activate_32f(load_lanes(to, lanes), job->activation, slope, p0, p1), lanes);
            }
}

static void output_pixels(const struct sn_winograd_output_32f * job)
{
    const struct sn_winograd_size s = sn_winograd_size(job->kind);
    const size_t dilationY = job->dilationY, dilationX = job->dilationX, line = job->width * job->pixel;
    struct tile t = {.stepY = dilationY * line, .stepX = dilationX * job->pixel, .plane = job->plane, .src = job->src,
                     .bias = job->bias, .activation = job->activation, .param = job->param};
    const transform_fn * list = job->add ? join : job->bias ? finish : output;
    size_t ty = job->begin / job->tilesX, tx = job->begin % job->tilesX;
    for (size_t left = job->end - job->begin; left; ++ty, tx = 0) {
        const size_t y = sn_winograd_place(job->height, s.blockY, dilationY, ty).first;
        t.rows = sn_min(s.blockY, positions(job->height - y, dilationY));
        for (; left && tx < job->tilesX; --left, ++tx, t.src += job->tile) {
            const size_t x = sn_winograd_place(job->width, s.blockX, dilationX, tx).first;
            t.columns = sn_min(s.blockX, positions(job->width - x, dilationX));
            t.dst = job->dst + y * line + x * job->pixel;
            t.add = job->add ? job->add + (t.dst - job->dst) : t.dst;
            const size_t vectors = t.rows == s.blockY && t.columns == s.blockX ? job->channels / V32F_N * V32F_N : 0;
            transform(list, job->kind, &t, vectors);
            if (vectors < job->channels)
                output_part(job, list, t, vectors);
            if (second_pass(job->activation))
                activate_tile(job, &t);
        }
    }
}

static void winograd_input_32f(const struct sn_winograd_input_32f * job)
{
    if (job->trans)
        input_pixels(job);
    else
        input_planes(job);
}

static void winograd_output_32f(const struct sn_winograd_output_32f * job)
{
    if (job->trans)
        output_pixels(job);
    else
        output_planes(job);
}

SN_INSTALL(winograd_32f, winograd)
{
    slots->filter_32f = winograd_filter_32f;
    slots->input_32f = winograd_input_32f;
    slots->output_32f = winograd_output_32f;
}
