/* Resizing by the rules of ONNX Resize, and the documented resizer. */
#include <math.h>
#include <stdio.h>

#include "api/arrays.h"
#include "api/call.h"
#include "api/context.h"
#include "api/enums.h"
#include "api/overlap.h"
#include "api/parameters.h"
#include "ops/resizer.h"

struct resize {
    struct sn_context head;
    struct sn_resize plan;
    size_t batch, channels; /* of the image */
    enum sn_format format;
};

static void destroy(void * context)
{
    struct resize * c = context;
    sn_resize_free(&c->plan);
}

static void run(const char * function, const struct resize * c, const struct sn_resize_arrays * a)
{
    if (!sn_resize_run(&c->plan, a))
        sn_error_set(SN_ERROR_MEMORY, function, "no memory for %zu rows of %zu pixels", c->plan.y.taps, c->plan.x.dst);
}

/* ---- Resize */

/* SimdnetForward() with src and dst. */
static void forward(const char * function, void * context, const SimdnetForwardParameters * f)
{
    const struct resize * c = context;
    const struct sn_resize * r = &c->plan;
    const size_t element = sn_resize_element(r->type), read = r->x.src * r->y.src, written = r->x.dst * r->y.dst;
    struct sn_resize_arrays a = {f->src, f->dst, f->srcPixel, 0, 0, f->dstPixel, 0, 0};
    SN_CHECK_FOR(function, !f->add, SN_VOID, "add is not NULL, expected NULL: a Resize adds nothing");
    if (!sn_take_pixel(function, (struct sn_pixel_array){"srcPixel", c->format, c->batch, read, c->channels, element},
                       &a.srcPixel, &a.srcImage) ||
        !sn_take_pixel(function, (struct sn_pixel_array){"dstPixel", c->format, c->batch, written, c->channels, element},
                       &a.dstPixel, &a.dstImage) ||
        r->images * r->channels == 0)
        return;
    SN_CHECK_FOR(function, a.src, SN_VOID, "src is NULL, expected an array");
    SN_CHECK_FOR(function, a.dst, SN_VOID, "dst is NULL, expected an array");
    const size_t pixel = c->channels * element;
    if (!sn_rows_apart(function, (struct sn_rows){"dst", a.dst, c->batch * written, pixel, a.dstPixel * element},
                       (struct sn_rows){"src", a.src, c->batch * read, pixel, a.srcPixel * element}))
        return;
    if (c->format == SN_NCHW) { /* planes */
        a.srcPixel = a.dstPixel = 1;
        a.srcImage = read * element, a.dstImage = written * element;
    }
    a.srcRow = r->x.src * a.srcPixel * element;
    a.dstRow = r->x.dst * a.dstPixel * element;
    run(function, c, &a);
}

static const struct sn_context_kind resize_kind = {.name = "Resize", .destroy = destroy, .forward = forward};

#define CHECK(condition, ...) SN_CHECK_FOR(function, condition, false, __VA_ARGS__)

static bool check_flag(const char * function, const char * name, SimdBool flag)
{
    CHECK(flag == SimdFalse || flag == SimdTrue, "%s is %d, expected SimdFalse or SimdTrue", name, (int)flag);
    return true;
}

static bool check_kinds(const char * function, const SimdnetResizeParameters * p)
{
    CHECK(p->dataType == SimdTensorData32f || p->dataType == SimdTensorData8u,
          "dataType is %s, expected SimdTensorData32f or SimdTensorData8u", SN_NAME(sn_data_types, p->dataType));
    if (!sn_check_format(function, "format", p->format))
        return false;
    CHECK((unsigned)p->method <= SimdnetResizeArea, "method is %d, expected 0 to 3", (int)p->method);
    CHECK((unsigned)p->coordinates <= SimdnetResizeHalfPixelSymmetric, "coordinates is %d, expected 0 to 4",
          (int)p->coordinates);
    CHECK((unsigned)p->rounding <= SimdnetResizeCeil, "rounding is %d, expected 0 to 3", (int)p->rounding);
    CHECK(isfinite(p->cubic) && fabsf(p->cubic) <= 16, "cubic is %g, expected a number of -16 to 16", (double)p->cubic);
    return check_flag(function, "antialias", p->antialias) && check_flag(function, "excludeOutside", p->excludeOutside);
}

/* An axis: `size` as in srcH, `factor` as in scaleY. A scale of another size would read far outside of the image. */
static bool check_axis(const char * function, const char * size, const char * factor, size_t src, size_t dst, float scale)
{
    const double scaled = (double)src * (double)scale;
    CHECK(src > 0 || dst == 0, "src%s is 0, expected at least 1", size);
    CHECK(scale == 0 || (scale > 0 && scaled * 1.00001 + 0.5 >= (double)dst && scaled * 0.99999 < (double)dst + 1),
          "scale%s is %g, expected 0 or a factor with which src%s, %zu, gives dst%s, %zu, rounded down or to nearest",
          factor, (double)scale, size, src, size, dst);
    return true;
}

static bool check_sizes(const char * function, const SimdnetResizeParameters * p)
{
    size_t all;
    if (!check_axis(function, "H", "Y", p->srcH, p->dstH, p->scaleY) ||
        !check_axis(function, "W", "X", p->srcW, p->dstW, p->scaleX))
        return false;
    CHECK(sn_product(&all, p->batch, p->channels, p->srcH, p->srcW),
          "batch * channels * srcH * srcW is %zu * %zu * %zu * %zu, expected a size that memory can have", p->batch,
          p->channels, p->srcH, p->srcW);
    CHECK(sn_product(&all, p->batch, p->channels, p->dstH, p->dstW),
          "batch * channels * dstH * dstW is %zu * %zu * %zu * %zu, expected a size that memory can have", p->batch,
          p->channels, p->dstH, p->dstW);
    return true;
}

/* Rows have less than 2^31 elements: kernels have indices of 32 bits. */
static bool check_rows(const char * function, const char * names, size_t channels, size_t a, size_t b, size_t c, size_t d)
{
    const size_t most = sn_max(sn_max(a, b), sn_max(c, d));
    CHECK(most <= INT32_MAX / sn_max(channels, 1), "the largest of %s is %zu with %zu channels, expected rows of less than"
          " 2^31 elements", names, most, channels);
    return true;
}

static struct sn_resize_rule rule_of(const SimdnetResizeParameters * p, size_t src, size_t dst, float scale)
{
    struct sn_resize_rule rule = {.src = src, .dst = dst, .scale = (double)scale, .coordinates = (int)p->coordinates,
        .rounding = (int)p->rounding, .cubic = p->cubic != 0 ? (double)p->cubic : -0.75,
        .antialias = p->antialias == SimdTrue, .excludeOutside = p->excludeOutside == SimdTrue};
    sn_resize_method(&rule, (enum sn_resize_method)p->method);
    return rule;
}

/* Makes the axes of a new context; NULL without memory. */
static void * complete(const char * function, struct resize * c, const struct sn_resize_rule * x,
                       const struct sn_resize_rule * y)
{
    c->plan.table = c->head.table;
    if (x->dst == 0 || y->dst == 0 || c->plan.channels == 0)
        c->plan.images = 0;
    else if (!sn_resize_init(&c->plan, x, y)) {
        sn_error_set(SN_ERROR_MEMORY, function, "no memory for the weights of %zu x %zu pixels", y->dst, x->dst);
        sn_context_free(c);
        return NULL;
    }
    sn_context_describe(&c->head, "%zu x %zu taps", c->plan.y.taps, c->plan.x.taps);
    snprintf(c->head.shape, sizeof(c->head.shape), "%zux%zux%zux%zu->%zux%zu", c->batch, c->channels, y->src, x->src, y->dst,
             x->dst);
    return c;
}

void * SimdnetResizeInit(const SimdnetResizeParameters * parameters)
{
    SN_BEGIN();
    const SimdnetResizeParameters * p = parameters;
    if (!sn_is_known(__func__, p, sizeof(*p)) || !check_kinds(__func__, p) || !check_sizes(__func__, p))
        return NULL;
    const bool nhwc = p->format == SimdTensorFormatNhwc;
    if (!check_rows(__func__, "srcH, srcW, dstH, dstW", nhwc ? p->channels : 1, p->srcH, p->srcW, p->dstH, p->dstW))
        return NULL;
    struct resize * c = sn_context_new(&resize_kind, sizeof(*c), __func__);
    if (!c)
        return NULL;
    c->batch = p->batch, c->channels = p->channels, c->format = (enum sn_format)p->format;
    c->plan.images = nhwc ? p->batch : p->batch * p->channels;
    c->plan.channels = nhwc ? p->channels : 1;
    c->plan.type = c->plan.columnType = p->dataType == SimdTensorData32f ? SN_RESIZE_32F : SN_RESIZE_8U;
    c->plan.scale = 1;
    const struct sn_resize_rule x = rule_of(p, p->srcW, p->dstW, p->scaleX), y = rule_of(p, p->srcH, p->dstH, p->scaleY);
    return complete(__func__, c, &x, &y);
}

void SimdnetResizeForward(void * context, const void * src, void * dst)
{
    SN_CALL_OF(context);
    const SimdnetForwardParameters f = {.size = sizeof(f), .src = src, .dst = dst};
    if (sn_context_check(context, &resize_kind, __func__))
        forward(__func__, context, &f);
}

/* ---- Resizer */

/* SimdnetForward() is refused: it has no distances between rows. */
static void forward_resizer(const char * function, void * context, const SimdnetForwardParameters * f)
{
    (void)context;
    (void)f;
    sn_error_set(SN_ERROR_VALUE, function, "context is one of Resizer, expected another: call SimdResizerRun()");
}

static const struct sn_context_kind resizer_kind = {.name = "Resizer", .destroy = destroy, .forward = forward_resizer};

/* Methods of a type, a bit for each. */
static bool is_supported(SimdResizeChannelType type, SimdResizeMethodType method)
{
    static const unsigned methods[] = {0x1E7, 0x007, 0x01F, 0x01F};
    return methods[type] >> method & 1;
}

static bool check_resizer(const char * function, size_t channels, SimdResizeChannelType type, SimdResizeMethodType method)
{
    CHECK((unsigned)type <= SimdResizeChannelBf16, "type is %d, expected 0 to 3", (int)type);
    CHECK((unsigned)method <= SimdResizeMethodAreaFast, "method is %d, expected 0 to 8", (int)method);
    CHECK(is_supported(type, method), "method is %d, expected one that exists for type %d", (int)method, (int)type);
    const bool few =
        method >= SimdResizeMethodBicubic || (type == SimdResizeChannelShort && method == SimdResizeMethodBilinear);
    CHECK(channels > 0 && (!few || channels <= 4), "channels is %zu, expected %s", channels, few ? "1 to 4" : "at least 1");
    return true;
}

void * SimdResizerInit(size_t srcX, size_t srcY, size_t dstX, size_t dstY, size_t channels, SimdResizeChannelType type,
                       SimdResizeMethodType method)
{
    static const enum sn_resize_type types[] = {SN_RESIZE_8U, SN_RESIZE_16U, SN_RESIZE_32F, SN_RESIZE_16B};
    SN_BEGIN();
    SN_CHECK(srcX > 0 && srcY > 0 && dstX > 0 && dstY > 0, NULL,
             "srcX is %zu, srcY is %zu, dstX is %zu, dstY is %zu, expected at least 1", srcX, srcY, dstX, dstY);
    if (!check_resizer(__func__, channels, type, method) ||
        !check_rows(__func__, "srcX, srcY, dstX, dstY", channels, srcX, srcY, dstX, dstY))
        return NULL;
    struct resize * c = sn_context_new(&resizer_kind, sizeof(*c), __func__);
    if (!c)
        return NULL;
    c->batch = c->plan.images = 1;
    c->channels = c->plan.channels = channels;
    c->format = SN_NHWC;
    c->plan.type = types[type];
    const enum sn_resizer_method rule = (enum sn_resizer_method)method;
    sn_resizer_columns(rule, &c->plan);
    const bool halved = method == SimdResizeMethodAreaFast && sn_ceil_div(srcX, 2) >= dstX && sn_ceil_div(srcY, 2) >= dstY;
    const bool bytes = type == SimdResizeChannelByte;
    const struct sn_resize_rule x = sn_resizer_rule(rule, bytes, halved, srcX, dstX);
    const struct sn_resize_rule y = sn_resizer_rule(rule, bytes, halved, srcY, dstY);
    return complete(__func__, c, &x, &y);
}

/* An array of rows: at least as far apart as they are long, and whole elements. */
static bool check_stride(const char * function, const char * name, size_t stride, size_t rows, size_t bytes, size_t element)
{
    size_t all;
    CHECK(stride >= bytes && stride % element == 0, "%s is %zu, expected a multiple of %zu, and at least %zu bytes", name,
          stride, element, bytes);
    CHECK(sn_product(&all, rows, stride), "%s is %zu, too large for %zu rows", name, stride, rows);
    return true;
}

void SimdResizerRun(const void * resizer, const uint8_t * src, size_t srcStride, uint8_t * dst, size_t dstStride)
{
    SN_CALL_OF(resizer);
    if (!sn_context_check_as("resizer", resizer, &resizer_kind, __func__))
        return;
    const struct resize * c = resizer;
    const struct sn_resize * r = &c->plan;
    const size_t element = sn_resize_element(r->type), pixel = c->channels * element;
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    if (!check_stride(__func__, "srcStride", srcStride, r->y.src, r->x.src * pixel, element) ||
        !check_stride(__func__, "dstStride", dstStride, r->y.dst, r->x.dst * pixel, element) ||
        !sn_rows_apart(__func__, (struct sn_rows){"dst", dst, r->y.dst, r->x.dst * pixel, dstStride},
                       (struct sn_rows){"src", src, r->y.src, r->x.src * pixel, srcStride}))
        return;
    run(__func__, c, &(struct sn_resize_arrays){src, dst, c->channels, srcStride, 0, c->channels, dstStride, 0});
}
