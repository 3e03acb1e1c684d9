#include <math.h>

#include "api/call.h"
#include "api/merged.h"

static const struct sn_context_kind kind = SN_MERGED_KIND("MergedConvolution8i", NULL);

void * SimdSynetMergedConvolution8iInit(size_t batch, const SimdConvolutionParameters * conv, size_t count,
                                        SimdSynetCompatibilityType compatibility)
{
    SN_BEGIN();
    (void)compatibility; /* sums are exact in each mode */
    struct sn_convolution_parameters p[3];
    if (!sn_take_merged(__func__, batch, conv, count, &sn_merged_8i, (struct sn_merged_rules){false, true}, p))
        return NULL;
    return sn_merged_init(&kind, __func__, &sn_merged_8i, batch, p, count, SN_ADDS_NOTHING);
}

size_t SimdSynetMergedConvolution8iExternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_merged_external(&kind, __func__, context);
}

size_t SimdSynetMergedConvolution8iInternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_merged_internal(&kind, __func__, context);
}

/* Two arrays of minima and maxima, stats[first] and the next. */
static bool check_pair(const char * function, const sn_32f * const * stats, size_t first, size_t channels)
{
    for (size_t t = first; t < first + 2; ++t)
        SN_CHECK_FOR(function, stats[t] || channels == 0, false, "stats[%zu] is NULL, expected %zu floats", t, channels);
    for (size_t i = 0; i < channels; ++i) {
        const float low = stats[first][i], high = stats[first + 1][i];
        SN_CHECK_FOR(function, isfinite(low), false, "stats[%zu] of channel %zu is %g, expected a finite number", first, i,
                     (double)low);
        SN_CHECK_FOR(function, isfinite(high), false, "stats[%zu] of channel %zu is %g, expected a finite number", first + 1,
                     i, (double)high);
        SN_CHECK_FOR(function, low <= high, false, "stats[%zu] of channel %zu is %g, expected at most the maximum, %g",
                     first, i, (double)low, (double)high);
    }
    return true;
}

/* The pairs that this sequence uses: of a source that is bytes or becomes bytes, of the source of a projection, and of a
 * result that is bytes. */
static bool check_stats(const char * function, const struct sn_merged * plan, const sn_32f * const * stats)
{
    const enum sn_merged_stage end = plan->given + (enum sn_merged_stage)plan->count - 1;
    const struct sn_convolution_parameters * first = &plan->stage[plan->first].p, * last = &plan->stage[plan->last].p;
    SN_CHECK_FOR(function, stats, false, "stats is NULL, expected six arrays");
    if ((plan->given == SN_EXPANSION || first->srcT == SN_DATA_8U) && !check_pair(function, stats, 0, first->srcC))
        return false;
    if (end == SN_PROJECTION && !check_pair(function, stats, 2, last->srcC))
        return false;
    return last->dstT != SN_DATA_8U || check_pair(function, stats, 4, last->dstC);
}

void SimdSynetMergedConvolution8iSetParams(void * context, const sn_32f * const * weight, SimdBool * internal,
                                           const sn_32f * const * bias, const sn_32f * const * params,
                                           const sn_32f * const * stats)
{
    SN_CALL_OF(context);
    if (!sn_context_check(context, &kind, __func__))
        return;
    const struct sn_merged * plan = &((const struct sn_merged_context *)context)->plan;
    const struct sn_merged_arrays given = {weight, bias, params, stats};
    if (check_stats(__func__, plan, stats) && sn_merged_set_params(&kind, __func__, context, &given))
        for (size_t i = 0; internal && i < plan->count; ++i)
            internal[i] = SimdTrue;
}

void SimdSynetMergedConvolution8iForward(void * context, const uint8_t * src, uint8_t * buf, uint8_t * dst)
{
    SN_CALL_OF(context);
    sn_merged_forward(&kind, __func__, context, src, buf, dst);
}
