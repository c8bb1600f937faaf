// A C++ function that is traced once for each signature it is called with, as tf.function is.
//
//   PolymorphicFunction step("step", [](Tracer& t, Value x, Value y) { return x * y + 1.0f; });
//   Value z = step(t, {x, y})[0];    // adds a call to a trace; in eager mode the function runs
//   step.num_traces();
//
// In a trace the call is a PartitionedCall (StatefulPartitionedCall if there are effects) of a
// function of the library, `__inference_step_12`; captured values of outer functions become its
// inputs. In eager mode the executor runs that function. Gradients flow through the call in both
// modes.
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
  // The dtypes and shapes that all calls must have; each Tracer traces the function once, for
  // these.
  std::optional<std::vector<TensorSpec>> input_signature = std::nullopt;
  // If true, a call with a new shape makes a trace in which the dimensions that differ from earlier
  // calls are unknown.
  bool reduce_retracing = false;
  // Receives a warning, at most twice, when at least five of about the last ten calls made a trace.
  MessageSink sink = nullptr;
};

class GRAPNEL_PUBLIC PolymorphicFunction {
 public:
  using Body = std::function<Values(Tracer&, llvm::ArrayRef<Value>)>;

  PolymorphicFunction(llvm::StringRef name, Body body, FunctionOptions options = {},
                      SourceLocation where = SourceLocation());
  // Takes fn(Tracer&, Value x, Value y, ...) that returns a Value, Values, an array, or nothing.
  template <typename Fn>
  requires(!std::is_convertible_v<Fn, Body>)
      PolymorphicFunction(llvm::StringRef name, Fn fn, FunctionOptions options = {},
                          SourceLocation where = SourceLocation())
      : PolymorphicFunction(name, BodyOf(std::function(std::move(fn))), std::move(options), where) {
  }
  ~PolymorphicFunction();
  PolymorphicFunction(const PolymorphicFunction&) = delete;
  PolymorphicFunction& operator=(const PolymorphicFunction&) = delete;

  // Returns the results; after an error, one value that is not ok(). Errors, reported to `t`: an
  // argument that is not usable or that the input signature does not allow; a call of the function
  // by itself while it is traced; errors of the trace; exceptions of the function. A call with a
  // signature that `t` has traced before does not run the C++ function, unless values that this
  // trace captured are not visible at the call.
  Values operator()(Tracer& t, llvm::ArrayRef<Operand> args,
                    SourceLocation where = SourceLocation());
  // Like operator(), but takes and returns tensors. Runs in an eager Tracer that belongs to this
  // function and keeps variables from call to call.
  Expected<std::vector<Tensor>> Run(std::vector<Tensor> args,
                                    SourceLocation where = SourceLocation());
  // Traces the function for one signature and returns the module, as Trace does
  // (lib/trace/trace.h). This trace does not count in traces().
  Expected<std::unique_ptr<Module>> Concrete(llvm::ArrayRef<TensorSpec> signature) const;

  struct TraceRecord {
    std::string signature;  // "float[2,3], int32"
    std::string reason;     // "argument 0: shape [3] is new; before: [2], [4]"
    SourceLocation where;   // line of the call
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
      t.ReportError(SourceLocation(),
                    llvm::formatv("{0} arguments are given, the function takes {1}", args.size(),
                                  sizeof...(Args))
                        .str());
      return Values();
    };
  }
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_FUNCTION_H_
