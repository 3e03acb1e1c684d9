"""The texts of the programs in C that :mod:`pysimd.network.c_program` writes; @word@ is replaced."""

HEADER = """/* The model @name@, written by pysimd @version@. Link with libsimdnet. */
#ifndef @NAME@_H
#define @NAME@_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A model that is ready to run, for one thread at a time. */
typedef struct @name@ @name@;

/* Creates a model from the file of its weights, @name@.bin. Returns NULL if the file cannot be read, has another size, or if
 * memory is short: @name@_error() tells why. */
@name@ * @name@_create(const char * weights);

/* The same from the content of that file in memory, which is not needed any more afterwards. */
@name@ * @name@_create_from_memory(const void * weights, size_t size);

/* Computes the outputs. `inputs` has a pointer to the content of each input, in the order below, and `outputs` one to an
 * array for each output. A pointer may be NULL, as may both arguments: then the tensor itself has the input, or the
 * output, in its memory, see below. Returns 1, or 0 after an error. */
int @name@_run(@name@ * model, const void * const * inputs, void * const * outputs);

/* What was wrong in the last call of this thread. */
const char * @name@_error(void);

/* Releases a model; NULL is allowed. */
void @name@_destroy(@name@ * model);

/* The tensor at an offset: use the macros below. */
void * @name@_tensor(@name@ * model, size_t offset);

/* The tensors, which live as long as the model, and their sizes in elements. */
@inputs@
@outputs@

#ifdef __cplusplus
}
#endif

#endif
"""

SOURCE = """/* The model @name@, written by pysimd @version@. */
#include "@name@.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <simdnet.h>

#define BLOCK_BYTES ((size_t)@block_bytes@)
#define DATA_BYTES ((size_t)@data_bytes@)
#define RUN_BYTES ((size_t)@run_bytes@) /* of the data: what runs need, too */
#define CONTEXTS @contexts@

struct @name@ {
    unsigned char * block; /* all tensors */
    unsigned char * data;
    void * contexts[CONTEXTS];
};

#define TENSOR(offset) ((void *)(m->block + (offset)))
#define DATA(offset) ((void *)(data + (offset)))
#define CREATE(number, call) \\
    do { \\
        if ((m->contexts[number] = (call)) == NULL) return 0; \\
    } while (0)
#define CHECK(call) \\
    do { \\
        call; \\
        if (SimdnetLastErrorKind() != 0) return 0; \\
    } while (0)
/* The parameters of another context; its own ones where an instruction set packs those of both in different ways. */
#define SHARE(from, set_params, context, ...) \\
    do { \\
        if (!SimdnetShareParams(context, from)) CHECK(set_params(context, __VA_ARGS__)); \\
    } while (0)

static char file_error[256];

const char * @name@_error(void) { return file_error[0] ? file_error : SimdnetLastError(); }

/* Reads the data. Returns NULL after an error. */
static unsigned char * read_data(const char * path) {
    unsigned char * data = SimdAllocate(DATA_BYTES ? DATA_BYTES : 1, SimdAlignment());
    FILE * file = data ? fopen(path, "rb") : NULL;
    size_t size = file ? fread(data, 1, DATA_BYTES, file) : 0;
    int more = file ? fgetc(file) != EOF : 0;
    if (file == NULL)
        snprintf(file_error, sizeof(file_error), "%.200s: %s", path, data ? strerror(errno) : "no memory");
    else if (size != DATA_BYTES || more)
        snprintf(file_error, sizeof(file_error), "%.200s is not the file of this model", path);
    else
        file_error[0] = 0;
    if (file) fclose(file);
    if (file_error[0] && data) SimdFree(data);
    return file_error[0] ? NULL : data;
}

/* Creates the contexts, and packs the weights. */
static int create_contexts(struct @name@ * m, unsigned char * data) {
    (void)m;
    (void)data;
@create@
    return 1;
}

static struct @name@ * create(unsigned char * data) {
    struct @name@ * m;
    m = SimdAllocate(sizeof(*m), SimdAlignment());
    if (m) memset(m, 0, sizeof(*m));
    if (m) m->block = SimdAllocate(BLOCK_BYTES ? BLOCK_BYTES : 1, 4096);
    if (m) m->data = SimdAllocate(RUN_BYTES ? RUN_BYTES : 1, SimdAlignment());
    if (m && m->block && m->data) {
        memset(m->block, 0, BLOCK_BYTES);
        memcpy(m->data, data, RUN_BYTES);
    }
    if (!m || !m->block || !m->data || !create_contexts(m, data)) {
        @name@_destroy(m);
        m = NULL;
    }
    return m;
}

struct @name@ * @name@_create(const char * weights) {
    unsigned char * data = read_data(weights);
    struct @name@ * m = data ? create(data) : NULL;
    if (data) SimdFree(data);
    return m;
}

struct @name@ * @name@_create_from_memory(const void * weights, size_t size) {
    unsigned char * data;
    struct @name@ * m = NULL;
    file_error[0] = 0;
    if (weights == NULL || size != DATA_BYTES) {
        snprintf(file_error, sizeof(file_error), "the weights have %lu bytes, expected %lu", (unsigned long)size,
                 (unsigned long)DATA_BYTES);
        return NULL;
    }
    data = SimdAllocate(DATA_BYTES ? DATA_BYTES : 1, SimdAlignment());
    if (data) {
        memcpy(data, weights, DATA_BYTES);
        m = create(data);
        SimdFree(data);
    }
    return m;
}

static int compute(struct @name@ * m) {
    unsigned char * data = m->data;
    (void)data;
@run@
    return 1;
}

struct place {
    size_t offset, bytes;
};

static const struct place input_places[] = {
@input_places@
    {0, 0}};

static const struct place output_places[] = {
@output_places@
    {0, 0}};

int @name@_run(struct @name@ * m, const void * const * inputs, void * const * outputs) {
    size_t i;
    for (i = 0; inputs && i + 1 < sizeof(input_places) / sizeof(*input_places); i++)
        if (inputs[i]) memcpy(m->block + input_places[i].offset, inputs[i], input_places[i].bytes);
    if (!compute(m)) return 0;
    for (i = 0; outputs && i + 1 < sizeof(output_places) / sizeof(*output_places); i++)
        if (outputs[i]) memcpy(outputs[i], m->block + output_places[i].offset, output_places[i].bytes);
    return 1;
}

void @name@_destroy(struct @name@ * m) {
    size_t i;
    if (m == NULL) return;
    for (i = 0; i < CONTEXTS; i++)
        if (m->contexts[i]) SimdRelease(m->contexts[i]);
    if (m->data) SimdFree(m->data);
    if (m->block) SimdFree(m->block);
    SimdFree(m);
}

void * @name@_tensor(struct @name@ * m, size_t offset) { return m->block + offset; }
"""

MAIN = """/* An example:
 * runs the model once, on inputs from files of their bytes, in the order below; without files, on zeros.
 * It writes each output to a file NUMBER.out, and its first numbers to the standard output. */
#include "@name@.h"

#include <stdio.h>

struct tensor {
    const char * name;
    size_t offset, bytes, count;
    char type;
};

/* Bytes of names that C might read as something else are octal numbers: ??/ would be a backslash. */
static const struct tensor inputs[] = {
@input_rows@
    {NULL, 0, 0, 0, 0}};

static const struct tensor outputs[] = {
@output_rows@
    {NULL, 0, 0, 0, 0}};

static int read_input(const char * path, void * data, size_t bytes) {
    FILE * file = fopen(path, "rb");
    size_t size = file ? fread(data, 1, bytes, file) : 0;
    if (file) fclose(file);
    if (size != bytes) fprintf(stderr, "%s has not %lu bytes\\n", path, (unsigned long)bytes);
    return size == bytes;
}

static void show_number(char type, const void * data, size_t i) {
    switch (type) {
@show_cases@
    }
}

static void show(const struct tensor * tensor, const void * data) {
    size_t i;
    printf("%s:", tensor->name);
    for (i = 0; i < tensor->count && i < 8; i++) show_number(tensor->type, data, i);
    printf(tensor->count > 8 ? " ...\\n" : "\\n");
}

int main(int argc, char ** argv) {
    int i, status = 0;
    struct @name@ * model = argc > 1 ? @name@_create(argv[1]) : NULL;
    if (argc < 2) {
        fprintf(stderr, "usage: %s @name@.bin [INPUT...]\\n", argv[0]);
        return 2;
    }
    if (model == NULL) {
        fprintf(stderr, "%s\\n", @name@_error());
        return 1;
    }
    for (i = 0; inputs[i].name && i + 2 < argc; i++)
        if (!read_input(argv[i + 2], @name@_tensor(model, inputs[i].offset), inputs[i].bytes)) status = 1;
    if (status == 0 && !@name@_run(model, NULL, NULL)) {
        fprintf(stderr, "%s\\n", @name@_error());
        status = 1;
    }
    for (i = 0; status == 0 && outputs[i].name; i++) {
        char path[32];
        FILE * file;
        void * data = @name@_tensor(model, outputs[i].offset);
        show(&outputs[i], data);
        sprintf(path, "%d.out", i);
        file = fopen(path, "wb");
        if (file == NULL || fwrite(data, 1, outputs[i].bytes, file) != outputs[i].bytes) status = 1;
        if (file && fclose(file) != 0) status = 1;
    }
    @name@_destroy(model);
    return status;
}
"""

MAKEFILE = """# The example program. If libsimdnet is not installed:
# make CPPFLAGS=-I.../include LDFLAGS='-L... -Wl,-rpath,...'
CFLAGS ?= -O2
LDLIBS  = -lsimdnet -lm

@name@_example: main.c @name@.c @name@.h
\t$(CC) -std=c99 $(CPPFLAGS) $(CFLAGS) main.c @name@.c $(LDFLAGS) $(LDLIBS) -o $@

clean:
\trm -f @name@_example
.PHONY: clean
"""
