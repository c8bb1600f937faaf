// Static analysis of a tensor's sign: whether its elements may be zero or negative.
#ifndef GRAPNEL_LIB_DOCTOR_NUMBER_RANGE_H_
#define GRAPNEL_LIB_DOCTOR_NUMBER_RANGE_H_

#include <optional>
#include <utility>
#include <vector>

#include "lib/doctor/network.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

enum class NumberRange : uint8_t {
  kUnknown,      // no information; also variables, fed scalars and integers, guarded values
  kPositive,     // above 0, or kept above it by a guard
  kNegative,     // below 0, or kept below it by a guard
  kUnderflows,   // above 0, but may be rounded to 0: a softmax, a sigmoid
  kNotNegative,  // 0 or more, and may be 0: a Relu, a sum of squares, a count
  kInput,        // fed numbers, of any sign
  kAny,          // may be 0 or negative: outputs of layers, differences
};

// Computes the ranges of requested tensors and of those that they depend on, each once. The network
// is borrowed.
class NumberRanges {
 public:
  explicit NumberRanges(const Network& network);

  NumberRange Of(const BodyPort& port);
  NumberRange OfInput(const Node& node, int slot);

 private:
  NumberRange OfNode(const BodyPort& port);
  NumberRange OfMagnitude(const Node& node);
  NumberRange OfNegated(NumberRange range) const;
  NumberRange OfReduction(const Node& node);
  NumberRange OfSum(const Node& node);
  NumberRange OfDifference(const Node& node);
  NumberRange OfProduct(const Node& node);
  NumberRange OfQuotient(const Node& node);
  NumberRange OfLayer(const Node& node);
  NumberRange OfPower(const Node& node);
  NumberRange OfMaximum(NumberRange a, NumberRange b) const;
  NumberRange OfMinimum(NumberRange a, NumberRange b) const;
  NumberRange OfConstant(const BodyPort& port) const;
  NumberRange OfFed(const BodyPort& port) const;
  NumberRange WorstOf(llvm::ArrayRef<BodyPort> ports);
  llvm::ArrayRef<std::vector<BodyPort>> LookedAtBefore(const Graph& body);
  bool IsGuardedByCondition(const BodyPort& port);
  bool IsSame(const BodyPort& a, const BodyPort& b, int depth) const;
  bool IsSumOfSquares(const Node& einsum) const;
  bool IsScalarConstant(const Node& node, int slot) const;

  const Network& network_;
  PortSet inputs_;
  llvm::DenseMap<std::pair<const Graph*, uint64_t>, NumberRange> known_;
  // By name of a function that is a branch: for each op that has this branch, the operands of the
  // comparisons in its condition.
  std::optional<llvm::StringMap<std::vector<std::vector<BodyPort>>>> branches_;
  int depth_ = 0;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DOCTOR_NUMBER_RANGE_H_
