// Reductions of an array along an axis, or of all its elements. Private to lib/watch.
#ifndef GRAPNEL_LIB_WATCH_ARRAY_REDUCTIONS_H_
#define GRAPNEL_LIB_WATCH_ARRAY_REDUCTIONS_H_

#include <vector>

#include "lib/watch/expression_node.h"

namespace grapnel {

bool IsUnsigned(DataType type);  // an unsigned integer

bool IsReduction(llvm::StringRef name);
std::vector<llvm::StringRef> ReductionNames();
// Applies the reduction `call` along its axis, or over all elements if it has no axis. Errors: the
// numbers are complex; the axis is out of range; there are no elements, but the reduction needs
// one.
Expected<NumberArray> Reduce(const TensorExpression::Node& call, NumberArray array);

// A reduction over all elements of an array, which are added block by block: min, max, sum, mean,
// any, all, count_nonzero.
class BlockReduction {
 public:
  static bool Has(llvm::StringRef name);
  explicit BlockReduction(llvm::StringRef name) : name_(name) {}
  void Add(llvm::ArrayRef<NumberArray::Number> values);
  // True if more elements cannot change the result.
  bool IsDecided() const;
  // Returns the same as Reduce() on all elements added, of which there must be one, and whose dtype
  // is `dtype`.
  NumberArray Result(DataType dtype) const;

 private:
  llvm::StringRef name_;
  NumberArray::Number value_ = 0;
  int64_t count_ = 0;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_ARRAY_REDUCTIONS_H_
