/* Shuffle: an exact copy. */
#include "check.h"

#define SHUFFLE "SimdSynetShuffleLayerForward"

struct shuffle {
    size_t srcC0, srcC1, spatial, dstC;
    SimdTensorFormatType format;
};

static void shuffle(const void * job, void * context, void * const * a)
{
    const struct shuffle * p = job;
    (void)context;
    SimdSynetShuffleLayerForward(a[0], p->srcC0, a[1], p->srcC1, p->spatial, a[2], a[3], p->dstC, p->format);
}

static struct shuffle shuffle_case(size_t srcC0, size_t srcC1, size_t spatial, SimdTensorFormatType format)
{
    const struct shuffle job = {srcC0, srcC1, spatial, (srcC0 + srcC1) / 2, format};
    check_case(SHUFFLE, "%s srcC0=%zu srcC1=%zu spatial=%zu", check_format_name(format), srcC0, srcC1, spatial);
    check_in("src0", CHECK_32I, srcC0 * spatial, CHECK_RANDOM);
    check_in("src1", CHECK_32I, srcC1 * spatial, CHECK_RANDOM);
    check_out("dst0", CHECK_32I, job.dstC * spatial);
    check_out("dst1", CHECK_32I, job.dstC * spatial);
    return job;
}

static void check_shuffle_at(size_t srcC0, size_t srcC1, size_t spatial, size_t format)
{
    const struct shuffle job = shuffle_case(srcC0, srcC1, spatial, (SimdTensorFormatType)format);
    check_run(shuffle, &job);
}

static void refusals(void)
{
    struct shuffle job = shuffle_case(6, 4, 5, SimdTensorFormatNhwc);
    const struct shuffle good = job;
    check_refused_null(shuffle, &job);
    check_refused_overlap(false, shuffle, &job);
    for (int format = -2; format < 14; ++format)
        if (format != SimdTensorFormatNchw && format != SimdTensorFormatNhwc) {
            job = good;
            job.format = (SimdTensorFormatType)format;
            check_refused(CHECK_VALUE, "format", shuffle, &job);
        }
    job = good;
    job.srcC0 = 5;
    check_refused(CHECK_VALUE, "srcC0", shuffle, &job);
    job = good;
    job.srcC1 = 3;
    check_refused(CHECK_VALUE, "srcC1", shuffle, &job);
    job = good;
    job.dstC = 10;
    check_refused(CHECK_VALUE, "dstC is 10, expected half of srcC0 + srcC1, 5", shuffle, &job);
    job = good;
    job.spatial = SIZE_MAX / 2;
    check_refused(CHECK_VALUE, "spatial", shuffle, &job);
    job = good;
    job.spatial = 0;
    check_empty(shuffle, &job);
    job = (struct shuffle){0, 0, 5, 0, SimdTensorFormatNchw};
    check_empty(shuffle, &job);
}

/* Aim: the speed of a copy. */
static void bench(void)
{
    static const size_t shapes[][3] = {{64, 64, 3136}, {116, 116, 784}, {232, 232, 196}, {464, 464, 49}, {24, 24, 3136},
                                       {2, 2, 10000},  {4, 4, 10000},   {2, 6, 10000},   {6, 10, 5000},  {14, 18, 5000},
                                       {32, 32, 5000}, {34, 30, 5000},  {1000, 1000, 1}, {1000, 1000, 2}, {1000, 1000, 7}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i)
        for (size_t format = 0; format < 2; ++format) {
            const struct shuffle job = shuffle_case(shapes[i][0], shapes[i][1], shapes[i][2], (SimdTensorFormatType)format);
            check_bench(shuffle, &job, 0, 16.0 * (double)(job.dstC * job.spatial));
        }
}

CHECK_FAMILY(shuffle)
{
    const size_t rest = check_quick() ? 5 : 1;
    for (size_t srcC0 = 0; srcC0 <= 134; srcC0 += 2 * rest)
        for (size_t spatial = 1; spatial <= 67; spatial += rest) {
            const size_t srcC1 = (srcC0 * 7 + spatial * 10) % 138;
            check_shuffle_at(srcC0, srcC1, spatial, (srcC0 / 2 + spatial) % 2);
        }
    for (size_t srcC0 = 0; srcC0 <= 34; srcC0 += 2)
        for (size_t srcC1 = 0; srcC1 <= 34; srcC1 += 2 * rest)
            if (srcC0 + srcC1) {
                check_shuffle_at(srcC0, srcC1, 1 + (srcC0 + srcC1) % 41, 1);
                check_shuffle_at(srcC0, srcC1, 1 + (srcC0 + srcC1) % 41, 0);
            }
    for (size_t i = 0, n = check_count(60); i < n; ++i)
        check_shuffle_at(2 * check_random(0, 40), 2 * check_random(1, 40), check_random_size(200), i % 2);
    for (size_t format = 0; format < 2; ++format) {
        check_shuffle_at(100, 60, 1000, format); /* more than one unit of work */
        check_shuffle_at(2, 4, 20000, format);
    }
    refusals();
    if (check_timed())
        bench();
}
