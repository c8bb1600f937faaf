// A C++ function that is traced once for each signature that it is called with, as tf.function is.
//
//   PolymorphicFunction step("step", [](Tracer& t, Value x, Value y) { return x * y + 1.0f; });
//   Value z = step(t, {x, y})[0];    // in a trace a call; in eager mode it runs
//   step.num_traces();
//
// In a trace the call is a PartitionedCall (StatefulPartitionedCall where there are effects) of a
// function of the library, `__inference_step_12`; values of outer functions that it uses are passed
// in. In eager mode the executor runs that function. Gradients go through both.
#ifndef GRAPNEL_LIB_TRACE_FUNCTION_H_
#define GRAPNEL_LIB_TRACE_FUNCTION_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/support/public.h"
#include "lib/trace/eager.h"
#include "lib/trace/trace.h"

namespace grapnel {

struct GRAPNEL_PUBLIC FunctionOptions {
  // What arguments must be; it is traced once, for this.
  std::optional<std::vector<TensorSpec>> input_signature = std::nullopt;
  // A shape that differs from those before makes a trace that leaves open what differs.
  bool reduce_retracing = false;
  // Told, twice at most, when five of the last calls made a trace.
  MessageSink sink = nullptr;
};

class GRAPNEL_PUBLIC PolymorphicFunction {
 public:
  using Body = std::function<Values(Tracer&, llvm::ArrayRef<Value>)>;

  PolymorphicFunction(llvm::StringRef name, Body body, FunctionOptions options = {},
                      SourceLocation where = SourceLocation());
  // Of fn(Tracer&, Value x, Value y, ...) that gives a Value, Values, an array, or nothing.
  template <typename Fn>
  requires(!std::is_convertible_v<Fn, Body>)
      PolymorphicFunction(llvm::StringRef name, Fn fn, FunctionOptions options = {},
                          SourceLocation where = SourceLocation())
      : PolymorphicFunction(name, BodyOf(std::function(std::move(fn))), std::move(options), where) {
  }
  ~PolymorphicFunction();
  PolymorphicFunction(const PolymorphicFunction&) = delete;
  PolymorphicFunction& operator=(const PolymorphicFunction&) = delete;

  // The results. Errors, of `t`: an argument that the input signature does not allow; what the
  // trace says; what the function throws. One value that is not ok() stands for the results then.
  // Cost: of a signature that is known, that of a call.
  Values operator()(Tracer& t, llvm::ArrayRef<Operand> args, SourceLocation where = SourceLocation());
  // The same of tensors, in an eager Tracer of its own, which keeps variables from call to call.
  Expected<std::vector<Tensor>> Run(std::vector<Tensor> args, SourceLocation where = SourceLocation());
  // The module of one signature, as Trace makes it. It counts as no trace.
  Expected<std::unique_ptr<Module>> Concrete(llvm::ArrayRef<TensorSpec> signature) const;

  struct TraceRecord {
    std::string signature;  // "float[2,3], int32"
    std::string reason;     // "argument 0: shape [3] is new; before: [2], [4]"
    SourceLocation where;            // of the call
  };
  const std::vector<TraceRecord>& traces() const;
  int num_traces() const { return static_cast<int>(traces().size()); }

 private:
  template <typename Result, typename... Args>
  static Body BodyOf(std::function<Result(Tracer&, Args...)> fn) {
    return [fn = std::move(fn)](Tracer& t, llvm::ArrayRef<Value> args) {
      if (args.size() == sizeof...(Args)) {
        if constexpr (!std::is_void_v<Result>)
          return Tracer::ListOf(Tracer::Call<sizeof...(Args)>(fn, args, t));
        Tracer::Call<sizeof...(Args)>(fn, args, t);
        return Values();
      }
      t.ReportError(SourceLocation(), llvm::formatv("{0} arguments are given, the function takes {1}",
                                           args.size(), sizeof...(Args))
                                 .str());
      return Values();
    };
  }
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_FUNCTION_H_
