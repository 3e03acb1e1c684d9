/*
 * Compares the cost models of convolutions (libsrc/ops/convolution/cost.h) with this machine: for each shape, the modelled
 * time and the measured time of every algorithm that supports it, warm and after other data has gone through the caches; and
 * what the choice loses against the best of them. It changes nothing: constants are changed in the source.
 *
 * Linked with the objects of the library, like the checker.
 */
#define _POSIX_C_SOURCE 199309L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/limits.h"
#include "ops/convolution/16b.h"
#include "ops/convolution/32f.h"
#include "ops/convolution/8i.h"
#include "ops/convolution/deconvolution.h"
#include "dispatch/dispatch.h"
#include "simdnet.h"

enum { ROUNDS = 7, COLD_ROUNDS = 3, MOST_ROWS = 1024 };
static const double STRETCH = 2e-3;              /* seconds of one warm measurement */
static const size_t OTHER_DATA = 128 << 20;      /* bytes read before a cold call */
static const double FLOATS_OF_CYCLE = 16;        /* multiply-adds per cycle assumed by the models */

/* ---- shapes, in the format of SIMDNET_VERBOSE, "1x64x56x56->128x28x28,3x3,s2,nhwc"; ",deconvolution" makes it one */

struct shape {
    char text[128];
    size_t batch;
    const struct sn_convolution_family * family;
    struct sn_convolution_parameters p;
};

/* Reads "2" or "2x1". */
static void read_axes(const char * text, size_t * y, size_t * x)
{
    if (sscanf(text, "%zux%zu", y, x) == 1)
        *x = *y;
}

static enum sn_data type_of(const char * name)
{
    return strncmp(name, "8u", 2) == 0 ? SN_DATA_8U : strncmp(name, "16b", 3) == 0 ? SN_DATA_16B : SN_DATA_32F;
}

/* Parses one word after the sizes; false if it is unknown. */
static bool read_word(const char * word, struct shape * s)
{
    struct sn_convolution_parameters * p = &s->p;
    if (strcmp(word, "nhwc") == 0 || strcmp(word, "nchw") == 0)
        p->srcF = p->dstF = word[1] == 'h' ? SN_NHWC : SN_NCHW;
    else if (strcmp(word, "deconvolution") == 0)
        s->family = &sn_deconvolution_32f;
    else if (strstr(word, "->"))
        p->srcT = type_of(word), p->dstT = type_of(strstr(word, "->") + 2);
    else if (word[0] == 's')
        read_axes(word + 1, &p->strideY, &p->strideX);
    else if (word[0] == 'd')
        read_axes(word + 1, &p->dilationY, &p->dilationX);
    else
        return sscanf(word, "g%zu", &p->group) == 1;
    return true;
}

/* Padding follows from the sizes: as much before as after, or one less. */
static void pad(size_t src, size_t dst, size_t kernel, size_t dilation, size_t stride, bool back, size_t * before,
                size_t * behind)
{
    const size_t small = back ? src : dst, large = back ? dst : src;
    const size_t used = (small - 1) * stride + (kernel - 1) * dilation + 1;
    const size_t all = used > large ? used - large : 0;
    *before = all / 2;
    *behind = all - all / 2;
}

/* False if the text is not a shape. */
static bool read_shape(const char * text, struct shape * s)
{
    struct sn_convolution_parameters * p = &s->p;
    int at = 0;
    *s = (struct shape){.family = &sn_convolution_32f, .p = {.dilationY = 1, .dilationX = 1, .strideY = 1, .strideX = 1,
        .group = 1, .srcF = SN_NHWC, .dstF = SN_NHWC}};
    snprintf(s->text, sizeof(s->text), "%s", text);
    char words[sizeof(s->text)];
    memcpy(words, s->text, sizeof(words));
    if (sscanf(text, "%zux%zux%zux%zu->%zux%zux%zu,%zux%zu%n", &s->batch, &p->srcC, &p->srcH, &p->srcW, &p->dstC, &p->dstH,
               &p->dstW, &p->kernelY, &p->kernelX, &at) != 9)
        return false;
    for (char * word = strtok(words + at, ","); word; word = strtok(NULL, ","))
        if (!read_word(word, s))
            return false;
    const bool back = s->family == &sn_deconvolution_32f;
    if (p->srcT == SN_DATA_8U || p->dstT == SN_DATA_8U)
        s->family = &sn_convolution_8i;
    if (p->srcT == SN_DATA_16B || p->dstT == SN_DATA_16B)
        s->family = &sn_convolution_16b;
    pad(p->srcH, p->dstH, p->kernelY, p->dilationY, p->strideY, back, &p->padY, &p->padH);
    pad(p->srcW, p->dstW, p->kernelX, p->dilationX, p->strideX, back, &p->padX, &p->padW);
    return p->group && p->srcC % p->group == 0 && p->dstC % p->group == 0 && p->dstH && p->dstW;
}

/* ---- time */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Seconds per cycle of the models: the best of several measurements of bare multiply-adds. */
static double cycle_of(const char * isa)
{
    const struct limits * limits = limits_of(isa);
    double best = INFINITY;
    for (int i = 0; limits && i < 50; ++i) {
        const double begin = now();
        const size_t operations = limits->fma(10000000);
        best = fmin(best, (now() - begin) / (double)operations);
    }
    return best * 2 * FLOATS_OF_CYCLE;
}

static volatile uint8_t sum;

static void read_data(const void * data, size_t bytes)
{
    uint8_t s = 0;
    for (size_t i = 0; i < bytes; i += 64)
        s = (uint8_t)(s + ((const uint8_t *)data)[i]);
    sum = s;
}

/* ---- one row: a plan for each algorithm */

struct timed {
    struct sn_convolution plan;
    size_t repeats;
    double model, warm, cold; /* seconds; 0 if there is no model */
};

struct row {
    struct shape shape;
    size_t number, chosen;
    struct timed timed[SN_MOST_ALGORITHMS];
};

/* Memory of this size, filled with small floats, which are also valid as bytes; ends the program if there is none. */
static void * filled(size_t bytes)
{
    const size_t number = bytes / sizeof(float) + 1;
    float * values = sn_allocate(number * sizeof(float), SN_ALIGN);
    if (!values) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(1);
    }
    for (size_t i = 0; i < number; ++i)
        values[i] = (float)(i % 17) / 16 - 0.5f;
    return values;
}

/* Creates a plan for each algorithm, with the shape as simplified by the first, the chosen one; false if one fails. */
static bool plan_all(struct row * row, const struct sn_table * table)
{
    const struct sn_convolution_algorithm * list[SN_MOST_ALGORITHMS];
    const struct shape * s = &row->shape;
    struct sn_convolution chosen = {.p = s->p, .batch = s->batch, .table = table, .family = s->family};
    if (sn_convolution_plan(&chosen) != SN_ERROR_NONE)
        return false;
    row->number = sn_convolution_supported(&chosen, list);
    for (size_t i = 0; i < row->number; ++i) {
        struct timed * t = &row->timed[i];
        *t = (struct timed){.plan = chosen, .warm = INFINITY, .cold = INFINITY};
        t->plan.algorithm = list[i];
        if (list[i] == chosen.algorithm)
            row->chosen = i;
        if (sn_convolution_plan(&t->plan) != SN_ERROR_NONE)
            return false;
    }
    return true;
}

static bool set_all(struct row * row)
{
    const struct sn_convolution_parameters * p = &row->shape.p;
    sn_32f * weight = filled(p->dstC * (p->srcC / p->group) * p->kernelY * p->kernelX * sizeof(float));
    sn_32f * values = filled((p->srcC + p->dstC) * sizeof(float)), * ones = filled((p->srcC + p->dstC) * sizeof(float));
    for (size_t i = 0; i < p->srcC + p->dstC; ++i)
        ones[i] = 1; /* maxima, not less than any minimum */
    const sn_32f * const stats[] = {values, ones, values, ones};
    bool set = true;
    for (size_t i = 0; set && i < row->number; ++i) {
        const struct sn_set_params given = {.weight = weight, .stats = stats};
        const struct sn_fault fault = sn_convolution_set(&row->timed[i].plan, &given, 1);
        set = !fault.memory && !fault.name;
    }
    sn_free(weight), sn_free(values), sn_free(ones);
    return set;
}

static double time_of(const struct timed * t, const struct sn_arrays * a, size_t repeats)
{
    const double begin = now();
    for (size_t i = 0; i < repeats; ++i)
        t->plan.algorithm->forward(&t->plan, a);
    return (now() - begin) / (double)repeats;
}

/*
 * Algorithms are timed alternately, so that disturbances affect all of them. A cold call finds the workspace in the caches,
 * as in a network, whose steps all use the same one.
 */
static void measure(struct row * row, const void * other, double cycle)
{
    size_t work = 0;
    for (size_t i = 0; i < row->number; ++i)
        work = sn_max(work, row->timed[i].plan.workSize);
    const struct sn_convolution * any = &row->timed[0].plan;
    void * src = filled(any->batch * any->srcSize);
    struct sn_arrays a = sn_dense_arrays(any, src, NULL, filled(any->batch * any->dstSize));
    a.work = filled(work);
    for (size_t i = 0; i < row->number; ++i) {
        struct timed * t = &row->timed[i];
        t->model = sn_convolution_cost(&t->plan, t->plan.algorithm) * (double)any->batch * cycle;
        time_of(t, &a, 1);
        t->repeats = (size_t)fmax(STRETCH / time_of(t, &a, 1), 1);
    }
    for (int round = 0; round < ROUNDS; ++round)
        for (size_t i = 0; i < row->number; ++i)
            row->timed[i].warm = fmin(row->timed[i].warm, time_of(&row->timed[i], &a, row->timed[i].repeats));
    for (int round = 0; round < COLD_ROUNDS; ++round)
        for (size_t i = 0; i < row->number; ++i) {
            struct timed * t = &row->timed[i];
            read_data(other, OTHER_DATA);
            read_data(a.work, t->plan.workSize);
            t->cold = fmin(t->cold, time_of(t, &a, 1));
        }
    sn_free(src), sn_free(a.work), sn_free(a.dst);
}

static void free_all(struct row * row)
{
    for (size_t i = 0; i < row->number; ++i) {
        if (i > 0)
            row->timed[i].plan.tables = NULL; /* all plans share the tables of the first */
        sn_convolution_free(&row->timed[i].plan);
    }
}

/* ---- regret: the time of the chosen algorithm divided by the best */

struct regret {
    double logs, worst;
    size_t rows;
    char where[sizeof(((struct shape *)0)->text)];
};

static double warm_of(const struct timed * t) { return t->warm; }
static double cold_of(const struct timed * t) { return t->cold; }

static double add_regret(struct regret * r, const struct row * row, double (*time)(const struct timed * t))
{
    double best = INFINITY;
    for (size_t i = 0; i < row->number; ++i)
        best = fmin(best, time(&row->timed[i]));
    const double ratio = time(&row->timed[row->chosen]) / best;
    r->logs += log(ratio);
    ++r->rows;
    if (ratio > r->worst) {
        r->worst = ratio;
        memcpy(r->where, row->shape.text, sizeof(r->where));
    }
    return ratio;
}

static void print_regret(const char * name, const struct regret * r)
{
    printf("regret %s: geometric mean %.3f, worst %.2f (%s), %zu rows\n", name, exp(r->logs / (double)r->rows), r->worst,
           r->where, r->rows);
}

/* ---- output */

static void print_row(const struct row * row, const char * isa, double warm, double cold)
{
    printf("%s, %s: regret %.2f warm, %.2f cold\n", row->shape.text, isa, warm, cold);
    for (size_t i = 0; i < row->number; ++i) {
        const struct timed * t = &row->timed[i];
        printf("  %c %-28s warm %9.1f us  cold %9.1f us", i == row->chosen ? '*' : ' ', t->plan.algorithm->name,
               t->warm * 1e6, t->cold * 1e6);
        if (t->model > 0)
            printf("  model %9.1f us (%.2f of warm)", t->model * 1e6, t->model / t->warm);
        printf("\n");
    }
    fflush(stdout);
}

static void write_json(FILE * file, const struct row * row, const char * isa, bool first)
{
    fprintf(file, "%s\n {\"shape\": \"%s\", \"isa\": \"%s\", \"algorithms\": [", first ? "[" : ",", row->shape.text, isa);
    for (size_t i = 0; i < row->number; ++i) {
        const struct timed * t = &row->timed[i];
        fprintf(file, "%s\n  {\"name\": \"%s\", \"chosen\": %s, \"warm_us\": %.3f, \"cold_us\": %.3f, \"model_us\": ",
                i ? "," : "", t->plan.algorithm->name, i == row->chosen ? "true" : "false", t->warm * 1e6, t->cold * 1e6);
        fprintf(file, t->model > 0 ? "%.3f}" : "null}", t->model * 1e6);
    }
    fprintf(file, "]}");
}

/* ---- the program */

struct options {
    const char * isa, * shapes, * shape, * only, * json;
    size_t part, parts;
};

static int usage(void)
{
    fputs("usage: calibrate [--isa LEVEL] [--shapes FILE | --shape SHAPE] [--only TEXT] [--part I/N] [--json FILE]\n"
          "  measures every algorithm that supports a convolution, beside what its cost model expects of it\n"
          "  --shapes: a file with a shape in each line, as SIMDNET_VERBOSE prints them: 1x64x56x56->128x28x28,3x3,s2,nhwc\n"
          "    without nhwc or nchw it is both; \",deconvolution\" makes it one; \",8u->8u\" and \",16b->16b\" as there\n"
          "  --shape: this one    --only: those whose text contains TEXT    --part: every Nth from the Ith on, from 0\n",
          stderr);
    return 2;
}

static bool read_options(int count, char ** argument, struct options * o)
{
    *o = (struct options){.parts = 1};
    for (int i = 1; i < count; i += 2) {
        const char * name = argument[i], * value = argument[i + 1];
        const char ** text = strcmp(name, "--isa") == 0      ? &o->isa
                             : strcmp(name, "--shapes") == 0 ? &o->shapes
                             : strcmp(name, "--shape") == 0  ? &o->shape
                             : strcmp(name, "--only") == 0   ? &o->only
                             : strcmp(name, "--json") == 0   ? &o->json
                                                             : NULL;
        if (!value)
            return false;
        if (text)
            *text = value;
        else if (strcmp(name, "--part") != 0 || sscanf(value, "%zu/%zu", &o->part, &o->parts) != 2 || o->part >= o->parts)
            return false;
    }
    return !o->shapes != !o->shape;
}

/* Adds a shape, if selected, once per layout if the text names none; false if it is not a shape. */
static bool add_shape(const struct options * o, const char * text, struct shape * all, size_t * number)
{
    const bool both = !strstr(text, "nhwc") && !strstr(text, "nchw");
    for (int i = 0; i <= both; ++i) {
        char full[128];
        struct shape s;
        snprintf(full, sizeof(full), "%s%s", text, both ? i ? ",nchw" : ",nhwc" : "");
        if (!read_shape(full, &s))
            return false;
        if ((!o->only || strstr(s.text, o->only)) && *number < MOST_ROWS)
            all[(*number)++] = s;
    }
    return true;
}

static bool read_file(const struct options * o, struct shape * all, size_t * number)
{
    char line[112]; /* with space for a layout */
    FILE * file = fopen(o->shapes, "r");
    bool good = file;
    while (good && fgets(line, sizeof(line), file)) {
        line[strcspn(line, " \t\n#")] = '\0';
        good = line[0] == '\0' || add_shape(o, line, all, number);
        if (!good)
            fprintf(stderr, "%s: \"%s\" is no shape\n", o->shapes, line);
    }
    if (file)
        fclose(file);
    else
        perror(o->shapes);
    return good;
}

static int run(const struct options * o, const struct shape * all, size_t number)
{
    static struct row row;
    struct regret warm = {.worst = 0}, cold = {.worst = 0};
    uint8_t * other = filled(OTHER_DATA);
    FILE * json = o->json ? fopen(o->json, "w") : NULL;
    if (o->json && !json) {
        perror(o->json);
        return 1;
    }
    const struct sn_table * table = sn_table();
    const double cycle = cycle_of(table->isa);
    for (size_t i = o->part; i < number; i += o->parts) {
        row.shape = all[i];
        if (!plan_all(&row, table) || !set_all(&row)) {
            fprintf(stderr, "%s: too large\n", all[i].text);
            return 1;
        }
        measure(&row, other, cycle);
        print_row(&row, table->isa, add_regret(&warm, &row, warm_of), add_regret(&cold, &row, cold_of));
        if (json)
            write_json(json, &row, table->isa, warm.rows == 1);
        free_all(&row);
    }
    if (json)
        fprintf(json, "%s\n]\n", warm.rows ? "" : "["), fclose(json);
    if (warm.rows)
        print_regret("warm", &warm), print_regret("cold", &cold);
    sn_free(other);
    return warm.rows ? 0 : 1;
}

int main(int count, char ** argument)
{
    static struct shape all[MOST_ROWS];
    struct options o;
    size_t number = 0;
    if (!read_options(count, argument, &o))
        return usage();
    if (o.isa && (!SimdnetSetMaxIsa(o.isa) || strcmp(SimdnetActiveIsa(), o.isa) != 0)) {
        fprintf(stderr, "%s: this machine has no such level\n", o.isa);
        return 1;
    }
    if (o.shape && !add_shape(&o, o.shape, all, &number)) {
        fprintf(stderr, "\"%s\" is no shape\n", o.shape);
        return usage();
    }
    return o.shapes && !read_file(&o, all, &number) ? 1 : run(&o, all, number);
}
