// Summaries: what TensorBoard shows of tensors, as tf.summary writes it.
#ifndef GRAPNEL_LIB_WATCH_SUMMARY_H_
#define GRAPNEL_LIB_WATCH_SUMMARY_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/exec/tensor.h"
#include "lib/proto/summary.pb.h"
#include "lib/watch/tensor_expression.h"

namespace grapnel {

enum class SummaryKind { kScalar, kHistogram, kImage, kText };
llvm::StringRef SummaryKindName(SummaryKind kind);
// What suits a tensor: a scalar for one element, text for strings, else a histogram; nullopt for
// resources and variants.
std::optional<SummaryKind> UsualKind(const Tensor& tensor);

struct SummaryRequest {
  SummaryKind kind = SummaryKind::kScalar;
  TensorExpression expression;
  std::string tag;  // as TensorBoard names it: the expression, unless another is given
  // "KIND:EXPRESSION" or "KIND:EXPRESSION=TAG". Errors show where it cannot be read.
  static Expected<SummaryRequest> Parse(llvm::StringRef text);
};

// The tag of a tensor that is given none: its name, ":0" left out.
std::string UsualTag(llvm::StringRef tensor);

// The tensor as a value of a Summary, with the metadata that TensorBoard's plugins read:
//   scalar     one element of any real dtype, as a float
//   histogram  30 buckets between the least and the largest: left, right, count. Elements that are
//              not finite are left out
//   image      [n,h,w,c], [h,w,c] or [h,w], c from 1 to 4: floats from 0 to 1, else from 0 to the
//              dtype's largest number; the first three, as PNG
//   text       strings, in the shape that they have
// Errors: it is not of that kind, and which would be. Cost: linear.
Expected<proto::Summary::Value> SummaryOf(SummaryKind kind, const Tensor& tensor);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_SUMMARY_H_
