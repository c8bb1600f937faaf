// From the elements along an axis, or all of them, to one. Private to lib/watch.
#ifndef GRAPNEL_LIB_WATCH_ARRAY_REDUCTIONS_H_
#define GRAPNEL_LIB_WATCH_ARRAY_REDUCTIONS_H_

#include <vector>

#include "lib/watch/expression_node.h"

namespace grapnel {

bool IsReduction(llvm::StringRef name);
std::vector<llvm::StringRef> ReductionNames();
// What the call of a reduction gives, with its axis. Errors: the numbers are complex; the axis is
// out of range; no elements, where one is asked for.
Expected<NumberArray> Reduce(const TensorExpression::Node& call, NumberArray array);

// A reduction of all elements that come a block at a time: min, max, sum, mean, any, all,
// count_nonzero.
class BlockReduction {
 public:
  static bool Has(llvm::StringRef name);
  explicit BlockReduction(llvm::StringRef name) : name_(name) {}
  void Add(llvm::ArrayRef<NumberArray::Number> values);
  // Whether what follows changes nothing.
  bool IsDecided() const;
  // `dtype`: of the elements. What Reduce() gives.
  NumberArray Result(DataType dtype) const;

 private:
  llvm::StringRef name_;
  NumberArray::Number value_ = 0;
  int64_t count_ = 0;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_ARRAY_REDUCTIONS_H_
