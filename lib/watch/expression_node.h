// The syntax tree of an expression over tensors. Private to lib/watch.
#ifndef GRAPNEL_LIB_WATCH_EXPRESSION_NODE_H_
#define GRAPNEL_LIB_WATCH_EXPRESSION_NODE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/watch/tensor_expression.h"

namespace grapnel {

// One of the comma-separated parts of a slice: `3`, `1:5:2`, `...`, `None`.
struct SlicePart {
  enum class Kind : uint8_t { kIndex, kRange, kEllipsis, kNewAxis };
  Kind kind = Kind::kRange;
  int64_t index = 0;
  std::optional<int64_t> begin, end, step;
};

struct TensorExpression::Node {
  enum class Kind : uint8_t { kNumber, kText, kAny, kList, kTensor, kSlice, kCall };
  Kind kind = Kind::kNumber;
  long double number = 0;
  bool is_whole = false;  // for a number: typed as an integer; is_truth: as True or False
  bool is_truth = false;
  std::string name;  // name of a tensor, function or operator; for kText the text
  std::vector<SlicePart> slice;
  std::vector<Node> operands;   // operands or arguments; elements of a list
  std::string text;             // source text; set for operands of comparisons
  std::optional<int64_t> axis;  // for a reduction
  bool keeps_dims = false;
};

// Returns the elements of `tensor` that the slice selects, with unchanged dtype and bits. Errors:
// those of SlicedPlaces(); there is no value.
Expected<Tensor> SliceTensor(const Tensor& tensor, const std::vector<SlicePart>& parts);
// Returns the flat (row-major) positions of the elements that the slice selects. `sliced` gets the
// dimensions of the slice. Errors: the slice does not fit `dims`, or has two `...`.
Expected<std::vector<int64_t>> SlicedPlaces(llvm::ArrayRef<int64_t> dims,
                                            const std::vector<SlicePart>& parts, Dims* sliced);

// Applies the operator or function `call.name` ("+", "neg", "abs") to its arguments. Errors: the
// arguments do not fit in number, dtype, shape or value.
Expected<NumberArray> CallFunction(const TensorExpression::Node& call,
                                   std::vector<NumberArray> arguments);
bool IsFunction(llvm::StringRef name);
// True if each element of the result depends only on the arguments' elements at the same position.
// False for `imag` and `~`, although they are elementwise.
bool IsElementwise(llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_EXPRESSION_NODE_H_
