// An expression over tensors as a tree. Private to lib/watch.
#ifndef GRAPNEL_LIB_WATCH_EXPRESSION_NODE_H_
#define GRAPNEL_LIB_WATCH_EXPRESSION_NODE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/watch/tensor_expression.h"

namespace grapnel {

// One part of what stands in brackets: `3`, `1:5:2`, `...`, `None`.
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
  bool is_whole = false;  // of a number: an integer was typed; `is_truth`: True or False
  bool is_truth = false;
  std::string name;  // of a tensor, a function or an operator; a text; kAny is a size of any value
  std::vector<SlicePart> slice;
  std::vector<Node> operands;   // of a list: its elements
  std::string text;             // as it was typed, of what is compared
  std::optional<int64_t> axis;  // of a reduction
  bool keeps_dims = false;
};

// The elements of `tensor` that the slice names, dtype and bits as they are. Errors: an index out
// of range, too many of them.
Expected<Tensor> SliceTensor(const Tensor& tensor, const std::vector<SlicePart>& parts);
// Their places in the tensor, row-major, and the dimensions of the slice.
Expected<std::vector<int64_t>> SlicedPlaces(llvm::ArrayRef<int64_t> dims,
                                            const std::vector<SlicePart>& parts, Dims* sliced);

// An operator ("+", "neg", "not") or a function by its name, on its arguments. Errors: their number
// or dtypes do not fit.
Expected<NumberArray> CallFunction(const TensorExpression::Node& call,
                                   std::vector<NumberArray> arguments);
bool IsFunction(llvm::StringRef name);
// Whether each element of the result comes of the elements in that place alone.
bool IsElementwise(llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_EXPRESSION_NODE_H_
