// Several traced functions over the same variables: a model that is trained, served, saved.
//
//   ModelBuilder builder;
//   builder.Add("train_step", {{"x", proto::DT_FLOAT, {32, 784}}, {"y", proto::DT_INT32, {32}}},
//               [](Tracer& t, Value x, Value y) {
//                 Mlp mlp(t);  // makes its variables by name: those of all functions are one
//                 Value loss = SparseCategoricalCrossentropy(y, mlp.Logits(x), ...);
//                 Adam(t).Minimize(loss, Trainable(t));
//                 return loss;
//               });
//   builder.Add("serve", {{"x", proto::DT_FLOAT, {kUnknownDim, 784}}},
//               [](Tracer& t, Value x) { return Mlp(t).Logits(x); });
//   Expected<TracedModel> model = builder.Finish();
//
// lib/job/program.h calls the functions of a model, and writes a model as a SavedModel.
#ifndef GRAPNEL_LIB_TRACE_MODEL_H_
#define GRAPNEL_LIB_TRACE_MODEL_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/support/public.h"
#include "lib/trace/trace.h"
#include "lib/trace/variable.h"

namespace grapnel {

// One function of a model, as the main graph calls it: a placeholder for each input, and a call. It
// is like a signature of a SavedModel.
struct GRAPNEL_PUBLIC ModelFunction {
  struct End {
    std::string key;     // "x", "output_0"
    std::string tensor;  // name of a tensor of the main graph
    DataType dtype = proto::DT_INVALID;
    Shape shape;
  };
  std::string name;      // "train_step"
  std::string function;  // name of the library function; empty: TraceWithVariables made it
  std::string wrapper;   // name of the library function that wraps it for a signature
  std::vector<End> inputs, outputs;
  std::vector<std::string> captures;  // nodes of the main graph: the function's last arguments
};

struct GRAPNEL_PUBLIC TracedModel {
  std::unique_ptr<Module> module;
  std::vector<VariableInfo> variables;
  std::vector<ModelFunction> functions;
};

class GRAPNEL_PUBLIC ModelBuilder {
 public:
  ModelBuilder();
  // Continues a graph that was read: its functions can be called (Tracer::Op) and its variables
  // found (Variable::Find).
  explicit ModelBuilder(std::unique_ptr<Module> module, SourceLocation where = SourceLocation());
  ~ModelBuilder();

  // Traces fn(tracer, values) as a function of the library, whose last arguments are its captures,
  // and calls it, through a wrapper, in the main graph. Results are named `outputs`, or output_0,
  // output_1. Finish returns the errors, each with the line of the program.
  void AddFunction(llvm::StringRef name, llvm::ArrayRef<TensorSpec> inputs,
                   llvm::function_ref<Values(Tracer&, llvm::ArrayRef<Value>)> fn,
                   llvm::ArrayRef<std::string> outputs = {},
                   SourceLocation where = SourceLocation());
  template <size_t N, typename Fn>
  void Add(llvm::StringRef name, const TensorSpec (&inputs)[N], Fn fn,
           llvm::ArrayRef<std::string> outputs = {}, SourceLocation where = SourceLocation()) {
    AddFunction(
        name, inputs,
        [&](Tracer& t, llvm::ArrayRef<Value> args) {
          return Tracer::ListOf(Tracer::Call<N>(fn, args, t));
        },
        outputs, where);
  }

  Tracer& tracer() { return *tracer_; }
  // Returns the model; call it once. Errors: all errors of the functions, one per line.
  Expected<TracedModel> Finish();

 private:
  std::unique_ptr<Tracer> tracer_;
  std::vector<ModelFunction> functions_;
};

// Like TraceFunction, but also returns the variables. The ops of `fn` are in the main graph.
GRAPNEL_PUBLIC Expected<TracedModel> TraceWithVariables(
    llvm::StringRef name, llvm::ArrayRef<TensorSpec> inputs,
    llvm::function_ref<Values(Tracer&, llvm::ArrayRef<Value>)> fn,
    SourceLocation where = SourceLocation());

// Calls a function of the library: a PartitionedCall, or a StatefulPartitionedCall if the function
// has effects. `values` are all its arguments. In a model that was read from a file, these include
// the function's captures, such as variables, at the end.
GRAPNEL_PUBLIC Values CallFunction(Tracer& t, llvm::StringRef function, const Values& values,
                                   SourceLocation where = SourceLocation());

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_MODEL_H_
