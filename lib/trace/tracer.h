// Builds a GraphDef op by op, named and wired as TensorFlow's Python would. To trace a whole
// function, start with lib/trace/trace.h.
#ifndef GRAPNEL_LIB_TRACE_TRACER_H_
#define GRAPNEL_LIB_TRACE_TRACER_H_

#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "lib/ir/module.h"
#include "lib/support/error.h"
#include "lib/support/public.h"
#include "lib/trace/attribute.h"
#include "lib/trace/value.h"
#include "llvm/ADT/FunctionExtras.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {

struct GRAPNEL_PUBLIC PrintOptions {
  int summarize = 3;  // elements at each end of a dimension; -1: all
  std::string end = "\n", output_stream = "stderr";
};

// Whether a call creates a node or runs the op (lib/trace/eager.h).
enum class Mode : uint8_t { kGraph, kEager };

struct EagerOptions;  // lib/trace/eager.h
struct TensorSpec;    // lib/trace/trace.h
struct TraceState;    // lib/trace/body.h

// Builds one Module, op by op; not thread-safe. Each method that makes nodes records the line of
// its call. Names follow TensorFlow: each name gets its name scope as a prefix, and a taken name
// gets _1, _2, ... (ignoring case). Errors are collected; Finish returns them.
class GRAPNEL_PUBLIC Tracer {
 public:
  Tracer();
  // Continues a graph that was read: its content stays unchanged, and new nodes may read it (Find).
  // Its functions can be called by name. `where` is the source line that the nodes of `module` get;
  // with SourceLocation::Unknown(), new nodes have no line either.
  explicit Tracer(std::unique_ptr<Module> module, SourceLocation where = SourceLocation());
  // With kEager, each op runs when it is called, and its values have tensors at once. Placeholder,
  // Find and Finish are errors then. Functions of `module` can be called by name.
  explicit Tracer(Mode mode);
  explicit Tracer(const EagerOptions& options, std::unique_ptr<Module> module = nullptr,
                  SourceLocation where = SourceLocation());
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  // Ends a Scope, ControlDependencies, Device or Colocate at the end of its C++ scope.
  class ScopeGuard {
   public:
    explicit ScopeGuard(llvm::unique_function<void()> end) : end_(std::move(end)) {}
    ScopeGuard(const ScopeGuard&) = delete;
    ~ScopeGuard() { end_(); }

   private:
    llvm::unique_function<void()> end_;
  };

  Value Placeholder(DataType dtype, const Shape& shape, llvm::StringRef name = "Placeholder",
                    SourceLocation where = SourceLocation());
  Value Placeholder(DataType dtype, std::initializer_list<int64_t> dims,
                    llvm::StringRef name = "Placeholder", SourceLocation where = SourceLocation()) {
    return Placeholder(dtype, Shape(llvm::ArrayRef<int64_t>(dims)), name, where);
  }
  // Makes a constant of the dtype of the C++ type (int is int32, double is double), or of `dtype`.
  Value Constant(const Operand& value, llvm::StringRef name = "Const");
  Value Constant(const Operand& value, DataType dtype, llvm::StringRef name = "Const");

  // Names made until the end of the C++ scope begin with "name/" (name_1/ if that is taken). A name
  // that ends with "/" reopens an earlier scope.
  [[nodiscard]] ScopeGuard Scope(llvm::StringRef name, SourceLocation where = SourceLocation());
  // Nodes made until the end of the C++ scope run after `ops`. Nodes that read a node made since
  // then get no control edge, because that node already waits for `ops`.
  [[nodiscard]] ScopeGuard ControlDependencies(llvm::ArrayRef<Operation> ops,
                                               SourceLocation where = SourceLocation());

  // Nodes made until the end of the C++ scope have this device, in any spelling of DeviceSpec
  // ("/gpu:0", "/job:worker/task:1", "GPU"). Parts that `device` does not specify come from
  // enclosing calls of Device, also from those around a branch or a loop. An empty `device` means
  // no device, whatever the enclosing calls request.
  [[nodiscard]] ScopeGuard Device(llvm::StringRef device, SourceLocation where = SourceLocation());
  // Nodes made until the end of the C++ scope are colocated with `with` and have its device,
  // whatever Device says.
  [[nodiscard]] ScopeGuard Colocate(const Operation& with, SourceLocation where = SourceLocation());
  // Returns a tensor of the main graph by name, "x:0" or "x". If it does not exist, reports an
  // error with similar names.
  Value Find(llvm::StringRef tensor, SourceLocation where = SourceLocation());

  // Makes any op of TensorFlow 2.21, or calls a function of the module, by name. Attributes that
  // follow from the inputs (T, N, Tidx) are inferred, other attributes get TensorFlow's defaults.
  // `name` defaults to the name of the op.
  Operation Op(llvm::StringRef op, llvm::ArrayRef<Operand> inputs,
               llvm::ArrayRef<OpAttribute> attributes = {}, llvm::StringRef name = {},
               SourceLocation where = SourceLocation());

  // tf.print: `format` has a "{}" for each value. The Print runs when the function does, in program
  // order, although no result reads it.
  Operation Print(llvm::StringRef format, llvm::ArrayRef<Operand> values = {},
                  const PrintOptions& options = {}, SourceLocation where = SourceLocation());

  // A loop over variables that start as `init`: cond(variables...) returns a bool,
  // body(variables...) the next values, as a Value, Values or std::array. Both become functions of
  // the library (while_cond_12, while_body_13); captured values of outer functions become
  // loop-invariant variables. The dtypes and shapes of the variables must not change.
  template <typename Cond, typename Body, size_t N>
  std::array<Value, N> While(Cond cond, Body body, const Operand (&init)[N],
                             SourceLocation where = SourceLocation()) {
    Values results =
        WhileLoop([&](llvm::ArrayRef<Value> v) { return ListOf(Call<N>(cond, v))[0]; },
                  [&](llvm::ArrayRef<Value> v) { return ListOf(Call<N>(body, v)); }, init, where);
    std::array<Value, N> array;
    std::copy(results.begin(), results.end(), array.begin());
    return array;
  }
  Values WhileLoop(llvm::function_ref<Value(llvm::ArrayRef<Value>)> cond,
                   llvm::function_ref<Values(llvm::ArrayRef<Value>)> body,
                   llvm::ArrayRef<Operand> init, SourceLocation where = SourceLocation());

  // Runs `then` or `otherwise`, depending on the value of the bool `cond` when the graph runs. Both
  // return a Value, Values, an array, or nothing, with the same number and dtypes of values; the
  // result has the return type of `then`.
  template <typename Then, typename Else>
  auto If(const Operand& cond, Then then, Else otherwise) {
    return ResultsOf<Then>(IfElse(
        cond, [&] { return CallBranch(then); }, [&] { return CallBranch(otherwise); }));
  }
  Values IfElse(const Operand& cond, llvm::function_ref<Values()> then,
                llvm::function_ref<Values()> otherwise);

  // Runs branch number `index`, an int32 from 0, when the graph runs; the last branch if `index` is
  // out of range (tf.switch_case). Branches return values as those of If do.
  template <typename First, typename... Others>
  auto Case(const Operand& index, First first, Others... others) {
    auto call = [](auto& branch) { return [&branch] { return CallBranch(branch); }; };
    return CaseOf<First>(index, call(first), call(others)...);
  }
  Values SwitchCase(const Operand& index, llvm::ArrayRef<llvm::function_ref<Values()>> branches);

  // Adds an Identity for each result, control edges that keep the effects (see Print) alive and in
  // order, the source lines of all nodes as GraphDef.debug_info, and returns the module. Errors:
  // all errors of the trace, one per line: `program.cpp:12: op 'AddV2': ...`. Call it once.
  Expected<std::unique_ptr<Module>> Finish(const Values& results = {});

  // Returns the errors so far, one per line, and clears them, so that the program can continue.
  Error TakeErrors();
  bool is_eager() const;  // false in a function that an eager program traces
  // Reports an error of the traced function itself; Finish returns it with the other errors.
  void ReportError(const SourceLocation& where, const std::string& text);
  const Module& module() const;            // the module as it is now; valid until Finish
  TraceState& state() { return *state_; }  // for lib/trace only

  static Values ListOf(const Value& value) { return {value}; }
  static Values ListOf(Values values) { return values; }
  template <size_t N>
  static Values ListOf(const std::array<Value, N>& values) {
    return Values(values.begin(), values.end());
  }
  // Calls fn(values[0], ..., values[N - 1]).
  template <size_t N, typename Fn, typename... First>
  static decltype(auto) Call(Fn& fn, llvm::ArrayRef<Value> values, First&... first) {
    return CallIndexed(fn, values, std::make_index_sequence<N>(), first...);
  }

 private:
  friend Expected<std::unique_ptr<Module>> TraceFunction(
      llvm::StringRef, llvm::ArrayRef<TensorSpec>,
      llvm::function_ref<Values(Tracer&, llvm::ArrayRef<Value>)>, SourceLocation);
  template <typename Fn, size_t... I, typename... First>
  static decltype(auto) CallIndexed(Fn& fn, llvm::ArrayRef<Value> values, std::index_sequence<I...>,
                                    First&... first) {
    return fn(first..., values[I]...);
  }
  template <typename Branch>
  static Values CallBranch(Branch& branch) {
    if constexpr (std::is_void_v<std::invoke_result_t<Branch&>>) {
      branch();
      return Values();
    } else {
      return ListOf(branch());
    }
  }
  // Converts the values that `branch` returned back to its return type.
  template <typename Branch>
  static std::invoke_result_t<Branch&> ResultsOf(Values results) {
    using Result = std::invoke_result_t<Branch&>;
    if constexpr (std::is_void_v<Result>) {
      return;
    } else if constexpr (std::is_same_v<Result, Values>) {
      return results;
    } else if constexpr (std::is_convertible_v<Result, Value>) {
      return results.empty() ? Value() : results[0];
    } else {
      Result array;
      std::copy_n(results.begin(), std::min(results.size(), array.size()), array.begin());
      return array;
    }
  }
  // Runs the branches. They are function_refs to named objects, which must live until this function
  // returns.
  template <typename First, typename... Calls>
  auto CaseOf(const Operand& index, const Calls&... calls) {
    llvm::function_ref<Values()> branches[] = {calls...};
    return ResultsOf<First>(SwitchCase(index, branches));
  }
  std::unique_ptr<TraceState> state_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_TRACER_H_
