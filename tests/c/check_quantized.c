/*
 * Layers of quantised bytes: PReLU, scale, concatenation, shuffle, addition. All are exact on every level. As levels share
 * drivers, loops over indices check where a byte of a concatenation and of a shuffle comes from.
 */
#include "check.h"

static const float scales[] = {1, 0.5f, 0.0625f, 0.013f, 0.3f, 2, 3e38f, 2e-38f}; /* the last one is normal */
enum { SCALES = sizeof(scales) / sizeof(scales[0]) };

static const size_t shapes[][2] = {{1, 1}, {1, 70}, {2, 33}, {3, 5}, {3, 130}, {5, 255}, {7, 256}, {17, 64}, {64, 7},
                                   {65, 16}, {130, 1}, {257, 31}, {1025, 3}, {3, 4099}, {700, 13}};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static SimdTensorFormatType format_of(size_t i) { return i % 2 ? SimdTensorFormatNhwc : SimdTensorFormatNchw; }

/* ---- PReLU and scale */

struct layer {
    size_t which, channels, spatial;
    SimdTensorFormatType format;
    float srcScale, dstScale;
    int srcZero, dstZero;
    bool biased;
};

static void layer(const void * job, void * context, void * const * a)
{
    const struct layer * l = job;
    (void)context;
    if (l->which == 0)
        SimdSynetQuantizedPreluLayerForward(a[0], a[1], l->srcZero, l->channels, l->spatial, a[3], a[4], a[2], l->dstZero,
                                            l->format);
    else
        SimdSynetQuantizedScaleLayerForward(a[0], a[1], l->srcZero, l->channels, l->spatial, a[3], l->biased ? a[5] : NULL,
                                            a[4], a[2], l->dstZero, l->format);
}

static const char * const layers[] = {"SimdSynetQuantizedPreluLayerForward", "SimdSynetQuantizedScaleLayerForward"};

static void layer_case(const struct layer * l, enum check_fill fill)
{
    if (!check_case(layers[l->which], "%s %zux%zu %g %d -> %g %d%s %s", check_format_name(l->format), l->channels, l->spatial,
                    (double)l->srcScale, l->srcZero, (double)l->dstScale, l->dstZero, l->biased ? " biased" : "",
                    check_fill_name(fill)))
        return;
    check_in("src", CHECK_8U, l->channels * l->spatial, CHECK_RANDOM);
    *(float *)check_in("srcScale", CHECK_32F, 1, CHECK_ZERO) = l->srcScale;
    *(float *)check_in("dstScale", CHECK_32F, 1, CHECK_ZERO) = l->dstScale;
    check_in(l->which ? "scale" : "slope", CHECK_32F, l->channels, fill);
    check_out("dst", CHECK_8U, l->channels * l->spatial);
    check_raises();
    if (l->which && l->biased) {
        check_in("bias", CHECK_32F, l->channels, fill);
        check_optional();
    }
}

static void layer_refusals(struct layer good)
{
    struct layer bad = good;
    layer_case(&good, CHECK_RANDOM);
    check_refused_null(layer, &good);
    check_refused_overlap(true, layer, &good);
    bad.srcZero = 256;
    check_refused(CHECK_VALUE, "srcZero is 256, expected 0 .. 255", layer, &bad);
    bad = good, bad.dstZero = -1;
    check_refused(CHECK_VALUE, "dstZero is -1", layer, &bad);
    bad = good, bad.format = SimdTensorFormatNchw8c;
    check_refused(CHECK_VALUE, "format", layer, &bad);
    bad = good, bad.channels = bad.spatial = SIZE_MAX / 4;
    check_refused(CHECK_VALUE, "channels", layer, &bad);
    bad = good, bad.spatial = 0;
    check_empty(layer, &bad);
    static const float not_scales[] = {0, -1, INFINITY, NAN};
    for (size_t i = 0; i < 8; ++i) {
        bad = good;
        *(i % 2 ? &bad.srcScale : &bad.dstScale) = not_scales[i / 2];
        layer_case(&bad, CHECK_RANDOM);
        check_refused(CHECK_VALUE, i % 2 ? "srcScale is" : "dstScale is", layer, &bad);
    }
}

static void all_layers(void)
{
    for (size_t i = 0; i < 4 * SHAPES; ++i) {
        const size_t * shape = shapes[i / 4];
        const struct layer l = {i % 2, shape[0], shape[1], format_of(i / 2), scales[i % SCALES], scales[i * 5 % 7 % SCALES],
                                (int)(i * 37 % 256), (int)(255 - i * 51 % 256), i % 3 == 0};
        layer_case(&l, (enum check_fill)(i % CHECK_FILLS));
        check_run(layer, &l);
    }
    layer_refusals((struct layer){0, 3, 5, SimdTensorFormatNchw, 0.5f, 0.25f, 3, 5, true});
    layer_refusals((struct layer){1, 3, 5, SimdTensorFormatNhwc, 0.5f, 0.25f, 3, 5, true});
}

/* ---- concatenation of up to three sources */

#define CONCAT "SimdSynetQuantizedConcatLayerForward"

struct concat {
    size_t count, num, size[3];
    float scale;
    int32_t zero;
};

static void concat(const void * job, void * context, void * const * a)
{
    const struct concat * c = job;
    const uint8_t * src[3] = {a[4], a[5], a[6]};
    (void)context;
    SimdSynetQuantizedConcatLayerForward(c->count, src, c->num, c->size, a[0], a[1], a[2], c->zero, a[3]);
}

static bool concat_case(const struct concat * c)
{
    size_t row = 0;
    for (size_t i = 0; i < c->count; ++i)
        row += c->size[i];
    if (!check_case(CONCAT, "count=%zu num=%zu size=%zu,%zu,%zu scale=%g zero=%d", c->count, c->num, c->size[0], c->size[1],
                    c->size[2], (double)c->scale, (int)c->zero))
        return false;
    int32_t * bias = check_in("bias", CHECK_32I, c->count, CHECK_ZERO);
    float * norm = check_in("norm", CHECK_32F, c->count, CHECK_ZERO);
    for (size_t i = 0; i < c->count; ++i)
        bias[i] = -(int32_t)check_random(0, 255), norm[i] = scales[(i + c->num) % SCALES];
    *(float *)check_in("scale", CHECK_32F, 1, CHECK_ZERO) = c->scale;
    check_out("dst", CHECK_8U, row * c->num);
    static const char * const names[] = {"src[0]", "src[1]", "src[2]"};
    for (size_t i = 0; i < 3; ++i)
        check_in(names[i], CHECK_8U, i < c->count ? c->num * c->size[i] : 0, CHECK_RANDOM);
    check_raises();
    return true;
}

static void concat_refusals(void)
{
    static const struct concat good = {3, 4, {5, 3, 7}, 2, 9};
    struct concat bad = good;
    concat_case(&good);
    check_refused_null(concat, &good);
    bad.zero = 300;
    check_refused(CHECK_VALUE, "zero is 300", concat, &bad);
    bad = good, bad.size[1] = SIZE_MAX - 2;
    check_refused(CHECK_VALUE, "size[1]", concat, &bad);
    bad = good, bad.num = SIZE_MAX / 4;
    check_refused(CHECK_VALUE, "num", concat, &bad);
    bad = good, bad.num = 0;
    check_empty(concat, &bad);
    bad = good, bad.scale = -1;
    concat_case(&bad);
    check_refused(CHECK_VALUE, "scale is -1", concat, &bad);
    const float norm[2] = {1, 0}, scale = 1;
    const int32_t bias[2] = {0, 0}, wrong[2] = {0, 1};
    const size_t size[2] = {2, 2};
    uint8_t x[4] = {1, 2, 3, 4}, y[4] = {0};
    const uint8_t * src[2] = {x, x + 2};
    SimdSynetQuantizedConcatLayerForward(2, src, 1, size, bias, norm, &scale, 0, y);
    check_that(strstr(SimdnetLastError(), "norm is 0") && y[0] == 0, CONCAT, "norm 0: %s", SimdnetLastError());
    SimdSynetQuantizedConcatLayerForward(2, src, 1, size, wrong, norm, &scale, 0, y);
    check_that(strstr(SimdnetLastError(), "bias is 1") != NULL, CONCAT, "bias 1: %s", SimdnetLastError());
    SimdSynetQuantizedConcatLayerForward(1, src, 2, size, bias, norm, &scale, 0, x + 2);
    check_that(strstr(SimdnetLastError(), "dst overlaps a src") != NULL, CONCAT, "overlap: %s", SimdnetLastError());
}

static void concats(void)
{
    static const size_t sizes[][3] = {{1, 1, 1}, {3, 5, 0}, {64, 0, 17}, {33, 130, 2}, {300, 1, 64}, {20000, 3, 2}};
    for (size_t i = 0; i < 12; ++i) {
        const struct concat c = {1 + i % 3, i / 2 * i + 1, {sizes[i / 2][0], sizes[i / 2][1], sizes[i / 2][2]},
                                 1 / scales[i % 6], (int32_t)(i * 23)};
        if (concat_case(&c))
            check_run(concat, &c);
    }
    concat_refusals();
}

/* ---- shuffle */

#define SHUFFLE "SimdSynetQuantizedShuffleLayerForward"

struct shuffle {
    size_t c0, c1, spatial;
    SimdTensorFormatType format;
    int type, bias0, bias1, zero;
    float norm0, norm1, scale;
};

static void shuffle(const void * job, void * context, void * const * a)
{
    const struct shuffle * s = job;
    (void)context;
    SimdSynetQuantizedShuffleLayerForward(a[0], s->bias0, a[2], s->c0, a[1], s->bias1, a[3], s->c1, s->spatial, a[5], a[6],
                                          a[4], s->zero, s->format, s->type);
}

static void shuffle_case(const struct shuffle * s)
{
    const size_t half = (s->c0 + s->c1) / 2;
    if (!check_case(SHUFFLE, "%s type=%d %zu+%zu x%zu %d*%g %d*%g -> *%g %d", check_format_name(s->format), s->type, s->c0,
                    s->c1, s->spatial, s->bias0, (double)s->norm0, s->bias1, (double)s->norm1, (double)s->scale, s->zero))
        return;
    check_in("src0", CHECK_8U, (s->type ? half : s->c0) * s->spatial, CHECK_RANDOM);
    check_in("src1", CHECK_8U, (s->type ? half : s->c1) * s->spatial, CHECK_RANDOM);
    *(float *)check_in("norm0", CHECK_32F, 1, CHECK_ZERO) = s->norm0;
    *(float *)check_in("norm1", CHECK_32F, 1, CHECK_ZERO) = s->norm1;
    *(float *)check_in("scale", CHECK_32F, 1, CHECK_ZERO) = s->scale;
    check_out("dst0", CHECK_8U, (s->type ? s->c0 : half) * s->spatial);
    check_out("dst1", CHECK_8U, (s->type ? s->c1 : half) * s->spatial);
}

static void shuffle_refusals(void)
{
    static const struct shuffle good = {4, 2, 7, SimdTensorFormatNhwc, 0, -3, -4, 5, 0.5f, 0.25f, 2};
    struct shuffle bad[] = {good, good, good, good, good, good, good, good};
    static const char * const text[] = {"type is 2", "srcC0 is 3", "srcC1 is 5", "bias0 is 1", "bias1 is -256", "zero is 256",
                                        "format", "srcC0"};
    shuffle_case(&good);
    check_refused_null(shuffle, &good);
    check_refused_overlap(false, shuffle, &good);
    bad[0].type = 2, bad[1].c0 = 3, bad[2].c1 = 5, bad[3].bias0 = 1, bad[4].bias1 = -256, bad[5].zero = 256;
    bad[6].format = SimdTensorFormatUnknown, bad[7].c0 = bad[7].c1 = SIZE_MAX - 1;
    for (size_t i = 0; i < 8; ++i)
        check_refused(CHECK_VALUE, text[i], shuffle, &bad[i]);
    bad[0] = good, bad[0].spatial = 0;
    check_empty(shuffle, &bad[0]);
    bad[0] = good, bad[0].norm1 = -INFINITY;
    shuffle_case(&bad[0]);
    check_refused(CHECK_VALUE, "norm1 is -inf", shuffle, &bad[0]);
}

/* Channel k of both destinations together is the k-th of the order that the header has. */
static void shuffle_against_indices(size_t c0, size_t c1, size_t spatial, bool nhwc, int type)
{
    static uint8_t joined[40000], split[40000], expected[40000];
    const size_t half = (c0 + c1) / 2, all = 2 * half * spatial;
    const float one = 1;
    for (size_t i = 0; i < all; ++i)
        joined[i] = (uint8_t)(i * 7 + i / 256);
    for (size_t c = 0; c < 2 * half; ++c)
        for (size_t s = 0; s < spatial; ++s) {
            const size_t in = c < c0 ? c : c - c0, channels = c < c0 ? c0 : c1, to = c / 2 + c % 2 * half;
            const size_t at = (c < c0 ? 0 : c0 * spatial) + (nhwc ? s * channels + in : in * spatial + s);
            expected[to / half * half * spatial + (nhwc ? s * half + to % half : to % half * spatial + s)] = joined[at];
        }
    uint8_t * src = type ? expected : joined, * right = type ? joined : expected;
    const size_t first = type ? half : c0, other = type ? c0 : half;
    SimdSynetQuantizedShuffleLayerForward(src, 0, &one, c0, src + first * spatial, 0, &one, c1, spatial, split,
                                          split + other * spatial, &one, 0,
                                          nhwc ? SimdTensorFormatNhwc : SimdTensorFormatNchw, type);
    check_that(memcmp(split, right, all) == 0, SHUFFLE, "%zu+%zu x%zu nhwc=%d type=%d: %s", c0, c1, spatial, nhwc, type,
               SimdnetLastError());
}

static void shuffles(void)
{
    static const size_t channels[][3] = {{2, 0, 1}, {0, 4, 9}, {4, 2, 3}, {2, 6, 70}, {64, 64, 49}, {130, 2, 65}, {58, 58, 33}};
    for (size_t i = 0; i < 28; ++i) {
        const size_t * c = channels[i / 4];
        const struct shuffle s = {c[0], c[1], c[2], format_of(i), (int)(i / 2 % 2), -(int)(i * 9), -(int)(i % 7), (int)(i * 8),
                                  scales[i % 6], scales[i % 5], 1 / scales[(i + 2) % 6]};
        shuffle_case(&s);
        check_run(shuffle, &s);
        if (check_selected(SHUFFLE))
            shuffle_against_indices(c[0], c[1], c[2], i % 2 == 1, (int)(i / 2 % 2));
    }
    shuffle_refusals();
}

/* ---- addition */

#define ADD_INIT "SimdSynetQuantizedAddInit"
#define ADD "SimdSynetQuantizedAddForward"

struct add {
    size_t size, other; /* `other` is the size of b for Init */
    int type[3];
    float scale[3];
    int32_t zero[3];
    int activation, in_place; /* in place: 0 no, 1 dst is a, 2 dst is b */
};

static void * add_open(const void * job, void * const * a)
{
    const struct add * p = job;
    (void)a;
    return SimdSynetQuantizedAddInit(&p->size, 1, (SimdTensorDataType)p->type[0], &p->scale[0], p->zero[0], &p->other, 1,
                                     (SimdTensorDataType)p->type[1], &p->scale[1], p->zero[1],
                                     (SimdConvolutionActivationType)p->activation, NULL, (SimdTensorDataType)p->type[2],
                                     &p->scale[2], p->zero[2]);
}

static void add(const void * job, void * context, void * const * a)
{
    const int in_place = ((const struct add *)job)->in_place;
    SimdSynetQuantizedAddForward(context, a[0], a[1], a[in_place ? in_place - 1 : 2]);
}

static enum check_type check_type_of(int type) { return type == SimdTensorData8u ? CHECK_8U : CHECK_32F; }

static void add_case(const struct add * p, enum check_fill fill, bool all_pairs)
{
    if (!check_case(ADD, "size=%zu types=%d,%d,%d scales=%g,%g,%g zeros=%d,%d,%d act=%d in_place=%d %s", p->size, p->type[0],
                    p->type[1], p->type[2], (double)p->scale[0], (double)p->scale[1], (double)p->scale[2], (int)p->zero[0],
                    (int)p->zero[1], (int)p->zero[2], p->activation, p->in_place,
                    all_pairs ? "all pairs" : check_fill_name(fill)))
        return;
    check_open(add_open);
    check_exact(CHECK_NAN_FREE | CHECK_ZERO_FREE);
    uint8_t * a = (p->in_place == 1 ? check_inout : check_in)("a", check_type_of(p->type[0]), p->size, fill);
    uint8_t * b = (p->in_place == 2 ? check_inout : check_in)("b", check_type_of(p->type[1]), p->size, fill);
    for (size_t i = 0; all_pairs && i < p->size; ++i)
        a[i] = (uint8_t)i, b[i] = (uint8_t)(i >> 8);
    if (!p->in_place)
        check_out("dst", check_type_of(p->type[2]), p->size);
    check_raises();
}

static struct add add_of(size_t size, size_t types, size_t turn)
{
    struct add p = {.size = size, .other = size, .activation = (int)(turn % 2)};
    for (size_t i = 0; i < 3; ++i) {
        p.type[i] = types >> i & 1 ? SimdTensorData8u : SimdTensorData32f;
        p.scale[i] = scales[(turn + 3 * i + turn / 5) % SCALES];
        p.zero[i] = (int32_t)((turn * 41 + i * 97) % 256);
    }
    return p;
}

static void add_refusals(void)
{
    const struct add good = add_of(9, 7, 0);
    struct add bad[] = {good, good, good, good, good, good, good, good};
    static const char * const text[] = {"bShape[0] is 8", "aType", "dstType", "bScale is 0", "dstScale is nan", "aZero is -1",
                                        "actType", "aShape"};
    bad[0].other = 8, bad[1].type[0] = SimdTensorData8i, bad[2].type[2] = SimdTensorData16b, bad[3].scale[1] = 0;
    bad[4].scale[2] = NAN, bad[5].zero[0] = -1, bad[6].activation = SimdConvolutionActivationLeakyRelu;
    bad[7].size = bad[7].other = SIZE_MAX / 4;
    for (size_t i = 0; i < 8; ++i) {
        check_case(ADD_INIT, "bad %s", text[i]);
        check_open(add_open);
        check_refused(CHECK_VALUE, text[i], NULL, &bad[i]);
    }
    for (size_t types = 0; types < 8; ++types) {
        struct add p = add_of(6, types, 3);
        add_case(&p, CHECK_RANDOM, false);
        check_refused_null(add, &p);
        check_refused_overlap(true, add, &p);
        p.size = p.other = 0;
        check_empty(add, &p);
    }
}

static void adds(void)
{
    for (size_t types = 0; types < 8; ++types)
        for (size_t i = 0; i < 40; ++i) {
            struct add p = add_of(i < 36 ? 1 + i * 5 : 20000 + i, types, i + types);
            add_case(&p, (enum check_fill)(i % CHECK_FILLS), false);
            check_run(add, &p);
            for (int k = 1; k < 3; ++k)
                if (p.type[k - 1] == p.type[2]) {
                    p.in_place = k;
                    add_case(&p, CHECK_RANDOM, false);
                    check_run(add, &p);
                }
        }
    for (size_t i = 0; i < 20; ++i) { /* the latter with scales that have all bits of a float */
        struct add p = add_of(65536, 7, i);
        for (size_t k = 0; k < 3 && i >= 10; ++k)
            p.scale[k] = check_random_32f(0.01f, 1);
        add_case(&p, CHECK_ZERO, true);
        check_run(add, &p);
    }
    add_refusals();
}

/* Aim: the time of a copy of as many bytes. */
static void bench(void)
{
    for (size_t i = 0; i < 4; ++i) {
        const struct layer l = {i % 2, 64, 3136, format_of(i / 2), 0.5f, 0.25f, 3, 5, true};
        layer_case(&l, CHECK_RANDOM);
        check_bench(layer, &l, 0, 2.0 * 200704);
        const struct shuffle s = {64, 64, 1568, format_of(i), (int)(i / 2), -3, -4, 5, 0.5f, 0.25f, 2};
        shuffle_case(&s);
        check_bench(shuffle, &s, 0, 2.0 * 200704);
        const struct concat c = {2, i % 2 ? 3136 : 1, {i % 2 ? 32 : 100352, i % 2 ? 32 : 100352, 0}, 2, 9};
        concat_case(&c);
        check_bench(concat, &c, 0, 2.0 * 200704);
    }
    const struct add p = add_of(200704, 7, 1);
    add_case(&p, CHECK_RANDOM, false);
    check_bench(add, &p, 0, 3.0 * 200704);
}

CHECK_FAMILY(quantized)
{
    all_layers();
    concats();
    shuffles();
    adds();
    if (check_timed())
        bench();
}
