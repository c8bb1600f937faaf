// What is known of a tensor's numbers without a run: whether they may be zero or negative.
#ifndef GRAPNEL_LIB_CHECK_DOCTOR_NUMBER_RANGE_H_
#define GRAPNEL_LIB_CHECK_DOCTOR_NUMBER_RANGE_H_

#include <optional>
#include <utility>
#include <vector>

#include "lib/check/doctor/network.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

enum class NumberRange : uint8_t {
  kUnknown,      // nothing is known; variables and scalars that are fed are taken to be meant
  kPositive,     // above 0, or kept from it by a guard
  kUnderflows,   // above 0 but for rounding: a softmax, a sigmoid
  kNotNegative,  // 0 or more, and may be 0: a Relu, a sum of squares, a count
  kInput,        // numbers that are fed, of any sign
  kAny,          // what layers and differences make, of any sign
};

// Works out ranges back from the tensors that are asked for, each once. The network is borrowed.
class NumberRanges {
 public:
  explicit NumberRanges(const Network& network);

  NumberRange Of(const BodyPort& port);
  NumberRange OfInput(const Node& node, int slot);

 private:
  NumberRange OfNode(const BodyPort& port);
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
  // Functions that conditions choose, with what each compares.
  std::optional<llvm::StringMap<std::vector<std::vector<BodyPort>>>> branches_;
  int depth_ = 0;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_DOCTOR_NUMBER_RANGE_H_
