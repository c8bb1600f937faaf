// Programs that are written twice: here, and for tf.function in tests/python/programs.py, with the
// same names. tests/python/programs_test.py compares graphs, values and gradients. They are a
// plugin, which includes only public headers.
#ifndef GRAPNEL_TESTS_TRACE_PROGRAMS_PROGRAMS_H_
#define GRAPNEL_TESTS_TRACE_PROGRAMS_PROGRAMS_H_

#include <array>
#include <string>
#include <vector>

#include "grapnel/trace/array_ops.h"
#include "grapnel/trace/gradient.h"
#include "grapnel/trace/math_ops.h"
#include "grapnel/trace/nn_ops.h"
#include "grapnel/trace/ops.h"
#include "grapnel/trace/registration.h"

namespace grapnel {

constexpr DataType kFloat = proto::DT_FLOAT, kDouble = proto::DT_DOUBLE, kInt32 = proto::DT_INT32,
                   kInt64 = proto::DT_INT64, kBool = proto::DT_BOOL, kString = proto::DT_STRING;
constexpr int64_t kAny = kUnknownDim;

inline bool IsReal(DataType dtype) { return dtype == kFloat || dtype == kDouble; }

// Registers the function and, as NAMEGradient, the gradients of all its floating-point results with
// respect to all its floating-point inputs.
template <size_t N, typename Result, typename... Args>
bool RegisterProgram(const char* name, Result (*fn)(Tracer&, Args...),
                     const TensorSpec (&inputs)[N], SourceLocation where = SourceLocation()) {
  std::vector<TensorSpec> specs(inputs, inputs + N);
  auto gradient = [=](Tracer& t, llvm::ArrayRef<Value> args) {
    Values ys, xs;
    for (const Value& y : Tracer::ListOf(Tracer::Call<N>(fn, args, t))) {
      if (IsReal(y.dtype())) ys.push_back(y);
    }
    for (const Value& x : args) {
      if (IsReal(x.dtype())) xs.push_back(x);
    }
    GradientOptions options;
    options.unconnected = Unconnected::kZeros;
    return ys.empty() || xs.empty() ? Values() : Gradients(t, ys, xs, options, where);
  };
  RegisterTrace(TracedFunction{std::string(name) + "Gradient", specs, where, gradient});
  return RegisterTrace(name, fn, inputs, where);
}

// Use at namespace scope, after the function: PROGRAM(Norms, {{"x", kFloat, {3}}});
#define PROGRAM(function, ...)                                                          \
  [[maybe_unused]] static const bool GRAPNEL_CONCAT(program_registered_, __COUNTER__) = \
      ::grapnel::RegisterProgram(#function, function, __VA_ARGS__)

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_TRACE_PROGRAMS_PROGRAMS_H_
