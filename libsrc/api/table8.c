#include "ops/bytes/table8.h"

#include "api/call.h"
#include "api/overlap.h"
#include "api/parameters.h"

/* Checks the distances, and replaces 0 by the number of channels. */
static bool take_pixels(const char * function, struct sn_table8 * t)
{
    struct sn_pixel_array array = {"srcPixel", SN_NHWC, 1, t->rows, t->n, 1};
    size_t image;
    if (!sn_take_pixel(function, array, &t->srcStep, &image))
        return false;
    array.name = "dstPixel";
    return sn_take_pixel(function, array, &t->dstStep, &image);
}

/* dst may be the source with the same distance. */
static bool is_apart(const char * function, const uint8_t * table, const struct sn_table8 * t)
{
    const struct sn_rows dst = {"dst", t->dst, t->rows, t->n, t->dstStep}, src = {"src", t->src, t->rows, t->n, t->srcStep};
    const struct sn_rows numbers = {"table", table, 1, SN_TABLE8, SN_TABLE8};
    const bool same = t->src == t->dst && t->srcStep == t->dstStep;
    return (same || sn_rows_apart(function, dst, src)) && sn_rows_apart(function, dst, numbers);
}

void SimdnetTable8(const SimdnetTable8Parameters * parameters)
{
    SN_BEGIN();
    if (!sn_is_known(__func__, parameters, sizeof(*parameters)))
        return;
    const SimdnetTable8Parameters * q = parameters;
    SN_CALL(q->channels, q->pixels, q->srcPixel, q->dstPixel);
    if (q->pixels == 0 || q->channels == 0)
        return;
    SN_CHECK(q->table, SN_VOID, "table is NULL, expected an array");
    SN_CHECK(q->src, SN_VOID, "src is NULL, expected an array");
    SN_CHECK(q->dst, SN_VOID, "dst is NULL, expected an array");
    struct sn_table8 t = {NULL, q->src, q->dst, q->srcPixel, q->dstPixel, q->channels, q->pixels};
    if (take_pixels(__func__, &t) && is_apart(__func__, q->table, &t))
        sn_table8(q->table, &t);
}
