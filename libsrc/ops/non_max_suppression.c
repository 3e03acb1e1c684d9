/*
 * Candidates of a class are a heap with the best one first: usually few of them are visited. On one thread, since the place
 * of each result follows from those before it.
 */
#include "ops/non_max_suppression.h"

#include <math.h>

#include "ops/ranks.h"
#include "ops/top_k.h"
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

/*
 * The ranks of the boxes that may be selected, of those whose scores are at least the bound or of the others, inverted, so
 * that the first one of the heap is the best; their number.
 */
static size_t candidates_of(const struct sn_non_max_suppression * n, const sn_32f * scores, float bound, bool above,
                            uint64_t * ranks)
{
    size_t size = 0;
    for (size_t i = 0; i < n->count; ++i) {
        const float score = scores[i];
        if (above ? !(score >= bound) : !(score < bound)) /* NaN is in neither */
            continue;
        ranks[size] = ~sn_rank_of(sn_order_of(score, 0), i); /* no other branch: scores are random */
        size += !n->useScoreThreshold || score > n->scoreThreshold;
    }
    sn_heap_make(ranks, size);
    return size;
}

/* A class: its selected boxes, and where their triples are written. */
struct chosen {
    size_t image, class, most, found;
    struct box * boxes;
    sn_64i * selected;
};

/* Visits `left` candidates. */
static void select_from(const struct sn_non_max_suppression * n, uint64_t * ranks, size_t left, struct chosen * c)
{
    while (left && c->found < c->most) {
        const size_t place = sn_rank_index(~ranks[0]);
        const struct box box = box_of(n->boxes + (c->image * n->count + place) * 4, n->center);
        size_t i = 0;
        while (i < c->found && !overlap(&box, &c->boxes[i], n->iouThreshold))
            ++i;
        if (i == c->found) {
            sn_64i * to = c->selected + 3 * c->found;
            to[0] = (int64_t)c->image, to[1] = (int64_t)c->class, to[2] = (int64_t)place;
            c->boxes[c->found++] = box;
        }
        ranks[0] = ranks[--left];
        sn_heap_sift(ranks, left, 0);
    }
}

/* The candidates that are visited are seldom more than twice the boxes that are wanted: the others follow only if needed. */
static void select_of_class(const struct sn_non_max_suppression * n, uint64_t * ranks, struct chosen * c)
{
    const sn_32f * scores = n->scores + (c->image * n->classes + c->class) * n->count;
    const float bound = c->most <= n->count / 2 ? sn_top_k_bound(scores, n->count, 2 * c->most, true, ranks) : -INFINITY;
    select_from(n, ranks, candidates_of(n, scores, bound, true, ranks), c);
    if (c->found < c->most && bound > -INFINITY)
        select_from(n, ranks, candidates_of(n, scores, bound, false, ranks), c);
}

bool sn_non_max_suppression(const struct sn_non_max_suppression * n, size_t * written)
{
    uint64_t * ranks = sn_scratch(n->count * (sizeof(uint64_t) + sizeof(struct box)));
    struct box * boxes = (struct box *)(ranks + n->count);
    *written = 0;
    if (!ranks)
        return false;
    for (size_t image = 0; image < n->batch; ++image)
        for (size_t class = 0; class < n->classes; ++class) {
            struct chosen c = {image, class, sn_min(n->maxOutput, n->capacity - *written), 0, boxes,
                n->selected + 3 * *written};
            select_of_class(n, ranks, &c);
            *written += c.found;
        }
    return true;
}
