/* Sums of channels. The bound is that of additions in any order. */
#include "check.h"

#define CHANNEL_SUM "SimdSynetChannelSum16b"

struct sums {
    size_t channels, spatial;
    SimdTensorFormatType format;
};

static void sums(const void * job, void * context, void * const * a)
{
    const struct sums * s = job;
    (void)context;
    SimdSynetChannelSum16b(a[0], s->channels, s->spatial, s->format, a[1]);
}

static void set_bounds(const struct sums * s, const uint16_t * src, double * bound)
{
    const bool nhwc = s->format == SimdTensorFormatNhwc;
    for (size_t c = 0; c < s->channels; ++c) {
        double sum = 0;
        for (size_t i = 0; i < s->spatial; ++i)
            sum += fabs((double)sn_16b_to_32f(src[nhwc ? i * s->channels + c : c * s->spatial + i]));
        bound[c] = isfinite(sum) ? (double)(s->spatial + 1) * 0x1p-24 * sum : 0;
    }
}

static void check_sums(size_t channels, size_t spatial, enum check_fill fill)
{
    for (int format = SimdTensorFormatNchw; format <= SimdTensorFormatNhwc; ++format) {
        const struct sums job = {channels, spatial, (SimdTensorFormatType)format};
        if (!check_case(CHANNEL_SUM, "%s channels=%zu spatial=%zu %s", check_format_name(job.format), channels, spatial,
                        check_fill_name(fill)))
            continue;
        const uint16_t * src = check_in("src", CHECK_16B, channels * spatial, fill);
        check_out("sum", CHECK_32F, channels);
        set_bounds(&job, src, check_bound());
        check_run(sums, &job);
    }
}

static void refusals(void)
{
    struct sums job = {4, 6, SimdTensorFormatNhwc};
    const struct sums good = job;
    check_case(CHANNEL_SUM, "refusals");
    check_in("src", CHECK_16B, 24, CHECK_RANDOM);
    check_out("sum", CHECK_32F, 4);
    check_refused_null(sums, &job);
    check_refused_overlap(false, sums, &job);
    for (int format = -2; format < 14; ++format) {
        job.format = (SimdTensorFormatType)format;
        if (format != SimdTensorFormatNchw && format != SimdTensorFormatNhwc)
            check_refused(CHECK_VALUE, "format", sums, &job);
    }
    job = good;
    job.spatial = SIZE_MAX / 4;
    check_refused(CHECK_VALUE, "spatial", sums, &job);
    job = good;
    job.spatial = 0;
    job.channels = SIZE_MAX - 4;
    check_refused(CHECK_VALUE, "channels", sums, &job);
    job = good;
    job.channels = 0;
    check_empty(sums, &job);
    float sum[2] = {1, 2};
    SimdSynetChannelSum16b(NULL, 2, 0, SimdTensorFormatNhwc, sum);
    check_that(SimdnetLastErrorKind() == 0 && sum[0] == 0 && sum[1] == 0, CHANNEL_SUM, "sums of nothing");
}

static void bench(void)
{
    static const size_t shapes[][2] = {{64, 3136}, {256, 196}, {1024, 49}, {3, 50176}, {16, 12544}};
    for (size_t i = 0; i < 2 * sizeof(shapes) / sizeof(shapes[0]); ++i) {
        const struct sums job = {shapes[i / 2][0], shapes[i / 2][1], (SimdTensorFormatType)(i % 2)};
        check_case(CHANNEL_SUM, "%s channels=%zu spatial=%zu", check_format_name(job.format), job.channels, job.spatial);
        check_in("src", CHECK_16B, job.channels * job.spatial, CHECK_RANDOM);
        check_out("sum", CHECK_32F, job.channels);
        check_bench(sums, &job, 0, 2.0 * (double)(job.channels * job.spatial));
    }
}

CHECK_FAMILY(channel_sum)
{
    for (size_t i = 1; i <= 70; ++i) {
        check_sums(i, 1 + 3 * i % 67, (enum check_fill)(i % CHECK_FILLS));
        check_sums(1 + i % 9, i, (enum check_fill)((i + 1) % CHECK_FILLS));
        check_sums(60 + i, 1 + i % 11, (enum check_fill)((i + 2) % CHECK_FILLS));
    }
    check_sums(3, 50000, CHECK_RANDOM);
    check_sums(300, 1000, CHECK_RANDOM);
    check_sums(5000, 7, CHECK_RANDOM);
    for (size_t i = 0, n = check_count(60); i < n; ++i)
        check_sums(check_random_size(300), check_random_size(300), (enum check_fill)check_random(0, CHECK_FILLS - 1));
    refusals();
    if (check_timed())
        bench();
}
