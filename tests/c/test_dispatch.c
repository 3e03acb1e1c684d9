/* Which instruction sets this machine has, SIMDNET_MAX_ISA, SimdnetSetMaxIsa(), and that base implements everything. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dispatch/dispatch.h"
#include "ops/attention.h"
#include "runtime/cpu.h"
#include "test.h"

/* What a fresh process with this SIMDNET_MAX_ISA (NULL: unset) reports as its active level, and all it writes to stderr. */
struct answer {
    char active[64], warning[4096];
    bool exited;
};

static void read_all(int file, char * text, size_t size)
{
    size_t length = 0;
    for (ssize_t n = 1; n > 0 && length < size - 1; length += n > 0 ? (size_t)n : 0)
        n = read(file, text + length, size - 1 - length);
    text[length] = '\0';
    close(file);
}

static void child(const char * cap, int out, int error)
{
    dup2(error, STDERR_FILENO);
    if (cap)
        setenv("SIMDNET_MAX_ISA", cap, 1);
    else
        unsetenv("SIMDNET_MAX_ISA");
    const char * active = SimdnetActiveIsa();
    setenv("SIMDNET_MAX_ISA", "base", 1); /* read once: this must change nothing */
    active = strcmp(active, SimdnetActiveIsa()) == 0 ? active : "changed";
    if (write(out, active, strlen(active)) < 0)
        _exit(1);
    _exit(0);
}

/* A fork is fresh enough: the library has not been called in this process yet. It also works under emulators where exec does
 * not. */
static struct answer request(const char * cap)
{
    struct answer answer;
    int out[2], error[2], status = 1;
    memset(&answer, 0, sizeof(answer));
    if (pipe(out) != 0 || pipe(error) != 0)
        return answer;
    const pid_t pid = fork();
    if (pid == 0)
        child(cap, out[1], error[1]);
    close(out[1]);
    close(error[1]);
    read_all(out[0], answer.active, sizeof(answer.active));
    read_all(error[0], answer.warning, sizeof(answer.warning));
    waitpid(pid, &status, 0);
    answer.exited = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return answer;
}

/* NULL, names of no level, a name of another architecture; followed by the levels of this one. */
enum { REQUESTED = 40 };
static const char * caps[REQUESTED] = {NULL, "", "AVX2", "avx 2", "avx2 ", "neon", "sse41"};

static size_t list_caps(void)
{
    size_t count = 7;
    for (size_t i = 0; sn_level_name(i); ++i)
        caps[count++] = sn_level_name(i);
    return count;
}

static size_t level_count(void)
{
    size_t count = 0;
    while (SimdnetIsaLevel(count))
        ++count;
    return count;
}

/* The number of a level, -1 if this machine does not have it. */
static int level_number(const char * name)
{
    for (size_t i = 0; SimdnetIsaLevel(i); ++i)
        if (strcmp(SimdnetIsaLevel(i), name) == 0)
            return (int)i;
    return -1;
}

static size_t count_char(const char * text, char c)
{
    size_t count = 0;
    for (; *text; ++text)
        count += *text == c;
    return count;
}

/* The last level of this machine up to this level of the architecture, in the order of all levels. */
static const char * last_up_to(const char * cap)
{
    const char * last = NULL;
    for (size_t i = 0; sn_level_name(i); ++i) {
        last = level_number(sn_level_name(i)) >= 0 ? sn_level_name(i) : last;
        if (strcmp(sn_level_name(i), cap) == 0)
            break;
    }
    return last;
}

/* The last level of this machine that is not slow on it. */
static const char * default_name(void)
{
    return sn_level_name(sn_default_level(sn_cpu()->features, sn_cpu()->traits.slow));
}

static void environment(const struct answer * answers, size_t count)
{
    const char * usual = default_name();
    for (size_t i = 0; i < count; ++i) {
        const char * cap = caps[i];
        const struct answer * a = &answers[i];
        TEST(a->exited);
        if (!cap || !*cap) {
            TEST(strcmp(a->active, usual) == 0);
            TEST(a->warning[0] == '\0');
        } else if (SimdnetSetMaxIsa(cap)) { /* a level of this architecture, which this machine may lack */
            TEST(strcmp(a->active, last_up_to(cap)) == 0);
            TEST(a->warning[0] == '\0');
        } else { /* one line, which contains the variable's name and value */
            TEST(strcmp(a->active, usual) == 0);
            TEST(count_char(a->warning, '\n') == 1 && a->warning[strlen(a->warning) - 1] == '\n');
            TEST(strstr(a->warning, "SIMDNET_MAX_ISA") && strstr(a->warning, cap));
        }
    }
}

static void long_name(const struct answer * answer)
{
    TEST(answer->exited);
    TEST(count_char(answer->warning, '\n') == 1 && strlen(answer->warning) < 400);
}

static void levels(void)
{
    const size_t count = level_count();
    TEST(count >= 1 && strcmp(SimdnetIsaLevel(0), "base") == 0);
    for (size_t i = 0; i < count; ++i)
        TEST(strcmp(sn_table_at(i)->isa, SimdnetIsaLevel(i)) == 0);
    TEST(SimdnetIsaLevel(count) == NULL);
    TEST(SimdnetIsaLevel(count + 1) == NULL);
    TEST(SimdnetIsaLevel((size_t)-1) == NULL);
}

static void caps_in_process(void)
{
    const size_t count = level_count();
    for (size_t i = 0; i < count; ++i) {
        const char * name = SimdnetIsaLevel(i);
        TEST(SimdnetSetMaxIsa(name) == SimdTrue);
        TEST_NO_ERROR();
        TEST(strcmp(SimdnetActiveIsa(), name) == 0);
        const size_t alignment = SimdAlignment();
        TEST(alignment == 16 || alignment == 32 || alignment == 64);
        TEST(SimdSynetSpecifyTensorFormat(SimdTensorFormatNchwXc) == (alignment == 64   ? SimdTensorFormatNchw16c
                                                                      : alignment == 32 ? SimdTensorFormatNchw8c
                                                                                        : SimdTensorFormatNchw4c));
        TEST(SimdnetSetMaxIsa("avx3") == SimdFalse);
        TEST_REFUSED(1, "avx3");
        TEST(strcmp(SimdnetActiveIsa(), name) == 0);
    }
    TEST(SimdnetSetMaxIsa("") == SimdFalse);
    TEST_REFUSED(1, "name");
    TEST(SimdnetSetMaxIsa(NULL) == SimdTrue);
    TEST(strcmp(SimdnetActiveIsa(), default_name()) == 0);
}

/* The table consists of pointers, none of them NULL. Only base lacks the slots of tiles and rows. */
static void no_slot_empty(void)
{
#define PART(member) {offsetof(struct sn_table, member), sizeof(((struct sn_table *)0)->member)}
    static const struct {
        size_t begin, size;
    } tiles[] = {
        PART(gemm.tile_32f), PART(gemm.panels_32f), PART(gemm.few_32f), PART(gemm.rows_32f),
        PART(convolution_32f.depthwise_nhwc), PART(convolution_32f.depthwise_nchw),
        PART(convolution_32f.depthwise_nchw_rows), PART(convolution_32f.depthwise_nchw_vectors),
        PART(convolution_32f.depthwise_nchw_run),
        PART(convolution_32f.depthwise_plane), PART(convolution_32f.columns), PART(convolution_32f.lines),
        PART(convolution_32f.grouped_nhwc), PART(deconvolution_32f.interleave), PART(deconvolution_32f.sum),
        PART(channelwise.rows), PART(channelwise.joined), PART(channelwise.concat), PART(convolution_32f.few_nhwc),
        PART(convolution_32f.few_nchw), PART(convolution_32f.few_nchw_part), PART(convolution_32f.few_grouped),
        PART(convolution_8i.tile), PART(convolution_8i.depthwise), PART(convolution_8i.flat), PART(convolution_8i.winograd),
        PART(convolution_8i.pixels), PART(convolution_8i.planes), PART(convolution_8i.phases),
        PART(convolution_16b.depthwise_nhwc), PART(convolution_16b.depthwise_pairs),
        PART(convolution_16b.tile), PART(convolution_16b.pixels),
        PART(convolution_16b.planes), PART(convolution_16b.panel), PART(convolution_32f.join),
        PART(normalize.rows), PART(normalize.columns), PART(normalize.row_moments), PART(normalize.column_moments),
        PART(normalize.coefficients), PART(gemm_nbits.product), PART(gemm_nbits.order), PART(gemm_nbits.product_8i),
        PART(gemm_nbits.quantise_8i), PART(gemm_nbits.size_8i), PART(gemm_nbits.panel), PART(quantized_gemm.pack),
        PART(quantized_gemm.widen), PART(quantized_gemm.narrow), PART(quantized_gemm.split), PART(quantized_gemm.rows),
        PART(quantized_gemm.finish), PART(quantized_gemm.columns),
    };
#undef PART
    for (size_t level = 0; level < level_count(); ++level)
        for (size_t at = 0; at < sizeof(struct sn_table); at += sizeof(void *)) {
            if (at == offsetof(struct sn_table, convolution_8i.tile.fast) ||
                at == offsetof(struct sn_table, convolution_16b.tile.fast))
                continue; /* flags, not a pointer */
            if (at == offsetof(struct sn_table, convolution_8i.tile.run_narrow) ||
                at == offsetof(struct sn_table, convolution_16b.tile.run_narrow))
                continue; /* of tiles of 16-bit numbers of bytes */
            if (at == offsetof(struct sn_table, convolution_8i.sums))
                continue; /* of levels on which floats may be faster */
            bool tile = false;
            for (size_t i = 0; i < sizeof(tiles) / sizeof(tiles[0]); ++i)
                tile |= at - tiles[i].begin < tiles[i].size;
            void * slot;
            memcpy(&slot, (const char *)sn_table_at(level) + at, sizeof(slot));
            const bool expected = level > 0 || !tile;
            if ((slot != NULL) != expected)
                printf("table of %s: the slot at byte %zu is %s\n", SimdnetIsaLevel(level), at,
                       slot ? "not empty" : "empty");
            TEST((slot != NULL) == expected);
        }
}

/* Sums of attention by bfloat16 numbers start with an array of zeros, of one panel. */
static void columns_of_attention(void)
{
    for (size_t level = 0; level < level_count(); ++level) {
        const struct sn_dot_tile * tile = &sn_table_at(level)->convolution_16b.tile;
        TEST(!tile->fast || tile->columns <= SN_ATTENTION_COLUMNS);
    }
}

/* A level that the library was built with is available if and only if its features are. */
static void expect_level(const char * name, bool features_are_there)
{
    bool built = false;
    for (size_t i = 0; sn_level_name(i); ++i)
        built |= strcmp(sn_level_name(i), name) == 0;
    TEST((level_number(name) >= 0) == (built && features_are_there));
}

#if defined(__x86_64__)
/* Compares with the compiler's own detection. */
static void features(void)
{
    __builtin_cpu_init();
    TEST(SimdCpuInfo(SimdCpuInfoSse2) == 1);
    TEST(SimdCpuInfo(SimdCpuInfoSse3) == !!__builtin_cpu_supports("sse3"));
    TEST(SimdCpuInfo(SimdCpuInfoSsse3) == !!__builtin_cpu_supports("ssse3"));
    TEST(SimdCpuInfo(SimdCpuInfoSse41) == !!__builtin_cpu_supports("sse4.1"));
    TEST(SimdCpuInfo(SimdCpuInfoSse42) == !!__builtin_cpu_supports("sse4.2"));
    TEST(SimdCpuInfo(SimdCpuInfoAvx) == !!__builtin_cpu_supports("avx"));
    TEST(SimdCpuInfo(SimdCpuInfoAvx2) == !!__builtin_cpu_supports("avx2"));
    TEST(SimdCpuInfo(SimdCpuInfoAvx512f) == !!__builtin_cpu_supports("avx512f"));
    TEST(SimdCpuInfo(SimdCpuInfoAvx512bw) == !!__builtin_cpu_supports("avx512bw"));
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    expect_level("sse41", __builtin_cpu_supports("sse4.1"));
    expect_level("avx2", avx2);
    expect_level("avx512", avx512);
    expect_level("avx512vnni", avx512 && __builtin_cpu_supports("avx512vnni"));
}
#else
static void features(void)
{
    expect_level("neon", SimdCpuInfo(SimdCpuInfoNeon) == 1);
    TEST(SimdCpuInfo(SimdCpuInfoSse) == 0);
}
#endif

static void machine(void)
{
    const size_t sockets = SimdCpuInfo(SimdCpuInfoSockets), cores = SimdCpuInfo(SimdCpuInfoCores);
    TEST(sockets >= 1 && cores >= sockets && SimdCpuInfo(SimdCpuInfoThreads) >= cores);
    TEST(SimdCpuInfo(SimdCpuInfoThreads) == (size_t)sysconf(_SC_NPROCESSORS_ONLN));
    TEST(SimdCpuInfo(SimdCpuInfoCacheL1) >= 4096);
    TEST(SimdCpuInfo(SimdCpuInfoCacheL2) >= SimdCpuInfo(SimdCpuInfoCacheL1));
    TEST(SimdCpuInfo(SimdCpuInfoCacheL3) > 0);
    TEST(SimdCpuInfo(SimdCpuInfoVmx) == 0 && SimdCpuInfo(SimdCpuInfoVsx) == 0 && SimdCpuInfo(SimdCpuInfoMsa) == 0);
    TEST_NO_ERROR();
    TEST(SimdCpuInfo((SimdCpuInfoType)20) == 0);
    TEST_REFUSED(1, "type");
    TEST(SimdCpuInfo((SimdCpuInfoType)-1) == 0);
    TEST_REFUSED(1, "type");
    TEST(SimdPerformanceStatistic() != NULL);
}

/* The version is written twice in the header, as text for people and scripts and as numbers for #if. */
static void version(void)
{
#if SIMDNET_VERSION_NUMBER < 1 || SIMDNET_VERSION_MINOR > 99 || SIMDNET_VERSION_PATCH > 99
#error "the parts of the version do not fit in SIMDNET_VERSION_NUMBER"
#endif
    char text[40];
    snprintf(text, sizeof(text), "%d.%d.%d", SIMDNET_VERSION_MAJOR, SIMDNET_VERSION_MINOR, SIMDNET_VERSION_PATCH);
    TEST(strcmp(text, SIMDNET_VERSION) == 0);
    TEST(strcmp(SimdVersion(), SIMDNET_VERSION) == 0);
    TEST(SimdnetVersionNumber() == SIMDNET_VERSION_NUMBER);
    TEST_NO_ERROR();
}

int main(void)
{
    static struct answer answers[REQUESTED];
    static char name[2000];
    const size_t count = list_caps();
    for (size_t i = 0; i < count; ++i)
        answers[i] = request(caps[i]);
    memset(name, 'x', sizeof(name) - 1);
    static struct answer longest;
    longest = request(name);
    environment(answers, count);
    long_name(&longest);
    levels();
    caps_in_process();
    no_slot_empty();
    columns_of_attention();
    features();
    machine();
    version();
    return test_end();
}
