#include "ops/recurrent.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "api/call.h"
#include "api/context.h"
#include "api/enums.h"
#include "api/overlap.h"
#include "api/parameters.h"
#include "api/quantized.h"

struct context {
    struct sn_context head;
    struct sn_recurrent plan;
};

static const char * const types[] = {"LSTM", "GRU", "RNN"}, * const short_types[] = {"lstm", "gru", "rnn"};
static const char * const directions[] = {"forward", "reverse", "bidirectional"};

static void destroy(void * context) { sn_recurrent_free(&((struct context *)context)->plan); }

/* ---- shared parameters */

static bool same_size(const char * function, const char * name, size_t from, size_t own)
{
    SN_CHECK_FOR(function, from == own, false, "%s of from is %zu, expected %zu as in context", name, from, own);
    return true;
}

static bool same_name(const char * function, const char * name, const char * from, const char * own)
{
    SN_CHECK_FOR(function, from == own, false, "%s of from is %s, expected %s as in context", name, from, own);
    return true;
}

static bool share(const char * function, void * context, const void * from)
{
    struct sn_recurrent * own = &((struct context *)context)->plan;
    const struct sn_recurrent * other = &((const struct context *)from)->plan;
    SN_CHECK_FOR(function, other->table == own->table, false,
                 "the instruction set of from is %s, expected %s as in context", other->table->isa, own->table->isa);
    if (!same_name(function, "type", types[other->type], types[own->type]) ||
        !same_name(function, "direction", directions[other->direction], directions[own->direction]) ||
        !same_size(function, "input", other->input, own->input) ||
        !same_size(function, "hidden", other->hidden, own->hidden) ||
        !same_size(function, "linearBeforeReset", other->linearBeforeReset, own->linearBeforeReset))
        return false;
    if (!other->packed) {
        sn_error_set(SN_ERROR_STATE, function, "from has no parameters yet, expected SetParams to be called before");
        return false;
    }
    sn_recurrent_share(own, other);
    return true;
}

static struct sn_block block(const void * context)
{
    const struct sn_recurrent * r = &((const struct context *)context)->plan;
    return (struct sn_block){r->packed, sn_recurrent_packed_size(r, sn_recurrent_form(r)),
        {(size_t)r->type, r->input, r->hidden, 2 * r->directions + r->linearBeforeReset}, sn_recurrent_form(r)};
}

static void borrow(void * context, void * packed, unsigned form)
{
    sn_recurrent_borrow(&((struct context *)context)->plan, packed, form);
}

static size_t size_of_form(const void * context, unsigned form)
{
    return sn_recurrent_packed_size(&((const struct context *)context)->plan, form);
}

static const struct sn_context_kind kind = {.name = "Recurrent", .destroy = destroy, .share = share, .block = block,
    .borrow = borrow, .size_of_form = size_of_form};

/* ---- Init */

#define CHECK(condition, ...) SN_CHECK_FOR(function, condition, false, __VA_ARGS__)

/* The activations that a direction of a layer has. */
static int places_of(SimdnetRecurrentType type)
{
    return type == SimdnetRecurrentLstm ? SN_RECURRENT_PLACES : type == SimdnetRecurrentGru ? 2 : 1;
}

static bool check_activations(const char * function, const SimdnetRecurrentParameters * p)
{
    const int last = p->direction == SimdnetRecurrentBidirectional ? 2 : 1;
    for (int i = 0; i < 2 * SN_RECURRENT_PLACES; ++i) {
        const bool has = i / SN_RECURRENT_PLACES < last && i % SN_RECURRENT_PLACES < places_of(p->type);
        CHECK((unsigned)p->activations[i] <= SimdnetRecurrentActivationSoftplus,
              "activations[%d] is %d, expected a SimdnetRecurrentActivationType, Usual to Softplus", i,
              (int)p->activations[i]);
        CHECK(has || p->activations[i] == SimdnetRecurrentActivationUsual,
              "activations[%d] is %d, expected Usual, since the layer does not have this function", i,
              (int)p->activations[i]);
        CHECK(isfinite(p->alpha[i]), "alpha[%d] is %g, expected a finite number", i, (double)p->alpha[i]);
        CHECK(isfinite(p->beta[i]), "beta[%d] is %g, expected a finite number", i, (double)p->beta[i]);
    }
    CHECK(p->clip >= 0 && isfinite(p->clip), "clip is %g, expected a finite number of at least 0", (double)p->clip);
    CHECK(p->type == SimdnetRecurrentLstm || !p->inputForget, "inputForget is %d, expected SimdFalse for a %s",
          (int)p->inputForget, types[p->type]);
    return true;
}

static bool check_parameters(const char * function, const SimdnetRecurrentParameters * p)
{
    CHECK((unsigned)p->type <= SimdnetRecurrentRnn, "type is %d, expected a SimdnetRecurrentType, Lstm to Rnn",
          (int)p->type);
    CHECK((unsigned)p->direction <= SimdnetRecurrentBidirectional,
          "direction is %d, expected a SimdnetRecurrentDirection, Forward to Bidirectional", (int)p->direction);
    CHECK(p->steps > 0, "steps is 0, expected at least 1");
    CHECK(p->batch > 0, "batch is 0, expected at least 1");
    CHECK(p->input > 0, "input is 0, expected at least 1");
    CHECK(p->hidden > 0, "hidden is 0, expected at least 1");
    CHECK(p->type == SimdnetRecurrentGru || !p->linearBeforeReset,
          "linearBeforeReset is %d, expected SimdFalse for an LSTM or RNN", (int)p->linearBeforeReset);
    return check_activations(function, p);
}

static void describe(struct context * c)
{
    const struct sn_recurrent * r = &c->plan;
    const struct sn_gemm_32f_tile * tile = &c->head.table->gemm.tile_32f;
    char shape[64] = "";
    if (tile->run)
        snprintf(shape, sizeof(shape), ", tile %zux%zu", tile->rows, tile->columns);
    sn_context_describe(&c->head, "%s %s%s", types[r->type], directions[r->direction], shape);
    snprintf(c->head.shape, sizeof(c->head.shape), "%zux%zux%zu->%zu,%s,%s%s", r->steps, r->batch, r->input, r->hidden,
             short_types[r->type], directions[r->direction], r->linearBeforeReset ? ",linear" : "");
}

static void set_activations(struct sn_recurrent * r, const SimdnetRecurrentParameters * p)
{
    for (int i = 0; i < 2 * SN_RECURRENT_PLACES; ++i) {
        const enum sn_recurrent_place place = (enum sn_recurrent_place)(i % SN_RECURRENT_PLACES);
        const bool usual = p->activations[i] == SimdnetRecurrentActivationUsual;
        r->activation[i / SN_RECURRENT_PLACES][place] = (struct sn_recurrent_activation){
            usual ? sn_recurrent_usual(r->type, place) : (enum sn_recurrent_function)(p->activations[i] - 1), p->alpha[i],
            p->beta[i]};
    }
    r->clip = p->clip > 0 ? p->clip : INFINITY;
    r->inputForget = p->inputForget != SimdFalse;
}

void * SimdnetRecurrentInit(const SimdnetRecurrentParameters * parameters)
{
    SN_BEGIN();
    SimdnetRecurrentParameters own;
    const SimdnetRecurrentParameters * p = &own;
    if (!sn_take_known(__func__, parameters, offsetof(SimdnetRecurrentParameters, inputForget), &own, sizeof(own)) ||
        !check_parameters(__func__, p))
        return NULL;
    struct context * c = sn_context_new(&kind, sizeof(*c), __func__);
    if (!c)
        return NULL;
    c->plan = (struct sn_recurrent){.table = c->head.table, .type = (enum sn_recurrent_type)p->type,
        .direction = (enum sn_recurrent_direction)p->direction, .steps = p->steps, .batch = p->batch, .input = p->input,
        .hidden = p->hidden, .batchFirst = p->batchFirst != SimdFalse,
        .linearBeforeReset = p->linearBeforeReset != SimdFalse};
    set_activations(&c->plan, p);
    if (!sn_recurrent_plan(&c->plan)) {
        sn_context_free(c);
        SN_CHECK(false, NULL, "steps %zu, batch %zu, input %zu and hidden %zu describe an array that is too large",
                 p->steps, p->batch, p->input, p->hidden);
    }
    describe(c);
    return c;
}

size_t SimdnetRecurrentInternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_context_check(context, &kind, __func__) ? sn_recurrent_held(&((const struct context *)context)->plan) : 0;
}

/* ---- SetParams */

void SimdnetRecurrentSetParams(void * context, const sn_32f * W, const sn_32f * R, const sn_32f * bias,
                               const sn_32f * peephole)
{
    SN_CALL_OF(context);
    if (!sn_context_check(context, &kind, __func__))
        return;
    struct sn_recurrent * plan = &((struct context *)context)->plan;
    SN_CHECK_POINTER(W, SN_VOID);
    SN_CHECK_POINTER(R, SN_VOID);
    SN_CHECK(!peephole || plan->type == SN_RECURRENT_LSTM, SN_VOID, "peephole is not NULL, expected NULL for a %s",
             types[plan->type]);
    if (!sn_recurrent_set(plan, &(struct sn_recurrent_given){W, R, bias, peephole}))
        sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for the weights");
}

static bool check_quantized(const char * function, const struct sn_recurrent * r, const SimdnetRecurrentQuantizedParams * q)
{
    CHECK(r->type == SN_RECURRENT_LSTM, "the layer is a %s, expected an LSTM", types[r->type]);
    CHECK(q->type == SimdTensorData8u || q->type == SimdTensorData8i,
          "type is %s, expected SimdTensorData8u or SimdTensorData8i", SN_NAME(sn_data_types, q->type));
    CHECK(q->perColumn == SimdFalse || q->perColumn == SimdTrue, "perColumn is %d, expected SimdFalse or SimdTrue",
          (int)q->perColumn);
    CHECK(q->W, "W is NULL, expected an array");
    CHECK(q->R, "R is NULL, expected an array");
    const size_t scales = r->directions * (q->perColumn ? r->gates * r->hidden : 1);
    return sn_check_scales(function, "scaleW", q->scaleW, scales) && sn_check_scales(function, "scaleR", q->scaleR, scales);
}

void SimdnetRecurrentSetQuantizedParams(void * context, const SimdnetRecurrentQuantizedParams * parameters)
{
    SN_CALL_OF(context);
    if (!sn_context_check(context, &kind, __func__) || !sn_is_known(__func__, parameters, sizeof(*parameters)))
        return;
    struct sn_recurrent * plan = &((struct context *)context)->plan;
    const SimdnetRecurrentQuantizedParams * q = parameters;
    if (!check_quantized(__func__, plan, q))
        return;
    const struct sn_recurrent_given_bytes given = {.W = q->W, .R = q->R, .zeroW = q->zeroW, .zeroR = q->zeroR,
        .scaleW = q->scaleW, .scaleR = q->scaleR, .bias = q->bias, .peephole = q->peephole,
        .with_sign = q->type == SimdTensorData8i, .perColumn = q->perColumn == SimdTrue};
    if (!sn_recurrent_set_bytes(plan, &given))
        sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for the weights");
}

/* ---- Compute */

static bool check_arrays(const char * function, const struct sn_recurrent * r, const SimdnetRecurrentArrays * a)
{
    CHECK(a->src, "src is NULL, expected an array");
    CHECK(!a->c0 || r->type == SN_RECURRENT_LSTM, "c0 is not NULL, expected NULL for a %s", types[r->type]);
    CHECK(!a->cn || r->type == SN_RECURRENT_LSTM, "cn is not NULL, expected NULL for a %s", types[r->type]);
    for (size_t i = 0; a->lengths && i < r->batch; ++i)
        CHECK(a->lengths[i] <= r->steps, "lengths[%zu] is %zu, expected at most %zu, the steps", i, a->lengths[i], r->steps);
    return true;
}

/* Results are apart from each other and from what is read, except a state that replaces the one before. */
static bool is_apart(const char * function, const struct sn_recurrent * r, const SimdnetRecurrentArrays * a)
{
    struct sn_recurrent_sizes sizes;
    sn_recurrent_sizes(r, &sizes);
    const size_t state = sizes.state * sizeof(float), lengths = r->batch * sizeof(size_t);
    const struct sn_array results[] = {{"dst", a->dst, a->dst ? sizes.dst * sizeof(float) : 0},
        {"hn", a->hn, a->hn ? state : 0}, {"cn", a->cn, a->cn ? state : 0}};
    const struct sn_array sources[] = {{"src", a->src, sizes.src * sizeof(float)}, {"h0", a->h0, a->h0 ? state : 0},
        {"c0", a->c0, a->c0 ? state : 0}, {"lengths", a->lengths, a->lengths ? lengths : 0}};
    for (size_t i = 0; i < 3; ++i) {
        for (size_t j = 0; j < 4; ++j) /* hn is the second of each, cn the third */
            if (!sn_apart_for(function, results[i], sources[j], i == j && i > 0))
                return false;
        for (size_t j = 0; j < i; ++j)
            if (!sn_apart(function, results[i], results[j]))
                return false;
    }
    return true;
}

void SimdnetRecurrentCompute(void * context, const SimdnetRecurrentArrays * parameters)
{
    SN_CALL_OF(context);
    if (!sn_context_check(context, &kind, __func__) || !sn_is_known(__func__, parameters, sizeof(*parameters)))
        return;
    const struct sn_recurrent * plan = &((const struct context *)context)->plan;
    const SimdnetRecurrentArrays * q = parameters;
    if (!plan->packed) {
        sn_error_set(SN_ERROR_STATE, __func__, "the context has no weights yet, expected SetParams to be called before");
        return;
    }
    if (!check_arrays(__func__, plan, q) || !is_apart(__func__, plan, q))
        return;
    const size_t bytes = sn_recurrent_work(plan);
    void * work = sn_scratch(bytes);
    if (!work) {
        sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for a buffer of %zu bytes", bytes);
        return;
    }
    const struct sn_recurrent_arrays a = {q->src, q->h0, q->c0, q->lengths, q->dst, q->hn, q->cn};
    sn_recurrent_compute(plan, &a, work);
}
