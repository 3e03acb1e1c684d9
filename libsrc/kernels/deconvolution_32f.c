/* The kernel that deconvolutions need in addition to those of convolutions: it interleaves the phases, which are computed
 * separately, to rows of the result. */
#include "contract/deconvolution_32f.h"
#include "kernels/install.h"
#include "kernels/lanes.h"

/* n phases; n is a compile-time constant. */
SN_INLINE void interleave_by(const struct sn_interleave_32f * job, size_t n)
{
    for (size_t row = 0; row < job->rows; ++row) {
        const sn_32f * src = job->src + row * job->srcStep;
        sn_32f * dst = job->dst + row * job->dstStep;
        for (size_t i = 0; i < job->size; i += n * V32F_N, src += V32F_N, dst += n * V32F_N) {
            const size_t room = job->size - i;
            v32f r[V32F_N];
            SN_UNROLL for (size_t f = 0; f < n; ++f) r[f] = v_load_32f(src + f * job->phaseStep);
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
    else
        interleave_by(job, 4);
}

SN_INSTALL(deconvolution_32f, deconvolution_32f) { slots->interleave = interleave_32f; }
