/* Arrays between inaccessible pages, with canaries in the remainder of the first and last page. */
#define _GNU_SOURCE
#include "check_frame.h"
#include "system.h"

#include <stdlib.h>

enum { SLOTS = FRAME_ARRAYS + 4, SLACK = 256 };

/* One mapping: an inaccessible page, `room` bytes, an inaccessible page. It only grows, so most cases need no system
 * call. */
static struct slot {
    unsigned char * begin;
    size_t room;
    unsigned char * array;
    size_t bytes;
    unsigned char canary;
} slots[SLOTS];

void frame_out_of_memory(void)
{
    fprintf(stderr, "check: no memory for the arrays of %s %s\n", frame_case.function, frame_case.geometry);
    exit(2);
}

void * frame_grow(void * block, size_t * capacity, size_t bytes)
{
    if (bytes <= *capacity && block)
        return block;
    free(block);
    *capacity = bytes + bytes / 2 + 64;
    block = malloc(*capacity);
    if (!block)
        frame_out_of_memory();
    return block;
}

static void map(struct slot * slot, size_t bytes)
{
    const size_t page = system_page();
    if (slot->begin && slot->room >= bytes)
        return;
    if (slot->begin)
        system_drop(slot->begin - page, slot->room + 2 * page);
    slot->room = (bytes + page - 1) / page * page;
    unsigned char * all = system_pages(slot->room + 2 * page);
    if (!all || !system_guard(all, page) || !system_guard(all + page + slot->room, page))
        frame_out_of_memory();
    slot->begin = all + page;
}

static size_t slack_before(const struct slot * slot)
{
    const size_t room = (size_t)(slot->array - slot->begin);
    return room < SLACK ? room : SLACK;
}

static size_t slack_behind(const struct slot * slot)
{
    const size_t room = (size_t)(slot->begin + slot->room - (slot->array + slot->bytes));
    return room < SLACK ? room : SLACK;
}

unsigned char * frame_place(size_t index, size_t bytes, size_t step, enum frame_place place, uint64_t random)
{
    struct slot * slot = &slots[index];
    map(slot, bytes + 1024);
    /* Of FRAME_MIDDLE: every alignment within a vector, and often that of a cache line, which streaming needs. */
    const size_t offset = random / 64 % 4 ? random % 64 / step * step : 0;
    if (frame_option.no_guards)
        place = FRAME_MIDDLE;
    slot->array = place == FRAME_END     ? slot->begin + slot->room - bytes
                  : place == FRAME_BEGIN ? slot->begin
                                         : slot->begin + SLACK + offset;
    slot->bytes = bytes;
    slot->canary = (unsigned char)(0xC1 + random % 61);
    memset(slot->array - slack_before(slot), slot->canary, slack_before(slot));
    memset(slot->array + bytes, slot->canary, slack_behind(slot));
    return slot->array;
}

static bool all_are(const unsigned char * p, size_t n, unsigned char value)
{
    return n == 0 || (p[0] == value && memcmp(p, p + 1, n - 1) == 0);
}

bool frame_canaries_intact(size_t index)
{
    const struct slot * slot = &slots[index];
    return all_are(slot->array - slack_before(slot), slack_before(slot), slot->canary) &&
           all_are(slot->array + slot->bytes, slack_behind(slot), slot->canary);
}
