// Eager mode: the functions that trace a graph run op by op, each as it is called.
//
//   Tracer t(Mode::kEager);
//   Value x = t.Constant({1, 2, 4}, proto::DT_FLOAT);
//   Value mean = HarmonicMean(t, x);                  // has run
//   Expected<float> number = ToScalar<float>(mean);
//
// The calls are the same as in a trace: builders, operators, If and While (whose lambdas run as
// C++), Print, resources, tapes. A failed op returns a value that is not ok(); its tensor() is the
// error with the line of the program, which the Tracer also keeps (TakeErrors). An op with such a
// value as input does not run, and its result has the same error.
//
// docs/guide/tracing.md is the guide and lists what an op costs.
#ifndef GRAPNEL_LIB_TRACE_EAGER_H_
#define GRAPNEL_LIB_TRACE_EAGER_H_

#include <optional>
#include <vector>

#include "lib/exec/tensor.h"
#include "lib/ir/line_table.h"
#include "lib/support/public.h"
#include "lib/trace/trace.h"

namespace grapnel {

class CancelFlag;  // lib/support/cancel.h
class RunHook;     // lib/exec/executor.h
class Session;     // lib/exec/session.h
class ThreadPool;  // lib/support/thread_pool.h

// All pointers must outlive the Tracer. If `pool` or `session` is null, the Tracer makes its own;
// without `hook` or `cancel`, it uses none.
struct GRAPNEL_PUBLIC EagerOptions {
  ThreadPool* pool = nullptr;
  Session* session = nullptr;  // variables and tables, which then outlive the Tracer
  // Called before and after each op runs, as for the nodes of a graph: taps (outputs that are
  // shown), debug folders, a debugger. Each op is then a node, named as in a trace, of a growing
  // graph: the main graph of the Tracer's module if that was empty.
  RunHook* hook = nullptr;
  MessageSink print;  // receives the output of Print
  // Receives "Executing op MatMul in device /job:localhost/replica:0/task:0/device:CPU:0" for each
  // op. Ops always run on the CPU. If Device() requests a CPU, the text names the one requested.
  MessageSink log_placement;
  // When the flag is set, the running op ends as soon as it can, and later ops fail; one error is
  // reported.
  const CancelFlag* cancel = nullptr;
  // Records every op and tensor, as a tape that watches all values does, so that Gradients() needs
  // no tape.
  bool records = false;
};

// Returns the tensor as a value of `t`. In eager mode the value shares the tensor's buffer; in a
// trace it is a constant, and a tensor of resources or variants is an error.
GRAPNEL_PUBLIC Value FromTensor(Tracer& t, Tensor tensor, SourceLocation where = SourceLocation());

// Returns the elements, row-major, of a value whose dtype is that of T (float, double, bool,
// std::string, signed and unsigned integers). Errors: those of Value::tensor(); a value of another
// dtype.
template <typename T>
Expected<std::vector<T>> ToVector(const Value& value);
// Like ToVector, for a value of one element.
template <typename T>
Expected<T> ToScalar(const Value& value);

// Calls fn(tracer, values) in eager mode, with a value for each of `feeds`, and returns the tensors
// of its results. The feeds must have the dtypes and shapes in `inputs`. Errors: feeds that do not
// match; all errors of the run, one per line, each with the prefix `name`; exceptions of `fn`.
GRAPNEL_PUBLIC Expected<std::vector<Tensor>> RunEagerly(
    llvm::StringRef name, llvm::ArrayRef<TensorSpec> inputs,
    llvm::function_ref<Values(Tracer&, llvm::ArrayRef<Value>)> fn, std::vector<Tensor> feeds,
    const EagerOptions& options = {}, SourceLocation where = SourceLocation());
// Like the function above, but runs on `t`, an unused Tracer in eager mode, whose nodes the caller
// can inspect afterwards. With a hook, the nodes are added to the main graph of the Tracer's
// module, and inputs keep their names.
GRAPNEL_PUBLIC Expected<std::vector<Tensor>> RunEagerly(
    Tracer& t, llvm::StringRef name, llvm::ArrayRef<TensorSpec> inputs,
    llvm::function_ref<Values(Tracer&, llvm::ArrayRef<Value>)> fn, std::vector<Tensor> feeds,
    SourceLocation where = SourceLocation());
// Returns the source lines of the op that a hook sees as `node`, or of a node in a function that
// `t` traced; the texts live as long as the program. Empty if unknown.
GRAPNEL_PUBLIC LineTable::Stack StackOfNode(Tracer& t, const Node& node);
// The source lines of all nodes that hooks and tapes have seen, and of all nodes of traced
// functions. Linear in the number of these nodes.
GRAPNEL_PUBLIC LineTable LinesOf(Tracer& t);

// --- How ToVector finds dtypes.
template <typename T>
constexpr DataType DataTypeOf() {
  if constexpr (std::is_same_v<T, std::string>) return proto::DT_STRING;
  if constexpr (std::is_same_v<T, bool>) return proto::DT_BOOL;
  if constexpr (std::is_same_v<T, float>) return proto::DT_FLOAT;
  if constexpr (std::is_same_v<T, double>) return proto::DT_DOUBLE;
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    constexpr DataType kTypes[2][4] = {
        {proto::DT_UINT8, proto::DT_UINT16, proto::DT_UINT32, proto::DT_UINT64},
        {proto::DT_INT8, proto::DT_INT16, proto::DT_INT32, proto::DT_INT64}};
    return kTypes[std::is_signed_v<T>][sizeof(T) == 1   ? 0
                                       : sizeof(T) == 2 ? 1
                                       : sizeof(T) == 4 ? 2
                                                        : 3];
  }
  return proto::DT_INVALID;
}
// Returns the tensor of `value`, which must have the dtype `dtype`.
GRAPNEL_PUBLIC Expected<Tensor> TensorOfType(const Value& value, DataType dtype);

template <typename T>
Expected<std::vector<T>> ToVector(const Value& value) {
  Expected<Tensor> tensor = TensorOfType(value, DataTypeOf<T>());
  if (!tensor) return tensor.takeError();
  const T* data = tensor->num_elements() ? tensor->template data<T>() : nullptr;
  return std::vector<T>(data, data + tensor->num_elements());
}

template <typename T>
Expected<T> ToScalar(const Value& value) {
  Expected<Tensor> tensor = TensorOfType(value, DataTypeOf<T>());
  if (!tensor) return tensor.takeError();
  if (tensor->num_elements() != 1)
    return MakeError("'{0}' is {1}{2}, one element was expected", value.name(),
                     DataTypeName(tensor->dtype()), DimsText(tensor->dims()));
  return *tensor->template data<T>();
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_EAGER_H_
