#include "api/verbose.h"

#include <string.h>

#include "dispatch/dispatch.h"
#include "runtime/cpu.h"
#include "runtime/os.h"
#include "runtime/statistic.h"
#include "runtime/text.h"
#include "runtime/threads.h"
#include "simdnet.h"

int sn_verbose_level = SN_VERBOSE_UNKNOWN;

/* The path comes last, since only it may contain blanks. */
static void report_library(void)
{
    char levels[160] = "", name[sizeof(sn_cpu()->name)];
    for (size_t i = 0; sn_table_at(i); ++i)
        sn_append(levels, sizeof(levels), i ? ",%s" : "%s", sn_table_at(i)->isa);
    strcpy(name, *sn_cpu()->name ? sn_cpu()->name : "-");
    for (char * blank = name; (blank = strchr(blank, ' '));)
        *blank = '_';
    sn_message("version=%s cpu=%s cores=%zu levels=%s level=%s threads=%zu library=%s", SIMDNET_VERSION, name,
               sn_cpu()->cores, levels, sn_table()->isa, sn_threads(), sn_os_library());
}

static struct sn_once library_once;

void sn_verbose_set(enum sn_verbose level)
{
    const int before = __atomic_load_n(&sn_verbose_level, __ATOMIC_RELAXED);
    if (level > SN_VERBOSE_OFF) {
        sn_once(&library_once, report_library);
        if (before == SN_VERBOSE_OFF)
            sn_statistic_clear();
    }
    __atomic_store_n(&sn_verbose_level, level, __ATOMIC_RELAXED);
}

static void read_environment(void)
{
    const char * text = sn_os_environment("SIMDNET_VERBOSE");
    enum sn_verbose level = SN_VERBOSE_OFF;
    if (text && text[0] >= '0' && text[0] <= '2' && !text[1])
        level = (enum sn_verbose)(text[0] - '0');
    else if (text && *text)
        sn_message("SIMDNET_VERBOSE is ignored, expected 0, 1 or 2: %.100s", text);
    sn_verbose_set(level);
}

enum sn_verbose sn_verbose(void)
{
    static struct sn_once once;
    sn_once(&once, read_environment);
    return (enum sn_verbose)__atomic_load_n(&sn_verbose_level, __ATOMIC_RELAXED);
}

void sn_verbose_report(const struct sn_call_record * c)
{
    if (sn_verbose() == SN_VERBOSE_LINES && c->error)
        sn_message("function=%s shape=%s algorithm=%s level=%s threads=%zu error=%s", c->function, c->shape, c->algorithm,
                   c->isa, c->threads, c->error);
    else if (sn_verbose() == SN_VERBOSE_LINES)
        sn_message("function=%s shape=%s algorithm=%s level=%s threads=%zu us=%llu.%03u", c->function, c->shape,
                   c->algorithm, c->isa, c->threads, (unsigned long long)(c->nanoseconds / 1000),
                   (unsigned)(c->nanoseconds % 1000));
    if (!c->error) {
        char text[SN_STATISTIC_TEXT] = "";
        sn_append(text, sizeof(text), "%s %s %s %s", c->function, c->shape, c->algorithm, c->isa);
        sn_statistic_add(text, c->nanoseconds);
    }
}
