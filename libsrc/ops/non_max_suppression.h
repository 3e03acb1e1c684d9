/* Non-maximum suppression: arguments as in the public function, checked and not empty. */
#ifndef SN_OPS_NON_MAX_SUPPRESSION_H
#define SN_OPS_NON_MAX_SUPPRESSION_H

#include "runtime/common.h"

struct sn_non_max_suppression {
    const sn_32f * boxes, * scores;
    size_t batch, classes, count, maxOutput;
    float iouThreshold, scoreThreshold;
    bool useScoreThreshold, center;
    sn_64i * selected;
    size_t capacity;
};

/* Sets the number of triples written; false if there is no memory. */
bool sn_non_max_suppression(const struct sn_non_max_suppression * n, size_t * written);

#endif
