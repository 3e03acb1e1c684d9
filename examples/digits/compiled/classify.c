/*
 * Prints which digits pictures show, with the model that `python -m pysimd compile --embed` has written as a program in C. The
 * weights are part of this program: "../27_static_program.sh" links them, the model, and libsimdnet.a.
 *
 *     classify PICTURE...
 *
 * Pictures are PPM or PGM files (P6 or P5, 8 bits), of any size, with a light digit on a dark ground.
 */
#include <stdio.h>
#include <stdlib.h>

#include "digits.h"
#include "simdnet.h"

enum { SIDE = 8, LEVELS = 16 }; /* the model takes 8 x 8 values from 0 to 16 */

static void fail(const char * what, const char * why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

struct picture {
    size_t width, height, channels;
    unsigned char * pixels; /* for free() */
};

static struct picture read_picture(const char * path)
{
    struct picture p;
    char kind;
    unsigned most;
    FILE * file = fopen(path, "rb");
    if (file == NULL)
        fail(path, "cannot be read");
    /* Digits are limited, so that the sizes and their product cannot overflow. */
    if (fscanf(file, "P%c %5zu %5zu %3u", &kind, &p.width, &p.height, &most) != 4 || (kind != '5' && kind != '6') ||
        most != 255 || fgetc(file) == EOF || p.width == 0 || p.height == 0)
        fail(path, "is no PPM or PGM file of 8 bits");
    p.channels = kind == '6' ? 3 : 1;
    p.pixels = malloc(p.width * p.height * p.channels);
    if (p.pixels == NULL || fread(p.pixels, p.width * p.channels, p.height, file) != p.height)
        fail(path, "ends before its last pixel");
    fclose(file);
    return p;
}

/* The mean of the channels of the picture, as 8 x 8 means of areas. */
static void shrink(const struct picture * p, const char * path, float * values)
{
    unsigned char small[SIDE * SIDE * 3];
    void * resizer = SimdResizerInit(p->width, p->height, SIDE, SIDE, p->channels, SimdResizeChannelByte, SimdResizeMethodArea);
    if (resizer == NULL)
        fail(path, SimdnetLastError());
    SimdResizerRun(resizer, p->pixels, p->width * p->channels, small, SIDE * p->channels);
    SimdRelease(resizer);
    for (size_t i = 0; i < SIDE * SIDE; ++i) {
        unsigned sum = 0;
        for (size_t c = 0; c < p->channels; ++c)
            sum += small[i * p->channels + c];
        values[i] = (float)(sum * LEVELS) / (255.0f * (float)p->channels);
    }
}

int main(int argc, char ** argv)
{
    digits * model = digits_create(NULL); /* from the weights in this program */
    if (model == NULL)
        fail("the model", digits_error());
    for (int i = 1; i < argc; ++i) {
        struct picture picture = read_picture(argv[i]);
        const float * probabilities = DIGITS_OUTPUT_probabilities(model);
        int best = 0;
        shrink(&picture, argv[i], DIGITS_INPUT_images(model));
        free(picture.pixels);
        if (!digits_run(model, NULL, NULL))
            fail(argv[i], digits_error());
        for (int k = 1; k < DIGITS_OUTPUT_probabilities_SIZE; ++k)
            best = probabilities[k] > probabilities[best] ? k : best;
        printf("%s: %d (%.2f)\n", argv[i], best, probabilities[best]);
    }
    digits_destroy(model);
    return 0;
}
