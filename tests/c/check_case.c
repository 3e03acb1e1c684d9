/* The description of a case: the function and its geometry, its arrays, and how results are compared. */
#include "check_frame.h"

#include <stdarg.h>
#include <stdlib.h>

struct frame_case frame_case;

/* The family's stream as the case began: numbers drawn for the data, which a case that is left out does not draw, must not
 * change the geometries that follow. */
static struct frame_random at_begin;
static bool has_begun;

void frame_end_data(void)
{
    if (has_begun)
        frame_family_random = at_begin;
    has_begun = false;
}

bool check_selected(const char * function) { return !frame_option.function || strcmp(frame_option.function, function) == 0; }

bool check_case(const char * function, const char * geometry, ...)
{
    struct frame_case * c = &frame_case;
    c->function = function;
    va_list arguments;
    va_start(arguments, geometry);
    vsnprintf(c->geometry, sizeof(c->geometry), geometry, arguments);
    va_end(arguments);
    c->random.state = frame_hash(frame_hash(frame_option.seed, function), c->geometry);
    c->skip = !check_selected(function) || (frame_option.geometry && !strstr(c->geometry, frame_option.geometry)) ||
              (frame_option.every && (c->random.state >> 32) % frame_option.every);
    c->skip = frame_left_out() || c->skip;
    at_begin = frame_family_random;
    has_begun = true;
    c->arrays = 0;
    c->compare = FRAME_EXACT;
    c->tolerance = 0;
    c->freedoms = 0;
    c->raises = c->raises_like_base = false;
    c->open = NULL;
    return !c->skip;
}

static void * declare(const char * name, enum check_type type, size_t count, enum frame_role role, enum check_fill fill)
{
    struct frame_case * c = &frame_case;
    if (c->arrays == FRAME_ARRAYS) {
        fprintf(stderr, "check: %s has more than %d arrays\n", c->function, (int)FRAME_ARRAYS);
        exit(2);
    }
    struct frame_array * array = &c->array[c->arrays++];
    array->name = name;
    array->type = type;
    array->role = role;
    array->count = count;
    array->bytes = count * frame_type_bytes(type);
    array->optional = array->has_bound = false;
    /* Three parts, each a multiple of 8 bytes for alignment. */
    const size_t part = (array->bytes + 15) / 8 * 8;
    array->content = frame_grow(array->content, &array->capacity, 3 * part);
    array->expected = array->content + part;
    array->first = array->expected + part;
    if (role != FRAME_OUT && !c->skip)
        frame_fill(&c->random, type, count, frame_option.special && fill != CHECK_ZERO ? CHECK_RANDOM : fill, array->content);
    if (frame_option.special)
        frame_plant(array, fill);
    return array->content;
}

void * check_in(const char * name, enum check_type type, size_t count, enum check_fill fill)
{
    return declare(name, type, count, FRAME_IN, fill);
}

void * check_inout(const char * name, enum check_type type, size_t count, enum check_fill fill)
{
    return declare(name, type, count, FRAME_INOUT, fill);
}

void check_out(const char * name, enum check_type type, size_t count)
{
    declare(name, type, count, FRAME_OUT, CHECK_ZERO);
}

static struct frame_array * last_array(void) { return &frame_case.array[frame_case.arrays - 1]; }

void check_optional(void) { last_array()->optional = true; }

static void rule(enum frame_compare compare, double tolerance, int freedoms)
{
    frame_case.compare = compare;
    frame_case.tolerance = tolerance;
    frame_case.freedoms = freedoms;
}

void check_exact(int freedoms) { rule(FRAME_EXACT, 0, freedoms); }
void check_ulp(double ulp) { rule(FRAME_ULP, ulp, CHECK_NAN_FREE); }
void check_bytes_within(int n) { rule(FRAME_WITHIN, n, 0); }
void check_anything(void) { rule(FRAME_ANYTHING, 0, 0); }

double * check_bound(void)
{
    if (frame_case.skip) {
        fprintf(stderr, "check: a bound for %s [%s], which is left out\n", frame_case.function, frame_case.geometry);
        exit(2);
    }
    struct frame_array * array = last_array();
    array->has_bound = true;
    array->bound = frame_grow(array->bound, &array->bound_capacity, (array->count + 1) * sizeof(double));
    memset(array->bound, 0, array->count * sizeof(double));
    return array->bound;
}

void check_raises(void) { frame_case.raises = true; }

void check_raises_like_base(void) { frame_case.raises_like_base = true; }

void check_open(check_open_fn open) { frame_case.open = open; }

bool frame_selected(void) { return !frame_case.skip; }

/* ---- choice of geometries */

struct frame_random frame_family_random;

bool check_timed(void) { return frame_option.bench; }

bool check_quick(void) { return frame_option.quick; }

bool check_repeated(void) { return frame_option.same; }

size_t check_count(size_t usual)
{
    return frame_option.count ? frame_option.count : frame_option.quick ? (usual + 7) / 8 : usual;
}

size_t check_random(size_t low, size_t high) { return low + frame_next(&frame_family_random) % (high - low + 1); }

size_t check_random_size(size_t high)
{
    const size_t most = check_random(0, 2) ? sn_min(high, 67) : high;
    return check_random(1, most);
}

float check_random_32f(float low, float high)
{
    return low + (high - low) * ((float)(frame_next(&frame_family_random) >> 40) * 0x1p-24f);
}
