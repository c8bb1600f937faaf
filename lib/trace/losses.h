// Losses with Keras's numerics: what an example costs is computed as Keras 3 computes it (the same
// ops, order and epsilons), and reduced as it reduces.
#ifndef GRAPNEL_LIB_TRACE_LOSSES_H_
#define GRAPNEL_LIB_TRACE_LOSSES_H_

#include "lib/support/public.h"
#include "lib/trace/ops.h"
#include "lib/trace/tracer.h"

namespace grapnel {

enum class LossReduction {
  kMean,  // Keras's sum_over_batch_size: over all examples
  kSum,
  kNone,  // one value an example: the shape without its last dimension
};

// Of the last dimension the mean, then the reduction. `truth` is cast to the prediction's dtype;
// where one of the two has one more dimension, of size 1, it goes.
GRAPNEL_PUBLIC Value MeanSquaredError(const Value& truth, const Value& prediction,
                                      LossReduction reduction = LossReduction::kMean,
                                      SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value MeanAbsoluteError(const Value& truth, const Value& prediction,
                                       LossReduction reduction = LossReduction::kMean,
                                       SourceLocation where = SourceLocation());
// Squared up to `delta` from the truth, linear beyond.
GRAPNEL_PUBLIC Value Huber(const Value& truth, const Value& prediction, double delta = 1,
                           LossReduction reduction = LossReduction::kMean, SourceLocation where = SourceLocation());

// Whether predictions are logits, or probabilities, which are clipped to 1e-7 .. 1 - 1e-7.
enum class Predictions { kLogits, kProbabilities };

// Truth and prediction of one shape, truth in [0, 1].
GRAPNEL_PUBLIC Value BinaryCrossentropy(const Value& truth, const Value& prediction,
                                        Predictions kind,
                                        LossReduction reduction = LossReduction::kMean,
                                        SourceLocation where = SourceLocation());
// Classes along the last dimension; truth of the same shape, probabilities.
GRAPNEL_PUBLIC Value CategoricalCrossentropy(const Value& truth, const Value& prediction,
                                             Predictions kind,
                                             LossReduction reduction = LossReduction::kMean,
                                             SourceLocation where = SourceLocation());
// Truth: the number of the class, of any integer dtype, without the last dimension, or with one of
// size 1.
GRAPNEL_PUBLIC Value SparseCategoricalCrossentropy(const Value& truth, const Value& prediction,
                                                   Predictions kind,
                                                   LossReduction reduction = LossReduction::kMean,
                                                   SourceLocation where = SourceLocation());

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_LOSSES_H_
