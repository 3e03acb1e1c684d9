/* Layouts: ConvertImage and ConvertFilter copy exactly; SpecifyTensorFormat and TensorAlignment are tables. */
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
    /* Any bits, including NaN with payloads. */
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
    check_refused_overlap(false, convert, &job);
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

/* ---- filters */

#define FILTER "SimdSynetConvertFilter"

struct filter {
    size_t output, input, kernel;
    SimdTensorFormatType srcFormat, dstFormat;
};

static void convert_filter(const void * job, void * context, void * const * a)
{
    const struct filter * p = job;
    (void)context;
    SimdSynetConvertFilter(p->output, p->input, p->kernel, a[0], p->srcFormat, a[1], p->dstFormat);
}

static size_t filter_elements(const struct filter * p, SimdTensorFormatType format)
{
    return SimdAlign(p->output, SimdSynetTensorAlignment(format)) * p->input * p->kernel;
}

static const SimdTensorFormatType filter_format[] = {SimdTensorFormatOiyx, SimdTensorFormatYxio, SimdTensorFormatOyxi4o,
                                                     SimdTensorFormatOyxi8o, SimdTensorFormatOyxi16o};
static const char * const filter_name[] = {"oiyx", "yxio", "oyxi4o", "oyxi8o", "oyxi16o"};

static struct filter filter_case(size_t output, size_t input, size_t kernel, size_t from, size_t to)
{
    const struct filter job = {output, input, kernel, filter_format[from], filter_format[to]};
    check_case(FILTER, "%s to %s output=%zu input=%zu kernel=%zu", filter_name[from], filter_name[to], output, input,
               kernel);
    check_in("src", CHECK_32I, filter_elements(&job, job.srcFormat), CHECK_RANDOM);
    check_out("dst", CHECK_32I, filter_elements(&job, job.dstFormat));
    return job;
}

static void check_filter(size_t output, size_t input, size_t kernel, size_t turn, size_t step)
{
    for (size_t pair = turn; pair < FORMATS * FORMATS; pair += step)
        if (allowed(pair / FORMATS, pair % FORMATS)) {
            const struct filter job = filter_case(output, input, kernel, pair / FORMATS, pair % FORMATS);
            check_run(convert_filter, &job);
        }
}

static void filters(void)
{
    static const size_t kernels[] = {1, 9, 3, 25, 4, 2, 49};
    const size_t rest = check_quick() ? 5 : 1;
    for (size_t output = 1; output <= 67; output += rest)
        for (size_t input = 1; input <= 67; input += rest) /* 7 and 4 are coprime: all pairs with all kernels */
            check_filter(output, input, kernels[(output + input) % 7], (output * 3 + input) % 4, 4 * (input > 17 ? 4 : 1));
    for (size_t i = 0, n = check_count(30); i < n; ++i)
        check_filter(check_random_size(100), check_random_size(100), check_random(1, 12), i % 4, 4);
    check_filter(40, 512, 9, 0, 1); /* more than one unit of work */
    struct filter job = filter_case(5, 3, 9, 0, 1);
    const struct filter good = job;
    check_refused_null(convert_filter, &job);
    check_refused_overlap(false, convert_filter, &job);
    for (int format = -2; format < 14; ++format)
        if (format < SimdTensorFormatOiyx || format > SimdTensorFormatOyxi16o) {
            job = good;
            job.srcFormat = (SimdTensorFormatType)format;
            check_refused(CHECK_VALUE, "srcFormat", convert_filter, &job);
            job = good;
            job.dstFormat = (SimdTensorFormatType)format;
            check_refused(CHECK_VALUE, "dstFormat", convert_filter, &job);
        }
    for (size_t pair = 0; pair < FORMATS * FORMATS; ++pair)
        if (!allowed(pair / FORMATS, pair % FORMATS)) {
            job = (struct filter){5, 3, 9, filter_format[pair / FORMATS], filter_format[pair % FORMATS]};
            check_refused(CHECK_VALUE, "dstFormat", convert_filter, &job);
        }
    job = good;
    job.output = SIZE_MAX;
    check_refused(CHECK_VALUE, "output", convert_filter, &job);
    for (int zero = 0; zero < 3; ++zero) {
        job = good;
        *(zero == 0 ? &job.output : zero == 1 ? &job.input : &job.kernel) = 0;
        check_empty(convert_filter, &job);
    }
}

static void bench_filters(void)
{
    static const size_t shapes[][3] = {{64, 64, 9}, {512, 512, 9}, {256, 256, 1}, {64, 3, 49}, {32, 3, 9},
                                       {21, 21, 16}, {96, 1, 9}, {1000, 1280, 1}, {7, 64, 9}, {3, 64, 9}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i)
        for (size_t pair = 0; pair < FORMATS * FORMATS; ++pair)
            if (allowed(pair / FORMATS, pair % FORMATS) && pair / FORMATS != pair % FORMATS) {
                const size_t * s = shapes[i];
                const struct filter job = filter_case(s[0], s[1], s[2], pair / FORMATS, pair % FORMATS);
                check_bench(convert_filter, &job, 0,
                            4.0 * (double)(filter_elements(&job, job.srcFormat) + filter_elements(&job, job.dstFormat)));
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
            const bool right = open ? SimdSynetTensorAlignment(specific) == SimdAlignment() / 4
                                    : specific == SimdTensorFormatUnknown;
            check_that(right, "SimdSynetSpecifyTensorFormat", "%d on %s", format, SimdnetIsaLevel(i));
            check_that(!open || (specific >= SimdTensorFormatOiyx) == (f == SimdTensorFormatOyxiXo),
                       "SimdSynetSpecifyTensorFormat", "%d on %s: image or filter", format, SimdnetIsaLevel(i));
        }
        SimdnetSetMaxIsa(NULL);
    }
}

static void bench(void)
{
    static const size_t shapes[][2] = {{64, 3136}, {3, 50176}, {1, 50176},  {2, 50176},  {4, 50176},
                                       {5, 10000},  {7, 10000}, {8, 10000},  {12, 10000}, {13, 10000},
                                       {16, 3136},  {17, 3136}, {256, 1024}, {512, 49},   {1000, 1}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i)
        for (size_t from = 0; from < FORMATS; ++from)
            for (size_t to = 0; to < FORMATS; ++to)
                if (allowed(from, to) && from != to) {
                    const struct convert job = convert_case(1, shapes[i][0], shapes[i][1], from, to);
                    const size_t moved = elements(&job, job.srcFormat) + elements(&job, job.dstFormat);
                    check_bench(convert, &job, 0, 4.0 * (double)moved);
                }
}

CHECK_FAMILY(layout)
{
    for (size_t channels = 1; channels <= 34; ++channels)
        for (size_t spatial = 1; spatial <= 50; spatial += check_quick() ? 7 : channels % 3 + 1)
            check_convert(1 + spatial % 2, channels, spatial);
    for (size_t i = 0, n = check_count(30); i < n; ++i)
        check_convert(check_random(1, 3), check_random_size(150), check_random_size(150));
    check_convert(1, 3, 40000); /* more than one unit of work */
    check_convert(2, 70, 1000);
    refusals();
    filters();
    tables();
    if (check_timed()) {
        bench();
        bench_filters();
    }
}
