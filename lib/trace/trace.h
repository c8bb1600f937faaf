// Traces a C++ function into a GraphDef, node for node as tf.function would make it from the same
// function in Python.
//
//   auto module = Trace("harmonic_mean", {{"x", proto::DT_FLOAT, {3}}}, [](Tracer& t, Value x) {
//     t.Print("min: {}", {ReduceMin(x)});
//     Value n = Cast(Size(x), proto::DT_FLOAT);
//     return n / ReduceSum(1.0f / x);
//   });
//
// docs/guide/tracing.md is the guide; lib/trace/ops.h has functions for common ops.
#ifndef GRAPNEL_LIB_TRACE_TRACE_H_
#define GRAPNEL_LIB_TRACE_TRACE_H_

#include <memory>
#include <string>
#include <utility>

#include "lib/support/public.h"
#include "lib/trace/tracer.h"

namespace grapnel {

// An input of a traced function: {"x", proto::DT_FLOAT, {kUnknownDim, 3}}; {} is a scalar.
struct GRAPNEL_PUBLIC TensorSpec {
  TensorSpec(llvm::StringRef name, DataType dtype, std::initializer_list<int64_t> dims)
      : TensorSpec(name, dtype, Shape(llvm::ArrayRef<int64_t>(dims))) {}
  TensorSpec(llvm::StringRef name, DataType dtype, Shape shape)
      : name(name.str()), dtype(dtype), shape(std::move(shape)) {}
  std::string name;
  DataType dtype;
  Shape shape;
};

// Calls fn(tracer, one value per input) and returns the resulting module: a Placeholder per input,
// the nodes that fn made, and what Finish adds. Errors begin with `name`; that of an invalid input
// name, with the source line.
GRAPNEL_PUBLIC Expected<std::unique_ptr<Module>> TraceFunction(
    llvm::StringRef name, llvm::ArrayRef<TensorSpec> inputs,
    llvm::function_ref<Values(Tracer&, llvm::ArrayRef<Value>)> fn,
    SourceLocation where = SourceLocation());

// Like TraceFunction, for fn(Tracer&, Value x, Value y, ...) that returns a Value, Values or an
// array.
template <size_t N, typename Fn>
Expected<std::unique_ptr<Module>> Trace(llvm::StringRef name, const TensorSpec (&inputs)[N], Fn fn,
                                        SourceLocation where = SourceLocation()) {
  return TraceFunction(
      name, inputs,
      [&](Tracer& t, llvm::ArrayRef<Value> args) {
        return Tracer::ListOf(Tracer::Call<N>(fn, args, t));
      },
      where);
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_TRACE_H_
