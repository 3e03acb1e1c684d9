"""The texts of programs in C with open sizes, beside those of :mod:`pysimd.network.c.templates`; @word@ is replaced."""

from pysimd.network.c.array_templates import VALUES

#: Functions that a program has if it calls them.
HELPERS = {
    "quotient": """/* A quotient rounded down; of a division by 0, for which no program is made, any number. */
static int64_t quotient(int64_t a, int64_t b) {
    int64_t q = a / (b ? b : 1);
    return q - ((b ? b : 1) * q != a && (a < 0) != (b < 0));
}
""",
    "real_quotient": """static double real_quotient(double a, double b) { return b != 0 ? floor(a / b) : 0; }
""",
}

#: What each plan has.
PLAN = """/* The first condition that the sizes do not meet; NULL if there is none. */
static const char * unmet_@number@(struct @name@ * m) {
    double sum = 0;
    (void)m;
@conditions@    { /* in double, before the numbers of the other functions get too large */
@real_formulas@        const double bytes[] = {@real_bytes@};
        size_t i;
        for (i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) sum += bytes[i] > 0 ? bytes[i] : 0;
    }
    return sum < 1e14 ? NULL : "the tensors are too large";
}

/* The bytes of roots, the shapes and places of tensors, and the bytes that steps need meanwhile. */
static int64_t measured_@number@(struct @name@ * m, int64_t * bytes) {
    int64_t scratch = 0;
@formulas@    (void)bytes;
@measured@
    return scratch;
}

/* The first steps at which roots are in use, and the last ones. */
static const int born_@number@[] = {@born@};
static const int died_@number@[] = {@died@};

"""

#: The table of plans.
PLANS = """/* How the model runs for sizes that meet some conditions: the first plan that they meet serves them. */
static const struct plan {
    const char * (*unmet)(struct @name@ * m);
    int64_t (*measured)(struct @name@ * m, int64_t * bytes);
    int (*create_contexts)(struct @name@ * m, const struct @name@ * other);
    int (*compute)(struct @name@ * m);
    int roots;
    const int *born, *died;
} plans[] = {
@rows@};
"""

#: What a program has if arrays depend on its sizes.
ARRAYS = {
    "types": VALUES,
    "arrays_member": "    struct values arrays[@array_count@]; /* of the present sizes */\n",
    "release": "        release_arrays(m);\n",
    "release_next": "            release_arrays(&next);\n",
    "release_old": "    release_arrays(m);\n",
    "forget": "    memset(next.arrays, 0, sizeof(next.arrays));\n",
}

OPEN = {
    "shapes_of_header": """/* The sizes of the open dimensions, in the order in which functions take them: @open_names@.
 * A program serves all sizes for which the conditions hold of a plan that it has; for others, @name@_error() names one.
 * Sizes are at most 16777216. */

""",
    "resizing_of_header": """
/* Makes the model one for other sizes. The contents of its tensors are lost, and pointers to them invalid. Weights stay
 * packed as far as the same algorithms serve the new sizes. The memory of tensors grows if need be, by a quarter more than
 * that, and does not shrink: a model that is created for its largest sizes allocates it once. Returns 1; or 0 after an
 * error, and the model is as before.
 */
int @name@_resize(@name@ * model@size_parameters@);
""",
    "access_of_header": """
/* A tensor, its elements, its bytes and its dimensions for the present sizes, by its number: inputs first, then outputs.
 * The pointer is valid until the sizes change. A dimension beyond the last one is 1. */
void * @name@_tensor(@name@ * model, size_t number);
size_t @name@_elements(const @name@ * model, size_t number);
size_t @name@_bytes(const @name@ * model, size_t number);
size_t @name@_dimension(const @name@ * model, size_t number, size_t axis);

/* The tensors, and their sizes in elements. */
""",
    "params": """/* Sets the parameters of a context, or shares those of the same one for other sizes or of another model. */
#define PARAMS(number, set_params, ...) \\
    do { \\
        if (!other || !other->contexts[number] || !SimdnetShareParams(m->contexts[number], other->contexts[number])) \\
            CHECK(set_params(m->contexts[number], __VA_ARGS__)); \\
    } while (0)
""",
    "create_contexts": "m->plan->create_contexts",
    "block_bytes": "(m->block_bytes)",
    "run_bytes": "@data_bytes@",
    "const": "",
    "sizes_parameter": ", const size_t * sizes",
    "sizes_or_void": "const size_t * sizes",
    "sizes": ", sizes",
    "only_sizes": "sizes",
    "unused_sizes": "    (void)sizes;\n",
    "sizes_array": "    const size_t sizes[] = {@size_words@};\n",
    "sizes_of_model": ", model->sizes",
    "members": """    size_t sizes[@open_count@];
    size_t block_bytes;
    const struct plan * plan;         /* that for these sizes */
    int64_t roots[@most_roots@ + 1]; /* offsets in the block; the last one is that of what steps need meanwhile */
    struct {
        size_t root, offset, bytes, shape[@most_dimensions@];
    } tensors[@tensor_count@]; /* inputs, then outputs */
@arrays_member@""",
    "place": """    if (!placed(m, sizes)) {
        SimdFree(m);
        return NULL;
    }
""",
    "placing": """@plans@
/* Places the roots in the block: the largest first, each at the lowest offset that is free while it is in use. */
static void place_roots(struct @name@ * m, const int64_t * bytes, int64_t scratch) {
    const int *born = m->plan->born, *died = m->plan->died;
    int64_t ends[@most_roots@ + 1], most = 0;
    int order[@most_roots@ + 1], i, j, k;
    for (i = 0; i < m->plan->roots; i++) {
        for (j = i; j > 0 && bytes[order[j - 1]] < bytes[i]; j--) order[j] = order[j - 1];
        order[j] = i;
    }
    for (k = 0; k < m->plan->roots; k++) {
        int64_t begin = 0;
        i = order[k];
        for (j = 0; j < k; j++) {
            int other = order[j], together = born[other] <= died[i] && born[i] <= died[other];
            if (together && m->roots[other] < begin + bytes[i] + @gap@ && begin < ends[other]) {
                begin = ends[other];
                j = -1; /* from the start: another one may be here */
            }
        }
        m->roots[i] = begin;
        ends[i] = (begin + bytes[i] + @gap@ + @line@ - 1) / @line@ * @line@;
        if (ends[i] > most) most = ends[i];
    }
    m->roots[m->plan->roots] = most;
    m->block_bytes = (size_t)(most + scratch);
}

/* Gives all tensors their places for these sizes, by the first plan that serves them. */
static int placed(struct @name@ * m, const size_t * sizes) {
    int64_t bytes[@most_roots@ + 1], scratch;
    const char * condition = "";
    size_t i;
    for (i = 0; i < @open_count@; i++) {
        if (sizes[i] > 16777216) {
            fail("a size is larger than 16777216", "");
            return 0;
        }
        m->sizes[i] = sizes[i];
    }
    for (i = 0; i < sizeof(plans) / sizeof(*plans) && condition; i++) {
        m->plan = &plans[i];
@release@        condition = m->plan->unmet(m);
    }
    if (condition) {
@release@        fail("the program does not serve these sizes", condition);
        return 0;
    }
    scratch = m->plan->measured(m, bytes);
    place_roots(m, bytes, scratch);
    for (i = 0; i < @tensor_count@; i++) m->tensors[i].offset += (size_t)m->roots[m->tensors[i].root];
    return 1;
}

""",
    "running": """int @name@_run(struct @name@ * m, const void * const * inputs, void * const * outputs) {
    size_t i;
    error_text[0] = 0;
    if (m == NULL) {
        fail("the model is NULL", "");
        return 0;
    }
    for (i = 0; inputs && i < @input_count@; i++)
        if (inputs[i]) memcpy(m->block + m->tensors[i].offset, inputs[i], m->tensors[i].bytes);
    if (!m->plan->compute(m)) {
        fail(SimdnetLastError(), "");
        return 0;
    }
    for (i = 0; outputs && i < @output_count@; i++)
        if (outputs[i])
            memcpy(outputs[i], m->block + m->tensors[@input_count@ + i].offset, m->tensors[@input_count@ + i].bytes);
    return 1;
}

static void release_contexts(struct @name@ * m) {
    size_t i;
    for (i = 0; i < CONTEXTS; i++)
        if (m->contexts[i]) SimdRelease(m->contexts[i]);
}

int @name@_resize(struct @name@ * m@size_parameters@) {
@sizes_array@    struct @name@ next;
    error_text[0] = 0;
    if (m == NULL) {
        fail("the model is NULL", "");
        return 0;
    }
    next = *m;
    memset(next.contexts, 0, sizeof(next.contexts));
@forget@    if (!placed(&next, sizes)) return 0;
    if (next.block_bytes > m->block_bytes) {
        next.block_bytes += next.block_bytes / 4; /* sizes that grow step by step allocate a few times only */
        next.block = allocated(next.block_bytes, 4096);
        if (next.block == NULL) {
@release_next@            fail("no memory", "");
            return 0;
        }
        memset(next.block, 0, next.block_bytes);
    } else {
        next.block_bytes = m->block_bytes;
    }
    if (!next.plan->create_contexts(&next, m)) {
        fail(SimdnetLastError(), "");
        release_contexts(&next);
@release_next@        if (next.block != m->block) SimdFree(next.block);
        return 0;
    }
    release_contexts(m);
@release_old@    if (next.block != m->block) SimdFree(m->block);
    *m = next;
    return 1;
}

void * @name@_tensor(struct @name@ * m, size_t number) {
    return number < @tensor_count@ ? m->block + m->tensors[number].offset : NULL;
}

size_t @name@_elements(const struct @name@ * m, size_t number) {
    size_t i, count = number < @tensor_count@;
    for (i = 0; count && i < @most_dimensions@; i++) count *= m->tensors[number].shape[i];
    return count;
}

size_t @name@_bytes(const struct @name@ * m, size_t number) {
    return number < @tensor_count@ ? m->tensors[number].bytes : 0;
}

size_t @name@_dimension(const struct @name@ * m, size_t number, size_t axis) {
    return number < @tensor_count@ && axis < @most_dimensions@ ? m->tensors[number].shape[axis] : 0;
}

""",
    "usage_of_sizes": " * The first arguments are the sizes of the open dimensions, @open_names@.\n",
    "include_stdlib": "#include <stdlib.h>\n",
    "measure": """    for (i = 0; inputs[i].name; i++) {
        inputs[i].bytes = @name@_bytes(model, inputs[i].offset);
        inputs[i].count = @name@_elements(model, inputs[i].offset);
    }
    for (i = 0; outputs[i].name; i++) {
        outputs[i].bytes = @name@_bytes(model, outputs[i].offset);
        outputs[i].count = @name@_elements(model, outputs[i].offset);
    }
""",
}
