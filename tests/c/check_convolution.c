/* What the checks of convolutions share: shapes, and how a case is described. */
#include "check_convolution.h"

static size_t output(size_t src, size_t pads, size_t kernel, size_t dilation, size_t stride)
{
    return (src + pads - (kernel - 1) * dilation - 1) / stride + 1;
}

void check_convolution_output(SimdConvolutionParameters * p)
{
    p->dstH = output(p->srcH, p->padY + p->padH, p->kernelY, p->dilationY, p->strideY);
    p->dstW = output(p->srcW, p->padX + p->padW, p->kernelX, p->dilationX, p->strideX);
}

SimdConvolutionParameters check_convolution_shape(SimdTensorFormatType format, size_t srcC, size_t h, size_t w, size_t dstC,
                                                  size_t kernel, size_t stride, size_t pad, size_t group)
{
    SimdConvolutionParameters p = {
        .srcC = srcC, .srcH = h, .srcW = w, .srcT = SimdTensorData32f, .srcF = format, .dstC = dstC,
        .dstT = SimdTensorData32f, .dstF = format, .kernelY = kernel, .kernelX = kernel, .dilationY = 1, .dilationX = 1,
        .strideY = stride, .strideX = stride, .padY = pad, .padX = pad, .padH = pad, .padW = pad, .group = group};
    check_convolution_output(&p);
    return p;
}

size_t check_few(size_t limit) { return check_random(1, check_random(1, limit)); }

SimdConvolutionParameters check_convolution_random(SimdTensorFormatType format, size_t inputs, size_t outputs)
{
    SimdConvolutionParameters p = check_convolution_shape(format, 1, 1, 1, 1, 1, 1, 0, 1);
    p.kernelY = check_few(5), p.kernelX = check_few(5);
    p.dilationY = check_few(3), p.dilationX = check_few(3);
    p.strideY = check_few(4), p.strideX = check_few(4);
    p.padY = check_random(0, check_few(4)), p.padX = check_random(0, check_few(4));
    p.padH = check_random(0, check_few(4)), p.padW = check_random(0, check_few(4));
    const size_t kind = check_random(0, 3);
    if (kind == 0) {
        p.group = p.srcC = p.dstC = check_random(1, outputs);
    } else {
        p.group = kind == 1 ? check_few(4) : 1;
        p.srcC = (check_random(0, 19) ? check_few(inputs) : 0) * p.group;
        p.dstC = check_few(outputs) * p.group;
    }
    const size_t reach_y = (p.kernelY - 1) * p.dilationY + 1, reach_x = (p.kernelX - 1) * p.dilationX + 1;
    p.srcH = check_random(reach_y > p.padY + p.padH ? reach_y - p.padY - p.padH : 1, 14);
    p.srcW = check_random(reach_x > p.padX + p.padW ? reach_x - p.padX - p.padW : 1, check_random(0, 4) ? 14 : 40);
    p.activation = check_any_activation();
    check_convolution_output(&p);
    if (check_convolution_weights(&p) * p.dstH * p.dstW > 400000 && p.group != p.srcC) { /* limits base's time */
        p.srcC = p.group * check_few(3);
        p.dstC = p.group * check_few(6);
    }
    return p;
}

/* ---- lists */

struct shape {
    size_t srcC, h, w, dstC, kernel, stride, pad, group;
};

static bool shape_of(SimdTensorFormatType format, const struct shape * list, size_t count, size_t i,
                     SimdConvolutionParameters * p)
{
    if (i >= count)
        return false;
    const struct shape * s = &list[i];
    *p = check_convolution_shape(format, s->srcC, s->h, s->w, s->dstC, s->kernel, s->stride, s->pad, s->group);
    return true;
}

#define HUGE_STRIDE ((size_t)1 << 62)
#define SHAPE_OF(list) shape_of(format, list, sizeof(list) / sizeof((list)[0]), i, p)

bool check_convolution_tail(SimdTensorFormatType format, size_t n, size_t most, size_t i, SimdConvolutionParameters * p)
{
    const struct shape list[] = {
        {5, 1, n, 3, 1, 1, 0, 1}, {3, 5, n, n, 3, 1, 1, 1}, {n, 4, 5, most + 1 - n, 2, 2, 1, 1}, {n, 4, 11, n, 3, 1, 1, n},
        {3, 5, n + 2, 3, 3, 2, 1, 3}, {2, 6, n + 4, 2, 5, 1 + n % 2, 2, 2}, {8, 1, 5, n + 40, 1, 1, 0, 1},
        {3 * n, 3, 3, 2 * n, 1, 1, 0, n}, {4 * n, 3, 3, 2 * n, 1, 1, 0, n}, {n + 1, 3, 4, n + 1, 5, 2, 2, n + 1},
        {n + 64, 3, 4, n + 64, 3, 1, 1, n + 64}};
    return SHAPE_OF(list);
}

bool check_convolution_cut(SimdTensorFormatType format, size_t i, SimdConvolutionParameters * p)
{
    static const struct shape list[] = {
        /* divided into bands of rows */
        {3, 300, 500, 2, 3, 1, 1, 1}, {3, 330, 500, 2, 3, 2, 0, 1}, {2, 900, 700, 2, 3, 1, 1, 2},
        {300, 18, 20, 4, 3, 1, 1, 1}, {16, 70, 90, 17, 3, 1, 1, 1},
        /* long sums: bytes may overflow beyond 66,312 products */
        {1010, 3, 3, 2, 3, 1, 1, 1}, {2010, 3, 3, 2, 3, 1, 1, 1}, {9001, 2, 3, 2, 1, 1, 0, 1}, {66400, 1, 2, 2, 1, 1, 0, 1},
        /* pixels a multiple of 2 KB apart */
        {512, 4, 5, 17, 1, 1, 0, 1}, {512, 4, 5, 3, 3, 1, 1, 1}, {1024, 4, 5, 3, 3, 1, 1, 1}, {2048, 4, 5, 17, 1, 1, 0, 1},
        {2048, 4, 5, 3, 3, 1, 1, 1}, {256, 7, 9, 5, 1, 2, 0, 1}, {512, 7, 9, 5, 1, 2, 0, 1}, {1024, 7, 9, 5, 1, 2, 0, 1},
        {256, 7, 9, 4, 1, 2, 1, 2}, {1024, 5, 5, 4, 1, 2, 1, 2},
        /* tall and narrow */
        {7, 60, 1, 20, 1, 1, 0, 1}, {7, 60, 3, 20, 3, 1, 0, 1}, {8, 60, 3, 20, 3, 1, 1, 1},
        /* outputs that depend on padding only: the bias alone */
        {4, 3, 3, 5, 1, 5, 4, 1}, {4, 3, 3, 4, 2, 5, 4, 4}, {0, 3, 3, 5, 3, 1, 1, 1},
        {0, 3, 3, 4, 1, 1, 0, 2}, {0, 5, 4, 5, 1, 1, 0, 5}, {0, 3, 3, 4, 3, 2, 1, 2}, {0, 3, 3, 40, 3, 1, 1, 2},
        /* one input in each group: tiles of lines, of one line, of columns, bands of rows, and results beyond the cache */
        {3, 14, 57, 210, 3, 1, 1, 3}, {2, 23, 90, 256, 3, 3, 1, 2}, {2, 64, 5, 1024, 3, 1, 1, 2},
        {40, 150, 50, 720, 3, 2, 1, 40}, {2, 130, 100, 46, 3, 1, 1, 2},
        /* depthwise: divided by columns, by rows, by channels, and by all of them */
        {8, 6, 600, 8, 3, 1, 1, 8}, {17, 90, 100, 17, 3, 2, 1, 17}, {96, 13, 70, 96, 3, 2, 1, 96},
        {130, 19, 45, 130, 3, 1, 1, 130}, {320, 8, 9, 320, 3, 2, 1, 320}, {192, 21, 20, 192, 3, 1, 1, 192},
        {257, 15, 16, 257, 3, 1, 0, 257}, {256, 9, 10, 256, 3, 1, 1, 256}, {512, 7, 7, 512, 5, 2, 2, 512},
        {512, 7, 6, 512, 3, 2, 1, 512},
        /* one output and a stride so large that its product with 4 channels wraps to 0 */
        {4, 3, 3, 6, 1, HUGE_STRIDE, 0, 1}, {4, 3, 3, 6, 1, HUGE_STRIDE, 0, 2}, {4, 3, 3, 4, 3, HUGE_STRIDE, 1, 4},
        {4, 3, 3, 6, 3, HUGE_STRIDE, 1, 1}, {4, 3, 3, 6, 3, HUGE_STRIDE, 1, 2}};
    return SHAPE_OF(list);
}

bool check_convolution_batch(SimdTensorFormatType format, size_t i, SimdConvolutionParameters * p)
{
    static const struct shape list[] = {
        {6, 7, 9, 6, 3, 1, 1, 1}, {6, 7, 9, 6, 3, 2, 1, 2}, {6, 7, 9, 6, 3, 1, 1, 6}, {20, 9, 10, 33, 3, 1, 1, 1},
        /* groups in panels that multiply the inputs of their own groups */
        {121, 4, 5, 121, 1, 1, 0, 11}, {121, 5, 4, 121, 3, 1, 1, 11}, {104, 5, 6, 52, 1, 1, 0, 26},
        {266, 7, 9, 38, 3, 3, 1, 19}, {11, 9, 8, 55, 3, 1, 1, 11}, {120, 5, 5, 240, 1, 1, 0, 24},
        {39, 9, 7, 39, 1, 2, 1, 13},
        /* images that share blocks of tiles */
        {40, 7, 7, 50, 3, 1, 1, 1}, {40, 13, 14, 33, 3, 2, 1, 1}, {130, 6, 5, 70, 3, 1, 1, 1}, {70, 7, 6, 70, 5, 1, 2, 1},
        /* small ones that share passes over many weights */
        {256, 2, 2, 130, 4, 1, 2, 1}, {160, 7, 7, 150, 3, 2, 1, 1}, {330, 4, 3, 220, 2, 1, 0, 1}, {700, 2, 3, 200, 1, 1, 0, 1},
        /* images that have fewer pixels than there are images, and outputs of padding alone */
        {40, 2, 1, 33, 3, 1, 1, 1}, {64, 2, 1, 40, 3, 1, 1, 2}, {35, 3, 1, 70, 3, 2, 1, 1}, {70, 1, 1, 35, 2, 2, 2, 1},
        /* each line of the output has lines of the image for itself, */
        {20, 5, 3, 35, 1, 1, 0, 1}, {70, 1, 1, 35, 1, 1, 0, 1}, {12, 6, 8, 20, 1, 2, 0, 1}, {6, 6, 8, 12, 2, 2, 0, 2},
        {5, 6, 8, 9, 3, 3, 0, 1}, {10, 5, 5, 20, 5, 1, 0, 1}, {10, 5, 6, 3, 5, 1, 0, 1}, {9, 6, 6, 9, 3, 3, 0, 9},
        /* or only almost */
        {12, 7, 8, 20, 1, 2, 0, 1}, {6, 6, 8, 12, 2, 1, 0, 1}, {10, 4, 5, 20, 5, 1, 1, 1}, {5, 6, 4, 9, 1, 2, 1, 1},
        {5, 6, 8, 9, 3, 3, 1, 1}, {9, 6, 6, 9, 3, 3, 1, 9}};
    return SHAPE_OF(list);
}

bool check_convolution_known(SimdTensorFormatType format, size_t i, SimdConvolutionParameters * p)
{
    static const struct shape list[] = {
        {64, 56, 56, 64, 1, 1, 0, 1}, {256, 56, 56, 64, 1, 1, 0, 1}, {512, 28, 28, 128, 1, 1, 0, 1},
        {1024, 14, 14, 256, 1, 1, 0, 1}, {512, 7, 7, 2048, 1, 1, 0, 1}, {256, 56, 56, 512, 1, 2, 0, 1},
        {16, 112, 112, 96, 1, 1, 0, 1}, {64, 56, 56, 64, 3, 1, 1, 1}, {128, 28, 28, 128, 3, 1, 1, 1},
        {256, 14, 14, 256, 3, 1, 1, 1}, {512, 7, 7, 512, 3, 1, 1, 1}, {128, 56, 56, 128, 3, 2, 1, 1},
        {3, 224, 224, 64, 7, 2, 3, 1}, {3, 224, 224, 32, 3, 2, 1, 1}, {32, 208, 208, 64, 3, 2, 1, 1},
        {32, 112, 112, 32, 3, 1, 1, 32}, {96, 112, 112, 96, 3, 2, 1, 96}, {120, 28, 28, 120, 5, 1, 2, 120},
        {384, 14, 14, 384, 3, 1, 1, 384}};
    return SHAPE_OF(list);
}

void check_convolution_column(SimdConvolutionParameters * p, bool wide)
{
    p->srcH = p->srcW, p->srcW = 1;
    p->kernelY = p->kernelX, p->kernelX = wide ? 3 : 1;
    p->strideY = p->strideX, p->strideX = 1;
    p->dilationY = p->dilationX, p->dilationX = 1;
    p->padY = p->padX, p->padX = wide;
    p->padH = p->padW, p->padW = wide;
}

bool check_convolution_signal(SimdTensorFormatType format, size_t i, SimdConvolutionParameters * p)
{
    static const size_t groups[] = {1, 1, 2, 5};
    const size_t group = groups[i % 4], inputs = check_few(40), outputs = i % 3 ? check_few(70) : check_random(1, 3);
    *p = check_convolution_shape(format, inputs * group, 1, check_random(40, 400), outputs * group, 1, 1, 0, group);
    if (i % 5 == 4)
        p->srcC = p->dstC = p->group = check_few(70);
    p->kernelX = check_random(1, 9), p->strideX = check_random(1, 3), p->dilationX = i % 2 ? 1 : check_random(1, 4);
    if (i % 3)
        p->padX = check_random(0, i % 7 ? 20 : 200), p->padW = check_random(0, i % 7 ? 20 : 200);
    if (i / 4 % 3 == 2)
        check_convolution_column(p, i % 2);
    check_convolution_output(p);
    return i < check_count(135);
}

bool check_convolution_whole(SimdTensorFormatType format, size_t i, SimdConvolutionParameters * p)
{
    static const size_t groups[] = {1, 1, 2, 3}, most[] = {400, 1, 30, 30, 30};
    const size_t group = groups[i % 4], inputs = check_few(most[i % 5]), outputs = i % 3 ? check_few(40) : 2 + i % 4;
    const size_t h = i % 2 ? check_random(1, 8) : 1, w = i % 2 ? check_random(1, 8) : 1;
    *p = check_convolution_shape(format, inputs * group, h, w, outputs * group, 1, 1, 0, group);
    p->kernelY = i % 7 == 5 ? check_random(1, h) : h;
    p->kernelX = w;
    p->strideY = check_random(1, 2);
    if (i % 11 == 10)
        p->padY = p->padX = p->padW = 1, p->kernelY += 1, p->kernelX += 2;
    p->activation = check_activation_at(i % CHECK_ACTIVATIONS);
    check_convolution_output(p);
    return i < (check_quick() ? 60 : 240);
}

bool check_convolution_edges(size_t i, SimdConvolutionParameters * p)
{
    const size_t group = i % 5 ? 1 : 3, kernel = check_random(2, 5);
    *p = check_convolution_shape(SimdTensorFormatNhwc, 4 * check_few(8) * group, check_random(20, 60), check_random(30, 60),
                                 check_few(10) * group, kernel, 2 + i / 2 % 2, 0, group);
    p->dilationY = 1 + i % 4 / 3, p->dilationX = 1 + i % 7 / 6;
    p->padY = check_random(0, 3), p->padX = check_random(0, 3), p->padH = check_random(0, 3), p->padW = check_random(0, 3);
    p->activation = check_activation_at(i % CHECK_ACTIVATIONS);
    check_convolution_output(p);
    return i < check_count(60);
}

bool check_convolution_one_channel(SimdTensorFormatType format, size_t i, SimdConvolutionParameters * p)
{
    const size_t kernel = 1 + i % 5;
    *p = check_convolution_shape(format, 1, kernel + i % 7, kernel + i * 7 % 41, 1, kernel, 1 + i % 3, i % 4 ? 0 : kernel / 2, 1);
    p->activation = check_activation_at(i % CHECK_ACTIVATIONS);
    return i < 40;
}

/* ---- */

double check_convolution_flops(const SimdConvolutionParameters * p)
{
    return 2.0 * (double)(check_convolution_weights(p) * p->dstH * p->dstW);
}

size_t check_convolution_weights(const SimdConvolutionParameters * p)
{
    return p->dstC * (p->srcC / p->group) * p->kernelY * p->kernelX;
}

static const char * type_name(SimdTensorDataType type)
{
    return type == SimdTensorData8u ? "8u" : type == SimdTensorData16b ? "16b" : "32f";
}

const char * check_convolution_text(const SimdConvolutionParameters * p, size_t batch)
{
    static char text[200];
    snprintf(text, sizeof(text),
             "%zux%zux%zux%zu->%zux%zux%zu k%zux%zu d%zux%zu s%zux%zu p%zu,%zu,%zu,%zu g%zu act%d %s %s->%s", batch, p->srcC,
             p->srcH, p->srcW, p->dstC, p->dstH, p->dstW, p->kernelY, p->kernelX, p->dilationY, p->dilationX, p->strideY,
             p->strideX, p->padY, p->padX, p->padH, p->padW, p->group, (int)p->activation, check_format_name(p->srcF),
             type_name(p->srcT), type_name(p->dstT));
    return text;
}

SimdConvolutionActivationType check_activation_at(size_t index)
{
    return index < CHECK_ACTIVATIONS - 1 ? (SimdConvolutionActivationType)index : SimdnetConvolutionActivationSigmoid;
}

SimdConvolutionActivationType check_any_activation(void)
{
    return check_activation_at(check_random(0, CHECK_ACTIVATIONS - 1));
}

bool check_activation_has_exp(const SimdConvolutionParameters * p)
{
    return p->activation == SimdConvolutionActivationElu ||
           (p->activation > SimdConvolutionActivationHswish && p->activation != SimdConvolutionActivationHardSigmoid);
}

size_t check_activation_params(const SimdConvolutionParameters * p)
{
    const size_t counts[CHECK_ACTIVATIONS - 1] = {0, 0, 1, 2, p->dstC, 1, 2, 1, 2, 1, 0};
    return (unsigned)p->activation < CHECK_ACTIVATIONS - 1 ? counts[p->activation] : 0;
}

void check_activation_values(const SimdConvolutionParameters * p, float * params)
{
    const float values[CHECK_ACTIVATIONS - 1][2] = {{0, 0}, {0, 0}, {0.1f, 0}, {-0.4f, 0.6f}, {0, 0}, {1.1f, 0},
        {3.0f, 1.0f / 6}, {20, 0}, {0.3f, 0.4f}, {0.8f, 0}, {0, 0}};
    const size_t count = check_activation_params(p);
    if (p->activation != SimdConvolutionActivationPrelu && count)
        memcpy(params, values[p->activation], count * sizeof(float));
}
