#include "api/call.h"

#include <string.h>

#include "api/context.h"
#include "api/enums.h"
#include "runtime/os.h"
#include "runtime/text.h"
#include "runtime/threads.h"

void sn_call_begin(struct sn_call * call, const char * function, const void * context, const char * names, size_t formats,
                   const size_t * values, size_t count)
{
    if (sn_verbose() == SN_VERBOSE_OFF)
        return;
    call->function = function;
    call->context = context;
    call->names = names;
    call->count = sn_min(count, SN_CALL_VALUES);
    call->formats = formats;
    memcpy(call->values, values, call->count * sizeof(values[0]));
    sn_threads_used_clear();
    call->start = (uint64_t)sn_os_now();
}

/* "channels:64,spatial:3136,format:nhwc"; a number for an unknown format. */
static void describe_values(const struct sn_call * call, char * text, size_t size)
{
    const char * name = call->names;
    for (size_t i = 0; i < call->count; ++i) {
        const char * arrow = memchr(name, '>', strcspn(name, ",")); /* a member: "q->channels" */
        name = arrow ? arrow + 1 : name;
        const size_t length = strcspn(name, ","), value = call->values[i];
        const char * format = i + call->formats < call->count ? NULL : sn_enumerator(&sn_formats, (int)value);
        sn_append(text, size, i ? ",%.*s:" : "%.*s:", (int)length, name);
        if (format) /* "nhwc" of "Nhwc" */
            sn_append(text, size, "%c%s", *format | ('a' - 'A'), format + 1);
        else
            sn_append(text, size, "%zu", value);
        name += length + strspn(name + length, ", ");
    }
}

/* The algorithm of a context as a word: without its level, which is reported separately, and without blanks. */
static void describe_algorithm(const struct sn_context * context, char * text, size_t size)
{
    sn_append(text, size, "%.*s", (int)context->algorithm, context->info);
    char * to = text;
    for (const char * from = text; *from; ++from)
        if (*from != ' ' || (to > text && to[-1] != ','))
            *to++ = *from == ' ' ? '_' : *from;
    *to = '\0';
}

void sn_call_report(const struct sn_call * call)
{
    static const char * const errors[] = {NULL, "value", "memory", "state"};
    const uint64_t nanoseconds = (uint64_t)sn_os_now() - call->start;
    char shape[400] = "", algorithm[128] = "";
    struct sn_call_record record = {.function = call->function, .isa = sn_table()->isa, .threads = sn_threads_used(),
                           .error = errors[sn_error_kind()], .nanoseconds = nanoseconds};
    if (*call->names) {
        describe_values(call, shape, sizeof(shape));
    } else if (sn_error_kind() != SN_ERROR_VALUE) { /* otherwise the context itself may be invalid */
        const struct sn_context * context = call->context;
        record.isa = context->table->isa;
        sn_append(shape, sizeof(shape), "%s", context->shape);
        describe_algorithm(context, algorithm, sizeof(algorithm));
    }
    record.shape = *shape ? shape : "-";
    record.algorithm = *algorithm ? algorithm : "-";
    sn_verbose_report(&record);
}
