/* U = G g G', V = B' d B, Y = A' M A with the matrices in include/simdnet.h; for a kernel that is a row, only the matrix on
 * the right is applied. */
#include "contract/winograd.h"
#include "reference/reference.h"

struct matrices {
    double bt[8][8], g[8][5], at[4][8];
};

static const struct matrices f_4_3 = {
    {{4, 0, -5, 0, 1, 0}, {0, -4, -4, 1, 1, 0}, {0, 4, -4, -1, 1, 0}, {0, -2, -1, 2, 1, 0}, {0, 2, -1, -2, 1, 0},
     {0, 4, 0, -5, 0, 1}},
    {{1. / 4, 0, 0}, {-1. / 6, -1. / 6, -1. / 6}, {-1. / 6, 1. / 6, -1. / 6}, {1. / 24, 1. / 12, 1. / 6},
     {1. / 24, -1. / 12, 1. / 6}, {0, 0, 1}},
    {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}}};

static const struct matrices f_4_5 = {
    {{36, 0, -49, 0, 14, 0, -1, 0}, {0, 36, 36, -13, -13, 1, 1, 0}, {0, -36, 36, 13, -13, -1, 1, 0},
     {0, 18, 9, -20, -10, 2, 1, 0}, {0, -18, 9, 20, -10, -2, 1, 0}, {0, 12, 4, -15, -5, 3, 1, 0},
     {0, -12, 4, 15, -5, -3, 1, 0}, {0, -36, 0, 49, 0, -14, 0, 1}},
    {{1. / 36, 0, 0, 0, 0}, {1. / 48, 1. / 48, 1. / 48, 1. / 48, 1. / 48}, {1. / 48, -1. / 48, 1. / 48, -1. / 48, 1. / 48},
     {-1. / 120, -2. / 120, -4. / 120, -8. / 120, -16. / 120}, {-1. / 120, 2. / 120, -4. / 120, 8. / 120, -16. / 120},
     {1. / 720, 3. / 720, 9. / 720, 27. / 720, 81. / 720}, {1. / 720, -3. / 720, 9. / 720, -27. / 720, 81. / 720},
     {0, 0, 0, 0, 1}},
    {{1, 1, 1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 3, -3, 0}, {0, 1, 1, 4, 4, 9, 9, 0}, {0, 1, -1, 8, -8, 27, -27, 1}}};

static const struct matrices f_2_2 = {
    {{1, -1, 0}, {0, 1, 0}, {0, -1, 1}}, {{1, 0}, {1, 1}, {0, 1}}, {{1, 1, 0}, {0, 1, 1}}};

#define BT_5 {{2, -1, -2, 1, 0}, {0, -2, -1, 1, 0}, {0, 2, -3, 1, 0}, {0, -1, 0, 1, 0}, {0, 2, -1, -2, 1}}

static const struct matrices f_4_2 = {
    BT_5, {{1. / 2, 0}, {-1. / 2, -1. / 2}, {-1. / 6, 1. / 6}, {1. / 6, 1. / 3}, {0, 1}},
    {{1, 1, 1, 1, 0}, {0, 1, -1, 2, 0}, {0, 1, 1, 4, 0}, {0, 1, -1, 8, 1}}};

static const struct matrices f_3_3 = {
    BT_5, {{1. / 2, 0, 0}, {-1. / 2, -1. / 2, -1. / 2}, {-1. / 6, 1. / 6, -1. / 6}, {1. / 6, 1. / 3, 2. / 3}, {0, 0, 1}},
    {{1, 1, 1, 1, 0}, {0, 1, -1, 2, 0}, {0, 1, 1, 4, 1}}};

static const struct matrices f_2_3 = {
    {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}},
    {{1, 0, 0}, {1. / 2, 1. / 2, 1. / 2}, {1. / 2, -1. / 2, 1. / 2}, {0, 0, 1}}, {{1, 1, 1, 0}, {0, 1, -1, -1}}};

/* The matrices of the kinds with public functions. */
static const struct matrices * const of_kind[] = {&f_4_3, &f_4_5, &f_2_2, &f_4_2, &f_2_3, &f_3_3, &f_4_3};

/* One element of left * m * right', where m is rows x columns; if the kernel is a row, left is not applied. */
static double element(const double * left, size_t rows, const double * right, size_t columns, double m[8][8])
{
    double sum = 0;
    for (size_t y = 0; y < rows; ++y)
        for (size_t x = 0; x < columns; ++x)
            sum += (rows == 1 ? 1 : left[y]) * m[y][x] * right[x];
    return sum;
}

static void winograd_filter_32f(const struct sn_winograd_filter_32f * job)
{
    const struct sn_winograd_size s = sn_winograd_size(job->kind);
    const struct matrices * m = of_kind[job->kind];
    for (size_t i = job->begin; i < job->end; ++i) {
        double g[8][8] = {{0}};
        for (size_t y = 0; y < s.kernelY; ++y)
            for (size_t x = 0; x < s.kernelX; ++x) {
                const size_t k = y * s.kernelX + x;
                g[y][x] = job->src[job->trans ? k * job->size + i : i * s.kernelY * s.kernelX + k];
            }
        for (size_t y = 0; y < sn_winograd_rows(s); ++y)
            for (size_t x = 0; x < sn_winograd_columns(s); ++x)
                job->dst[(y * sn_winograd_columns(s) + x) * job->plane + i - job->begin] =
                    (float)element(m->g[y], s.kernelY, m->g[x], s.kernelX, g);
    }
}

static void input_tile(const struct sn_winograd_input_32f * job, size_t c, size_t ty, size_t tx, sn_32f * dst)
{
    const struct sn_winograd_size s = sn_winograd_size(job->kind);
    const struct matrices * m = of_kind[job->kind];
    const size_t rows = sn_winograd_rows(s), columns = sn_winograd_columns(s);
    double d[8][8] = {{0}};
    for (size_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < columns; ++j) {
            const size_t y = ty * s.blockY + i - job->padY, x = tx * s.blockX + j - job->padX; /* wraps if negative */
            if (y < job->height && x < job->width)
                d[i][j] = job->src[job->trans ? (y * job->width + x) * job->pixel + c
                                              : (c * job->height + y) * job->width + x];
        }
    for (size_t y = 0; y < rows; ++y)
        for (size_t x = 0; x < columns; ++x)
            dst[(y * columns + x) * job->plane] = (float)element(m->bt[y], rows, m->bt[x], columns, d);
}

static void winograd_input_32f(const struct sn_winograd_input_32f * job)
{
    for (size_t u = job->begin; u < job->end; ++u) {
        if (job->trans)
            for (size_t c = 0; c < job->channels; ++c)
                input_tile(job, c, u / job->tilesX, u % job->tilesX, job->dst + (u - job->begin) * job->tile + c);
        else
            for (size_t tx = 0; tx < job->tilesX; ++tx)
                input_tile(job, u / job->tilesY, u % job->tilesY, tx, job->dst + (u - job->begin) * job->tilesX + tx);
    }
}

static void output_tile(const struct sn_winograd_output_32f * job, const sn_32f * src, size_t c, size_t ty, size_t tx)
{
    const struct sn_winograd_size s = sn_winograd_size(job->kind);
    const struct matrices * m = of_kind[job->kind];
    const size_t rows = sn_winograd_rows(s), columns = sn_winograd_columns(s);
    double p[8][8] = {{0}};
    for (size_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < columns; ++j)
            p[i][j] = src[(i * columns + j) * job->plane];
    for (size_t i = 0; i < s.blockY; ++i)
        for (size_t j = 0; j < s.blockX; ++j) {
            const size_t y = ty * s.blockY + i, x = tx * s.blockX + j;
            if (y < job->height && x < job->width)
                job->dst[job->trans ? (y * job->width + x) * job->pixel + c : (c * job->height + y) * job->width + x] =
                    (float)element(m->at[i], rows, m->at[j], columns, p);
        }
}

static void winograd_output_32f(const struct sn_winograd_output_32f * job)
{
    for (size_t u = job->begin; u < job->end; ++u) {
        if (job->trans)
            for (size_t c = 0; c < job->channels; ++c)
                output_tile(job, job->src + (u - job->begin) * job->tile + c, c, u / job->tilesX, u % job->tilesX);
        else
            for (size_t tx = 0; tx < job->tilesX; ++tx)
                output_tile(job, job->src + (u - job->begin) * job->tilesX + tx, u / job->tilesY, u % job->tilesY, tx);
    }
}

SN_INSTALL(winograd, winograd)
{
    slots->filter_32f = winograd_filter_32f;
    slots->input_32f = winograd_input_32f;
    slots->output_32f = winograd_output_32f;
}
