/* Shared by the files of the checker's frame; families need only check.h. */
#ifndef SN_CHECK_FRAME_H
#define SN_CHECK_FRAME_H

#include "check.h"

enum { FRAME_ARRAYS = 16, FRAME_LEVELS = 16 };

struct frame_random {
    uint64_t state;
};

enum frame_role { FRAME_IN, FRAME_OUT, FRAME_INOUT };
enum frame_compare { FRAME_EXACT, FRAME_ULP, FRAME_WITHIN, FRAME_ANYTHING };

/* Position of an array between its two inaccessible pages. */
enum frame_place { FRAME_END, FRAME_BEGIN, FRAME_MIDDLE, FRAME_PLACES };

struct frame_array {
    const char * name;
    enum check_type type;
    enum frame_role role;
    size_t count, bytes;
    bool optional, has_bound;
    unsigned char * content;  /* its content before the call: declared data; meaningless for FRAME_OUT */
    unsigned char * expected; /* base's result */
    unsigned char * first;    /* this level's result at the first place */
    double * bound;
    size_t capacity, bound_capacity;
};

struct frame_case {
    const char * function;
    char geometry[256];
    bool skip;
    size_t arrays;
    struct frame_array array[FRAME_ARRAYS];
    enum frame_compare compare;
    double tolerance;
    int freedoms;
    bool raises, raises_like_base;
    bool has_largest; /* --special: FLT_MAX is among ordinary values */
    check_open_fn open;
    struct frame_random random; /* for its data */
};

size_t frame_type_bytes(enum check_type type);

/* ---- check.c */

struct frame_options {
    const char * isa, * test, * function, * geometry; /* NULL: all */
    uint64_t seed;
    size_t count, every, stack, jobs; /* 0: not given */
    size_t threads;                   /* 0: one thread */
    size_t random, special, seconds;  /* 0: not given */
    bool quick, bench, counts, caches, same, flush, traps;
    bool no_guards;                   /* every place is FRAME_MIDDLE */
    bool refused;                     /* check_run() does nothing */
};

extern struct frame_options frame_option;
extern const char * frame_program, * frame_family; /* their names */
extern const char * frame_level[FRAME_LEVELS];
extern size_t frame_levels;

/* ---- check_case.c */
extern struct frame_case frame_case;
extern struct frame_random frame_family_random; /* for geometries */
bool frame_selected(void);
void frame_end_data(void); /* the data of the case are complete */

/* ---- check_rounds.c: a family several times, with other seeds */
void frame_run_rounds(void (*run)(void));
bool frame_left_out(void); /* the case, in this round; called for each */
/* With --special: puts a special value into the content of an array, if it is its turn. */
void frame_plant(struct frame_array * array, enum check_fill fill);
/* False if the case has no special value, but should have. */
bool frame_is_planted(void);
void frame_plant_passed(void);

/* ---- check_counts.c: what has been compared, by function. */
enum { FRAME_PLANTED_ARRAYS = 6, FRAME_PLANTS = 256, FRAME_KEYS = 24 };

struct frame_tally {
    char function[64];
    size_t cases[FRAME_LEVELS];      /* results that agreed with base's, or were base's, at all places */
    size_t others;                   /* refusals, calls without elements, conditions */
    uint64_t checksum[FRAME_LEVELS]; /* of results and their geometries, in any order */
    uint64_t offset[FRAME_ARRAYS];   /* bit i: the array began i bytes behind a multiple of 64 */
    struct {
        char name[16];
        uint64_t values[2];
    } key[FRAME_KEYS];               /* sizes in the text of the geometry: bit i if it has been i, up to 67 */
    size_t same_threads, same_repeats;
    size_t flushed[FRAME_LEVELS], kept[FRAME_LEVELS]; /* results that differ, and not, if denormal numbers become 0 */
    size_t planted[FRAME_LEVELS];
    /* For --special: */
    size_t turn, inputs;
    uint64_t covered[FRAME_PLANTED_ARRAYS][FRAME_PLANTS / 64];
};

/* What one process has counted; its results are read by the process that prints. */
struct frame_process {
    size_t functions, calls, pairs; /* pairs: results with and without a buffer, of images at several places, ... */
    struct frame_tally function[320];
};

extern struct frame_process * frame_process;
void frame_share(size_t processes);         /* ends the program if there is no memory */
void frame_choose_process(size_t number);
struct frame_tally * frame_tally(void);     /* of the function in frame_case */
void frame_tally_case(size_t level);        /* the case has passed */
void frame_print_counts(size_t processes);

/* ---- check_report.c */
extern struct frame_counts {
    size_t passed, failed, family_failed;
} frame_count;
void frame_fail(const char * format, ...) __attribute__((format(printf, 1, 2)));
void frame_catch_crashes(void);

/* The result of run(argument, a), where a has FRAME_ARRAYS elements. A crash is reported, and the result false. */
bool frame_guarded(bool (*run)(const void * argument, void ** a), const void * argument);

/* ---- check_refusal.c: how many cases must be refused, a line for the scorecard */
void frame_refusals_clear(void);
void frame_refusals_print(void);

/* ---- check_run.c: calls on a level */
extern const char * frame_level_in_use;
extern size_t frame_level_number; /* its index in frame_level */
void frame_use_level(const char * level);
void frame_set_up(enum frame_place place, void ** a);
unsigned char frame_filler(enum frame_place place); /* what outputs are filled with before the call */
void frame_set_error(void);                         /* sets an error text, which a successful call must clear */
bool frame_no_error(const char * where);            /* reports an error of the last call */
bool frame_memory_intact(void * const * a);         /* reports changed inputs, and writes outside of arrays */

/* ---- check_memory.c: memory between inaccessible pages. Slots are numbered from 0; an array and its canaries remain until
 * the slot is used again. */
unsigned char * frame_place(size_t slot, size_t bytes, size_t step, enum frame_place place, uint64_t random);
bool frame_canaries_intact(size_t slot);
void frame_out_of_memory(void);
void * frame_grow(void * block, size_t * capacity, size_t bytes);

/* ---- check_data.c */
uint64_t frame_next(struct frame_random * random);
uint64_t frame_hash(uint64_t hash, const char * text);
void frame_fill(struct frame_random * random, enum check_type type, size_t count, enum check_fill fill, void * data);

/* True if the array has only finite numbers of ordinary size. */
bool frame_ordinary(const struct frame_array * array);

/* The index of the first element of `got` that differs from `expected` by the case's rule; the count if none does. */
size_t frame_difference(const struct frame_case * c, const struct frame_array * array, const void * got);
/* The same for two results of one level, by the rule of check_same(). */
size_t frame_unequal(enum check_type type, const void * a, const void * b, size_t count);
/* Formats an element and its bits as text. */
void frame_show(const struct frame_array * array, const void * data, size_t index, char * text, size_t size);

#endif
