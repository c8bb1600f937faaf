// Gradient rules, and how they register themselves. A rule is a place in
// lib/trace/gradients/FAMILY.cpp and a row of tests/python/gradient_cases.py:
//
//   // y = tanh(x)
//   InputGradients Tanh(GradientContext& g) {
//     auto after = g.AfterGradient();
//     return {g.Op("TanhGrad", {g.Conj(g.y()), g.dy()})};
//   }
//   GRAPNEL_GRADIENT("Tanh", Tanh);
//
// A rule makes the ops, in the order, that TensorFlow's registered gradient function makes
// (tensorflow/python/ops/*_grad.py), so that graphs of both are equal. C++ does not say which
// argument of an operator is computed first: where both sides make nodes, name one.
#ifndef GRAPNEL_LIB_TRACE_GRADIENT_RULE_H_
#define GRAPNEL_LIB_TRACE_GRADIENT_RULE_H_

#include <string>
#include <vector>

#include "lib/support/public.h"
#include "lib/trace/gradient_context.h"

namespace grapnel {

// Slices added up where they belong: a dense tensor; the values where they are dense already.
GRAPNEL_PUBLIC Value ToDense(TraceState& state, const Gradient& gradient,
                             llvm::StringRef name = {});

using GradientFn = InputGradients (*)(GradientContext&);

struct GRAPNEL_PUBLIC GradientEntry {
  std::string op;
  GradientFn fn = nullptr;  // null: the op has no gradient, and that is no mistake
  // Outputs whose gradient may be missing: the rule is not given zeros for them. A bit each.
  uint64_t optional_outputs = 0;
  // Why the op has no gradient although TensorFlow registers one: an error where it is asked for.
  const char* refusal = nullptr;
};

GRAPNEL_PUBLIC bool RegisterGradient(const GradientEntry& entry);
GRAPNEL_PUBLIC const GradientEntry* FindGradient(llvm::StringRef op);  // null: nobody knows one
GRAPNEL_PUBLIC std::vector<const GradientEntry*> AllGradients();       // sorted by op

#define GRAPNEL_GRADIENT(op, ...)                                                        \
  [[maybe_unused]] static const bool GRAPNEL_CONCAT(gradient_registered_, __COUNTER__) = \
      ::grapnel::RegisterGradient({op, __VA_ARGS__})
#define GRAPNEL_NO_GRADIENT(op) GRAPNEL_GRADIENT(op, nullptr)
#define GRAPNEL_REFUSED_GRADIENT(op, why) GRAPNEL_GRADIENT(op, nullptr, 0, why)

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_GRADIENT_RULE_H_
