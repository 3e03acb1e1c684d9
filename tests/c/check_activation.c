/*
 * Activations. Relu, Hswish, RestrictRange and HardSigmoid are exact except for NaN payloads; the error of the others is at
 * most some units in the last place.
 */
#include "check.h"
#include "elementwise.h"

enum { VALUES = 6 };

/* What is checked of each function. */
static const struct expected {
    double ulp; /* 0: exact */
    float values[VALUES][2]; /* of its parameters */
} expected[] = {
    [SN_RELU] = {0, {{0}, {0.1f}, {-2}, {1}, {INFINITY}, {NAN}}},
    [SN_ELU] = {2, {{1}, {0.1f}, {-1.7f}, {0}, {3e30f}, {1e-38f}}},
    [SN_HSWISH] = {0, {{3, 1 / 6.0f}, {0, 1}, {-1, 2}, {0.5f, -0.1f}, {INFINITY, 1}, {NAN, 1}}},
    [SN_RESTRICT_RANGE] = {0, {{0, 6}, {-0.5f, 0.5f}, {0, 0}, {1, -1}, {-INFINITY, INFINITY}, {-1e30f, 1e-40f}}},
    [SN_SIGMOID] = {2, {{1}, {0.3f}, {-1}, {0}, {1e20f}, {NAN}}},
    [SN_SOFTPLUS] = {2, {{1, 20}, {0.7f, 1}, {-1, 0}, {3, INFINITY}, {1e-20f, -1}, {1, NAN}}},
    [SN_TANH] = {2, {{1}, {0.3f}, {-1}, {0}, {1e20f}, {NAN}}},
    [SN_SWISH] = {3, {{1}, {0.3f}, {-1}, {0}, {1e20f}, {NAN}}},
    [SN_MISH] = {5, {{20}, {1}, {-1}, {INFINITY}, {1e-20f}, {NAN}}},
    [SN_HARD_SIGMOID] = {0, {{1 / 6.0f, 0.5f}, {0.2f, 0.5f}, {-1, 2}, {0, 0}, {INFINITY, 0.5f}, {NAN, 1}}},
    [SN_GELU] = {4, {{0}}},
};

_Static_assert(sizeof(expected) / sizeof(expected[0]) == ACTIVATIONS, "a function has no line");

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
    activate(job->activation, arrays[0], job->size, names[0] ? a[0] : NULL, names[1] ? a[1] : NULL,
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
    if (expected[f - activations].ulp > 0)
        check_ulp(expected[f - activations].ulp);
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
    struct job job = declare(f, 7, expected[f - activations].values[0], CHECK_RANDOM, 1, false);
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
        const struct job job = declare(f, sizes[i], expected[f - activations].values[0], CHECK_RANDOM, 4, false);
        check_bench(call, &job, 0, 8.0 * (double)sizes[i]);
    }
}

CHECK_FAMILY(activation)
{
    static const float scales[] = {1, 10, 0x1p-20f, 100, 0x1p-126f, 0x1p19f};
    enum { SCALES = sizeof(scales) / sizeof(scales[0]) };
    for (size_t a = 0; a < ACTIVATIONS; ++a) {
        const struct activation * f = &activations[a];
        const float (*const values)[2] = expected[a].values;
        for (size_t size = 0; size <= 67; ++size)
            for (size_t fill = 0; fill < CHECK_FILLS; ++fill)
                check_at(f, size, values[(size + fill) % 4], (enum check_fill)fill, scales[size % SCALES]);
        for (size_t i = 0; i < VALUES; ++i)
            for (size_t fill = 0; fill < CHECK_FILLS; ++fill)
                for (size_t s = 0; s < SCALES; ++s)
                    check_at(f, 33, values[i], (enum check_fill)fill, scales[s]);
        for (size_t i = 0, n = check_count(40); i < n; ++i)
            check_at(f, check_random_size(5000), values[i % 4], (enum check_fill)check_random(0, CHECK_FILLS - 1),
                     scales[i % SCALES]);
        check_at(f, 30001, values[1], CHECK_RANDOM, 10); /* long enough for several threads */
        refusals(f);
        if (check_timed())
            bench(f);
    }
}
