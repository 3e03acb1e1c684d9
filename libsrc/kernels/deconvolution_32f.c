/* The kernels that deconvolutions need in addition to those of convolutions: one interleaves the phases, which are computed
 * separately, to rows of the result, the other adds up products of taps. */
#include "contract/deconvolution_32f.h"
#include "kernels/activate.h"
#include "kernels/install.h"
#include "kernels/lanes.h"

/* n phases; n is a compile-time constant. */
SN_INLINE void interleave_by(const struct sn_interleave_32f * job, size_t n)
{
    const struct thirds thirds = find_thirds(); /* for 3 */
    for (size_t row = 0; row < job->rows; ++row) {
        const sn_32f * src = job->src + row * job->srcStep;
        sn_32f * dst = job->dst + row * job->dstStep;
        for (size_t i = 0; i < job->size; i += n * V32F_N, src += V32F_N, dst += n * V32F_N) {
            const size_t room = job->size - i;
            v32f r[V32F_N];
            SN_UNROLL for (size_t f = 0; f < n; ++f) r[f] = v_load_32f(src + f * job->phaseStep);
            if (n == 3)
                zip_thirds_32f(r, &thirds);
            else
                zip_32f(r, (int)n);
            SN_UNROLL for (size_t f = 0; f < n; ++f)
            {
                if ((f + 1) * V32F_N <= room)
                    v_store_32f(dst + f * V32F_N, r[f]);
                else if (f * V32F_N < room)
                    v_store_tail_32f(dst + f * V32F_N, r[f], room - f * V32F_N);
            }
        }
    }
}

static void interleave_32f(const struct sn_interleave_32f * job)
{
    if (job->phases == 2)
        interleave_by(job, 2);
    else if (job->phases == 3)
        interleave_by(job, 3);
    else
        interleave_by(job, 4);
}

/* ---- sums of products */

/* A vector, or the floats that are left, then zeros: what is behind them could raise floating-point exceptions. */
SN_INLINE v32f load_up_to(const sn_32f * p, size_t left)
{
    return left >= V32F_N ? v_load_32f(p) : v_load_tail_32f(p, left);
}

/* Result x of an output, which may lack the products of some taps. */
static sn_32f sum_of(const struct sn_tap_sums_32f * job, const sn_32f * src, sn_32f sum, size_t x)
{
    for (size_t t = 0; t < job->taps; ++t)
        if (x >= job->tap[t].begin && x < job->tap[t].end)
            sum += src[job->tap[t].from + x - job->tap[t].begin];
    return sum;
}

static void activate_row(const struct sn_tap_sums_32f * job, sn_32f * row, size_t output)
{
    const v32f slope = v_set_32f(job->slope ? job->slope[output] : 0), p0 = v_set_32f(job->param[0]);
    if (activates_rows(job->activation))
        ACTIVATE_ROWS(row, 1, job->size, 0, job->activation, job->param);
    else if (job->activation != SN_ACTIVATION_IDENTITY)
        for (size_t x = 0; x < job->size; x += V32F_N) {
            const v32f v = load_up_to(row + x, job->size - x);
            v_store_32f(row + x, activate_32f(v, job->activation, slope, p0, v_set_32f(job->param[1])));
        }
}

/* Results low .. high - 1 have the products of all taps. */
static void sum_32f(const struct sn_tap_sums_32f * job)
{
    size_t low = 0, high = job->size;
    for (size_t t = 0; t < job->taps; ++t) {
        low = sn_max(low, job->tap[t].begin);
        high = sn_min(high, job->tap[t].end);
    }
    for (size_t o = 0; o < job->outputs; ++o) {
        const sn_32f * src = job->src + o * job->srcStep, bias = job->bias[o];
        sn_32f * dst = job->dst + o * job->dstStep;
        for (size_t x = low; x < high; x += V32F_N) {
            v32f sum = v_set_32f(bias);
            for (size_t t = 0; t < job->taps; ++t)
                sum = v_add_32f(sum, load_up_to(src + job->tap[t].from + (x - job->tap[t].begin), high - x));
            v_store_32f(dst + x, sum);
        }
        for (size_t x = 0; x < sn_min(low, job->size); ++x)
            dst[x] = sum_of(job, src, bias, x);
        for (size_t x = sn_max(low, high); x < job->size; ++x)
            dst[x] = sum_of(job, src, bias, x);
        activate_row(job, dst, o);
    }
}

SN_INSTALL(deconvolution_32f, deconvolution_32f)
{
    slots->interleave = interleave_32f;
    slots->sum = sum_32f;
}
