/*
 * Reads handwritten digits with a small convolutional network: from a weights file to classes, on libsimdnet.
 *
 *     digits [--print] WEIGHTS IMAGES
 *
 * Prints the instruction set, the accuracy and the images per second; with --print, instead, the class of every image and
 * its probability, a line each. SIMDNET_MAX_ISA=<name> limits the instruction set.
 */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "digits_files.h"
#include "simdnet.h"

/* A network prepared for a number of images at a time. */
struct classifier {
    const struct network * net;
    size_t batch;
    void * convolutions[MAX_LAYERS]; /* contexts; NULL for other layers */
    float * work[2];                 /* results of layers: each layer reads one and writes the other */
};

/* Ends the program if the library refused the last call. */
static void check(const char * what)
{
    if (SimdnetLastErrorKind())
        die("%s: %s", what, SimdnetLastError());
}

static void * make_convolution(const struct layer * l, size_t batch)
{
    SimdConvolutionParameters p = {0};
    void * context;

    p.srcC = l->src.c, p.srcH = l->src.h, p.srcW = l->src.w, p.srcT = SimdTensorData32f, p.srcF = SimdTensorFormatNhwc;
    p.dstC = l->dst.c, p.dstH = l->dst.h, p.dstW = l->dst.w, p.dstT = SimdTensorData32f, p.dstF = SimdTensorFormatNhwc;
    p.kernelY = p.kernelX = l->kernel;
    p.dilationY = p.dilationX = 1;
    p.strideY = p.strideX = l->stride;
    p.padY = p.padX = p.padH = p.padW = l->pad;
    p.group = l->group;
    p.activation = l->relu ? SimdConvolutionActivationRelu : SimdConvolutionActivationIdentity;
    context = SimdSynetConvolution32fInit(batch, &p, NULL);
    check("SimdSynetConvolution32fInit");
    SimdSynetConvolution32fSetParams(context, l->weight, NULL, l->bias, NULL);
    check("SimdSynetConvolution32fSetParams");
    return context;
}

static void make_classifier(struct classifier * c, const struct network * net, size_t batch)
{
    size_t largest = 0;

    c->net = net;
    c->batch = batch;
    for (uint32_t i = 0; i < net->count; ++i) {
        const struct layer * l = &net->layers[i];
        size_t size = (size_t)l->dst.c * l->dst.h * l->dst.w;

        c->convolutions[i] = l->kind == CONVOLUTION ? make_convolution(l, batch) : NULL;
        largest = size > largest ? size : largest;
    }
    for (int i = 0; i < 2; ++i)
        c->work[i] = allocate(batch * largest * sizeof(float));
}

static void free_classifier(struct classifier * c)
{
    for (uint32_t i = 0; i < c->net->count; ++i)
        SimdRelease(c->convolutions[i]);
    free(c->work[0]);
    free(c->work[1]);
}

/* The layers that the library computes image by image. */
static void one_image(const struct layer * l, const float * src, float * dst)
{
    switch (l->kind) {
    case MAX_POOLING:
        SimdSynetPoolingMax32f(src, l->src.c, l->src.h, l->src.w, 1, l->kernel, l->kernel, 1, l->stride, l->stride, 0, l->pad,
                               l->pad, dst, l->dst.c, l->dst.h, l->dst.w, SimdTensorFormatNhwc);
        check("SimdSynetPoolingMax32f");
        break;
    case AVERAGE_POOLING:
        SimdSynetPoolingAverage(src, l->src.c, l->src.h, l->src.w, l->kernel, l->kernel, l->stride, l->stride, l->pad, l->pad,
                                dst, l->dst.h, l->dst.w, SimdFalse, SimdTensorFormatNhwc);
        check("SimdSynetPoolingAverage");
        break;
    case INNER_PRODUCT:
        SimdSynetInnerProductLayerForward(src, l->weight, l->bias, l->dst.c, l->weights / l->dst.c, dst);
        check("SimdSynetInnerProductLayerForward");
        break;
    }
}

/* The probabilities of `batch` images, the classes of an image next to each other; valid until the next call. */
static const float * classify(struct classifier * c, const float * pixels)
{
    const float * src = pixels;

    for (uint32_t i = 0; i < c->net->count; ++i) {
        const struct layer * l = &c->net->layers[i];
        size_t srcSize = (size_t)l->src.c * l->src.h * l->src.w, dstSize = (size_t)l->dst.c * l->dst.h * l->dst.w;
        float * dst = c->work[i % 2];

        if (l->kind == CONVOLUTION) {
            SimdSynetConvolution32fForward(c->convolutions[i], src, NULL, dst);
            check("SimdSynetConvolution32fForward");
        } else if (l->kind == SOFTMAX) {
            SimdSynetSoftmaxLayerForward(src, c->batch * l->src.h * l->src.w, l->src.c, 1, dst);
            check("SimdSynetSoftmaxLayerForward");
        } else {
            for (size_t b = 0; b < c->batch; ++b)
                one_image(l, src + b * srcSize, dst + b * dstSize);
        }
        src = dst;
    }
    return src;
}

static size_t largest_of(const float * p, size_t count)
{
    size_t best = 0;

    for (size_t i = 1; i < count; ++i)
        if (p[i] > p[best])
            best = i;
    return best;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Images per second, all images in batches of one size: the best of the runs that fit into half a second. */
static double speed(const struct network * net, const struct images * images, size_t batch)
{
    struct classifier c;
    double begin = now(), best = INFINITY;

    make_classifier(&c, net, batch);
    do {
        double start = now(), seconds;

        for (size_t i = 0; i + batch <= images->count; i += batch)
            classify(&c, images->pixels + i * images->size);
        seconds = now() - start;
        best = seconds < best ? seconds : best;
    } while (now() - begin < 0.5);
    free_classifier(&c);
    return (double)(images->count / batch * batch) / best;
}

int main(int argc, char ** argv)
{
    int print = argc > 1 && !strcmp(argv[1], "--print");
    struct network net;
    struct images images;
    struct classifier c;
    const float * p;
    size_t classes, right = 0;

    if (argc != 3 + print)
        die("usage: digits [--print] WEIGHTS IMAGES");
    read_network(argv[1 + print], &net);
    read_images(argv[2 + print], &images, &net);

    make_classifier(&c, &net, images.count);
    p = classify(&c, images.pixels);
    classes = net.layers[net.count - 1].dst.c;
    for (size_t i = 0; i < images.count; ++i) {
        size_t answer = largest_of(p + i * classes, classes);

        right += answer == images.labels[i];
        if (print)
            printf("%zu %.9g\n", answer, (double)p[i * classes + answer]);
    }
    free_classifier(&c);
    if (!print) {
        printf("instruction set %s\n", SimdnetActiveIsa());
        printf("accuracy %zu/%zu = %.2f %%\n", right, images.count, 100.0 * (double)right / (double)images.count);
        printf("batch 1: %.0f images/s\n", speed(&net, &images, 1));
        printf("batch %zu: %.0f images/s\n", images.count, speed(&net, &images, images.count));
    }
    free(net.data);
    free(images.labels);
    free(images.pixels);
    return 0;
}
