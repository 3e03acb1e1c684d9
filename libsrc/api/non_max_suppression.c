#include "ops/non_max_suppression.h"

#include "api/call.h"
#include "api/overlap.h"
#include "api/parameters.h"

size_t SimdnetNonMaxSuppression(const SimdnetNonMaxSuppressionParameters * parameters)
{
    SN_BEGIN();
    if (!sn_is_known(__func__, parameters, sizeof(*parameters)))
        return 0;
    const SimdnetNonMaxSuppressionParameters * q = parameters;
    SN_CALL(q->batch, q->classes, q->count, q->maxOutput, q->capacity);
    size_t boxes, scores, results, written;
    SN_CHECK(q->iouThreshold >= 0 && q->iouThreshold <= 1, 0, "iouThreshold is %g, expected 0 .. 1",
             (double)q->iouThreshold);
    SN_CHECK(q->count <= UINT32_MAX, 0, "count is %zu, expected less than 2^32", q->count);
    SN_CHECK(sn_product(&boxes, q->batch, q->count, 4) && sn_product(&scores, q->batch, q->classes, q->count), 0,
             "batch is %zu, classes is %zu and count is %zu, too large for an array", q->batch, q->classes, q->count);
    SN_CHECK(sn_product(&results, q->capacity, 3), 0, "capacity is %zu, too large for an array", q->capacity);
    if (scores == 0 || results == 0 || q->maxOutput == 0)
        return 0;
    SN_CHECK(q->boxes, 0, "boxes is NULL, expected an array");
    SN_CHECK(q->scores, 0, "scores is NULL, expected an array");
    SN_CHECK(q->selected, 0, "selected is NULL, expected an array");
    const struct sn_array selected = {"selected", q->selected, results * sizeof(int64_t)};
    if (!sn_apart(__func__, selected, (struct sn_array){"boxes", q->boxes, boxes * sizeof(float)}) ||
        !sn_apart(__func__, selected, (struct sn_array){"scores", q->scores, scores * sizeof(float)}))
        return 0;
    const struct sn_non_max_suppression job = {q->boxes, q->scores, q->batch, q->classes, q->count, q->maxOutput,
        q->iouThreshold, q->scoreThreshold, q->useScoreThreshold != SimdFalse, q->center != SimdFalse, q->selected,
        q->capacity};
    if (sn_non_max_suppression(&job, &written))
        return written;
    sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for %zu boxes", q->count);
    return 0;
}
