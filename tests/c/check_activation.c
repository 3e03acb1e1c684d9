/*
 * Activations. Relu, Hswish, RestrictRange and HardSigmoid are exact except for NaN payloads; the error of the others is at
 * most some units in the last place.
 */
#include "check.h"

/* One of the public functions, called with a pointer to each of its parameters; NULL for parameters it does not have. */
struct activation {
    const char * function;
    void (*call)(const float * src, size_t size, const float * p, const float * q, float * dst);
    const char * names[2];
    double ulp; /* 0: exact */
    float values[6][2];
};

static void relu(const float * src, size_t size, const float * p, const float * q, float * dst)
{
    (void)q;
    SimdSynetRelu32f(src, size, p, dst);
}

static void elu(const float * src, size_t size, const float * p, const float * q, float * dst)
{
    (void)q;
    SimdSynetElu32f(src, size, p, dst);
}

static void sigmoid(const float * src, size_t size, const float * p, const float * q, float * dst)
{
    (void)q;
    SimdSynetSigmoid32f(src, size, p, dst);
}

static void hyperbolic_tangent(const float * src, size_t size, const float * p, const float * q, float * dst)
{
    (void)q;
    SimdSynetTanh32f(src, size, p, dst);
}

static void swish(const float * src, size_t size, const float * p, const float * q, float * dst)
{
    (void)q;
    SimdSynetSwish32f(src, size, p, dst);
}

static void mish(const float * src, size_t size, const float * p, const float * q, float * dst)
{
    (void)q;
    SimdSynetMish32f(src, size, p, dst);
}

static void gelu(const float * src, size_t size, const float * p, const float * q, float * dst)
{
    (void)p, (void)q;
    SimdSynetGelu32f(src, size, dst);
}

static const struct activation activations[] = {
    {"SimdSynetRelu32f", relu, {"slope", NULL}, 0, {{0}, {0.1f}, {-2}, {1}, {INFINITY}, {NAN}}},
    {"SimdSynetElu32f", elu, {"alpha", NULL}, 2, {{1}, {0.1f}, {-1.7f}, {0}, {3e30f}, {1e-38f}}},
    {"SimdSynetHswish32f", SimdSynetHswish32f, {"shift", "scale"}, 0,
     {{3, 1 / 6.0f}, {0, 1}, {-1, 2}, {0.5f, -0.1f}, {INFINITY, 1}, {NAN, 1}}},
    {"SimdSynetRestrictRange32f", SimdSynetRestrictRange32f, {"lower", "upper"}, 0,
     {{0, 6}, {-0.5f, 0.5f}, {0, 0}, {1, -1}, {-INFINITY, INFINITY}, {-1e30f, 1e-40f}}},
    {"SimdSynetSigmoid32f", sigmoid, {"slope", NULL}, 2, {{1}, {0.3f}, {-1}, {0}, {1e20f}, {NAN}}},
    {"SimdSynetSoftplus32f", SimdSynetSoftplus32f, {"beta", "threshold"}, 2,
     {{1, 20}, {0.7f, 1}, {-1, 0}, {3, INFINITY}, {1e-20f, -1}, {1, NAN}}},
    {"SimdSynetTanh32f", hyperbolic_tangent, {"slope", NULL}, 2, {{1}, {0.3f}, {-1}, {0}, {1e20f}, {NAN}}},
    {"SimdSynetSwish32f", swish, {"slope", NULL}, 3, {{1}, {0.3f}, {-1}, {0}, {1e20f}, {NAN}}},
    {"SimdSynetMish32f", mish, {"threshold", NULL}, 5, {{20}, {1}, {-1}, {INFINITY}, {1e-20f}, {NAN}}},
    {"SimdSynetHardSigmoid32f", SimdSynetHardSigmoid32f, {"scale", "shift"}, 0,
     {{1 / 6.0f, 0.5f}, {0.2f, 0.5f}, {-1, 2}, {0, 0}, {INFINITY, 0.5f}, {NAN, 1}}},
    {"SimdSynetGelu32f", gelu, {NULL, NULL}, 4, {{0}}},
};

enum { ACTIVATIONS = sizeof(activations) / sizeof(activations[0]), VALUES = 6 };

struct job {
    const struct activation * activation;
    size_t size;
    bool in_place;
};

/* Arrays: the parameters, src, and dst unless in place. */
static void call(const void * argument, void * context, void * const * a)
{
    const struct job * job = argument;
    const char * const * names = job->activation->names;
    void * const * arrays = a + (names[1] ? 2 : names[0] ? 1 : 0);
    (void)context;
    job->activation->call(arrays[0], job->size, names[0] ? a[0] : NULL, names[1] ? a[1] : NULL,
                          arrays[job->in_place ? 0 : 1]);
}

/* Declares a case; src is multiplied by `by`. */
static struct job declare(const struct activation * f, size_t size, const float * values, enum check_fill fill, float by,
                          bool in_place)
{
    check_case(f->function, "size=%zu %s=%g %s=%g %s by=%g%s", size,
               f->names[0] ? f->names[0] : "-", (double)values[0],
               f->names[1] ? f->names[1] : "-", (double)values[1], check_fill_name(fill), (double)by,
               in_place ? " in place" : "");
    for (size_t i = 0; i < 2 && f->names[i]; ++i)
        *(float *)check_in(f->names[i], CHECK_32F, 1, CHECK_ZERO) = values[i];
    float * src = (in_place ? check_inout : check_in)("src", CHECK_32F, size, fill);
    for (size_t i = 0; i < size; ++i)
        src[i] *= by;
    if (!in_place)
        check_out("dst", CHECK_32F, size);
    if (!isfinite(values[0]))
        check_raises();
    if (f->ulp > 0)
        check_ulp(f->ulp);
    else
        check_exact(CHECK_NAN_FREE);
    return (struct job){f, size, in_place};
}

static void check_at(const struct activation * f, size_t size, const float * values, enum check_fill fill, float by)
{
    for (int in_place = 0; in_place < 2; ++in_place) {
        const struct job job = declare(f, size, values, fill, by, in_place);
        check_run(call, &job);
    }
}

static void refusals(const struct activation * f)
{
    struct job job = declare(f, 7, f->values[0], CHECK_RANDOM, 1, false);
    check_refused_null(call, &job);
    check_refused_overlap(true, call, &job);
    job.size = SIZE_MAX / 4;
    check_refused(CHECK_VALUE, "size", call, &job);
    job.size = 0;
    check_empty(call, &job);
}

static void bench(const struct activation * f)
{
    static const size_t sizes[] = {17, 100, 1000, 100000, 200704, 8000000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        const struct job job = declare(f, sizes[i], f->values[0], CHECK_RANDOM, 4, false);
        check_bench(call, &job, 0, 8.0 * (double)sizes[i]);
    }
}

CHECK_FAMILY(activation)
{
    static const float scales[] = {1, 10, 0x1p-20f, 100, 0x1p-126f, 0x1p19f};
    enum { SCALES = sizeof(scales) / sizeof(scales[0]) };
    for (size_t a = 0; a < ACTIVATIONS; ++a) {
        const struct activation * f = &activations[a];
        for (size_t size = 0; size <= 67; ++size)
            for (size_t fill = 0; fill < CHECK_FILLS; ++fill)
                check_at(f, size, f->values[(size + fill) % 4], (enum check_fill)fill, scales[size % SCALES]);
        for (size_t i = 0; i < VALUES; ++i)
            for (size_t fill = 0; fill < CHECK_FILLS; ++fill)
                for (size_t s = 0; s < SCALES; ++s)
                    check_at(f, 33, f->values[i], (enum check_fill)fill, scales[s]);
        for (size_t i = 0, n = check_count(40); i < n; ++i)
            check_at(f, check_random_size(5000), f->values[i % 4], (enum check_fill)check_random(0, CHECK_FILLS - 1),
                     scales[i % SCALES]);
        check_at(f, 30001, f->values[1], CHECK_RANDOM, 10); /* long enough for several threads */
        refusals(f);
        if (check_timed())
            bench(f);
    }
}
