/*
 * Common code for contexts of convolutions: the checks of their parameters, and the workspace of Forward. Contexts of a
 * single convolution, of any family, share everything except the check of sizes and of the arguments of SetParams.
 */
#ifndef SN_API_CONVOLUTION_H
#define SN_API_CONVOLUTION_H

#include "api/check.h"
#include "api/context.h"
#include "api/overlap.h"
#include "ops/convolution/plan.h"

/* The parameters to check, and how messages name them: "conv[1].kernelY" with of = "conv[1].", "kernelY" with "". */
struct sn_convolution_check {
    const char * function;
    const char * of;
    const struct sn_convolution_parameters * p;
};

/* One axis of them. */
struct sn_convolution_axis {
    const char * name;   /* "Y" of kernelY */
    const char * extent; /* "H" of srcH */
    size_t src, kernel, dilation, stride, before, after, dst;
};

static inline struct sn_convolution_axis sn_axis_y(const struct sn_convolution_parameters * p)
{
    return (struct sn_convolution_axis){"Y", "H", p->srcH, p->kernelY, p->dilationY, p->strideY, p->padY, p->padH, p->dstH};
}

static inline struct sn_convolution_axis sn_axis_x(const struct sn_convolution_parameters * p)
{
    return (struct sn_convolution_axis){"X", "W", p->srcW, p->kernelX, p->dilationX, p->strideX, p->padX, p->padW, p->dstW};
}

/* Each check returns true, or sets the last error and returns false. */

/* Floats, both NCHW or both NHWC. */
bool sn_check_convolution_types(const struct sn_convolution_check * c);

/* Each float or `small`, whose name in messages is `name`; likewise. */
bool sn_check_convolution_types_of(const struct sn_convolution_check * c, enum sn_data small, const char * name);

/* Of an extent, whatever the others are: sums and multiples of it fit size_t even if another extent is 0. */
#define SN_MOST_EXTENT ((size_t)PTRDIFF_MAX / 8)

/* At least one group, which divides the channels, and an activation that exists. */
bool sn_check_convolution_channels(const struct sn_convolution_check * c);

/* Kernel, dilation and stride of an axis at least 1; sums of sizes do not overflow. */
bool sn_check_convolution_axis(const struct sn_convolution_check * c, const struct sn_convolution_axis * a);

/* That, and dst = (src + pads - ((kernel - 1) * dilation + 1)) / stride + 1, on both axes. */
bool sn_check_convolution_size(const struct sn_convolution_check * c);

/* At least one image, and parameters that are not NULL, `count` of which are copied to *p. */
bool sn_convert_parameters(const char * function, size_t batch, const SimdConvolutionParameters * conv, size_t count,
                           struct sn_convolution_parameters * p);

/* The checks above of types, sizes and channels; `small` may be 32f. */
bool sn_check_convolution(const char * function, const struct sn_convolution_parameters * p, enum sn_data small,
                          const char * name);

/* The same of a deconvolution. */
bool sn_check_deconvolution(const char * function, const struct sn_convolution_parameters * p, enum sn_data small,
                            const char * name);

/* The arrays of SetParams: weights if there are outputs, parameters if the activation needs them. */
bool sn_check_convolution_arrays(const struct sn_convolution_check * c, const void * weight, const sn_32f * params);

/* The shape of a context for reports: "1x64x56x56->64x28x28,3x3,s2,nhwc", with an arrow for each convolution. */
void sn_convolution_shape(struct sn_context * head, size_t batch, const struct sn_convolution_parameters * conv,
                          size_t count);

/* The result of ExternalBufferSize for a workspace of this many bytes, in units of `unit` bytes, including some bytes to
 * align the caller's array. */
size_t sn_external_size(size_t workspace, size_t unit);

/* A Forward of a context that begins and ends with these convolutions, the same if it has one. */
struct sn_forward {
    const char * function;
    const struct sn_convolution * first, * last;
    size_t batch, workSize;
    bool adds; /* there must be an array to add */
};

/*
 * Checks the arrays of a Forward, and sets a->work to the workspace: the caller's buffer, or the thread's scratch memory if
 * that is NULL; NULL if none is needed. True if there is something to compute; otherwise the last error is set, or there are
 * no results.
 */
bool sn_forward_begin(const struct sn_forward * f, struct sn_arrays * a, void * buf);

/* True if there is no fault; otherwise sets the last error. */
bool sn_report_fault(const char * function, const struct sn_fault * fault);

/* ---- a single convolution: the public functions, for contexts of a kind */

struct sn_convolution_context {
    struct sn_context head;
    struct sn_convolution plan;
};

static inline const struct sn_convolution * sn_convolution_of(const void * context)
{
    return &((const struct sn_convolution_context *)context)->plan;
}

void * sn_convolution_init(const struct sn_context_kind * kind, const char * function,
                           const struct sn_convolution_family * family, size_t batch,
                           const struct sn_convolution_parameters * p);
void sn_convolution_destroy(void * context); /* this and the next are for the kind */
struct sn_stages sn_convolution_stages(void * context);
size_t sn_convolution_external(const struct sn_context_kind * kind, const char * function, const void * context);
size_t sn_convolution_internal(const struct sn_context_kind * kind, const char * function, const void * context);

/* Sets the parameters; false, and the last error set, if they are refused. */
bool sn_convolution_set_params(const struct sn_context_kind * kind, const char * function, void * context,
                               const struct sn_set_params * given);

void sn_convolution_forward(const struct sn_context_kind * kind, const char * function, const void * context,
                            const void * src, void * buf, void * dst);
void sn_convolution_forward_add(const struct sn_context_kind * kind, const char * function, const void * context,
                                const void * src, void * buf, const void * add, void * dst);

#endif
