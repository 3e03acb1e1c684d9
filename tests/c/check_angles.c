/* Functions of angles, hyperbolic ones and the inverses of both: the error is at most 4 units in the last place. */
#include "check.h"
#include "elementwise.h"

#define NAME(NAME, Name, ...) {SimdnetPixelwise##Name, #Name},
static const struct {
    SimdnetPixelwiseFunction function;
    const char * name;
} angles[] = {SN_ANGLES(NAME)};

enum { ANGLES = sizeof(angles) / sizeof(angles[0]) };

struct job {
    size_t size;
    SimdnetPixelwiseFunction function;
    bool in_place;
};

static void call(const void * argument, void * context, void * const * a)
{
    const struct job * job = argument;
    (void)context;
    SimdnetPixelwise(&(SimdnetPixelwiseParameters){.size = sizeof(SimdnetPixelwiseParameters), .function = job->function,
        .src = a[0], .dst = a[job->in_place ? 0 : 1], .channels = job->size, .pixels = 1});
}

/* Declares a case; src is multiplied by `by`. */
static struct job declare(size_t i, size_t size, enum check_fill fill, float by, bool in_place)
{
    check_case("SimdnetPixelwise", "%s size=%zu %s by=%g%s", angles[i].name, size, check_fill_name(fill), (double)by,
               in_place ? " in place" : "");
    float * src = (in_place ? check_inout : check_in)("src", CHECK_32F, size, fill);
    for (size_t k = 0; k < size; ++k)
        src[k] *= by;
    if (!in_place)
        check_out("dst", CHECK_32F, size);
    check_ulp(4);
    check_raises_like_base(); /* of numbers for which there is no result, or too large a one */
    return (struct job){size, angles[i].function, in_place};
}

CHECK_FAMILY(angles)
{
    static const float scales[] = {1, 10, 0x1p-20f, 100, 0x1p-126f, 0x1p100f};
    for (size_t i = 0; i < ANGLES; ++i) {
        for (size_t size = 0; size <= 67; ++size)
            for (int fill = 0; fill < CHECK_FILLS; ++fill) {
                const struct job job =
                    declare(i, size, (enum check_fill)fill, scales[(size + (size_t)fill) % 6], size % 2);
                check_run(call, &job);
            }
        for (size_t n = check_count(60), k = 0; k < n; ++k) {
            const struct job job =
                declare(i, check_random_size(5000), (enum check_fill)check_random(0, CHECK_FILLS - 1), scales[k % 6], k % 2);
            check_run(call, &job);
        }
        const struct job job = declare(i, 30001, CHECK_RANDOM, 10, false); /* long enough for several threads */
        check_run(call, &job);
        if (check_timed())
            check_bench(call, &job, 0, 8.0 * (double)job.size);
    }
}
