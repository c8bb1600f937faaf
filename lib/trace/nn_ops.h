// Functions for neural networks. Each makes the nodes that its counterpart in tf.nn makes, with the
// same names. lib/trace/ops.h has Relu, Sigmoid and Tanh.
#ifndef GRAPNEL_LIB_TRACE_NN_OPS_H_
#define GRAPNEL_LIB_TRACE_NN_OPS_H_

#include <optional>
#include <vector>

#include "lib/support/public.h"
#include "lib/trace/ops.h"
#include "lib/trace/tracer.h"

namespace grapnel {

// Softmax and LogSoftmax work along the last dimension.
GRAPNEL_PUBLIC Value Softmax(const Value& logits, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value LogSoftmax(const Value& logits, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Softplus(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value LogSigmoid(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Elu(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Selu(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Relu6(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value LeakyRelu(const Value& x, float alpha = 0.2f,
                               SourceLocation where = SourceLocation());
// x * P(X <= x) for a standard normal X; `approximate` uses the tanh formula.
GRAPNEL_PUBLIC Value Gelu(const Value& x, bool approximate = false,
                          SourceLocation where = SourceLocation());
// x * sigmoid(x). TensorFlow gives this function a custom gradient; here it is made of plain ops,
// with the same values.
GRAPNEL_PUBLIC Value Silu(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value BiasAdd(const Value& x, const Value& bias,
                             SourceLocation where = SourceLocation());
// L2Loss is sum(x^2) / 2; L2Normalize is x / |x| along `axis`.
GRAPNEL_PUBLIC Value L2Loss(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value L2Normalize(const Value& x, int axis, double epsilon = 1e-12,
                                 SourceLocation where = SourceLocation());

// Images are [batch, height, width, channels]; filters [height, width, in, out]. A size or stride
// is one number for height and width, two numbers, or one for each of the four dimensions.
GRAPNEL_PUBLIC Value Conv2D(const Value& x, const Value& filter, const std::vector<int>& strides,
                            llvm::StringRef padding, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value MaxPool2D(const Value& x, const std::vector<int>& size,
                               const std::vector<int>& strides, llvm::StringRef padding,
                               SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value AvgPool2D(const Value& x, const std::vector<int>& size,
                               const std::vector<int>& strides, llvm::StringRef padding,
                               SourceLocation where = SourceLocation());

struct GRAPNEL_PUBLIC MomentsResult {
  Value mean, variance;
};
GRAPNEL_PUBLIC MomentsResult Moments(const Value& x, const std::vector<int>& axes,
                                     bool keep_dims = false,
                                     SourceLocation where = SourceLocation());
// (x - mean) / sqrt(variance + epsilon) * scale + offset; a default Value as scale or offset omits
// that part.
GRAPNEL_PUBLIC Value BatchNormalization(const Value& x, const Value& mean, const Value& variance,
                                        const Value& offset, const Value& scale, double epsilon,
                                        SourceLocation where = SourceLocation());
struct GRAPNEL_PUBLIC FusedBatchNormResult {
  Value y, mean, variance;  // mean and variance of the batch when training
};
struct GRAPNEL_PUBLIC FusedBatchNormOptions {
  Value mean, variance;  // used for inference
  float epsilon = 1e-3f;
  bool is_training = true;
};
GRAPNEL_PUBLIC FusedBatchNormResult FusedBatchNorm(const Value& x, const Value& scale,
                                                   const Value& offset,
                                                   const FusedBatchNormOptions& options = {},
                                                   SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value EmbeddingLookup(const Value& table, const Value& ids,
                                     SourceLocation where = SourceLocation());

// Losses per example, without a reduction.
//
// `labels` are probabilities along the last dimension, of the shape of `logits`.
GRAPNEL_PUBLIC Value SoftmaxCrossEntropyWithLogits(const Value& labels, const Value& logits,
                                                   SourceLocation where = SourceLocation());
// `labels` are class indices, int32 or int64, one for each row of `logits` [n, classes].
GRAPNEL_PUBLIC Value SparseSoftmaxCrossEntropyWithLogits(const Value& labels, const Value& logits,
                                                         SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value SigmoidCrossEntropyWithLogits(const Value& labels, const Value& logits,
                                                   SourceLocation where = SourceLocation());

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_NN_OPS_H_
