// Losses with Keras's numerics: the loss of an example is computed and reduced as in Keras 3, with
// the same ops, order and epsilons.
#ifndef GRAPNEL_LIB_TRACE_LOSSES_H_
#define GRAPNEL_LIB_TRACE_LOSSES_H_

#include "lib/support/public.h"
#include "lib/trace/ops.h"
#include "lib/trace/tracer.h"

namespace grapnel {

enum class LossReduction {
  kMean,  // Keras's sum_over_batch_size: over all examples
  kSum,
  kNone,  // one value per example: the shape without its last dimension
};

// Takes the mean over the last dimension, then reduces. `truth` is cast to the prediction's dtype.
// One of the two may have an extra last dimension of size 1.
GRAPNEL_PUBLIC Value MeanSquaredError(const Value& truth, const Value& prediction,
                                      LossReduction reduction = LossReduction::kMean,
                                      SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value MeanAbsoluteError(const Value& truth, const Value& prediction,
                                       LossReduction reduction = LossReduction::kMean,
                                       SourceLocation where = SourceLocation());
// The loss is squared up to the distance `delta` between truth and prediction, linear beyond.
GRAPNEL_PUBLIC Value Huber(const Value& truth, const Value& prediction, double delta = 1,
                           LossReduction reduction = LossReduction::kMean,
                           SourceLocation where = SourceLocation());

// Predictions are logits or probabilities. Probabilities are clipped to 1e-7 .. 1 - 1e-7, in
// CategoricalCrossentropy after a division by their sum.
enum class Predictions { kLogits, kProbabilities };

// Truth and prediction have the same shape; truth is in [0, 1].
GRAPNEL_PUBLIC Value BinaryCrossentropy(const Value& truth, const Value& prediction,
                                        Predictions kind,
                                        LossReduction reduction = LossReduction::kMean,
                                        SourceLocation where = SourceLocation());
// Classes are along the last dimension; truth has the shape of the prediction and holds
// probabilities.
GRAPNEL_PUBLIC Value CategoricalCrossentropy(const Value& truth, const Value& prediction,
                                             Predictions kind,
                                             LossReduction reduction = LossReduction::kMean,
                                             SourceLocation where = SourceLocation());
// Truth holds class indices, of any integer dtype; it has the shape of the prediction without the
// last dimension, or with size 1 there.
GRAPNEL_PUBLIC Value SparseCategoricalCrossentropy(const Value& truth, const Value& prediction,
                                                   Predictions kind,
                                                   LossReduction reduction = LossReduction::kMean,
                                                   SourceLocation where = SourceLocation());

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_LOSSES_H_
