// Registers functions of a file for tracing by name: `grapnel trace FILE.cpp:FUNCTION` compiles the
// file and traces one.
//
//   Value HarmonicMean(Tracer&, Value x) { ... }
//   GRAPNEL_TRACE(HarmonicMean, {{"x", proto::DT_FLOAT, {3}}});
#ifndef GRAPNEL_LIB_TRACE_REGISTRATION_H_
#define GRAPNEL_LIB_TRACE_REGISTRATION_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/support/public.h"
#include "lib/trace/model.h"
#include "lib/trace/trace.h"

namespace grapnel {

struct GRAPNEL_PUBLIC TracedFunction {
  std::string name;
  std::vector<TensorSpec> inputs;
  // the line of the registration; its strings live as long as the program
  SourceLocation where = SourceLocation();
  std::function<Values(Tracer&, llvm::ArrayRef<Value>)> call;  // the user's function: may throw
  // The next three are derived from `call`. Errors: those of Trace; exceptions of the function.
  std::function<Expected<std::unique_ptr<Module>>()> trace = {};
  // Like `trace`, but also returns the variables that the function makes.
  std::function<Expected<TracedModel>()> trace_model = {};
  // Adds the function as one function of a model.
  std::function<void(ModelBuilder&)> add = {};
  const char* plugin = "";  // the file that registered it; "": the program itself
};

// Returns the registered functions, in the order of registration. Two plugins may register the same
// name.
GRAPNEL_PUBLIC const std::vector<TracedFunction>& TracedFunctions();
GRAPNEL_PUBLIC bool RegisterTrace(TracedFunction function);

// Registers the function fn(Tracer&, Value x, Value y, ...), with a TensorSpec for each Value. It
// returns what a function for Trace may return.
template <size_t N, typename Result, typename... Args>
bool RegisterTrace(const char* name, Result (*fn)(Tracer&, Args...), const TensorSpec (&inputs)[N],
                   SourceLocation where) {
  static_assert(sizeof...(Args) == N, "GRAPNEL_TRACE: one TensorSpec for each Value");
  std::vector<TensorSpec> specs(inputs, inputs + N);
  auto call = [fn](Tracer& t, llvm::ArrayRef<Value> args) {
    return Tracer::ListOf(Tracer::Call<N>(fn, args, t));
  };
  return RegisterTrace(TracedFunction{name, specs, where, call});
}
template <typename Result, typename... Args>
bool RegisterTrace(const char* name, Result (*fn)(Tracer&, Args...), SourceLocation where) {
  static_assert(sizeof...(Args) == 0, "GRAPNEL_TRACE: one TensorSpec for each Value");
  auto call = [fn](Tracer& t, llvm::ArrayRef<Value>) { return Tracer::ListOf(fn(t)); };
  return RegisterTrace(TracedFunction{name, {}, where, call});
}

// Use at namespace scope, after the function:
//
//   GRAPNEL_TRACE(Pair, {{"x", proto::DT_FLOAT, {3}}, {"y", proto::DT_INT32, {}}});
//   GRAPNEL_TRACE(NoInputs);
#define GRAPNEL_TRACE(function, ...)                                                  \
  [[maybe_unused]] static const bool GRAPNEL_CONCAT(trace_registered_, __COUNTER__) = \
      ::grapnel::RegisterTrace(#function, function __VA_OPT__(, ) __VA_ARGS__,        \
                               ::grapnel::SourceLocation())

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_REGISTRATION_H_
