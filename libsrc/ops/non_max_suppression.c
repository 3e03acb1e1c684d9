/*
 * Candidates of a class are a heap with the best one first: usually few of them are visited. On one thread, since the place
 * of each result follows from those before it.
 */
#include "ops/non_max_suppression.h"

#include "ops/ranks.h"
#include "runtime/memory.h"

struct box {
    float y1, x1, y2, x2, area;
};

/* A box of four numbers by its lowest and its highest corner. */
static struct box box_of(const sn_32f * b, bool center)
{
    struct box box;
    if (center)
        box = (struct box){b[1] - b[3] / 2, b[0] - b[2] / 2, b[1] + b[3] / 2, b[0] + b[2] / 2, 0};
    else
        box = (struct box){b[0] < b[2] ? b[0] : b[2], b[1] < b[3] ? b[1] : b[3], b[0] < b[2] ? b[2] : b[0],
                           b[1] < b[3] ? b[3] : b[1], 0};
    box.area = (box.y2 - box.y1) * (box.x2 - box.x1);
    return box;
}

static bool overlap(const struct box * a, const struct box * b, float threshold)
{
    const float y1 = a->y1 > b->y1 ? a->y1 : b->y1, y2 = a->y2 < b->y2 ? a->y2 : b->y2;
    const float x1 = a->x1 > b->x1 ? a->x1 : b->x1, x2 = a->x2 < b->x2 ? a->x2 : b->x2;
    if (!(y1 < y2 && x1 < x2 && a->area > 0 && b->area > 0))
        return false;
    const float common = (y2 - y1) * (x2 - x1);
    return common / (a->area + b->area - common) > threshold;
}

/* The ranks of the boxes that may be selected, inverted, so that the first one of the heap is the best; their number. */
static size_t candidates_of(const struct sn_non_max_suppression * n, const sn_32f * scores, uint64_t * ranks)
{
    size_t size = 0;
    for (size_t i = 0; i < n->count; ++i)
        if (n->useScoreThreshold ? scores[i] > n->scoreThreshold : scores[i] == scores[i])
            ranks[size++] = ~sn_rank_of(sn_order_of(scores[i], 0), i);
    sn_heap_make(ranks, size);
    return size;
}

/* Writes at most `most` triples of a class; returns their number. */
static size_t select_of_class(const struct sn_non_max_suppression * n, const struct box * boxes, uint64_t * ranks,
                              size_t image, size_t class, size_t most, sn_64i * selected)
{
    size_t left = candidates_of(n, n->scores + (image * n->classes + class) * n->count, ranks), found = 0;
    while (left && found < most) {
        const size_t box = sn_rank_index(~ranks[0]);
        size_t i = 0;
        while (i < found && !overlap(&boxes[box], &boxes[selected[3 * i + 2]], n->iouThreshold))
            ++i;
        if (i == found) {
            selected[3 * found] = (int64_t)image;
            selected[3 * found + 1] = (int64_t)class;
            selected[3 * found++ + 2] = (int64_t)box;
        }
        ranks[0] = ranks[--left];
        sn_heap_sift(ranks, left, 0);
    }
    return found;
}

bool sn_non_max_suppression(const struct sn_non_max_suppression * n, size_t * written)
{
    uint64_t * ranks = sn_scratch(n->count * (sizeof(uint64_t) + sizeof(struct box)));
    struct box * boxes = (struct box *)(ranks + n->count);
    *written = 0;
    if (!ranks)
        return false;
    for (size_t image = 0; image < n->batch; ++image) {
        for (size_t i = 0; i < n->count; ++i)
            boxes[i] = box_of(n->boxes + (image * n->count + i) * 4, n->center);
        for (size_t class = 0; class < n->classes; ++class)
            *written += select_of_class(n, boxes, ranks, image, class, sn_min(n->maxOutput, n->capacity - *written),
                                        n->selected + 3 * *written);
    }
    return true;
}
