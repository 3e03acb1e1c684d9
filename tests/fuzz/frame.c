/* Bytes, arrays between inaccessible pages, comparison, and libFuzzer's function. */
#define _GNU_SOURCE
#include "fuzz.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/cpu.h"
#include "runtime/numeric.h"

int LLVMFuzzerTestOneInput(const uint8_t * data, size_t size);
int LLVMFuzzerInitialize(int * argc, char *** argv);

enum { ARRAYS = 24, ROOM = 1 << 18, SLACK = 64, CALLS = 16, LEVELS = 16, TARGETS = 256, FILLER = 0x5A, CANARY = 0xC3 };
enum { HEADER = 3 }; /* bytes before those of a target: which one, the level and the contents, the addresses */

/* More elements than an address space has: a call with such an array must be refused. Arrays between this and ROOM end a run. */
static const size_t IMPOSSIBLE = (size_t)1 << 56;
static const size_t absurd[] = {(size_t)1 << 60, (size_t)1 << 63, ((size_t)1 << 63) + 1, SIZE_MAX, SIZE_MAX - 4};

enum role { IN, INOUT, OUT, SCRATCH };
enum run { BASE, LEVEL, AGAIN, RUNS };
enum rule { EXACT, NEAR, WITHIN, ANYTHING };

static struct array {
    unsigned char * begin; /* of ROOM accessible bytes */
    unsigned char * at;
    size_t bytes;
    enum fuzz_type type;
    enum role role;
    bool has_memory;
    unsigned char content[ROOM]; /* before the call */
    unsigned char base[ROOM], first[ROOM]; /* results of base, and of the first run of the level */
} arrays[ARRAYS];

static size_t page, levels, targets;
static const char * level_name[LEVELS];
static struct fuzz_target target_list[TARGETS];
static size_t accepted_calls[TARGETS], refused_calls[TARGETS];
static bool closed_report;

static struct {
    const uint8_t * data;
    size_t size, next;
    enum run run;
    size_t target, level, offset;
    int contents;         /* 0: small integers, 1: -1 .. 1, 2: wild */
    uint64_t random;
    size_t count;         /* arrays */
    size_t calls;
    int kind[CALLS];      /* of the error of each call, as base had it */
    size_t result[CALLS];
    size_t results;
    const char * function;
    bool impossible;      /* an array has no memory since none can have it */
    bool left_out;        /* an array is too large for this program */
    bool opened;          /* there is a context, which its target releases */
    jmp_buf end;          /* of a run */
    bool written;         /* an accepted call may have written results */
    bool padded;          /* see fuzz_padded() */
    enum rule rule;
    double relative;
} now;

/* Ends the program: libFuzzer prints where, and keeps the bytes. */
static void fail(const char * what, size_t i, size_t at)
{
    fprintf(stderr, "fuzz: target %s, %s on %s, run %d: %s (array %zu of %zu bytes, at %zu)\n", target_list[now.target].name,
            now.function ? now.function : "no call", now.run == BASE ? "base" : level_name[now.level], (int)now.run, what, i,
            i < ARRAYS ? arrays[i].bytes : 0, at);
    fprintf(stderr, "fuzz: last error: %d \"%s\"\n", SimdnetLastErrorKind(), SimdnetLastError());
    abort();
}

/* ---- bytes */

uint8_t fuzz_byte(void) { return now.next < now.size ? now.data[now.next++] : 0; }

size_t fuzz_pick(size_t low, size_t high) { return low + fuzz_byte() % (high - low + 1); }

bool fuzz_chance(void) { return fuzz_byte() & 1; }

size_t fuzz_size(size_t high)
{
    const uint8_t byte = fuzz_byte();
    if (byte == 249)
        return 0;
    return byte >= 251 ? absurd[byte - 251] : 1 + byte % high;
}

float fuzz_number(void)
{
    static const float usual[] = {0, 0.5f, 1, -3, 6, 1.0f / 6, 3, 20}, wild[] = {NAN, INFINITY, -INFINITY, 3e38f, 1e-40f, -0.0f};
    const uint8_t byte = fuzz_byte();
    return fuzz_wild() && byte % 4 == 3 ? wild[byte / 4 % 6] : usual[byte % 8];
}

int fuzz_enum(size_t usual)
{
    const uint8_t byte = fuzz_byte();
    return byte >= 250 ? (int)byte - 252 : (int)(byte % usual);
}

size_t fuzz_cells(const size_t * n, size_t count)
{
    size_t cells = 1;
    for (size_t i = 0; i < count; ++i)
        if (n[i] == 0)
            return 0;
    for (size_t i = 0; i < count; ++i)
        cells = cells > SIZE_MAX / n[i] ? SIZE_MAX : cells * n[i];
    return cells;
}

size_t fuzz_span(size_t rows, size_t stride, size_t row)
{
    if (rows == 0 || row == 0)
        return 0;
    const size_t before = CELLS(rows - 1, stride);
    return before > SIZE_MAX - row ? SIZE_MAX : before + row;
}

/* ---- arrays */

static size_t bytes_of(enum fuzz_type type) { return type == I64 ? 8 : type == F32 || type == I32 ? 4 : type == B16 ? 2 : 1; }

static uint64_t next_random(void)
{
    uint64_t x = now.random += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    return x ^ x >> 27;
}

static float some_float(void)
{
    static const float wild[] = {NAN, INFINITY, -INFINITY, 3e38f, -3e38f, 1e-40f, -0.0f, 0.0f};
    const uint64_t r = next_random();
    if (now.contents == 0)
        return (float)((int)(r >> 32 & 7) - 3);
    if (now.contents == 2 && r % 3 == 0)
        return wild[r >> 32 & 7];
    return (float)(int32_t)(r >> 32) * 0x1p-31f;
}

static void fill(struct array * a)
{
    const size_t each = bytes_of(a->type);
    for (size_t i = 0; i < a->bytes; i += each) {
        const float x = a->type == F32 || a->type == B16 ? some_float() : 0;
        const uint64_t r = a->type == F32 ? sn_bits_32f(x) : a->type == B16 ? sn_32f_to_16b(x) : next_random() >> 7;
        memcpy(a->content + i, &r, each);
    }
}

static size_t slack_before(const struct array * a)
{
    const size_t room = (size_t)(a->at - a->begin);
    return room < SLACK ? room : SLACK;
}

static size_t slack_behind(const struct array * a)
{
    const size_t room = (size_t)(a->begin + ROOM - (a->at + a->bytes));
    return room < SLACK ? room : SLACK;
}

/* The next array, at its place in this run, or an inaccessible page in place of one that has no memory. */
static struct array * declare(enum fuzz_type type, size_t count, enum role role)
{
    if (now.count == ARRAYS) {
        fputs("fuzz: too many arrays\n", stderr);
        abort();
    }
    struct array * a = &arrays[now.count++];
    a->type = type;
    a->role = role;
    a->has_memory = count <= ROOM / bytes_of(type);
    a->bytes = a->has_memory ? count * bytes_of(type) : 0;
    a->at = a->begin + ROOM;
    if (!a->has_memory) {
        now.impossible |= count >= IMPOSSIBLE;
        now.left_out |= count < IMPOSSIBLE;
        if (now.left_out && !now.opened)
            longjmp(now.end, 1);
        return a;
    }
    a->at -= a->bytes;
    if (now.run == AGAIN)
        a->at = a->begin + (now.offset <= ROOM - a->bytes ? now.offset : 0);
    memset(a->at - slack_before(a), CANARY, slack_before(a));
    memset(a->at + a->bytes, CANARY, slack_behind(a));
    return a;
}

static void * begin(struct array * a)
{
    memcpy(a->at, a->content, a->bytes);
    return fuzz_byte() >= 254 ? NULL : a->at;
}

void * fuzz_in(enum fuzz_type type, size_t count)
{
    struct array * a = declare(type, count, IN);
    fill(a);
    return begin(a);
}

void * fuzz_inout(enum fuzz_type type, size_t count)
{
    struct array * a = declare(type, count, INOUT);
    fill(a);
    return begin(a);
}

void * fuzz_out(enum fuzz_type type, size_t count)
{
    struct array * a = declare(type, count, OUT);
    memset(a->content, FILLER, a->bytes);
    return begin(a);
}

void * fuzz_out_or_source(enum fuzz_type type, size_t count)
{
    struct array * last = now.count ? &arrays[now.count - 1] : NULL;
    if (fuzz_byte() % 4 != 1 || !last || last->type != type || !last->has_memory || last->bytes != count * bytes_of(type))
        return fuzz_out(type, count);
    last->role = INOUT;
    return last->at;
}

void * fuzz_scratch(size_t bytes)
{
    if (bytes > ROOM)
        return NULL;
    struct array * a = declare(U8, bytes, SCRATCH);
    memset(a->content, 0xBF, a->bytes); /* as floats, large numbers */
    return begin(a);
}

void * fuzz_given(const void * content, enum fuzz_type type, size_t count)
{
    struct array * a = declare(type, count, IN);
    memcpy(a->content, content, a->bytes);
    return begin(a);
}

const float * fuzz_scalar(float number) { return fuzz_given(&number, F32, 1); }

/* ---- rules */

void fuzz_near(double relative) { now.rule = fuzz_wild() ? ANYTHING : NEAR, now.relative = relative; }
void fuzz_close(void) { fuzz_near(0x1p-9); }
void fuzz_within_one(void)
{
    fuzz_close();
    now.rule = now.rule == NEAR ? WITHIN : ANYTHING;
}
void fuzz_anything(void) { now.rule = ANYTHING; }
void fuzz_padded(void) { now.padded = true; }
bool fuzz_wild(void) { return now.contents == 2; }

static bool is_float(enum fuzz_type type) { return type == F32 || type == B16; }

static float float_at(const struct array * a, const unsigned char * data, size_t i)
{
    uint32_t bits = 0;
    uint16_t half;
    if (a->type == F32) {
        memcpy(&bits, data + 4 * i, 4);
    } else {
        memcpy(&half, data + 2 * i, 2);
        bits = (uint32_t)half << 16;
    }
    return sn_from_bits_32f(bits);
}

static int64_t integer_at(const struct array * a, const unsigned char * data, size_t i)
{
    int64_t wide;
    int32_t usual;
    if (a->type == I64)
        return memcpy(&wide, data + 8 * i, 8), wide;
    if (a->type == I32)
        return memcpy(&usual, data + 4 * i, 4), usual;
    return a->type == U8 ? data[i] : (int8_t)data[i];
}

static bool same_float(float a, float b) { return (isnan(a) && isnan(b)) || a == b; }

/* The index of the first element that differs by a rule; the number of elements if none does. */
static size_t difference(const struct array * a, const unsigned char * got, const unsigned char * expected, enum rule rule)
{
    const size_t count = a->bytes / bytes_of(a->type);
    if (rule == ANYTHING || memcmp(got, expected, a->bytes) == 0)
        return count;
    double most = 1;
    for (size_t i = 0; is_float(a->type) && i < count; ++i) {
        const double x = fabs((double)float_at(a, expected, i));
        most = isfinite(x) && x > most ? x : most;
    }
    for (size_t i = 0; i < count; ++i) {
        if (is_float(a->type)) {
            const float x = float_at(a, got, i), y = float_at(a, expected, i);
            const double error = fabs((double)x - (double)y);
            if (!same_float(x, y) && (rule == EXACT || !(error <= now.relative * most)))
                return i;
        } else {
            const int64_t x = integer_at(a, got, i), y = integer_at(a, expected, i);
            if (x != y && !(rule == WITHIN && (a->type == U8 || a->type == I8) && x - y <= 1 && y - x <= 1))
                return i;
        }
    }
    return count;
}

/* ---- calls */

static bool all_are(const unsigned char * p, size_t n, unsigned char value)
{
    return n == 0 || (p[0] == value && memcmp(p, p + 1, n - 1) == 0);
}

void fuzz_before(const char * function) { now.function = function; }

static void verify_memory(bool results_too)
{
    for (size_t i = 0; i < now.count; ++i) {
        const struct array * a = &arrays[i];
        if (!a->has_memory)
            continue;
        if (!all_are(a->at - slack_before(a), slack_before(a), CANARY))
            fail("wrote before an array", i, 0);
        if (!all_are(a->at + a->bytes, slack_behind(a), CANARY))
            fail("wrote behind an array", i, 0);
        if (a->role == IN && memcmp(a->at, a->content, a->bytes) != 0)
            fail("wrote a source", i, 0);
        if (results_too && a->role != SCRATCH && memcmp(a->at, a->content, a->bytes) != 0)
            fail("was refused and wrote a result", i, 0);
    }
}

/* Without elements in any result there is nothing to do, and sources may have any size. */
static bool has_results(void)
{
    for (size_t i = 0; i < now.count; ++i)
        if (arrays[i].role != IN && arrays[i].role != SCRATCH && (arrays[i].bytes || !arrays[i].has_memory))
            return true;
    return false;
}

bool fuzz_after(void)
{
    const int kind = SimdnetLastErrorKind();
    const char * text = SimdnetLastError();
    const size_t name = strlen(now.function);
    if (now.calls == CALLS)
        fail("too many calls", ARRAYS, 0);
    if (now.run == BASE)
        now.kind[now.calls] = kind;
    else if (now.kind[now.calls] != kind)
        fail("another error than base", ARRAYS, (size_t)now.kind[now.calls]);
    ++now.calls;
    if (kind == 0 && text[0] != '\0')
        fail("accepted, with a text", ARRAYS, 0);
    if (kind != 0 && (kind < 1 || kind > 3 || strncmp(text, now.function, name) != 0 || text[name] != ':' || !text[name + 1]))
        fail("refused without its sentence", ARRAYS, 0);
    if (kind == 0 && now.impossible && has_results())
        fail("accepted an array that no memory can have", ARRAYS, 0);
    verify_memory(kind != 0 && !now.written);
    now.written |= kind == 0;
    ++*(kind == 0 ? &accepted_calls[now.target] : &refused_calls[now.target]);
    return kind == 0;
}

void fuzz_opened(const void * context)
{
    now.opened = context != NULL;
    if (fuzz_after() != now.opened)
        fail("a context and an error, or neither", ARRAYS, 0);
}

bool fuzz_possible(void) { return !now.impossible && !now.left_out; }

void fuzz_result(size_t result)
{
    if (now.results == CALLS)
        fail("too many results", ARRAYS, 0);
    if (now.run == BASE)
        now.result[now.results] = result;
    else if (now.rule != ANYTHING && now.result[now.results] != result)
        fail("another result than base", ARRAYS, result);
    ++now.results;
}

/* ---- the runs of a target */

/* Ends the program, and says which values differ. */
static void fail_at(const char * what, size_t i, size_t at, const unsigned char * expected)
{
    const struct array * a = &arrays[i];
    if (is_float(a->type))
        fprintf(stderr, "fuzz: %.9g in place of %.9g\n", (double)float_at(a, a->at, at), (double)float_at(a, expected, at));
    else
        fprintf(stderr, "fuzz: %lld in place of %lld\n", (long long)integer_at(a, a->at, at),
                (long long)integer_at(a, expected, at));
    fail(what, i, at);
}

static void compare(void)
{
    for (size_t i = 0; i < now.count; ++i) {
        struct array * a = &arrays[i];
        if (!a->has_memory || a->role == SCRATCH || a->role == IN)
            continue;
        if (now.run == BASE) {
            memcpy(a->base, a->at, a->bytes);
            continue;
        }
        size_t at = difference(a, a->at, a->base, now.rule);
        if (at * bytes_of(a->type) < a->bytes)
            fail_at("differs from base", i, at, a->base);
        if (now.run == LEVEL) {
            memcpy(a->first, a->at, a->bytes);
            continue;
        }
        at = difference(a, a->at, a->first, now.padded && fuzz_wild() ? ANYTHING : EXACT);
        if (at * bytes_of(a->type) < a->bytes)
            fail_at("differs at another address", i, at, a->first);
    }
}

/* Small: work is cut into other blocks, and results are written with streaming stores. */
static void set_caches(bool small)
{
    static struct sn_cpu real;
    static bool is_small;
    if (real.cacheL1 == 0)
        real = *sn_cpu();
    struct sn_traits traits = real.traits;
    if (small)
        traits.cached = 192, traits.prefetchC = !traits.prefetchC, traits.ordered = !traits.ordered;
    if (small != is_small)
        sn_cpu_set(small ? 48 << 10 : real.cacheL2, &traits);
    is_small = small;
}

static void run(enum run number, uint64_t seed)
{
    now.run = number;
    now.next = HEADER;
    now.random = seed;
    now.count = now.calls = now.results = 0;
    now.impossible = now.left_out = now.written = now.opened = now.padded = false;
    now.rule = EXACT;
    now.function = NULL;
    set_caches(number == AGAIN);
    if (number == BASE)
        SimdnetSetMaxIsa("base");
    else if (number == LEVEL)
        SimdnetSetMaxIsa(level_name[now.level]);
    if (setjmp(now.end) == 0) {
        target_list[now.target].run();
        compare();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t * data, size_t size)
{
    if (size < HEADER + 1)
        return -1;
    now.data = data;
    now.size = size;
    now.target = data[0] % targets;
    now.level = 1 + data[1] % (levels - 1);
    now.contents = data[1] / 16 % 4 ? data[1] / 16 % 4 - 1 : 1;
    now.offset = data[2] % 64;
    for (int i = BASE; i < RUNS; ++i)
        run((enum run)i, 1 + data[2] / 64);
    return 0;
}

/* Targets none of whose calls was accepted, or refused, have not been tested. */
static void report(void)
{
    size_t never = 0;
    if (closed_report)
        return;
    closed_report = true;
    for (size_t i = 0; i < targets; ++i)
        if (!accepted_calls[i] || !refused_calls[i]) {
            fprintf(stderr, "fuzz: no call %s: %s\n", accepted_calls[i] ? "refused" : "accepted", target_list[i].name);
            never += !accepted_calls[i];
        }
    fprintf(stderr, "fuzz: %zu targets, %zu without an accepted call\n", targets, never);
}

int LLVMFuzzerInitialize(int * argc, char *** argv)
{
    (void)argc, (void)argv;
    page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < ARRAYS; ++i) {
        unsigned char * all = mmap(NULL, ROOM + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (all == MAP_FAILED || mprotect(all + page, ROOM, PROT_READ | PROT_WRITE) != 0) {
            fputs("fuzz: no memory\n", stderr);
            exit(2);
        }
        arrays[i].begin = all + page;
    }
    const struct fuzz_target * const lists[] = {fuzz_functions, fuzz_layers, fuzz_contexts};
    for (size_t k = 0; k < 3; ++k)
        for (const struct fuzz_target * t = lists[k]; t->name && targets < TARGETS; ++t)
            target_list[targets++] = *t;
    while (levels < LEVELS && SimdnetIsaLevel(levels)) {
        level_name[levels] = SimdnetIsaLevel(levels);
        ++levels;
    }
    if (levels < 2) {
        fputs("skipped: this library has no level besides base\n", stderr);
        exit(0);
    }
    atexit(report);
    return 0;
}
