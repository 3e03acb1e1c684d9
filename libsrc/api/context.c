#include "api/context.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/check.h"
#include "runtime/text.h"

#define CONTEXT_TAG 0x73696D646E657421u /* "simdnet!" */

void * sn_context_new(const struct sn_context_kind * kind, size_t size, const char * function)
{
    struct sn_context * context = sn_allocate(size, SN_ALIGN);
    if (!context) {
        sn_error_set(SN_ERROR_MEMORY, function, "no memory for a context of %zu bytes", size);
        return NULL;
    }
    memset(context, 0, size);
    context->tag = CONTEXT_TAG;
    context->kind = kind;
    context->table = sn_table();
    return context;
}

void sn_context_describe(struct sn_context * context, const char * format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(context->info, sizeof(context->info), format, arguments);
    va_end(arguments);
    context->algorithm = strlen(context->info);
    sn_append(context->info, sizeof(context->info), ", %s", context->table->isa);
}

bool sn_is_context_as(const char * name, const struct sn_context * context, const char * function)
{
    SN_CHECK_FOR(function, context, false, "%s is NULL, expected a context that an Init function returned", name);
    SN_CHECK_FOR(function, (uintptr_t)context % SN_ALIGN == 0 && context->tag == CONTEXT_TAG, false,
                 "%s is not a simdnet context, expected one that an Init function returned", name);
    return true;
}

bool sn_is_context(const struct sn_context * context, const char * function)
{
    return sn_is_context_as("context", context, function);
}

bool sn_context_check_as(const char * name, const void * context, const struct sn_context_kind * kind, const char * function)
{
    const struct sn_context * c = context;
    if (!sn_is_context_as(name, c, function))
        return false;
    SN_CHECK_FOR(function, c->kind == kind, false, "%s is one of %s, expected one of %s", name, c->kind->name, kind->name);
    return true;
}

bool sn_context_check(const void * context, const struct sn_context_kind * kind, const char * function)
{
    return sn_context_check_as("context", context, kind, function);
}

void sn_context_free(void * context)
{
    struct sn_context * c = context;
    if (c->kind->destroy)
        c->kind->destroy(c);
    c->tag = 0;
    sn_free(c);
}

void SimdRelease(void * context)
{
    SN_BEGIN();
    if (context && sn_is_context(context, __func__))
        sn_context_free(context);
}

const char * SimdnetContextInfo(const void * context)
{
    SN_BEGIN();
    return sn_is_context(context, __func__) ? ((const struct sn_context *)context)->info : NULL;
}

/* ---- the same of one kind of contexts, as the Simd Library has it */

static const char * info_of(const char * function, const void * context, const char * kind)
{
    const struct sn_context * c = context;
    if (!sn_is_context(c, function))
        return NULL;
    SN_CHECK_FOR(function, strcmp(c->kind->name, kind) == 0, NULL, "context is one of %s, expected one of %s", c->kind->name,
                 kind);
    return c->info;
}

const char * SimdSynetConvolution32fInfo(const void * context)
{
    SN_BEGIN();
    return info_of(__func__, context, "Convolution32f");
}

const char * SimdSynetConvolution8iInfo(const void * context)
{
    SN_BEGIN();
    return info_of(__func__, context, "Convolution8i");
}

const char * SimdSynetConvolution16bInfo(const void * context)
{
    SN_BEGIN();
    return info_of(__func__, context, "Convolution16b");
}

const char * SimdSynetDeconvolution16bInfo(const void * context)
{
    SN_BEGIN();
    return info_of(__func__, context, "Deconvolution16b");
}

const char * SimdSynetInnerProduct16bInfo(const void * context)
{
    SN_BEGIN();
    return info_of(__func__, context, "InnerProduct16b");
}

const char * SimdSynetQuantizedInnerProductInfo(const void * context)
{
    SN_BEGIN();
    return info_of(__func__, context, "QuantizedInnerProduct");
}

const char * SimdSynetQuantizedMergedConvolutionInfo(const void * context)
{
    SN_BEGIN();
    return info_of(__func__, context, "QuantizedMergedConvolution");
}

const char * SimdSynetQuantizedConvolutionInfo(const void * context)
{
    SN_BEGIN();
    return info_of(__func__, context, "QuantizedConvolution");
}

const char * SimdSynetMergedConvolution16bInfo(const void * context)
{
    SN_BEGIN();
    return info_of(__func__, context, "MergedConvolution16b");
}

const char * SimdSynetMergedConvolution8iInfo(const void * context)
{
    SN_BEGIN();
    return info_of(__func__, context, "MergedConvolution8i");
}

const char * SimdSynetDeconvolution32fInfo(const void * context)
{
    SN_BEGIN();
    return info_of(__func__, context, "Deconvolution32f");
}

const char * SimdSynetMergedConvolution32fInfo(const void * context)
{
    SN_BEGIN();
    return info_of(__func__, context, "MergedConvolution32f");
}
