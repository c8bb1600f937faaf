// Gradient rules and their registration. A rule is a function in lib/trace/gradients/FAMILY.cpp and
// a row of tests/python/gradient_cases.py:
//
//   // y = tanh(x)
//   InputGradients Tanh(GradientContext& g) {
//     auto after = g.AfterGradient();
//     return {g.Op("TanhGrad", {g.Conj(g.y()), g.dy()})};
//   }
//   GRAPNEL_GRADIENT("Tanh", Tanh);
//
// Unless a comment at the rule says otherwise, it makes the same ops, in the same order, as
// TensorFlow's registered gradient function (tensorflow/python/ops/*_grad.py), so that both graphs
// are equal. C++ does not define which operand of an operator is evaluated first: if both make
// nodes, store one in a variable first.
#ifndef GRAPNEL_LIB_TRACE_GRADIENT_RULE_H_
#define GRAPNEL_LIB_TRACE_GRADIENT_RULE_H_

#include <string>
#include <vector>

#include "lib/support/public.h"
#include "lib/trace/gradient_context.h"

namespace grapnel {

// Returns slices as a dense tensor, with repeated rows added up; a dense gradient is returned
// unchanged.
GRAPNEL_PUBLIC Value ToDense(TraceState& state, const Gradient& gradient,
                             llvm::StringRef name = {});

using GradientFn = InputGradients (*)(GradientContext&);

struct GRAPNEL_PUBLIC GradientEntry {
  std::string op;
  GradientFn fn = nullptr;  // null: the op has no gradient, or `refusal` says why not
  // Outputs whose gradient may be missing, one bit each: the rule gets no zeros in place of a
  // missing gradient.
  uint64_t optional_outputs = 0;
  // Why grapnel has no gradient of the op although TensorFlow registers one; requesting that
  // gradient is then an error.
  const char* refusal = nullptr;
};

GRAPNEL_PUBLIC bool RegisterGradient(const GradientEntry& entry);
GRAPNEL_PUBLIC const GradientEntry* FindGradient(llvm::StringRef op);  // null: no entry for the op
GRAPNEL_PUBLIC std::vector<const GradientEntry*> AllGradients();       // sorted by op

#define GRAPNEL_GRADIENT(op, ...)                                                        \
  [[maybe_unused]] static const bool GRAPNEL_CONCAT(gradient_registered_, __COUNTER__) = \
      ::grapnel::RegisterGradient({op, __VA_ARGS__})
#define GRAPNEL_NO_GRADIENT(op) GRAPNEL_GRADIENT(op, nullptr)
#define GRAPNEL_REFUSED_GRADIENT(op, why) GRAPNEL_GRADIENT(op, nullptr, 0, why)

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_GRADIENT_RULE_H_
