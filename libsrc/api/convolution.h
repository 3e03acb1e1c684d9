/*
 * What the contexts of convolutions share: the checks of their parameters, and the buffer that Forward works in; those of a
 * single convolution, of whatever family, share all but the check of sizes and of what SetParams is given.
 */
#ifndef SN_API_CONVOLUTION_H
#define SN_API_CONVOLUTION_H

#include "api/check.h"
#include "api/context.h"
#include "ops/convolution.h"

/* The parameters under check, and how a sentence names them: "conv[1].kernelY" with of = "conv[1].", "kernelY" with "". */
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

/* Each check is true, or the last error is set. */

/* Floats, both NCHW or both NHWC. */
bool sn_check_convolution_types(const struct sn_convolution_check * c);

/* Each float or `small`, which sentences call `name`; likewise. */
bool sn_check_convolution_types_of(const struct sn_convolution_check * c, enum sn_data small, const char * name);

/* At least one group, which divides the channels, and an activation that exists. */
bool sn_check_convolution_channels(const struct sn_convolution_check * c);

/* Kernel, dilation and stride of an axis at least 1; what is added up too small to wrap. */
bool sn_check_convolution_axis(const struct sn_convolution_check * c, const struct sn_convolution_axis * a);

/* That, and dst = (src + pads - ((kernel - 1) * dilation + 1)) / stride + 1, on both axes. */
bool sn_check_convolution_size(const struct sn_convolution_check * c);

/* At least one image, and parameters that are there, of which `count` become *p. */
bool sn_take_convolution(const char * function, size_t batch, const SimdConvolutionParameters * conv, size_t count,
                         struct sn_convolution_parameters * p);

/* Those checks of types, sizes and channels; `small` may be 32f. */
bool sn_check_convolution(const char * function, const struct sn_convolution_parameters * p, enum sn_data small,
                          const char * name);

/* The arrays of SetParams: weights where there are outputs, parameters where the activation wants some. */
bool sn_check_convolution_arrays(const struct sn_convolution_check * c, const sn_32f * weight, const sn_32f * params);

/* The shape that a context tells: "1x64x56x56->64x28x28,3x3,s2,nhwc", of several convolutions with an arrow for each. */
void sn_convolution_shape(struct sn_context * head, size_t batch, const struct sn_convolution_parameters * conv,
                          size_t count);

/* What ExternalBufferSize returns for a workspace of so many bytes, in units of `unit` bytes: aligning any array costs
 * some. */
size_t sn_external_size(size_t workspace, size_t unit);

/* True when there is something to compute; else the last error is set, or there are no results. */
bool sn_check_forward(const char * function, const void * held, size_t results, const void * src, const void * dst);

/*
 * Where Forward works: in the caller's buffer, or in the thread's scratch memory when that is NULL; NULL for a workspace of
 * 0 bytes. False without memory, and the last error is set with the size in units of `unit` bytes, which are `units`.
 */
bool sn_workspace(const char * function, void * buf, size_t workspace, size_t unit, const char * units, void ** work);

/* False for a fault, and the last error is set. */
bool sn_check_given(const char * function, const struct sn_fault * fault);

/* ---- a single convolution: the public functions, for contexts of a kind */

struct sn_convolution_context {
    struct sn_context head;
    struct sn_convolution plan;
};

void * sn_convolution_init(const struct sn_context_kind * kind, const char * function,
                           const struct sn_convolution_family * family, size_t batch,
                           const struct sn_convolution_parameters * p);
void sn_convolution_destroy(void * context); /* for the kind */
size_t sn_convolution_external(const struct sn_context_kind * kind, const char * function, const void * context);
size_t sn_convolution_internal(const struct sn_context_kind * kind, const char * function, const void * context);

/* True when all of it could be taken in. */
bool sn_convolution_give(const struct sn_context_kind * kind, const char * function, void * context,
                         const struct sn_given * given);

void sn_convolution_forward(const struct sn_context_kind * kind, const char * function, const void * context,
                            const void * src, void * buf, void * dst);
void sn_convolution_forward_add(const struct sn_context_kind * kind, const char * function, const void * context,
                                const void * src, void * buf, const void * add, void * dst);

#endif
