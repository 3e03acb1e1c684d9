"""The texts of the programs in C that :mod:`pysimd.network.c.program` writes; @word@ is replaced."""

HEADER = """/* The model @name@, written by pysimd @version@@title@. Link with libsimdnet.
 * SPDX-FileCopyrightText: The simdnet authors
 * SPDX-License-Identifier: MIT
 */
#ifndef @NAME@_H
#define @NAME@_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

@shapes_of_header@/* A model that is ready to run, for one thread at a time. */
typedef struct @name@ @name@;

/* Creates a model from the file of its weights, @name@.bin; NULL stands for weights that are embedded in the program.
 * Returns NULL if the file cannot be read or is not as it was written, by its size and checksum, or if memory is short:
 * @name@_error() tells why. */
@name@ * @name@_create(const char * weights@size_parameters@);

/* The same from the content of that file in memory, which is not needed any more afterwards. */
@name@ * @name@_create_from_memory(const void * weights, size_t size@size_parameters@);

/* Another model with the weights of `model`, for another thread: it only has memory for tensors of its own. `model` may run
 * meanwhile, and must not be destroyed before the new one is. Returns NULL if memory is short, or if the limit of
 * instruction sets has changed since `model` was created. */
@name@ * @name@_create_shared(const @name@ * model);

/* Computes the outputs. `inputs` has a pointer to the content of each input, in the order below, and `outputs` one to an
 * array for each output. A pointer may be NULL, as may both arguments: then the tensor itself has the input, or the
 * output, in its memory, see below. Returns 1, or 0 after an error. */
int @name@_run(@name@ * model, const void * const * inputs, void * const * outputs);

@resizing_of_header@
/* What was wrong in this thread's last call of the functions above; empty after a call without an error. */
const char * @name@_error(void);

/* Releases a model; NULL is allowed. */
void @name@_destroy(@name@ * model);
@access_of_header@@tensors@
@embedded_header@
#ifdef __cplusplus
}
#endif

#endif
"""

SOURCE = """/* The model @name@, written by pysimd @version@@title@. C99, and C++11.
 * SPDX-FileCopyrightText: The simdnet authors
 * SPDX-License-Identifier: MIT
 */
#include "@name@.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <simdnet.h>

#define BLOCK_BYTES @block_bytes@
#define DATA_BYTES ((size_t)@data_bytes@)
#define RUN_BYTES ((size_t)@run_bytes@) /* of the data, first: what is kept for runs */
#define FIRST_SUM UINT64_C(@first_sum@)
#define SECOND_SUM UINT64_C(@second_sum@)
#define CONTEXTS @contexts@
@types@
struct @name@ {
    unsigned char * block; /* all tensors */
    unsigned char * data;     /* which nothing writes */
    unsigned char * own_data; /* the same, or NULL if it is that of another model or of the program */
    void * contexts[CONTEXTS];
@members@};

#define TENSOR(type, offset) ((type *)(void *)(m->block + (offset)))
#define DATA(type, offset) ((type *)(void *)(m->data + (offset)))
#define CHECK(call) \\
    do { \\
        call; \\
        if (SimdnetLastErrorKind() != 0) return 0; \\
    } while (0)
#define CREATE(number, call) \\
    do { \\
        if ((m->contexts[number] = (call)) == NULL) return 0; \\
    } while (0)
@params@/* Shares those of another context; its own ones where an instruction set packs those of both in different ways. */
#define SHARE(number, from, set_params, ...) \\
    do { \\
        if (other || !SimdnetShareParams(m->contexts[number], m->contexts[from])) PARAMS(number, set_params, __VA_ARGS__); \\
    } while (0)

#if defined(_MSC_VER)
#define PER_THREAD __declspec(thread)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define PER_THREAD _Thread_local
#else
#define PER_THREAD __thread
#endif

static PER_THREAD char error_text[512];

const char * @name@_error(void) { return error_text; }

static void fail(const char * what, const char * why) {
    snprintf(error_text, sizeof(error_text), "%.250s%s%.250s", what, *why ? ": " : "", why);
}

static unsigned char * allocated(size_t size, size_t alignment) {
    return (unsigned char *)SimdAllocate(size ? size : 1, alignment);
}

/* Fletcher's checksum: any change of one or two words changes it for certain. Every word takes two additions, so that this
 * takes less time than reading the file. */
static int is_intact(const unsigned char * data) {
    uint64_t first = 0, second = 0;
    uint32_t word;
    size_t i;
    for (i = 0; i + sizeof(word) <= DATA_BYTES; i += sizeof(word)) {
        memcpy(&word, data + i, sizeof(word));
        first += word;
        second += first;
    }
    return first == FIRST_SUM && second == SECOND_SUM;
}

/* Reads the data. Returns NULL after an error. */
static unsigned char * read_data(const char * path) {
    unsigned char * data = allocated(DATA_BYTES, SimdAlignment());
    FILE * file = data ? fopen(path, "rb") : NULL;
    size_t size = file ? fread(data, 1, DATA_BYTES, file) : 0;
    int more = file ? fgetc(file) != EOF : 0;
    if (file == NULL)
        fail(path, data ? strerror(errno) : "no memory");
    else if (size != DATA_BYTES || more)
        fail(path, "is not the file of this model: it has another size");
    else if (!is_intact(data))
        fail(path, "is damaged, or the file of another model: its checksum differs");
    if (file) fclose(file);
    if (error_text[0] && data) SimdFree(data);
    return error_text[0] ? NULL : data;
}

@helpers@@run@

@creating@
@placing@
/* A model from data that are intact. They stay where they are as long as the model needs them, or are copied. */
static struct @name@ * created(const void * weights, int stay, const struct @name@ * other@sizes_parameter@) {
    struct @name@ * m = (struct @name@ *)SimdAllocate(sizeof(*m), SimdAlignment());
    int is_complete = 0;
    if (m == NULL) {
        fail("no memory", "");
        return NULL;
    }
    memset(m, 0, sizeof(*m));
    m->data = (unsigned char *)weights;
@place@    m->block = allocated(BLOCK_BYTES, 4096);
    if (!stay) m->own_data = allocated(RUN_BYTES, SimdAlignment());
    if (m->block && (stay || m->own_data)) {
        memset(m->block, 0, BLOCK_BYTES);
        if (!stay) memcpy(m->own_data, weights, RUN_BYTES);
        is_complete = @create_contexts@(m, other);
        if (!is_complete) fail(SimdnetLastError(), "");
    } else {
        fail("no memory", "");
    }
    if (!stay) m->data = m->own_data;
    if (is_complete) return m;
    @name@_destroy(m);
    return NULL;
}

static struct @name@ * created_from_memory(const void * weights, size_t size, int stay@sizes_parameter@) {
    if (weights == NULL || size != DATA_BYTES) {
        snprintf(error_text, sizeof(error_text), "the weights have %lu bytes, expected %lu", (unsigned long)size,
                 (unsigned long)DATA_BYTES);
        return NULL;
    }
    if (!is_intact((const unsigned char *)weights)) {
        fail("the weights are damaged, or those of another model", "their checksum differs");
        return NULL;
    }
    return created(weights, stay, NULL@sizes@);
}

@embedded@
struct @name@ * @name@_create(const char * weights@size_parameters@) {
@sizes_array@    unsigned char * data;
    struct @name@ * m;
    error_text[0] = 0;
    if (weights == NULL) return created_from_program(@only_sizes@);
    data = read_data(weights);
    m = data ? created(data, 0, NULL@sizes@) : NULL;
    if (data) SimdFree(data);
    return m;
}

struct @name@ * @name@_create_from_memory(const void * weights, size_t size@size_parameters@) {
@sizes_array@    error_text[0] = 0;
    return created_from_memory(weights, size, 0@sizes@);
}

struct @name@ * @name@_create_shared(const struct @name@ * model) {
    error_text[0] = 0;
    if (model) return created(model->data, 1, model@sizes_of_model@);
    fail("the model is NULL", "");
    return NULL;
}

@running@void @name@_destroy(struct @name@ * m) {
    size_t i;
    if (m == NULL) return;
    for (i = 0; i < CONTEXTS; i++)
        if (m->contexts[i]) SimdRelease(m->contexts[i]);
@release_old@    if (m->own_data) SimdFree(m->own_data);
    if (m->block) SimdFree(m->block);
    SimdFree(m);
}
"""

#: The contexts of a plan, or of all shapes.
CREATING = """/* Creates the contexts, and packs the weights, or shares those of another model. */
static int @function@(struct @name@ * m, const struct @name@ * other) {
@formulas@    (void)m;
    (void)other;
@create@
    return 1;
}
"""

#: The same, where contexts are to spare something else than time.
PREFERRING = """
static int create_contexts@suffix@(struct @name@ * m, const struct @name@ * other) {
    const SimdnetPreferenceType before = SimdnetGetPreference();
    int is_complete;
    SimdnetSetPreference(@preference@);
    is_complete = create_preferred@suffix@(m, other);
    SimdnetSetPreference(before);
    return is_complete;
}
"""

#: How a program of embedded weights finds them.
EMBEDDED = """static struct @name@ * created_from_program(@sizes_or_void@) {
    size_t size;
    const void * weights = @name@_weights(&size);
    return created_from_memory(weights, size, 1@sizes@);
}
"""

NOT_EMBEDDED = """static struct @name@ * created_from_program(@sizes_or_void@) {
@unused_sizes@    fail("the path of the weights is NULL, and this program has none embedded", "");
    return NULL;
}
"""

HEADER_EMBEDDED = """
/* The weights that are embedded in the program, and their bytes. */
const void * @name@_weights(size_t * size);
"""

WEIGHTS_FILE = """/* The weights of the model @name@, written by pysimd @version@@title@: the assembler copies @name@.bin.
 * SPDX-FileCopyrightText: The simdnet authors
 * SPDX-License-Identifier: MIT
 * The weights themselves have the license of the model.
 */
#include "@name@.h"

/* A path from the folder in which the compiler runs. */
#ifndef @NAME@_WEIGHTS_PATH
#define @NAME@_WEIGHTS_PATH "@name@.bin"
#endif

#if !defined(__GNUC__) || !defined(__ELF__)
#error "this compiler cannot copy the file of the weights: write the program with numbers, by --embed-numbers"
#endif

__asm__(".pushsection .rodata\\n"
        ".balign 64\\n"
        ".globl @name@_weights_begin\\n"
        ".globl @name@_weights_end\\n"
        ".hidden @name@_weights_begin\\n"
        ".hidden @name@_weights_end\\n"
        "@name@_weights_begin:\\n"
        ".incbin \\"" @NAME@_WEIGHTS_PATH "\\"\\n"
        "@name@_weights_end:\\n"
        ".byte 0\\n"
        ".popsection\\n");

#ifdef __cplusplus
extern "C" {
#endif
extern const unsigned char @name@_weights_begin[], @name@_weights_end[];
#ifdef __cplusplus
}
#endif

const void * @name@_weights(size_t * size) {
    *size = (size_t)(@name@_weights_end - @name@_weights_begin);
    return @name@_weights_begin;
}
"""

WEIGHTS_NUMBERS = """/* The weights of the model @name@, written by pysimd @version@@title@: numbers for any compiler of C99.
 * SPDX-FileCopyrightText: The simdnet authors
 * SPDX-License-Identifier: MIT
 * The weights themselves have the license of the model.
 */
#include "@name@.h"

#include <stdint.h>

static const uint64_t words[] = {
@numbers@};

const void * @name@_weights(size_t * size) {
    *size = @data_bytes@;
    return words;
}
"""

MAIN = """/* An example for the model @name@, written by pysimd @version@@title@:
 * runs the model once, on inputs from files of their bytes, in the order below; without files, on zeros.
@usage_of_sizes@ * It writes each output to a file NUMBER.out, and its first numbers to the standard output.
 * SPDX-FileCopyrightText: The simdnet authors
 * SPDX-License-Identifier: MIT
 */
#include "@name@.h"

#include <stdio.h>
@include_stdlib@
struct tensor {
    const char * name;
    size_t offset, bytes, count;
    char type;
};

/* Bytes of names that C might read as something else are octal numbers: ??/ would be a backslash. */
static @const@struct tensor inputs[] = {
@input_rows@
    {NULL, 0, 0, 0, 0}};

static @const@struct tensor outputs[] = {
@output_rows@
    {NULL, 0, 0, 0, 0}};

enum { FIRST_INPUT = @first_input@ }; /* the argument */

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
    struct @name@ * model;
    if (argc < FIRST_INPUT) {
        fprintf(stderr, "usage: %s@example_usage@ [INPUT...]\\n", argv[0]);
        return 2;
    }
    model = @name@_create(@example_file@@example_sizes@);
    if (model == NULL) {
        fprintf(stderr, "%s\\n", @name@_error());
        return 1;
    }
@measure@    for (i = 0; inputs[i].name && i + FIRST_INPUT < argc; i++)
        if (!read_input(argv[i + FIRST_INPUT], @name@_tensor(model, inputs[i].offset), inputs[i].bytes)) status = 1;
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

MAKEFILE = """# The example program for the model @name@, written by pysimd @version@.
# SPDX-FileCopyrightText: The simdnet authors
# SPDX-License-Identifier: MIT
# If libsimdnet is not installed: make CPPFLAGS=-I.../include LDFLAGS='-L... -Wl,-rpath,...'
CFLAGS ?= -O2
LDLIBS  = -lsimdnet -lm
SOURCES = @sources@

@name@_example: $(SOURCES) @name@.h@needs@
\t$(CC) -std=c99 $(CPPFLAGS) $(CFLAGS) $(SOURCES) $(LDFLAGS) $(LDLIBS) -o $@

clean:
\trm -f @name@_example
.PHONY: clean
"""

# ---- a program for one shape, or for several

FIXED = {
    "shapes_of_header": """/* The number of shapes of inputs that the model was written for. */
#define @NAME@_SHAPES @shapes@

""",
    "resizing_of_header": """
/* The same for one of the shapes, 0 .. @NAME@_SHAPES - 1; @name@_run() is for shape 0. Shapes share the memory of tensors: a
 * run for one overwrites those of all others. */
int @name@_run_shape(@name@ * model, int shape, const void * const * inputs, void * const * outputs);
""",
    "access_of_header": """
/* The tensor at an offset: use the macros below. */
void * @name@_tensor(@name@ * model, size_t offset);

/* The tensors, which live as long as the model, and their sizes in elements. */
""",
    "params": """/* Sets the parameters of a context, or shares those of the same context of another model. */
#define PARAMS(number, set_params, ...) \\
    do { \\
        if (other) CHECK(SimdnetShareParams(m->contexts[number], other->contexts[number])); \\
        else CHECK(set_params(m->contexts[number], __VA_ARGS__)); \\
    } while (0)
""",
    "running": """static int (* const computes[])(struct @name@ *) = {@computes@};

struct place {
    size_t offset, bytes;
};

/* Of all shapes, one after the other. */
static const struct place input_places[] = {
@input_places@
    {0, 0}};

static const struct place output_places[] = {
@output_places@
    {0, 0}};

int @name@_run_shape(struct @name@ * m, int shape, const void * const * inputs, void * const * outputs) {
    const struct place * places;
    size_t i, count;
    error_text[0] = 0;
    if (m == NULL || shape < 0 || shape >= @NAME@_SHAPES) {
        fail(m ? "the shape is not one of this model" : "the model is NULL", "");
        return 0;
    }
    places = &input_places[(size_t)shape * @input_count@];
    for (i = 0, count = inputs ? @input_count@ : 0; i < count; i++)
        if (inputs[i]) memcpy(m->block + places[i].offset, inputs[i], places[i].bytes);
    if (!computes[shape](m)) {
        if (!error_text[0]) fail(SimdnetLastError(), "");
        return 0;
    }
    places = &output_places[(size_t)shape * @output_count@];
    for (i = 0, count = outputs ? @output_count@ : 0; i < count; i++)
        if (outputs[i]) memcpy(outputs[i], m->block + places[i].offset, places[i].bytes);
    return 1;
}

int @name@_run(struct @name@ * m, const void * const * inputs, void * const * outputs) {
    return @name@_run_shape(m, 0, inputs, outputs);
}

void * @name@_tensor(struct @name@ * m, size_t offset) { return m->block + offset; }

""",
    "const": "const ",
    **dict.fromkeys(
        (
            *("size_parameters", "sizes_parameter", "sizes", "only_sizes", "sizes_array", "sizes_of_model", "unused_sizes"),
            *(
                "members",
                "types",
                "release_old",
                "helpers",
                "placing",
                "place",
                "usage_of_sizes",
                "include_stdlib",
                "example_sizes",
                "measure",
            ),
        ),
        "",
    ),
    "sizes_or_void": "void",
    "create_contexts": "create_contexts",
}

#: The functions that those of models in several parts call, by words in the texts of these.
CALLED = {
    "copy_parts(": """/* Copies parts of so many bytes, from and to places at regular distances. */
static void copy_parts(unsigned char * to, size_t to_step, const unsigned char * from, size_t from_step, size_t count,
                       size_t bytes) {
    size_t i;
    for (i = 0; i < count; i++) memcpy(to + i * to_step, from + i * from_step, bytes);
}
""",
    "spread_parts(": """/* Moves parts, which are dense, to the beginnings of longer ones, whose rest becomes 0. */
static void spread_parts(unsigned char * parts, size_t longer, size_t bytes, size_t count) {
    while (count-- > 0) {
        memmove(parts + count * longer, parts + count * bytes, bytes);
        memset(parts + count * longer + bytes, 0, longer - bytes);
    }
}
""",
}
