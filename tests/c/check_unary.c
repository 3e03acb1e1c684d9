/* Unary operations. The error of exp and the like is at most 2 units in the last place; the others are exact except for NaN
 * payloads. */
#include "check.h"
#include "elementwise.h"

#define UNARY "SimdSynetUnaryOperation32fLayerForward"

#define NAME(NAME, Name, ...) [SimdSynetUnaryOperation32f##Name] = #Name,
static const char * const names[] = {SN_UNARY_OPERATIONS(NAME) NAME(TANH, Tanh, )};

/* In units in the last place; the others are exact. */
static const double errors[UNARY_OPERATIONS] = {
    [SimdSynetUnaryOperation32fExp] = 2, [SimdSynetUnaryOperation32fLog] = 2, [SimdSynetUnaryOperation32fRsqrt] = 2,
    [SimdSynetUnaryOperation32fTanh] = 2, [SimdSynetUnaryOperation32fCos] = 2, [SimdSynetUnaryOperation32fErf] = 2,
    [SimdSynetUnaryOperation32fSin] = 2,
};

struct job {
    size_t size;
    int type;
    bool in_place;
};

static void call(const void * argument, void * context, void * const * a)
{
    const struct job * job = argument;
    (void)context;
    SimdSynetUnaryOperation32fLayerForward(a[0], job->size, (SimdSynetUnaryOperation32fType)job->type,
                                           a[job->in_place ? 0 : 1]);
}

/* Declares a case; src is multiplied by `by`, and made positive for operations that are defined only there. */
static struct job declare(int type, size_t size, enum check_fill fill, float by, bool in_place)
{
    check_case(UNARY, "%s size=%zu %s by=%g%s", names[type], size, check_fill_name(fill), (double)by,
               in_place ? " in place" : "");
    float * src = (in_place ? check_inout : check_in)("src", CHECK_32F, size, fill);
    const bool positive = type == SimdSynetUnaryOperation32fLog || type == SimdSynetUnaryOperation32fRsqrt ||
                          type == SimdSynetUnaryOperation32fSqrt;
    for (size_t i = 0; i < size; ++i)
        src[i] = positive && i % 16 ? fabsf(src[i] * by) : src[i] * by;
    if (!in_place)
        check_out("dst", CHECK_32F, size);
    if (errors[type] > 0)
        check_ulp(errors[type]);
    else
        check_exact(CHECK_NAN_FREE);
    /* of numbers for which it has no result, or too large a one */
    if (positive || type == SimdSynetUnaryOperation32fExp || type == SimdSynetUnaryOperation32fRcp)
        check_raises_like_base();
    return (struct job){size, type, in_place};
}

static void check_at(int type, size_t size, enum check_fill fill, float by)
{
    for (int in_place = 0; in_place < 2; ++in_place) {
        const struct job job = declare(type, size, fill, by, in_place);
        check_run(call, &job);
    }
}

static void refusals(void)
{
    struct job job = declare(SimdSynetUnaryOperation32fExp, 7, CHECK_RANDOM, 1, false);
    check_refused_null(call, &job);
    check_refused_overlap(true, call, &job);
    job.size = SIZE_MAX / 4;
    check_refused(CHECK_VALUE, "size", call, &job);
    for (int bad = 0; bad < 3; ++bad) {
        job = declare(SimdSynetUnaryOperation32fExp, 7, CHECK_RANDOM, 1, false);
        job.type = (const int[]){-1, UNARY_OPERATIONS, 1000000}[bad];
        check_refused(CHECK_VALUE, "type", call, &job);
        job.size = 0; /* even if there is nothing to do */
        check_refused(CHECK_VALUE, "type", call, &job);
    }
    job = (struct job){0, SimdSynetUnaryOperation32fZero, false};
    check_empty(call, &job);
}

static void bench(int type)
{
    static const size_t sizes[] = {17, 100, 1000, 100000, 200704, 8000000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        const struct job job = declare(type, sizes[i], CHECK_RANDOM, 4, false);
        check_bench(call, &job, 0, 8.0 * (double)sizes[i]);
    }
}

CHECK_FAMILY(unary)
{
    static const float scales[] = {1, 10, 0x1p-20f, 100, 0x1p-126f, 0x1p100f};
    for (int type = 0; type < UNARY_OPERATIONS; ++type) {
        for (size_t size = 0; size <= 67; ++size)
            for (int fill = 0; fill < CHECK_FILLS; ++fill)
                check_at(type, size, (enum check_fill)fill, scales[(size + (size_t)fill) % 6]);
        for (size_t i = 0, n = check_count(60); i < n; ++i)
            check_at(type, check_random_size(5000), (enum check_fill)check_random(0, CHECK_FILLS - 1), scales[i % 6]);
        check_at(type, 30001, CHECK_RANDOM, 10); /* long enough for several threads */
        if (check_timed())
            bench(type);
    }
    refusals();
}
