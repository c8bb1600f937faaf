// Builds a GraphDef op by op, named and wired as TensorFlow's Python would. lib/trace/trace.h is
// the way in for a whole function.
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

// Whether what is called becomes a node, or runs (lib/trace/eager.h).
enum class Mode : uint8_t { kGraph, kEager };

struct EagerOptions;  // lib/trace/eager.h
struct TensorSpec;    // lib/trace/trace.h
struct TraceState;    // lib/trace/body.h

// Builds one Module, op by op; not thread-safe. Each method that makes nodes takes the line of its
// call. Names follow TensorFlow: a name scope goes before each name, and a name that is taken gets
// _1, _2, ... (upper and lower case count as the same). Errors are collected; Finish gives them.
class GRAPNEL_PUBLIC Tracer {
 public:
  Tracer();
  // Goes on with a graph that was read: what it holds stays as it is, and new nodes may read it
  // (Find). Its functions are there to be called by name. `where` stands for the line of its nodes.
  explicit Tracer(std::unique_ptr<Module> module, SourceLocation where = SourceLocation());
  // kEager: each op runs as it is made, and a value has its tensor at once. Placeholder, Find and
  // Finish are errors then. Functions of `module` can be called by name.
  explicit Tracer(Mode mode);
  explicit Tracer(const EagerOptions& options, std::unique_ptr<Module> module = nullptr,
                  SourceLocation where = SourceLocation());
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  // Ends what began with Scope or ControlDependencies when it goes out of C++ scope.
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
  // Of the dtype that C++ gives it (int is int32, double is double), or the one that is asked for.
  Value Constant(const Operand& value, llvm::StringRef name = "Const");
  Value Constant(const Operand& value, DataType dtype, llvm::StringRef name = "Const");

  // Names made until the end of the C++ scope begin with "name/" (name_1/ if that is taken). A name
  // with "/" at its end goes back to a scope that there was.
  [[nodiscard]] ScopeGuard Scope(llvm::StringRef name, SourceLocation where = SourceLocation());
  // Nodes made until the end of the C++ scope run after these, save those that depend on one that
  // already does.
  [[nodiscard]] ScopeGuard ControlDependencies(llvm::ArrayRef<Operation> ops, SourceLocation where = SourceLocation());

  // Nodes made until the end of the C++ scope have this device, any spelling of DeviceSpec
  // ("/gpu:0",
  // "/job:worker/task:1", "GPU"): what an inner one leaves open comes from those around it, also
  // from around a branch or a loop. Empty: none, whatever is around it.
  [[nodiscard]] ScopeGuard Device(llvm::StringRef device, SourceLocation where = SourceLocation());
  // Nodes made until the end of the C++ scope are placed with `with` and have its device, whatever
  // Device says.
  [[nodiscard]] ScopeGuard Colocate(const Operation& with, SourceLocation where = SourceLocation());
  // A tensor of the main graph by name, "x:0" or "x". Not there: an error of the trace, with the
  // names that are near.
  Value Find(llvm::StringRef tensor, SourceLocation where = SourceLocation());

  // Any op of TensorFlow 2.21, or function of the module, by name. Attributes that follow from the
  // inputs (T, N, Tidx) are found, others default as TensorFlow writes them. `name`: the op's
  // unless given.
  Operation Op(llvm::StringRef op, llvm::ArrayRef<Operand> inputs,
               llvm::ArrayRef<OpAttribute> attributes = {}, llvm::StringRef name = {},
               SourceLocation where = SourceLocation());

  // tf.print: a "{}" of `format` for each value. It runs when the function does, in the order of
  // the program, although no result reads it.
  Operation Print(llvm::StringRef format, llvm::ArrayRef<Operand> values = {},
                  const PrintOptions& options = {}, SourceLocation where = SourceLocation());

  // A loop over variables that start as `init`: cond(variables...) gives a bool, body(variables...)
  // the next ones, as a Value, Values or std::array. Both are functions of the library
  // (while_cond_12, while_body_13); values of outer functions that they use are passed in as
  // variables that do not change. dtypes and shapes stay the same.
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

  // One of the two, as the bool `cond` says when the graph runs. Both give a Value, Values, an
  // array, or nothing, and the same number and dtypes; the result is of the type that `then` gives.
  template <typename Then, typename Else>
  auto If(const Operand& cond, Then then, Else otherwise) {
    return ResultsOf<Then>(IfElse(
        cond, [&] { return CallBranch(then); }, [&] { return CallBranch(otherwise); }));
  }
  Values IfElse(const Operand& cond, llvm::function_ref<Values()> then,
                llvm::function_ref<Values()> otherwise);

  // The branch of that number, an int32 from 0, as the graph says when it runs; the last one where
  // there is none of that number (tf.switch_case). Branches are as those of If.
  template <typename First, typename... Others>
  auto Case(const Operand& index, First first, Others... others) {
    auto call = [](auto& branch) { return [&branch] { return CallBranch(branch); }; };
    return CaseOf<First>(index, call(first), call(others)...);
  }
  Values SwitchCase(const Operand& index, llvm::ArrayRef<llvm::function_ref<Values()>> branches);

  // Adds an Identity for each result, control edges that keep the effects (see Print) in order and
  // alive, the source lines of all nodes as GraphDef.debug_info, and gives the module away. All
  // errors of the trace at once, a line each: `program.cpp:12: op 'AddV2': ...`. Call it once.
  Expected<std::unique_ptr<Module>> Finish(const Values& results = {});

  // The errors so far, a line each, which are forgotten: the program goes on.
  Error TakeErrors();
  bool is_eager() const;  // in a function that is being traced for an eager program: false
  // Reports an error of the traced function itself; Finish gives it with the others.
  void ReportError(const SourceLocation& where, const std::string& text);
  const Module& module() const;            // as it is now; until Finish
  TraceState& state() { return *state_; }  // for lib/trace itself

  static Values ListOf(const Value& value) { return {value}; }
  static Values ListOf(Values values) { return values; }
  template <size_t N>
  static Values ListOf(const std::array<Value, N>& values) {
    return Values(values.begin(), values.end());
  }
  // fn(values[0], ..., values[N - 1])
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
  // What `branch` gives, of the values that it gave.
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
  // The calls live until it returns; a list of function_refs needs them to have names.
  template <typename First, typename... Calls>
  auto CaseOf(const Operand& index, const Calls&... calls) {
    llvm::function_ref<Values()> branches[] = {calls...};
    return ResultsOf<First>(SwitchCase(index, branches));
  }
  std::unique_ptr<TraceState> state_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_TRACER_H_
