/* Layouts: ConvertImage copies to the bit; SpecifyTensorFormat and TensorAlignment are tables. */
#include "check.h"

#define CONVERT "SimdSynetConvertImage"

enum { FORMATS = SimdTensorFormatNchw16c + 1 };

struct convert {
    size_t batch, channels, spatial;
    SimdTensorFormatType srcFormat, dstFormat;
};

static void convert(const void * job, void * context, void * const * a)
{
    const struct convert * p = job;
    (void)context;
    SimdSynetConvertImage(p->batch, p->channels, p->spatial, a[0], p->srcFormat, a[1], p->dstFormat);
}

static size_t elements(const struct convert * p, SimdTensorFormatType format)
{
    return p->batch * SimdAlign(p->channels, SimdSynetTensorAlignment(format)) * p->spatial;
}

static bool allowed(size_t from, size_t to)
{
    return from == to || from <= SimdTensorFormatNhwc || to <= SimdTensorFormatNhwc;
}

static struct convert convert_case(size_t batch, size_t channels, size_t spatial, size_t from, size_t to)
{
    const struct convert job = {batch, channels, spatial, (SimdTensorFormatType)from, (SimdTensorFormatType)to};
    check_case(CONVERT, "%s to %s batch=%zu channels=%zu spatial=%zu", check_format_name(job.srcFormat),
               check_format_name(job.dstFormat), batch, channels, spatial);
    /* Any bits, NaN with payloads among them. */
    check_in("src", CHECK_32I, elements(&job, job.srcFormat), CHECK_RANDOM);
    check_out("dst", CHECK_32I, elements(&job, job.dstFormat));
    return job;
}

static void check_convert(size_t batch, size_t channels, size_t spatial)
{
    for (size_t from = 0; from < FORMATS; ++from)
        for (size_t to = 0; to < FORMATS; ++to)
            if (allowed(from, to)) {
                const struct convert job = convert_case(batch, channels, spatial, from, to);
                check_run(convert, &job);
            }
}

static void refusals(void)
{
    struct convert job = convert_case(2, 3, 5, SimdTensorFormatNchw, SimdTensorFormatNhwc);
    const struct convert good = job;
    check_refused_null(convert, &job);
    for (int format = -2; format < 14; ++format)
        if (format < SimdTensorFormatNchw || format > SimdTensorFormatNchw16c) {
            job = good;
            job.srcFormat = (SimdTensorFormatType)format;
            check_refused(CHECK_VALUE, "srcFormat", convert, &job);
            job = good;
            job.dstFormat = (SimdTensorFormatType)format;
            check_refused(CHECK_VALUE, "dstFormat", convert, &job);
        }
    for (size_t from = 0; from < FORMATS; ++from)
        for (size_t to = 0; to < FORMATS; ++to)
            if (!allowed(from, to)) {
                job = (struct convert){2, 3, 5, (SimdTensorFormatType)from, (SimdTensorFormatType)to};
                check_refused(CHECK_VALUE, "dstFormat", convert, &job);
            }
    job = good;
    job.channels = SIZE_MAX;
    check_refused(CHECK_VALUE, "channels", convert, &job);
    for (int zero = 0; zero < 3; ++zero) {
        job = good;
        *(zero == 0 ? &job.batch : zero == 1 ? &job.channels : &job.spatial) = 0;
        check_empty(convert, &job);
    }
}

static void tables(void)
{
    static const size_t alignments[] = {0, 0, 1, 1, 4, 8, 16, 0, 1, 1, 4, 8, 16, 0, 0};
    for (int format = -2; format <= 12; ++format) {
        const SimdTensorFormatType f = (SimdTensorFormatType)format;
        check_that(SimdSynetTensorAlignment(f) == alignments[format + 2], "SimdSynetTensorAlignment", "%d", format);
        const bool open = f == SimdTensorFormatNchwXc || f == SimdTensorFormatOyxiXo;
        for (size_t i = 0; SimdnetIsaLevel(i); ++i) {
            SimdnetSetMaxIsa(SimdnetIsaLevel(i));
            const SimdTensorFormatType specific = SimdSynetSpecifyTensorFormat(f);
            check_that(open ? SimdSynetTensorAlignment(specific) == SimdAlignment() / 4 : specific == SimdTensorFormatUnknown,
                       "SimdSynetSpecifyTensorFormat", "%d on %s", format, SimdnetIsaLevel(i));
            check_that(!open || (specific >= SimdTensorFormatOiyx) == (f == SimdTensorFormatOyxiXo),
                       "SimdSynetSpecifyTensorFormat", "%d on %s: image or filter", format, SimdnetIsaLevel(i));
        }
        SimdnetSetMaxIsa(NULL);
    }
}

static void bench(void)
{
    static const size_t shapes[][2] = {{64, 3136}, {3, 50176}, {1, 50176}, {2, 50176}, {4, 50176}, {5, 10000}, {7, 10000},
                                       {8, 10000}, {12, 10000}, {13, 10000}, {16, 3136}, {17, 3136}, {256, 1024}, {512, 49}, {1000, 1}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i)
        for (size_t from = 0; from < FORMATS; ++from)
            for (size_t to = 0; to < FORMATS; ++to)
                if (allowed(from, to) && from != to) {
                    const struct convert job = convert_case(1, shapes[i][0], shapes[i][1], from, to);
                    check_bench(convert, &job, 0, 4.0 * (double)(elements(&job, job.srcFormat) + elements(&job, job.dstFormat)));
                }
}

void check_layout(void)
{
    for (size_t channels = 1; channels <= 34; ++channels)
        for (size_t spatial = 1; spatial <= 50; spatial += check_quick() ? 7 : channels % 3 + 1)
            check_convert(1 + spatial % 2, channels, spatial);
    for (size_t i = 0, n = check_count(30); i < n; ++i)
        check_convert(check_random(1, 3), check_random(1, 150), check_random(1, 150));
    check_convert(1, 3, 40000); /* more than one unit of work */
    check_convert(2, 70, 1000);
    refusals();
    tables();
    bench();
}
