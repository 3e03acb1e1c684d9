/*
 * A family several times, each time with another seed.
 *
 * --random N: until each function has N cases on every level. The family does not distinguish its fixed cases from random ones:
 * a first round only notes the geometries, and later ones leave these out, so that they run those that the seed has changed.
 *
 * --special N: N rounds, in which an array has ordinary values except for one: a NaN or an infinity where the family asks for
 * these, a zero or denormal number with a sign where it asks for denormal ones, and the largest number where it asks for large
 * ones. So the family's own rules say what the result must be. The 16 first elements of an array and those behind the last
 * multiple of 16 take turns.
 */
#include "check_frame.h"

#include <stdlib.h>
#include <time.h>

static enum { PLAIN, NOTE, RANDOM } mode;
static uint64_t noted[1 << 18]; /* a hash table of hashes; 0 is free */
static size_t cases_of_round;
static time_t end; /* 0: none */

static uint64_t * place_of(uint64_t hash)
{
    const size_t size = sizeof(noted) / sizeof(noted[0]);
    size_t i = (size_t)(hash >> 20) % size;
    while (noted[i] && noted[i] != hash)
        i = (i + 1) % size;
    return &noted[i];
}

static uint64_t hash_of_case(void) { return frame_hash(frame_hash(0, frame_case.function), frame_case.geometry) | 1; }

static bool enough(void)
{
    const struct frame_tally * tally = frame_tally();
    for (size_t i = 0; i < frame_levels; ++i)
        if (tally->cases[i] < frame_option.random)
            return false;
    return true;
}

bool frame_left_out(void)
{
    static size_t stored;
    if (mode == PLAIN)
        return false;
    if (end && time(NULL) >= end)
        return true;
    uint64_t * place = place_of(hash_of_case());
    if (mode == NOTE) {
        stored = *place ? stored : stored + 1;
        if (stored > sizeof(noted) / sizeof(noted[0]) / 2) {
            fprintf(stderr, "check: more cases than --random has room for\n");
            exit(2);
        }
        *place = hash_of_case();
        return true;
    }
    if (*place || enough())
        return true;
    cases_of_round += !frame_case.skip;
    return false;
}

static void run_with(uint64_t seed, void (*run)(void))
{
    frame_option.seed = seed;
    frame_family_random.state = frame_hash(seed, frame_family);
    run();
}

/* Ends when rounds bring no cases that are needed. */
static void random_rounds(void (*run)(void), uint64_t seed)
{
    memset(noted, 0, sizeof(noted));
    mode = NOTE;
    run_with(seed, run);
    mode = RANDOM;
    for (size_t round = 1, idle = 0; idle < 3; ++round) {
        cases_of_round = 0;
        run_with(seed + round, run);
        idle = cases_of_round ? 0 : idle + 1;
    }
    mode = PLAIN;
}

void frame_run_rounds(void (*run)(void))
{
    const uint64_t seed = frame_option.seed;
    end = frame_option.seconds ? time(NULL) + (time_t)frame_option.seconds : 0;
    if (frame_option.random)
        random_rounds(run, seed);
    else
        for (size_t round = 0; round < sn_max(frame_option.special, 1); ++round)
            run_with(seed + round, run);
    frame_option.seed = seed;
}

/* ---- special values */

enum { LANES = 16, VALUES = 8 };

static struct {
    struct frame_array * array; /* NULL: none */
    size_t index, position, plant;
    unsigned char bytes[4];
} planted;

static void value_of(enum check_type type, size_t number, unsigned char * bytes)
{
    const uint32_t values[VALUES] = {0x7FC00000, 0x7F800000, 0xFF800000, 0x80000000, 0x00010001, 0x80010001, 0x7F7FFFFF,
        0xFF7FFFFF};
    const uint16_t upper = (uint16_t)(values[number] >> 16);
    if (type == CHECK_16B)
        memcpy(bytes, &upper, 2);
    else
        memcpy(bytes, &values[number], 4);
}

/* True if the family that asks for this fill must be prepared for this value. */
static bool is_allowed(enum check_fill fill, size_t value)
{
    switch (fill) {
    case CHECK_NAN: return value < 3;
    case CHECK_INF: return value == 1 || value == 2;
    case CHECK_DENORMAL: return value >= 3 && value < 6;
    case CHECK_TIES: return value == 3;
    case CHECK_LARGE: return value >= 6;
    default: return false;
    }
}

/* The element for a plant, the number of elements if the array has none there. */
static size_t position_of(size_t plant, size_t count)
{
    const size_t place = plant / VALUES, tail = count % LANES;
    if (place < LANES)
        return sn_min(place, count);
    return place - LANES < tail ? count - tail + place - LANES : count;
}

void frame_plant(struct frame_array * array, enum check_fill fill)
{
    struct frame_case * c = &frame_case;
    const bool is_float = array->type == CHECK_32F || array->type == CHECK_16B;
    if (c->arrays == 1)
        planted.array = NULL, planted.index = 0, frame_case.has_largest = false;
    if (c->skip || !is_float || array->role == FRAME_OUT || fill == CHECK_RANDOM || fill == CHECK_ZERO || array->count == 0)
        return;
    struct frame_tally * tally = frame_tally();
    const size_t number = planted.index++;
    tally->inputs = sn_min(sn_max(tally->inputs, planted.index), FRAME_PLANTED_ARRAYS);
    if (number != tally->turn % tally->inputs || planted.array)
        return;
    for (size_t i = 0; i < FRAME_PLANTS; ++i) {
        const size_t plant = (tally->turn / tally->inputs * 37 + i) % FRAME_PLANTS;
        planted.position = position_of(plant, array->count);
        if (!is_allowed(fill, plant % VALUES) || planted.position == array->count ||
            (tally->covered[number][plant / 64] >> plant % 64 & 1))
            continue;
        planted.array = array;
        c->has_largest = plant % VALUES >= 6;
        planted.plant = number * FRAME_PLANTS + plant;
        value_of(array->type, plant % VALUES, planted.bytes);
        memcpy(array->content + planted.position * frame_type_bytes(array->type), planted.bytes, frame_type_bytes(array->type));
        return;
    }
}

bool frame_is_planted(void)
{
    ++frame_tally()->turn;
    return planted.array != NULL;
}

/* A value that the family has replaced does not count. */
void frame_plant_passed(void)
{
    const size_t bytes = frame_type_bytes(planted.array->type), plant = planted.plant % FRAME_PLANTS;
    struct frame_tally * tally = frame_tally();
    if (memcmp(planted.array->content + planted.position * bytes, planted.bytes, bytes) != 0)
        return;
    tally->covered[planted.plant / FRAME_PLANTS][plant / 64] |= (uint64_t)1 << plant % 64;
    for (size_t i = 0; i < frame_levels; ++i)
        ++tally->planted[i];
}
