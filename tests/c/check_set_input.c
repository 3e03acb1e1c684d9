/* SetInput: exact. The array ends with the last byte of the last pixel, without padding of that row. */
#include "check.h"

#define SET_INPUT "SimdSynetSetInput"

struct set_input {
    size_t width, height, stride;
    SimdPixelFormatType srcFormat;
    size_t channels;
    SimdTensorFormatType dstFormat;
};

static void set_input(const void * job, void * context, void * const * a)
{
    const struct set_input * p = job;
    (void)context;
    SimdSynetSetInput(a[0], p->width, p->height, p->stride, p->srcFormat, a[1], a[2], a[3], p->channels, p->dstFormat);
}

static const SimdPixelFormatType pixel_format[] = {SimdPixelFormatGray8, SimdPixelFormatBgr24, SimdPixelFormatBgra32,
                                                   SimdPixelFormatRgb24};
static const char * const pixel_name[] = {"gray8", "bgr24", "bgra32", "rgb24"};
static const size_t pixel_bytes[] = {1, 3, 4, 3};

/* `kind` enumerates pixel formats, channels and formats of the result: 0 .. KINDS - 1. */
enum { KINDS = 16 };

static struct set_input set_input_case(size_t width, size_t height, size_t gap, size_t kind, enum check_fill fill)
{
    const size_t format = kind % 4, stride = width * pixel_bytes[format] + gap, channels = kind / 4 % 2 ? 3 : 1;
    const SimdTensorFormatType dst = kind / 8 ? SimdTensorFormatNhwc : SimdTensorFormatNchw;
    const struct set_input job = {width, height, stride, pixel_format[format], channels, dst};
    check_case(SET_INPUT, "%s to %zu %s width=%zu height=%zu stride=%zu %s", pixel_name[format], channels,
               check_format_name(dst), width, height, stride, check_fill_name(fill));
    check_in("src", CHECK_8U, width && height ? stride * (height - 1) + width * pixel_bytes[format] : 0, fill);
    check_in("lower", CHECK_32F, channels, CHECK_RANDOM);
    check_in("upper", CHECK_32F, channels, CHECK_RANDOM);
    check_out("dst", CHECK_32F, channels * width * height);
    return job;
}

static void check_set_input_at(size_t width, size_t height, size_t gap, size_t kind, enum check_fill fill)
{
    const struct set_input job = set_input_case(width, height, gap, kind, fill);
    check_run(set_input, &job);
}

static void refusals(void)
{
    struct set_input job = set_input_case(5, 3, 2, 5, CHECK_RANDOM);
    const struct set_input good = job;
    check_refused_null(set_input, &job);
    check_refused_overlap(false, set_input, &job);
    for (int format = -1; format < 22; ++format)
        if (format != SimdPixelFormatGray8 && format != SimdPixelFormatBgr24 && format != SimdPixelFormatBgra32 &&
            format != SimdPixelFormatRgb24) {
            job = good;
            job.srcFormat = (SimdPixelFormatType)format;
            check_refused(CHECK_VALUE, "srcFormat", set_input, &job);
        }
    for (int format = -2; format < 14; ++format)
        if (format != SimdTensorFormatNchw && format != SimdTensorFormatNhwc) {
            job = good;
            job.dstFormat = (SimdTensorFormatType)format;
            check_refused(CHECK_VALUE, "dstFormat", set_input, &job);
        }
    static const size_t channels[] = {0, 2, 4, SIZE_MAX};
    for (size_t i = 0; i < 4; ++i) {
        job = good;
        job.channels = channels[i];
        check_refused(CHECK_VALUE, "channels", set_input, &job);
    }
    job = good;
    job.stride = 14;
    check_refused(CHECK_VALUE, "stride", set_input, &job);
    job.stride = SIZE_MAX / 2;
    check_refused(CHECK_VALUE, "stride", set_input, &job);
    job = good;
    job.width = SIZE_MAX / 2;
    check_refused(CHECK_VALUE, "width", set_input, &job);
    job = good;
    job.width = 0;
    check_empty(set_input, &job);
    job = good;
    job.height = 0;
    check_empty(set_input, &job);
}

/* Aim: the time of a copy of as many bytes. */
static void bench(void)
{
    static const size_t shapes[][3] = {{224, 224, 0}, {224, 224, 96}, {1920, 1080, 0}, {7, 7, 0}, {17, 100, 5}, {33, 64, 0}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i)
        for (size_t kind = 0; kind < KINDS; ++kind) {
            const struct set_input job = set_input_case(shapes[i][0], shapes[i][1], shapes[i][2], kind, CHECK_RANDOM);
            check_bench(set_input, &job, 0,
                        (double)(job.width * job.height) * (double)(pixel_bytes[kind % 4] + 4 * job.channels));
        }
}

CHECK_FAMILY(set_input)
{
    size_t turn = 0;
    for (size_t width = 1; width <= 200; width += check_quick() ? 7 : 1)
        for (size_t kind = 0; kind < KINDS; ++kind, ++turn)
            check_set_input_at(width, 1 + (width + kind) % 5, turn % 3 ? turn % 7 : 0, kind,
                               (enum check_fill)(turn % CHECK_FILLS));
    for (size_t i = 0, n = check_count(200); i < n; ++i)
        check_set_input_at(check_random(1, 300), check_random(1, 20), check_random(0, 9), check_random(0, KINDS - 1),
                           CHECK_RANDOM);
    for (size_t kind = 0; kind < KINDS; ++kind) {
        check_set_input_at(500, 200, kind % 2, kind, CHECK_RANDOM); /* more than one unit of work */
        if (!check_quick())
            check_set_input_at(1920, 1080, 3, kind, CHECK_RANDOM); /* beyond the caches */
    }
    refusals();
    if (check_timed())
        bench();
}
