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
        p.srcC = check_few(inputs) * p.group;
        p.dstC = check_few(outputs) * p.group;
    }
    const size_t reach_y = (p.kernelY - 1) * p.dilationY + 1, reach_x = (p.kernelX - 1) * p.dilationX + 1;
    p.srcH = check_random(reach_y > p.padY + p.padH ? reach_y - p.padY - p.padH : 1, 14);
    p.srcW = check_random(reach_x > p.padX + p.padW ? reach_x - p.padX - p.padW : 1, check_random(0, 4) ? 14 : 40);
    p.activation = (SimdConvolutionActivationType)check_random(0, SimdConvolutionActivationHswish);
    check_convolution_output(&p);
    if (check_convolution_weights(&p) * p.dstH * p.dstW > 400000 && p.group != p.srcC) { /* keeps base's time short */
        p.srcC = p.group * check_few(3);
        p.dstC = p.group * check_few(6);
    }
    return p;
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

size_t check_activation_params(const SimdConvolutionParameters * p)
{
    const size_t counts[] = {0, 0, 1, 2, p->dstC, 1, 2};
    return (unsigned)p->activation < 7 ? counts[p->activation] : 0;
}

void check_activation_values(const SimdConvolutionParameters * p, float * params)
{
    const float values[7][2] = {{0, 0}, {0, 0}, {0.1f, 0}, {-0.4f, 0.6f}, {0, 0}, {1.1f, 0}, {3.0f, 1.0f / 6}};
    if (p->activation != SimdConvolutionActivationPrelu)
        memcpy(params, values[p->activation], check_activation_params(p) * sizeof(float));
}
