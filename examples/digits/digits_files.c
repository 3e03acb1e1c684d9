/* The readers of the digits example's two files; digits_files.py has the same in Python. */
#include "digits_files.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIZE = 4096, LAYER_WORDS = 12 };

void die(const char * format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fputs("digits: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

void * allocate(size_t size)
{
    void * block = malloc(size ? size : 1);

    if (!block)
        die("no memory for %zu bytes", size);
    return block;
}

static uint32_t word(const uint8_t * data, size_t index)
{
    const uint8_t * p = data + 4 * index;

    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Reads the whole file and checks its magic, its version, and that it has at least `header` words. The caller frees it. */
static uint8_t * read_file(const char * path, const char * magic, const char * what, size_t header, size_t * size)
{
    FILE * file = fopen(path, "rb");
    uint8_t * data;
    long length;

    if (!file || fseek(file, 0, SEEK_END) || (length = ftell(file)) < 0 || fseek(file, 0, SEEK_SET)) {
        perror(path);
        exit(1);
    }
    *size = (size_t)length;
    data = allocate(*size);
    if (fread(data, 1, *size, file) != *size)
        die("%s: cannot be read", path);
    fclose(file);
    if (*size < 4 || memcmp(data, magic, 4))
        die("%s: is not a digits %s file (it must begin with '%s')", path, what, magic);
    if (*size < 4 * header)
        die("%s: is cut short: %zu bytes hold no header", path, *size);
    if (word(data, 1) != 1)
        die("%s: is of version %lu, this program reads 1", path, (unsigned long)word(data, 1));
    return data;
}

/* Why a layer is invalid, or NULL; sets the numbers of weights of a valid layer. */
static const char * problem(struct layer * l, const struct layer * before)
{
    const uint32_t sizes[] = {l->src.c, l->src.h, l->src.w, l->dst.c, l->dst.h, l->dst.w};
    int windowed = l->kind >= CONVOLUTION && l->kind <= AVERAGE_POOLING;

    if (l->kind < CONVOLUTION || l->kind > SOFTMAX)
        return "unknown kind";
    for (int i = 0; i < 6; ++i)
        if (sizes[i] < 1 || sizes[i] > MAX_SIZE)
            return "a size is outside 1..4096";
    if (l->relu > 1)
        return "the ReLU flag is neither 0 nor 1";
    if (l->relu && l->kind != CONVOLUTION)
        return "only a convolution has a fused ReLU";
    if (windowed) {
        if (l->kernel < 1 || l->kernel > MAX_SIZE || l->stride < 1 || l->stride > MAX_SIZE)
            return "kernel or stride is out of range";
        if (l->pad >= l->kernel)
            return "pad is not smaller than the kernel";
        if (l->src.h + 2 * l->pad < l->kernel || l->dst.h != (l->src.h + 2 * l->pad - l->kernel) / l->stride + 1 ||
            l->src.w + 2 * l->pad < l->kernel || l->dst.w != (l->src.w + 2 * l->pad - l->kernel) / l->stride + 1)
            return "output size does not follow from input, kernel, stride and pad";
    }
    if (l->kind == CONVOLUTION && l->group != 1 && (l->group != l->src.c || l->dst.c != l->src.c))
        return "group is neither 1 nor the number of channels of a depthwise layer";
    if ((l->kind == MAX_POOLING || l->kind == AVERAGE_POOLING) && l->dst.c != l->src.c)
        return "pooling must keep the number of channels";
    if (l->kind == INNER_PRODUCT && (l->dst.h != 1 || l->dst.w != 1))
        return "an inner product has a 1 x 1 output";
    if (l->kind == SOFTMAX && memcmp(&l->src, &l->dst, sizeof(l->src)))
        return "softmax must keep the shape";
    if (before && memcmp(&l->src, &before->dst, sizeof(l->src)))
        return "its input is not the output of the layer before";
    l->biases = l->kind == CONVOLUTION || l->kind == INNER_PRODUCT ? l->dst.c : 0;
    l->weights = 0;
    if (l->kind == CONVOLUTION)
        l->weights = (size_t)l->kernel * l->kernel * (l->src.c / l->group) * l->dst.c;
    if (l->kind == INNER_PRODUCT)
        l->weights = (size_t)l->dst.c * l->src.h * l->src.w * l->src.c;
    return NULL;
}

void read_network(const char * path, struct network * net)
{
    size_t size, at = 4, floats = 0;
    uint8_t * data = read_file(path, "SNDW", "weights", 4, &size);
    const float * next;

    net->count = word(data, 2);
    if (net->count < 1 || net->count > MAX_LAYERS)
        die("%s: %lu layers, expected 1..%d", path, (unsigned long)net->count, MAX_LAYERS);
    if (size != 4 * ((uint64_t)4 + net->count * LAYER_WORDS + word(data, 3)))
        die("%s: has %zu bytes, but its header promises %llu", path, size,
            4 * (4ull + net->count * LAYER_WORDS + word(data, 3)));
    for (uint32_t i = 0; i < net->count; ++i) {
        struct layer * l = &net->layers[i];
        uint32_t words[LAYER_WORDS];
        const char * wrong;

        for (int w = 0; w < LAYER_WORDS; ++w)
            words[w] = word(data, at++);
        memcpy(l, words, sizeof(words));
        if ((wrong = problem(l, i ? l - 1 : NULL)))
            die("%s: layer %lu: %s", path, (unsigned long)i, wrong);
        floats += l->weights + l->biases;
    }
    if (net->layers[net->count - 1].dst.h != 1 || net->layers[net->count - 1].dst.w != 1)
        die("%s: the last layer must have a 1 x 1 output", path);
    if (floats != word(data, 3))
        die("%s: the layers need %zu weights, the header promises %lu", path, floats, (unsigned long)word(data, 3));
    next = net->data = allocate(floats * sizeof(float));
    for (size_t i = 0; i < floats; ++i) {
        uint32_t bits = word(data, at + i);

        memcpy(&net->data[i], &bits, sizeof(bits));
    }
    for (struct layer * l = net->layers; l < net->layers + net->count; ++l) {
        l->weight = next;
        l->bias = next + l->weights;
        next = l->bias + l->biases;
    }
    free(data);
}

void read_images(const char * path, struct images * images, const struct network * net)
{
    const struct layer * first = net->layers;
    size_t size;
    uint8_t * data = read_file(path, "SNDI", "images", 5, &size);
    uint32_t count = word(data, 2), height = word(data, 3), width = word(data, 4);

    if (count < 1 || count > 1u << 20 || height < 1 || height > MAX_SIZE || width < 1 || width > MAX_SIZE)
        die("%s: %lu images of %lu x %lu are out of range", path, (unsigned long)count, (unsigned long)height,
            (unsigned long)width);
    images->count = count;
    images->size = (size_t)height * width;
    if (size != 20 + (uint64_t)count * (1 + images->size))
        die("%s: has %zu bytes, but its header promises %llu", path, size,
            (unsigned long long)(20 + (uint64_t)count * (1 + images->size)));
    if (first->src.c != 1 || first->src.h != height || first->src.w != width)
        die("%s: images of %lu x %lu do not fit the network", path, (unsigned long)height, (unsigned long)width);
    images->labels = allocate(count);
    memcpy(images->labels, data + 20, count);
    images->pixels = allocate(count * images->size * sizeof(float));
    for (size_t i = 0; i < count * images->size; ++i)
        images->pixels[i] = data[20 + count + i];
    free(data);
}
