/*
 * Bytes of pictures to floats, scaled and shifted per channel: a multiplication, then an addition, on every instruction set.
 *
 * Planes (NCHW, and one channel): the lanes of a vector are pixels, loaded as 32-bit numbers whose bytes are the colours.
 * Gray is computed from colours in float: the sum of products is below 2^24, so it is exact.
 *
 * Pixels (NHWC): the lanes are colours. A vector of bytes, widened, has one or more pixels, whose colours are put in order
 * by a permutation. Values written beyond them are overwritten by the next vector; the last one is stored exactly.
 *
 * Results are always written through the caches: the next layer reads them, and non-temporal stores, which need whole cache
 * lines, cost more than they save (1920x1080: 0.8 ms, 1.7 with pieces that are copied by non-temporal stores).
 */
#include "contract/format.h"
#include "contract/set_input.h"
#include "kernels/install.h"

/* Parameters derived from the formats, the same for all rows. */
struct plan {
    size_t bytes, channels; /* of a pixel of the picture, of the result */
    bool nhwc;
    int plane[3];              /* the channel that byte k of a pixel goes to */
    float weight[3];           /* the weight of byte k in the gray of the pixel, times 2^14 */
    float scale[3], lower[3];  /* of channels */
    size_t step;               /* pixels of a vector of NHWC, and for its lanes: */
    int32_t order[V32F_N];     /* index of the byte */
    float scales[V32F_N], lowers[V32F_N];
};

static void make_plan(const struct sn_set_input * p, struct plan * plan)
{
    const bool reversed = p->srcFormat == SN_PIXEL_RGB24;
    const size_t bytes = sn_pixel_bytes(p->srcFormat);
    static const float weight[3] = {1868, 9617, 4899};
    *plan = (struct plan){.bytes = bytes, .channels = p->channels};
    plan->nhwc = p->dstFormat == SN_NHWC && p->channels > 1;
    plan->step = sn_min(V32F_N / 3, V32F_N / bytes);
    for (size_t k = 0; k < 3; ++k) {
        const size_t c = p->channels == 1 ? 0 : k;
        plan->plane[k] = reversed ? 2 - (int)k : (int)k;
        plan->weight[k] = weight[plan->plane[k]];
        plan->scale[k] = (p->upper[c] - p->lower[c]) / 255;
        plan->lower[k] = p->lower[c];
    }
    for (size_t l = 0; l < V32F_N; ++l) {
        const size_t byte = bytes == 1 ? 0 : reversed ? 2 - l % 3 : l % 3;
        plan->order[l] = l < 3 * plan->step ? (int32_t)(l / 3 * bytes + byte) : 0;
        plan->scales[l] = plan->scale[l % 3];
        plan->lowers[l] = plan->lower[l % 3];
    }
}

SN_INLINE v32f apply(v32f x, v32f scale, v32f lower) { return v_add_32f(v_mul_32f(x, scale), lower); }

SN_INLINE void store(sn_32f * dst, v32f v, size_t n)
{
    if (n >= V32F_N)
        v_store_32f(dst, v);
    else
        v_store_tail_32f(dst, v, n);
}

/* ---- planes: `bytes`, the size of a pixel, is a compile-time constant */

/* V32F_N pixels, or the last n, each as a number whose lowest byte is the first byte. */
SN_INLINE v32i load_pixels(const uint8_t * src, size_t n, int bytes)
{
    const bool full = n >= V32F_N;
    switch (bytes) {
    case 1: return full ? v_load_8u_32i(src) : v_load_tail_8u_32i(src, n);
    case 3: return full ? v_load_24_32i(src) : v_load_tail_24_32i(src, n);
    default: return full ? v_load_32i(src) : v_load_tail_32i(src, n);
    }
}

SN_INLINE void colours(v32i pixels, v32f colour[3])
{
    const v32i low = v_set_32i(255);
    colour[0] = v_cvt_32i_32f(v_and_32i(pixels, low));
    colour[1] = v_cvt_32i_32f(v_and_32i(v_shr_32i(pixels, 8), low));
    colour[2] = v_cvt_32i_32f(v_and_32i(v_shr_32i(pixels, 16), low));
}

SN_INLINE void to_planes(const struct plan * plan, const uint8_t * src, size_t size, sn_32f * const * dst, int bytes)
{
    v32f scale[3], lower[3], x[3];
    sn_32f * plane[3];
    SN_UNROLL for (int k = 0; k < 3; ++k) {
        plane[k] = dst[plan->plane[k]];
        scale[k] = v_set_32f(plan->scale[plan->plane[k]]);
        lower[k] = v_set_32f(plan->lower[plan->plane[k]]);
    }
    for (size_t i = 0; i < size; i += V32F_N) {
        const v32i pixels = load_pixels(src + i * (size_t)bytes, size - i, bytes);
        if (bytes == 1)
            x[0] = x[1] = x[2] = v_cvt_32i_32f(pixels);
        else
            colours(pixels, x);
        SN_UNROLL for (int k = 0; k < 3; ++k) store(plane[k] + i, apply(x[k], scale[k], lower[k]), size - i);
    }
}

SN_INLINE void to_gray(const struct plan * plan, const uint8_t * src, size_t size, sn_32f * dst, int bytes)
{
    const v32f scale = v_set_32f(plan->scale[0]), lower = v_set_32f(plan->lower[0]);
    for (size_t i = 0; i < size; i += V32F_N) {
        const v32i pixels = load_pixels(src + i * (size_t)bytes, size - i, bytes);
        v32i gray = pixels;
        if (bytes > 1) {
            v32f x[3];
            colours(pixels, x);
            v32f sum = v_fma_32f(x[0], v_set_32f(plan->weight[0]), v_set_32f(8192));
            sum = v_fma_32f(x[1], v_set_32f(plan->weight[1]), sum);
            sum = v_fma_32f(x[2], v_set_32f(plan->weight[2]), sum);
            gray = v_shr_32i(v_cvt_32f_32i(sum), 14);
        }
        store(dst + i, apply(v_cvt_32i_32f(gray), scale, lower), size - i);
    }
}

/* ---- pixels */

/* Lane l of a vector of results is colour l % 3 of pixel l / 3. */
static void to_pixels(const struct plan * plan, const uint8_t * src, size_t size, sn_32f * dst)
{
    const v32i order = v_load_32i(plan->order);
    const v32f scale = v_load_32f(plan->scales), lower = v_load_32f(plan->lowers);
    const size_t bytes = plan->bytes, step = plan->step;
    for (size_t i = 0; i < size; i += step) {
        const size_t left = (size - i) * bytes;
        const uint8_t * p = src + i * bytes;
        const v32i x = left >= V32F_N ? v_load_8u_32i(p) : v_load_tail_8u_32i(p, left);
        store(dst + 3 * i, apply(v_lookup_32f(v_cvt_32i_32f(x), order), scale, lower), 3 * (size - i));
    }
}

/* ---- pictures */

/* The pixels of one row: channel c to dst[c], or all to dst[0] for NHWC; `bytes` is a compile-time constant. */
SN_INLINE void convert_by(const struct plan * plan, const uint8_t * src, size_t size, sn_32f * const * dst, int bytes)
{
    if (plan->channels == 1)
        to_gray(plan, src, size, dst[0], bytes);
    else
        to_planes(plan, src, size, dst, bytes);
}

static void convert(const struct plan * plan, const uint8_t * src, size_t size, sn_32f * const * dst)
{
    if (plan->nhwc) {
        to_pixels(plan, src, size, dst[0]);
        return;
    }
    switch (plan->bytes) {
    case 1: convert_by(plan, src, size, dst, 1); break;
    case 3: convert_by(plan, src, size, dst, 3); break;
    default: convert_by(plan, src, size, dst, 4);
    }
}

static void set_input_32f(const struct sn_set_input * p, size_t begin, size_t end)
{
    struct plan plan;
    make_plan(p, &plan);
    const size_t rows = p->stride == p->width * plan.bytes ? end - begin : 1; /* contiguous rows are processed as one */
    const size_t size = rows * p->width, plane = p->height * p->width;
    for (size_t y = begin; y < end; y += rows) {
        sn_32f * first = p->dst + y * p->width * (plan.nhwc ? 3 : 1);
        sn_32f * const dst[3] = {first, first + plane, first + 2 * plane};
        convert(&plan, p->src + y * p->stride, size, dst);
    }
}

SN_INSTALL(set_input, set_input) { slots->run_32f = set_input_32f; }
