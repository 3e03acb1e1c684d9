/*
 * The beginning of every context, so that SimdRelease() can free any of them and a function refuses contexts of other kinds.
 *
 * A family's context is a struct whose first member is struct sn_context. Its Init calls sn_context_new(), its other
 * functions sn_context_check(), and its destroy frees what the struct owns (the struct itself is freed here).
 */
#ifndef SN_API_CONTEXT_H
#define SN_API_CONTEXT_H

#include "dispatch/dispatch.h"
#include "simdnet.h"

struct sn_convolution;

/* The convolutions that a context computes: those of its caller, and conversions of numbers before and after them. */
struct sn_stages {
    struct sn_convolution * plan; /* all of them, */
    size_t count;                 /* and their number */
    size_t first, given;          /* the first of the caller's, and their number */
    size_t add;                   /* what a merged convolution adds */
};

/* The packed parameters of a context that has no convolutions: one block of memory. */
struct sn_block {
    void * packed;     /* NULL before SetParams */
    size_t size;
    size_t shape[4];   /* contexts with equal ones pack alike */
    unsigned form;     /* what SetParams stores besides */
};

struct sn_context_kind {
    const char * name;                 /* as in the public names: "Convolution32f" */
    void (*destroy)(void * context);   /* frees what the context owns besides the struct itself; NULL if nothing */
    /* Computes for SimdnetForward(), which has checked the members that do not depend on the context; NULL: it refuses. */
    void (*forward)(const char * function, void * context, const SimdnetForwardParameters * parameters);
    /* The convolutions of a context, whose parameters SimdnetShareParams() shares; NULL: it has none. */
    struct sn_stages (*stages)(void * context);
    /* Whether they may be shared, besides what the convolutions need, or the last error is set; NULL: yes. */
    bool (*alike)(const char * function, const void * context, const void * from);
    /* SimdnetShareParams() for two contexts of a kind that has other parameters; NULL: it has none. */
    bool (*share)(const char * function, void * context, const void * from);
    /* These parameters; and lets the context use others, in memory of the caller. NULL: it has none in one block. */
    struct sn_block (*block)(const void * context);
    void (*borrow)(void * context, void * packed, unsigned form);
    /* The bytes of parameters of a form, 0 for one that the context cannot have; NULL: those of the block, of any form. */
    size_t (*size_of_form)(const void * context, unsigned form);
};

struct sn_context {
    uint64_t tag;                       /* distinguishes a context from other memory */
    const struct sn_context_kind * kind;
    const struct sn_table * table;      /* of the instruction set in use when the context was created */
    char info[112];                     /* "<algorithm>, <level>", see sn_context_describe() */
    size_t algorithm;                   /* the length of the algorithm in it */
    char shape[240];                    /* one word, for reports of calls; the family writes it in Init */
};

/* A zeroed context of `size` bytes with the table in use; NULL, and the last error set for `function`, without memory. */
void * sn_context_new(const struct sn_context_kind * kind, size_t size, const char * function);

/* For Init: sets the result of SimdnetContextInfo() to this text, which describes the algorithm, and the level. */
void sn_context_describe(struct sn_context * context, const char * format, ...) SN_PRINTF(2, 3);

/* True for a context of this kind; else the last error is set for `function`. */
bool sn_context_check(const void * context, const struct sn_context_kind * kind, const char * function);

/* The same for an argument with another name. */
bool sn_context_check_as(const char * name, const void * context, const struct sn_context_kind * kind,
                         const char * function);

/* True for a context of any kind; likewise. */
bool sn_is_context(const struct sn_context * context, const char * function);

/* The same for an argument with another name. */
bool sn_is_context_as(const char * name, const struct sn_context * context, const char * function);

/* Frees a context of any kind. */
void sn_context_free(void * context);

#endif
