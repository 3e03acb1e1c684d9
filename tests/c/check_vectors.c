/* Functions of vectors. Powers: at most 2 units in the last place; a sum: (size + 3) * eps * sum |a * b|, for any order. */
#include "check.h"

#define FILL "SimdFill32f"
#define MULTIPLIED "SimdNeuralAddVectorMultipliedByValue"
#define POW "SimdNeuralPow"
#define VALUE "SimdNeuralAddValue"
#define SUM "SimdNeuralProductSum"

struct vectors {
    size_t size;
    bool other; /* value NULL, or in place */
};

static void fill(const void * job, void * context, void * const * a)
{
    const struct vectors * p = job;
    (void)context;
    SimdFill32f(a[1], p->size, p->other ? NULL : a[0]);
}

static void multiplied(const void * job, void * context, void * const * a)
{
    const struct vectors * p = job;
    (void)context;
    SimdNeuralAddVectorMultipliedByValue(a[p->other ? 1 : 2], p->size, a[0], a[1]);
}

static void raise(const void * job, void * context, void * const * a)
{
    const struct vectors * p = job;
    (void)context;
    SimdNeuralPow(a[1], p->size, a[0], a[p->other ? 1 : 2]);
}

static void add(const void * job, void * context, void * const * a)
{
    const struct vectors * p = job;
    (void)context;
    SimdNeuralAddValue(a[0], a[1], p->size);
}

static void sum(const void * job, void * context, void * const * a)
{
    const struct vectors * p = job;
    (void)context;
    SimdNeuralProductSum(a[0], a[1], p->size, a[2]);
}

static void number(const char * name, float value)
{
    float * x = check_in(name, CHECK_32F, 1, CHECK_ZERO);
    *x = value;
}

/* Each declares the arrays of a case; false if it is left out. */

static bool fill_case(const struct vectors * p, float value)
{
    if (!check_case(FILL, "size=%zu value=%g%s", p->size, (double)value, p->other ? " NULL" : ""))
        return false;
    number("value", value);
    check_optional();
    check_out("dst", CHECK_32F, p->size);
    return true;
}

static bool multiplied_case(const struct vectors * p, float value, enum check_fill content)
{
    if (!check_case(MULTIPLIED, "size=%zu value=%g %s%s", p->size, (double)value, check_fill_name(content),
                    p->other ? " in place" : ""))
        return false;
    number("value", value);
    const float * dst = check_inout("dst", CHECK_32F, p->size, content);
    double * bound = check_bound();
    for (size_t i = 0; i < p->size; ++i) {
        const double terms = fabs((double)dst[i]) * (1 + fabs((double)value)) + fabs((double)value);
        bound[i] = isfinite(terms) ? FLT_EPSILON * terms + 0x1p-148 : 0;
    }
    if (!p->other)
        check_in("src", CHECK_32F, p->size, CHECK_RANDOM);
    return true;
}

static bool pow_case(const struct vectors * p, float exponent, enum check_fill content)
{
    if (!check_case(POW, "size=%zu exponent=%g %s%s", p->size, (double)exponent, check_fill_name(content),
                    p->other ? " in place" : ""))
        return false;
    number("exponent", exponent);
    if (p->other)
        check_inout("src", CHECK_32F, p->size, content);
    else
        check_in("src", CHECK_32F, p->size, content);
    if (!p->other)
        check_out("dst", CHECK_32F, p->size);
    check_ulp(2);
    check_raises_like_base();
    return true;
}

static bool value_case(const struct vectors * p, float value, enum check_fill content)
{
    if (!check_case(VALUE, "size=%zu value=%g %s", p->size, (double)value, check_fill_name(content)))
        return false;
    number("value", value);
    check_inout("dst", CHECK_32F, p->size, content);
    check_exact(CHECK_NAN_FREE);
    return true;
}

static bool sum_case(const struct vectors * p, enum check_fill content)
{
    if (!check_case(SUM, "size=%zu %s", p->size, check_fill_name(content)))
        return false;
    const float * a = check_in("a", CHECK_32F, p->size, content), * b = check_in("b", CHECK_32F, p->size, CHECK_RANDOM);
    double all = 0;
    for (size_t i = 0; i < p->size; ++i)
        all += fabs((double)a[i] * (double)b[i]);
    check_out("sum", CHECK_32F, 1);
    const double terms = (double)p->size;
    check_bound()[0] = isfinite(all) ? (terms + 3) * FLT_EPSILON * all + terms * 0x1p-149 : INFINITY;
    return true;
}

static void check_at(size_t size, size_t turn)
{
    static const float exponents[] = {2, 0.5f, -1, 0, 3, -2.5f, 0.3333333f, 17};
    const enum check_fill content = (enum check_fill)(turn % CHECK_FILLS);
    const struct vectors job = {size, turn % 3 == 0};
    if (fill_case(&job, turn % 2 ? -0.0f : 2.5f))
        check_run(fill, &job);
    if (multiplied_case(&job, turn % 5 ? -0.3f : 0, content))
        check_run(multiplied, &job);
    if (pow_case(&job, exponents[turn % 8], content)) {
        if (content == CHECK_LARGE || content == CHECK_DENORMAL)
            check_raises();
        check_run(raise, &job);
    }
    if (value_case(&job, turn % 5 ? -0.3f : 1e30f, content))
        check_run(add, &job);
    if (sum_case(&job, content))
        check_run(sum, &job);
}

static void refusals(void)
{
    const struct vectors job = {7, false}, empty = {0, false}, large = {SIZE_MAX / 4, false};
    struct {
        check_call_fn call;
        bool in_place, overlap, nothing;
    } functions[] = {{fill, false, false, true}, {multiplied, true, true, true}, {raise, true, true, true},
                     {add, false, false, true}, {sum, false, true, false}};
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); ++i) {
        (void)(i == 0   ? fill_case(&job, 1)
               : i == 1 ? multiplied_case(&job, 2, CHECK_RANDOM)
               : i == 2 ? pow_case(&job, 2, CHECK_RANDOM)
               : i == 3 ? value_case(&job, 2, CHECK_RANDOM)
                        : sum_case(&job, CHECK_RANDOM));
        check_refused_null(functions[i].call, &job);
        check_refused(CHECK_VALUE, "size", functions[i].call, &large);
        if (functions[i].overlap)
            check_refused_overlap(functions[i].in_place, functions[i].call, &job);
        if (functions[i].nothing)
            check_empty(functions[i].call, &empty);
    }
}

static void bench(void)
{
    static const size_t sizes[] = {100, 10000, 1000000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        const struct vectors job = {sizes[i], false};
        fill_case(&job, 1);
        check_bench(fill, &job, 0, 4.0 * (double)job.size);
        multiplied_case(&job, 2, CHECK_RANDOM);
        check_bench(multiplied, &job, 0, 12.0 * (double)job.size);
        pow_case(&job, 0.3f, CHECK_RANDOM);
        check_bench(raise, &job, 0, 8.0 * (double)job.size);
        sum_case(&job, CHECK_RANDOM);
        check_bench(sum, &job, 0, 8.0 * (double)job.size);
    }
}

CHECK_FAMILY(vectors)
{
    size_t turn = 0;
    for (size_t size = 0; size <= 67; ++size)
        for (size_t i = 0; i < CHECK_FILLS; ++i, ++turn)
            check_at(size, turn);
    for (size_t i = 0, n = check_count(60); i < n; ++i, ++turn)
        check_at(check_random_size(5000), turn);
    for (size_t i = 0; i < 3; ++i, ++turn)
        check_at(40001, turn); /* long enough for several threads */
    refusals();
    if (check_timed())
        bench();
}
