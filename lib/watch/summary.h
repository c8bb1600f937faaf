// Summaries of tensors for TensorBoard, as tf.summary writes them.
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
// Returns the default kind for a tensor: text for strings, a scalar for one number, else a
// histogram; nullopt for complex numbers, resources, variants and a missing tensor.
std::optional<SummaryKind> UsualKind(const Tensor& tensor);

struct SummaryRequest {
  SummaryKind kind = SummaryKind::kScalar;
  TensorExpression expression;
  std::string tag;  // the name in TensorBoard; by default UsualTag() of the expression
  // Parses "KIND:EXPRESSION" or "KIND:EXPRESSION=TAG". Errors after KIND have a caret under the
  // unreadable part.
  static Expected<SummaryRequest> Parse(llvm::StringRef text);
};

// Returns the default tag of a tensor: its name without ":0".
std::string UsualTag(llvm::StringRef tensor);

// Returns a Summary value of the tensor, with the metadata that TensorBoard's plugins read:
//   scalar     one element of any real dtype, as a float
//   histogram  30 buckets between the least and the largest: left, right, count. Elements that are
//              not finite are ignored
//   image      [n,h,w,c], [h,w,c] or [h,w], c from 1 to 4: floats from 0 to 1, else from 0 to the
//              dtype's largest number; the first three, as PNG
//   text       strings, in the tensor's shape
// Errors: the tensor's dtype or shape does not fit the kind. Cost: linear.
Expected<proto::Summary::Value> SummaryOf(SummaryKind kind, const Tensor& tensor);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_SUMMARY_H_
