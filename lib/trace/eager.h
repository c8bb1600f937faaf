// Eager mode: the functions that trace a graph run op by op, each as it is called.
//
//   Tracer t(Mode::kEager);
//   Value x = t.Constant({1, 2, 4}, proto::DT_FLOAT);
//   Value mean = HarmonicMean(t, x);                  // has run
//   Expected<float> number = ToScalar<float>(mean);
//
// What is called is what a trace calls: builders, operators, If and While (whose lambdas run as C++
// does), Print, resources, tapes. An op that fails gives a value that is not ok(), whose tensor()
// is the error with the line of the program; the Tracer keeps it too (TakeErrors). What is computed
// from such a value has its error, and does not run.
//
// docs/eager.md is the guide, with what an op costs.
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

// All pointers outlive the Tracer; null: one of its own, or none.
struct GRAPNEL_PUBLIC EagerOptions {
  ThreadPool* pool = nullptr;
  Session* session = nullptr;  // variables and tables, which outlive the Tracer then
  // Told of each op before and after it runs, as of a graph's nodes: taps, debug folders, a
  // debugger. An op is then a node, with a name of its own as in a trace, of a graph that grows:
  // the main one of the Tracer's module, unless that was given with nodes in it.
  RunHook* hook = nullptr;
  MessageSink print;  // what Print prints
  // "Executing op MatMul in device /job:localhost/replica:0/task:0/device:CPU:0" for each op. Ops
  // run on the CPU; an index that Device() says is logged.
  MessageSink log_placement;
  // Set: the op that runs ends where it can, and those after it are errors, which are reported
  // once.
  const CancelFlag* cancel = nullptr;
  // Keeps every op and tensor, as a tape that sees all would: Gradients() needs no tape then.
  bool records = false;
};

// A tensor as a value of an eager Tracer; of one that traces it is an error. Shares the buffer.
GRAPNEL_PUBLIC Value FromTensor(Tracer& t, Tensor tensor, SourceLocation where = SourceLocation());

// The elements, row-major, of a value whose dtype is that of T (float, double, bool, std::string,
// integers of both signs). Errors: Value::tensor()'s, another dtype.
template <typename T>
Expected<std::vector<T>> ToVector(const Value& value);
// The same of one element.
template <typename T>
Expected<T> ToScalar(const Value& value);

// Calls fn(tracer, a value for each of `feeds`) in eager mode, and gives what its results are. The
// feeds have the dtypes and shapes that `inputs` say. Errors: all of the run, a line each, `name`
// before each; what `fn` throws.
GRAPNEL_PUBLIC Expected<std::vector<Tensor>> RunEagerly(
    llvm::StringRef name, llvm::ArrayRef<TensorSpec> inputs,
    llvm::function_ref<Values(Tracer&, llvm::ArrayRef<Value>)> fn, std::vector<Tensor> feeds,
    const EagerOptions& options = {}, SourceLocation where = SourceLocation());
// The same on a Tracer in eager mode that has done nothing yet, for who looks at its nodes
// afterwards: with a hook they are its module's main graph, which grows, with inputs by their
// names.
GRAPNEL_PUBLIC Expected<std::vector<Tensor>> RunEagerly(
    Tracer& t, llvm::StringRef name, llvm::ArrayRef<TensorSpec> inputs,
    llvm::function_ref<Values(Tracer&, llvm::ArrayRef<Value>)> fn, std::vector<Tensor> feeds,
    SourceLocation where = SourceLocation());
// The lines that called the op which a hook sees as `node`, or one in a function that was traced
// here; the texts live as long as the program. Empty: nobody knows.
GRAPNEL_PUBLIC LineTable::Stack StackOfNode(Tracer& t, const Node& node);
// Of all nodes that there are: what hooks and tapes have seen, and traced functions. Linear in
// them.
GRAPNEL_PUBLIC LineTable LinesOf(Tracer& t);

// --- How ToVector knows dtypes.
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
// The tensor, of that dtype.
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
