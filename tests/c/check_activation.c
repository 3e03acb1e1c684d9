/* Relu32f: exact but for NaN payloads. The model for other families. */
#include "check.h"

#define RELU "SimdSynetRelu32f"

struct relu {
    size_t size;
    float slope;
    bool no_slope;
};

static void relu(const void * job, void * context, void * const * a)
{
    const struct relu * r = job;
    (void)context;
    SimdSynetRelu32f(a[0], r->size, r->no_slope ? NULL : &r->slope, a[1]);
}

static void relu_in_place(const void * job, void * context, void * const * a)
{
    const struct relu * r = job;
    (void)context;
    SimdSynetRelu32f(a[0], r->size, &r->slope, a[0]);
}

static struct relu relu_case(size_t size, float slope, enum check_fill fill)
{
    check_case(RELU, "size=%zu slope=%g %s", size, (double)slope, check_fill_name(fill));
    check_in("src", CHECK_32F, size, fill);
    check_out("dst", CHECK_32F, size);
    check_exact(CHECK_NAN_FREE);
    return (struct relu){size, slope, false};
}

static void check_relu(size_t size, float slope, enum check_fill fill)
{
    const struct relu job = relu_case(size, slope, fill);
    check_run(relu, &job);
    check_case(RELU, "size=%zu slope=%g %s in place", size, (double)slope, check_fill_name(fill));
    check_inout("src", CHECK_32F, size, fill);
    check_exact(CHECK_NAN_FREE);
    check_run(relu_in_place, &job);
}

static void refusals(void)
{
    struct relu job = relu_case(7, 0.5f, CHECK_RANDOM);
    check_refused_null(relu, &job);
    job.no_slope = true;
    check_refused(CHECK_VALUE, "slope", relu, &job);
    job = relu_case(7, 0.5f, CHECK_RANDOM);
    job.size = SIZE_MAX / 4;
    check_refused(CHECK_VALUE, "size", relu, &job);
    job.no_slope = true;
    job.size = 0;
    check_empty(relu, &job);
}

static void bench(void)
{
    const size_t sizes[] = {1000, 100000, 200704, 3000000, 8000000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        const struct relu job = relu_case(sizes[i], 0.1f, CHECK_RANDOM);
        check_bench(relu, &job, 0, 8.0 * (double)sizes[i]);
    }
}

void check_activation(void)
{
    const float slopes[] = {0.0f, 0.1f, -2.0f, 1.0f, INFINITY, NAN};
    for (size_t size = 0; size <= 67; ++size)
        for (int fill = 0; fill < CHECK_FILLS; ++fill)
            check_relu(size, slopes[(size + (size_t)fill) % 4], (enum check_fill)fill);
    for (size_t i = 0; i < sizeof(slopes) / sizeof(slopes[0]); ++i)
        for (int fill = 0; fill < CHECK_FILLS; ++fill)
            check_relu(33, slopes[i], (enum check_fill)fill);
    for (size_t i = 0, n = check_count(50); i < n; ++i)
        check_relu(check_random(68, 5000), check_random_32f(-2, 2), (enum check_fill)check_random(0, CHECK_FILLS - 1));
    refusals();
    bench();
}
