/*
 * Non-maximum suppression: the same code for all levels, so it is also compared with a direct implementation, which visits
 * all boxes for each result. Triples are arrays of twice as many CHECK_32I.
 */
#include "check.h"

#define NMS "SimdnetNonMaxSuppression"

static void call(const void * job, void * context, void * const * a)
{
    SimdnetNonMaxSuppressionParameters q = *(const SimdnetNonMaxSuppressionParameters *)job;
    (void)context;
    q.boxes = a[0];
    q.scores = a[1];
    q.selected = a[2];
    SimdnetNonMaxSuppression(&q);
}

/* ---- the definition */

/* Of what two intervals have in common. */
static double length(double a, double b, double c, double d)
{
    return fmax(fmin(fmax(a, b), fmax(c, d)) - fmax(fmin(a, b), fmin(c, d)), 0);
}

static double intersection_over_union(const SimdnetNonMaxSuppressionParameters * q, const sn_32f * a, const sn_32f * b)
{
    double p[2][4];
    for (int i = 0; i < 2; ++i) {
        const sn_32f * box = i ? b : a;
        for (int k = 0; k < 4; ++k) /* y1, x1, y2, x2 */
            p[i][k] = q->center ? (double)box[1 - k % 2] + (k < 2 ? -0.5 : 0.5) * (double)box[3 - k % 2] : (double)box[k];
    }
    const double areas = fabs((p[0][2] - p[0][0]) * (p[0][3] - p[0][1])) + fabs((p[1][2] - p[1][0]) * (p[1][3] - p[1][1]));
    const double common = length(p[0][0], p[0][2], p[1][0], p[1][2]) * length(p[0][1], p[0][3], p[1][1], p[1][3]);
    return common > 0 ? common / (areas - common) : 0;
}

enum { MOST = 4096 };
static int64_t selected[3 * MOST], expected[3 * MOST];
static bool gone[MOST];

/* The best box of a class that is left, or count. */
static size_t best_left(const SimdnetNonMaxSuppressionParameters * q, const float * scores)
{
    size_t best = q->count;
    for (size_t i = 0; i < q->count; ++i)
        if (!gone[i] && (best == q->count || scores[i] > scores[best]))
            best = i;
    return best;
}

static size_t of_class(const SimdnetNonMaxSuppressionParameters * q, size_t image, size_t class, size_t found)
{
    const float * boxes = q->boxes + image * q->count * 4, * scores = q->scores + (image * q->classes + class) * q->count;
    const size_t first = found;
    for (size_t i = 0; i < q->count; ++i)
        gone[i] = isnan(scores[i]) || (q->useScoreThreshold && !(scores[i] > q->scoreThreshold));
    for (size_t i; found < q->capacity && found - first < q->maxOutput && (i = best_left(q, scores)) < q->count; ++found) {
        gone[i] = true;
        for (size_t k = 0; k < q->count; ++k)
            gone[k] |= intersection_over_union(q, boxes + 4 * i, boxes + 4 * k) > (double)q->iouThreshold;
        expected[3 * found] = (int64_t)image;
        expected[3 * found + 1] = (int64_t)class;
        expected[3 * found + 2] = (int64_t)i;
    }
    return found;
}

/* ---- cases */

static void declare(SimdnetNonMaxSuppressionParameters * q)
{
    float * boxes = check_in("boxes", CHECK_32F, q->batch * q->count * 4, CHECK_RANDOM);
    float * scores = check_in("scores", CHECK_32F, q->batch * q->classes * q->count, CHECK_RANDOM);
    for (size_t i = 0; i < q->batch * q->count * 4; ++i) /* multiples of 1/8: the same comparisons in double */
        boxes[i] = q->center && i % 4 >= 2 ? (float)(int)(8 * fabsf(boxes[i])) / 4 : (float)(int)(16 * boxes[i]) / 8;
    for (size_t i = 0; i < q->batch * q->classes * q->count; ++i)
        scores[i] = i % 3 ? scores[i] : i % 17 ? (float)(int)(4 * scores[i]) / 4 : i % 2 ? NAN : INFINITY;
    q->boxes = boxes;
    q->scores = scores;
}

static void check_nms(SimdnetNonMaxSuppressionParameters q)
{
    size_t found = 0;
    q.size = sizeof(q);
    if (!check_case(NMS, "batch=%zu classes=%zu count=%zu most=%zu iou=%g score=%g%s%s capacity=%zu", q.batch, q.classes,
                    q.count, q.maxOutput, (double)q.iouThreshold, (double)q.scoreThreshold,
                    q.useScoreThreshold ? "" : " unused", q.center ? " center" : "", q.capacity))
        return;
    declare(&q);
    check_inout("selected", CHECK_32I, 6 * q.capacity, CHECK_RANDOM); /* it need not be full */
    check_run(call, &q);
    for (size_t image = 0; image < q.batch; ++image)
        for (size_t class = 0; class < q.classes; ++class)
            found = of_class(&q, image, class, found);
    q.selected = selected;
    const size_t number = SimdnetNonMaxSuppression(&q);
    check_that(number == found && memcmp(selected, expected, 3 * found * sizeof(int64_t)) == 0, NMS,
               "count=%zu iou=%g%s: %zu boxes, expected %zu", q.count, (double)q.iouThreshold, q.center ? " center" : "",
               number, found);
}

static void refusals(void)
{
    const SimdnetNonMaxSuppressionParameters good = {.size = sizeof(good), .batch = 2, .classes = 3, .count = 5,
        .maxOutput = 2, .iouThreshold = 0.5f, .capacity = 12};
    SimdnetNonMaxSuppressionParameters q = good;
    check_case(NMS, "refusals");
    declare(&q);
    check_inout("selected", CHECK_32I, 6 * q.capacity, CHECK_RANDOM);
    check_refused_null(call, &good);
    check_refused_overlap(false, call, &good);
    static const float bad[] = {-0.1f, 1.1f, NAN};
    for (size_t i = 0; i < 3; ++i) {
        q = good;
        q.iouThreshold = bad[i];
        check_refused(CHECK_VALUE, "iouThreshold", call, &q);
    }
    q = good;
    q.count = SIZE_MAX / 4;
    check_refused(CHECK_VALUE, "count", call, &q);
    q = good;
    q.batch = SIZE_MAX / 16;
    check_refused(CHECK_VALUE, "batch", call, &q);
    q = good;
    q.capacity = SIZE_MAX / 4;
    check_refused(CHECK_VALUE, "capacity", call, &q);
    q = good;
    q.size = 8;
    check_refused(CHECK_VALUE, "parameters->size", call, &q);
    for (int zero = 0; zero < 5; ++zero) {
        q = good;
        size_t * const sizes[] = {&q.batch, &q.classes, &q.count, &q.maxOutput, &q.capacity};
        *sizes[zero] = 0;
        check_empty(call, &q);
    }
    SimdnetNonMaxSuppression(NULL);
    check_that(SimdnetLastErrorKind() == CHECK_VALUE, NMS, "parameters is NULL");
}

CHECK_FAMILY(non_max_suppression)
{
    for (size_t i = 0, n = check_count(200); i < n; ++i) {
        SimdnetNonMaxSuppressionParameters q = {.batch = check_random(1, 3), .classes = check_random(1, 4),
            .count = check_random(1, 60), .maxOutput = check_random(1, 70), .iouThreshold = (float)(i % 5) / 4,
            .scoreThreshold = check_random_32f(-1, 1), .useScoreThreshold = (SimdBool)(i % 2),
            .center = (SimdBool)(i / 2 % 2)};
        q.capacity = i % 3 ? q.batch * q.classes * q.count : check_random(1, 20);
        check_nms(q);
    }
    check_nms((SimdnetNonMaxSuppressionParameters){.batch = 1, .classes = 2, .count = 2000, .maxOutput = SIZE_MAX,
        .iouThreshold = 0.3f, .capacity = 4000});
    for (size_t i = 0; i < 6; ++i) /* few of many; with a low threshold, the best scores do not suffice */
        check_nms((SimdnetNonMaxSuppressionParameters){.batch = 1, .classes = 2, .count = 1000 + i, .maxOutput = 10 + 2 * i,
            .iouThreshold = i % 3 ? 0.4f : 0, .scoreThreshold = 0.2f, .useScoreThreshold = (SimdBool)(i % 2), .capacity = 100});
    refusals();
}
