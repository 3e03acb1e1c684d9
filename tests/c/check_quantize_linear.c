/*
 * Floats to bytes and back: exact on every instruction set. As all of them share the driver, a loop over indices checks
 * which scale and zero belong to an element.
 */
#include "check.h"

struct linear {
    const char * function;
    SimdnetQuantizeLinearParameters p;
    int32_t zero; /* of the functions with one scale */
};

static void simdnet_quantize(const void * job, void * context, void * const * a)
{
    SimdnetQuantizeLinearParameters p = ((const struct linear *)job)->p;
    (void)context;
    p.scale = a[0], p.zero = a[1], p.src = a[2], p.dst = a[3];
    SimdnetQuantizeLinear(&p);
}

static void simdnet_dequantize(const void * job, void * context, void * const * a)
{
    SimdnetQuantizeLinearParameters p = ((const struct linear *)job)->p;
    (void)context;
    p.scale = a[0], p.zero = a[1], p.src = a[2], p.dst = a[3];
    SimdnetDequantizeLinear(&p);
}

static void quantize(const void * job, void * context, void * const * a)
{
    const struct linear * p = job;
    (void)context;
    SimdSynetQuantizeLinear(a[1], p->p.inner, a[0], p->zero, a[2]);
}

static void dequantize(const void * job, void * context, void * const * a)
{
    const struct linear * p = job;
    (void)context;
    SimdSynetDequantizeLinear(a[1], p->p.inner, p->zero, a[0], a[2]);
}

/* Multiples of a scale, in quarters, so that there are ties, and some beyond the range. */
static void fill_values(float * src, size_t size, float scale)
{
    for (size_t i = 0; i < size; ++i)
        src[i] = scale * (float)((int)check_random(0, 2400) - 1200) / 4;
}

static const char * const types[] = {"", "", "8i", "8u"};

static struct linear channels_case(const char * function, SimdTensorDataType type, size_t outer, size_t channels,
                                   size_t inner, enum check_fill fill)
{
    const struct linear job = {function, {.size = sizeof(job.p), .dataType = type, .outer = outer, .channels = channels,
                                          .inner = inner}, 0};
    const size_t size = outer * channels * inner;
    const bool down = strcmp(function, "SimdnetQuantizeLinear") == 0;
    if (!check_case(function, "%s %zux%zux%zu %s", types[type], outer, channels, inner, check_fill_name(fill)))
        return job;
    float * scale = check_in("scale", CHECK_32F, channels, CHECK_RANDOM);
    for (size_t c = 0; c < channels; ++c)
        scale[c] = c % 3 ? fabsf(scale[c]) + 0.01f : 0.5f;
    check_in("zero", CHECK_8U, channels, CHECK_RANDOM);
    check_optional();
    float * src = check_in("src", down ? CHECK_32F : CHECK_8U, size, fill);
    if (down && fill == CHECK_RANDOM)
        fill_values(src, size, 0.5f);
    check_out("dst", down ? CHECK_8U : CHECK_32F, size);
    return job;
}

static struct linear one_case(const char * function, size_t size, float norm, int32_t zero, enum check_fill fill)
{
    const struct linear job = {function, {.inner = size}, zero};
    const bool down = strcmp(function, "SimdSynetQuantizeLinear") == 0;
    if (!check_case(function, "size=%zu norm=%g zero=%d %s", size, (double)norm, (int)zero, check_fill_name(fill)))
        return job;
    float * scale = check_in("norm", CHECK_32F, 1, CHECK_ZERO);
    *scale = norm;
    float * src = check_in("src", down ? CHECK_32F : CHECK_8U, size, fill);
    if (down && fill == CHECK_RANDOM)
        fill_values(src, size, 1 / norm);
    check_out("dst", down ? CHECK_8U : CHECK_32F, size);
    return job;
}

static const struct {
    const char * name;
    check_call_fn call;
} one[] = {{"SimdSynetQuantizeLinear", quantize}, {"SimdSynetDequantizeLinear", dequantize}},
  each[] = {{"SimdnetQuantizeLinear", simdnet_quantize}, {"SimdnetDequantizeLinear", simdnet_dequantize}};

static void check_each(size_t outer, size_t channels, size_t inner, size_t turn)
{
    for (size_t k = 0; k < 4; ++k) {
        const SimdTensorDataType type = k < 2 ? SimdTensorData8u : SimdTensorData8i;
        const struct linear job = channels_case(each[k % 2].name, type, outer, channels, inner,
                                                (enum check_fill)((turn + k) % CHECK_FILLS));
        check_run(each[k % 2].call, &job);
    }
}

enum { ELEMENTS = 40000, CHANNELS = 2000 };

static void against_indices(size_t outer, size_t channels, size_t inner)
{
    static uint8_t bytes[ELEMENTS], zero[CHANNELS], back[ELEMENTS];
    static float scale[CHANNELS], dst[ELEMENTS];
    const size_t size = outer * channels * inner;
    SimdnetQuantizeLinearParameters up = {.size = sizeof(up), .dataType = SimdTensorData8u, .outer = outer,
        .channels = channels, .inner = inner, .scale = scale, .zero = zero, .src = bytes, .dst = dst}, down = up;
    down.src = dst, down.dst = back;
    for (size_t c = 0; c < channels; ++c)
        scale[c] = (float)(c + 1), zero[c] = (uint8_t)(7 * c);
    for (size_t i = 0; i < size; ++i)
        bytes[i] = (uint8_t)(i + i / 256);
    for (size_t level = 0; SimdnetIsaLevel(level); ++level) {
        SimdnetSetMaxIsa(SimdnetIsaLevel(level));
        SimdnetDequantizeLinear(&up);
        SimdnetQuantizeLinear(&down);
        size_t bad = 0;
        for (size_t i = 0; i < size; ++i) {
            const size_t c = i / inner % channels;
            bad += dst[i] != (float)(bytes[i] - zero[c]) * scale[c];
        }
        check_that(bad == 0, "SimdnetDequantizeLinear", "%zux%zux%zu on %s: %zu wrong: %s", outer, channels, inner,
                   SimdnetIsaLevel(level), bad, SimdnetLastError());
        check_that(memcmp(bytes, back, size) == 0, "SimdnetQuantizeLinear", "%zux%zux%zu on %s is not the inverse: %s",
                   outer, channels, inner, SimdnetIsaLevel(level), SimdnetLastError());
    }
    SimdnetSetMaxIsa(NULL);
}

static void refusals(void)
{
    for (size_t k = 0; k < 2; ++k) {
        struct linear job = one_case(one[k].name, 9, 0.5f, 3, CHECK_RANDOM);
        check_refused_null(one[k].call, &job);
        check_refused_overlap(false, one[k].call, &job);
        job.zero = (1 << 23) + 1;
        check_refused(CHECK_VALUE, k ? "bias is 8388609" : "zero is 8388609", one[k].call, &job);
        job.zero = INT32_MIN;
        check_refused(CHECK_VALUE, k ? "bias is -2147483648" : "zero is -2147483648", one[k].call, &job);
        job.zero = 0;
        job.p.inner = SIZE_MAX / 2;
        check_refused(CHECK_VALUE, "size", one[k].call, &job);
        job.p.inner = 0;
        check_empty(one[k].call, &job);

        job = channels_case(each[k].name, SimdTensorData8i, 2, 3, 4, CHECK_RANDOM);
        const SimdnetQuantizeLinearParameters good = job.p;
        check_refused_null(each[k].call, &job);
        check_refused_overlap(false, each[k].call, &job);
        job.p.dataType = SimdTensorData32i;
        check_refused(CHECK_VALUE, "dataType is SimdTensorData32i", each[k].call, &job);
        job.p = good, job.p.outer = SIZE_MAX / 4;
        check_refused(CHECK_VALUE, "outer", each[k].call, &job);
        job.p = good, job.p.size = 4;
        check_refused(CHECK_VALUE, "size", each[k].call, &job);
        job.p = good, job.p.channels = 0;
        check_empty(each[k].call, &job);
    }
    SimdnetQuantizeLinear(NULL);
    check_that(strstr(SimdnetLastError(), "parameters is NULL") != NULL, each[0].name, "NULL: %s", SimdnetLastError());
    SimdnetDequantizeLinear(NULL);
    check_that(strstr(SimdnetLastError(), "parameters is NULL") != NULL, each[1].name, "NULL: %s", SimdnetLastError());
}

/* Aim: the time of a copy of as many bytes, or of the divisions. */
static void bench(void)
{
    for (size_t k = 0; k < 2; ++k) {
        const struct linear plain = one_case(one[k].name, 200704, 0.5f, 3, CHECK_EQUAL);
        check_bench(one[k].call, &plain, 0, 5.0 * 200704);
        static const size_t shapes[][3] = {{1, 1, 200704}, {1, 64, 3136}, {3136, 64, 1}, {50176, 3, 1}};
        for (size_t i = 0; i < 4; ++i) {
            const struct linear job = channels_case(each[k].name, SimdTensorData8u, shapes[i][0], shapes[i][1], shapes[i][2],
                                                    CHECK_EQUAL);
            check_bench(each[k].call, &job, 0, 5.0 * (double)(shapes[i][0] * shapes[i][1] * shapes[i][2]));
        }
    }
}

CHECK_FAMILY(quantize_linear)
{
    static const int32_t zeros[] = {0, 128, 255, -128, 1 << 23, -(1 << 23)};
    size_t turn = 0;
    for (size_t size = 1; size <= 300; size += check_quick() ? 9 : 1, ++turn)
        for (size_t k = 0; k < 2; ++k) {
            const struct linear job = one_case(one[k].name, size, turn % 3 ? 0.25f : 0.3f, zeros[turn % 6],
                                               (enum check_fill)((turn + k) % CHECK_FILLS));
            check_run(one[k].call, &job);
        }
    for (size_t n = 1; n <= 300; n += check_quick() ? 13 : 2, ++turn) {
        check_each(1, 1, n, turn);
        check_each(turn % 5 + 1, n, 1, turn);
        check_each(2, n % 40 + 1, n % 17 + 1, turn + 1);
        check_each(2, turn % 4 + 1, n, turn + 2);
    }
    for (size_t i = 0, count = check_count(60); i < count; ++i) {
        const size_t k = i % 2;
        const struct linear job = one_case(one[k].name, check_random_size(2000), 0.25f + check_random_32f(0, 1), zeros[i / 2 % 6],
                                           (enum check_fill)check_random(0, CHECK_FILLS - 1));
        check_run(one[k].call, &job);
        check_each(check_random(1, 3), check_random_size(80), check_random_size(80), check_random(0, CHECK_FILLS - 1));
    }
    check_each(5, 1500, 1, 0);
    check_each(40, 700, 1, 3);
    check_each(1, 1, 70000, 1);
    check_each(20000, 3, 1, 2);
    if (check_selected("SimdnetQuantizeLinear") || check_selected("SimdnetDequantizeLinear")) {
        against_indices(5, 7, 3);
        against_indices(3, 2, 200);
        against_indices(10000, 3, 1);
        against_indices(20, 2000, 1);
        against_indices(3, 700, 13);
    }
    refusals();
    if (check_timed())
        bench();
}
