#include "lib/check/value_flow.h"

#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// The most steps to follow, more than real chains have: the graphs of broken debug folders can have
// cycles.
constexpr int kMaxSteps = 1000;

// True for ops whose first input is a variable, which they update from their other inputs.
bool IsVariableWrite(llvm::StringRef op_type) {
  return (HasPrefix(op_type, "Assign") && HasSuffix(op_type, "VariableOp")) ||
         HasPrefix(op_type, "ResourceApply") || HasPrefix(op_type, "ResourceSparseApply") ||
         HasPrefix(op_type, "ResourceScatter") ||
         // Ops on reference variables, in graphs of TensorFlow 1.
         op_type == "Assign" || op_type == "AssignAdd" || op_type == "AssignSub" ||
         HasPrefix(op_type, "Apply") || HasPrefix(op_type, "SparseApply") ||
         (HasPrefix(op_type, "Scatter") && !HasPrefix(op_type, "ScatterNd")) ||
         (HasPrefix(op_type, "ScatterNd") && op_type != "ScatterNd" &&
          op_type != "ScatterNdNonAliasingAdd");
}

// Returns the record of output `output`; null if the record does not say whether the tensor is bad.
// Also null if some outputs have no record, since a record's position is then unknown.
const RecordedTensor* OutputOf(const DebugExecution& execution, int output) {
  bool aligned = execution.outputs.size() == execution.output_ids.size();
  if (!aligned || output < 0 || static_cast<size_t>(output) >= execution.outputs.size())
    return nullptr;
  const RecordedTensor& value = execution.outputs[output];
  return value.TellsBad() ? &value : nullptr;
}

}  // namespace

ValueFlow::ValueFlow(const DebugRun& run)
    : run_(run), calls_(run), variable_writes_(run.graphs.size()) {
  for (size_t g = 0; g < run.graphs.size(); ++g) {
    const std::vector<DebugOp>& ops = run.graphs[g].ops;
    for (size_t i = 0; i < ops.size(); ++i)
      if (IsVariableWrite(ops[i].type) && !ops[i].inputs.empty())
        variable_writes_[g].push_back(static_cast<int>(i));
  }
}

void ValueFlow::PassTrace(int trace) {
  const DebugTrace& record = run_.traces[trace];
  if (record.op >= 0) last_trace_[KeyOf({record.graph, record.op, record.slot})] = trace;
}

void ValueFlow::PassExecution(int execution) {
  const DebugExecution& record = run_.executions[execution];
  for (size_t i = 0; i < record.output_ids.size(); ++i)
    maker_[record.output_ids[i]] = {execution, static_cast<int>(i)};
  if (record.graph >= 0) {
    MarkVariables(record.graph, execution);
  } else if (IsVariableWrite(record.op_type) && !record.input_ids.empty()) {
    bool bad = llvm::any_of(llvm::drop_begin(record.input_ids),
                            [&](int64_t id) { return IsBad(SourceOfEager(id)); });
    if (bad) {
      bad_variables_.insert(record.input_ids[0]);
    } else if (record.op_type == "AssignVariableOp") {
      bad_variables_.erase(record.input_ids[0]);
    }
  }
}

// Marks the variables that a call assigned bad values. Call it when the call ends: TensorFlow does
// not record when a function writes a variable.
void ValueFlow::MarkVariables(int graph, int execution) {
  for (int index : variable_writes_[graph]) {
    const DebugOp& op = run_.graphs[graph].ops[index];
    ValueSource variable = SourceOfInput(graph, op, op.inputs[0], execution);
    bool bad = llvm::any_of(llvm::drop_begin(op.inputs), [&](const auto& in) {
      return IsBad(SourceOfInput(graph, op, in, execution));
    });
    if (bad && variable.eager_id)
      bad_variables_.insert(*variable.eager_id);
    else if (bad && IsHandle(variable.tensor))
      bad_handles_.insert(KeyOf(variable.tensor));
  }
  for (int inner : run_.graphs[graph].inner) MarkVariables(inner, execution);
}

bool ValueFlow::IsBad(const ValueSource& source) const {
  if (source.value) return source.value->bad;
  if (source.eager_id) return bad_variables_.count(*source.eager_id);
  return IsHandle(source.tensor) && bad_handles_.contains(KeyOf(source.tensor));
}

// True for an op that is a variable or makes a variable's handle. Usually only a graph that is run
// by itself has such ops; a function that Python calls gets handles as arguments.
bool ValueFlow::IsHandle(DebugTensor tensor) const {
  if (tensor.op < 0) return false;
  llvm::StringRef type = run_.graphs[tensor.graph].ops[tensor.op].type;
  return type == "VarHandleOp" || type == "VariableV2" || type == "Variable";
}

int ValueFlow::LastTrace(DebugTensor tensor, int execution) const {
  auto at = last_trace_.find(KeyOf(tensor));
  bool here = at != last_trace_.end() && run_.traces[at->second].execution == execution;
  return here ? at->second : -1;
}

std::optional<DebugTensor> ValueFlow::NewestOf(llvm::ArrayRef<DebugTensor> tensors,
                                               int execution) const {
  std::optional<DebugTensor> newest;
  int newest_trace = -2;
  for (DebugTensor tensor : tensors) {
    int trace = -1;
    // A result is an Identity, which is not recorded, but the Identity's input is.
    for (const DebugInput& input : run_.graphs[tensor.graph].ops[tensor.op].inputs)
      if (input.op >= 0)
        trace = std::max(trace, LastTrace({tensor.graph, input.op, input.slot}, execution));
    if (trace > newest_trace) newest = tensor;
    newest_trace = std::max(newest_trace, trace);
  }
  return newest;
}

std::optional<ValueSource> ValueFlow::SourceInside(DebugTensor call, int execution) const {
  std::optional<DebugTensor> result = NewestOf(calls_.Inside(call), execution);
  return result ? std::optional(SourceOf(*result, execution)) : std::nullopt;
}

// Returns the tensor from which `tensor` got its value unchanged, one step back; nullopt if an op
// of the same graph computed the value, or if it cannot be followed.
std::optional<DebugTensor> ValueFlow::StepBack(DebugTensor tensor, int execution,
                                               bool value_known) const {
  const DebugGraph& graph = run_.graphs[tensor.graph];
  const DebugOp& op = graph.ops[tensor.op];
  // In graphs from tfdbg v1, a _Recv has the input of its _Send (lib/tfdbg/v1_dump.cpp).
  bool is_transfer = op.type == "_Recv" || op.type == "_HostRecv";
  if ((op.type == "Identity" || is_transfer) && !op.inputs.empty()) {
    const DebugInput& input = op.inputs[0];
    if (input.op >= 0) return DebugTensor{tensor.graph, input.op, input.slot};
    return calls_.InsideUnrecorded(tensor.graph, op, input);
  }
  // If the value of a loop body's argument is known, do not follow the argument to the outside:
  // from the second iteration on, the value comes from the previous iteration.
  if (calls_.IsArgument(tensor))
    return value_known && calls_.IsLoopBody(tensor.graph) ? std::nullopt : calls_.Outside(tensor);
  return NewestOf(calls_.Inside(tensor), execution);
}

void ValueFlow::FollowEager(int64_t id, ValueSource* source) const {
  source->eager_id = id;
  auto maker = maker_.find(id);
  if (maker == maker_.end()) return;
  source->execution = maker->second.first;
  source->output = maker->second.second;
  if (!source->value) source->value = OutputOf(run_.executions[source->execution], source->output);
}

// Returns the id of the eager tensor that Python passed for an argument of the function that
// `execution` called; nullopt if unknown.
std::optional<int64_t> ValueFlow::EagerArgument(DebugTensor argument, int execution) const {
  int index = calls_.ArgumentIndex(argument);
  if (index < 0 || execution < 0 || run_.executions[execution].graph != argument.graph)
    return std::nullopt;
  const std::vector<int64_t>& ids = run_.executions[execution].input_ids;
  if (ids.size() != static_cast<size_t>(calls_.NumArguments(argument.graph))) return std::nullopt;
  return ids[index];
}

ValueSource ValueFlow::SourceOf(DebugTensor tensor, int execution) const {
  ValueSource source;
  for (int step = 0; step < kMaxSteps; ++step) {
    source.tensor = tensor;
    int trace = LastTrace(tensor, execution);
    if (trace >= 0 && !source.value && run_.traces[trace].value.TellsBad()) {
      source.trace = trace;
      source.value = &run_.traces[trace].value;
    }
    if (auto before = StepBack(tensor, execution, source.value != nullptr)) {
      tensor = *before;
      continue;
    }
    std::optional<int64_t> id = EagerArgument(tensor, execution);
    if (!id) break;
    FollowEager(*id, &source);
    if (source.execution < 0 || source.execution >= execution) break;
    execution = source.execution;
    int callee = run_.executions[execution].graph;
    auto result = callee < 0 ? std::nullopt : calls_.Result(callee, source.output);
    if (!result) {
      source.tensor = {};
      break;
    }
    tensor = *result;
  }
  return source;
}

ValueSource ValueFlow::SourceOfInput(int graph, const DebugOp& reader, const DebugInput& input,
                                     int execution) const {
  if (input.op >= 0) return SourceOf({graph, input.op, input.slot}, execution);
  if (auto inside = calls_.InsideUnrecorded(graph, reader, input))
    return SourceOf(*inside, execution);
  return {};
}

ValueSource ValueFlow::SourceOfArgument(DebugTensor argument, int execution, int iteration) const {
  bool later_round = iteration > 0 && calls_.IsLoopBody(argument.graph);
  auto outside = later_round ? calls_.RoundBefore(argument) : calls_.Outside(argument);
  if (outside) return SourceOf(*outside, execution);
  if (auto id = EagerArgument(argument, execution)) return SourceOfEager(*id);
  return {};
}

ValueSource ValueFlow::SourceOfEager(int64_t id) const {
  ValueSource source;
  FollowEager(id, &source);
  if (source.execution < 0) return source;
  int callee = run_.executions[source.execution].graph;
  auto result = callee < 0 ? std::nullopt : calls_.Result(callee, source.output);
  if (!result) return source;
  ValueSource inside = SourceOf(*result, source.execution);
  if (source.value) inside.value = source.value;
  return inside.value ? inside : source;
}

}  // namespace grapnel
