#include "lib/tfdbg/debug_calls.h"

#include <algorithm>

#include "lib/support/text.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

// Returns the called function for the op type of an execution: "f" for "__forward_f_12",
// "__backward_f_3" for "__inference___backward_f_3_12"; empty for other op types.
llvm::StringRef CalledFunction(llvm::StringRef op_type) {
  if (!op_type.consume_front("__inference_") && !op_type.consume_front("__forward_")) return {};
  llvm::StringRef name = op_type.rtrim("0123456789");
  return name.size() < op_type.size() && name.consume_back("_") ? name : llvm::StringRef();
}

size_t CountArguments(const DebugGraph& graph) {
  return llvm::count_if(graph.ops, [](const DebugOp& op) { return op.type == "Placeholder"; });
}

using TimesByGraph = std::vector<std::vector<double>>;

// Returns, for each outermost function, the sorted times at which its tensors were computed.
TimesByGraph TraceTimes(const DebugRun& run) {
  TimesByGraph times(run.graphs.size());
  for (const DebugTrace& trace : run.traces)
    times[run.OutermostFunction(trace.graph)].push_back(trace.wall_time);
  for (std::vector<double>& of_graph : times) std::sort(of_graph.begin(), of_graph.end());
  return times;
}

bool AnyWithin(llvm::ArrayRef<double> times, double after, double until) {
  const double* first = std::upper_bound(times.begin(), times.end(), after);
  return first != times.end() && *first <= until;
}

// Chooses among the graphs with the function's name (each retracing makes one): of those with as
// many arguments as the execution has inputs, the newest that has traces since the previous
// execution, else the newest. If none has that many, returns the graph if it is the only one of
// that name, else -1.
int ChooseGraph(const DebugRun& run, llvm::ArrayRef<int> named, const TimesByGraph& times,
                const DebugExecution& execution, double time_before) {
  std::vector<int> fitting;
  for (int graph : named)
    if (CountArguments(run.graphs[graph]) == execution.input_ids.size()) fitting.push_back(graph);
  if (fitting.empty()) return named.size() == 1 ? named[0] : -1;
  for (int graph : llvm::reverse(fitting))
    if (AnyWithin(times[graph], time_before, execution.wall_time)) return graph;
  return fitting.back();
}

void LinkExecutions(DebugRun* run) {
  llvm::StringMap<std::vector<int>> graphs_by_name;
  for (size_t i = 0; i < run->graphs.size(); ++i)
    if (!run->graphs[i].name.empty())
      graphs_by_name[run->graphs[i].name].push_back(static_cast<int>(i));
  TimesByGraph times = TraceTimes(*run);
  llvm::StringMap<int> calls;
  double time_before = 0;
  for (DebugExecution& execution : run->executions) {
    execution.call = calls[execution.op_type]++;
    auto named = graphs_by_name.find(CalledFunction(execution.op_type));
    if (execution.graph < 0 && named != graphs_by_name.end())
      execution.graph = ChooseGraph(*run, named->second, times, execution, time_before);
    time_before = execution.wall_time;
  }
}

void LinkTraces(DebugRun* run) {
  std::vector<std::vector<int>> executions(run->graphs.size());  // by function
  for (size_t i = 0; i < run->executions.size(); ++i)
    if (int graph = run->executions[i].graph; graph >= 0)
      executions[graph].push_back(static_cast<int>(i));
  for (DebugTrace& trace : run->traces) {
    const std::vector<int>& calls = executions[run->OutermostFunction(trace.graph)];
    auto call = std::lower_bound(
        calls.begin(), calls.end(), trace.wall_time,
        [&](int index, double time) { return run->executions[index].wall_time < time; });
    if (call != calls.end()) trace.execution = *call;
  }
}

void CountIterations(DebugRun* run) {
  struct Last {
    int execution = -2, count = 0;
  };
  llvm::DenseMap<std::pair<uint64_t, int>, Last> last;
  for (DebugTrace& trace : run->traces) {
    if (trace.op < 0) continue;
    uint64_t op = static_cast<uint64_t>(trace.graph) << 32 | static_cast<uint32_t>(trace.op);
    Last& before = last[{op, trace.slot}];
    if (before.execution != trace.execution) before = {trace.execution, 0};
    trace.iteration = before.count++;
  }
}

bool NamedAsLoop(llvm::StringRef name) {
  BodyRole role = BodyRoleOf(name);
  return role == BodyRole::kLoopBody || role == BodyRole::kLoopCondition;
}
bool NamedAsBranch(llvm::StringRef name) {
  return BodyRoleOf(name) != BodyRole::kCalled && !NamedAsLoop(name);
}

bool MayCall(const DebugOp& op, const DebugGraph& body) {
  if (NamedAsLoop(body.name)) return op.type == "While" || op.type == "StatelessWhile";
  if (NamedAsBranch(body.name))
    return op.type == "If" || op.type == "StatelessIf" || op.type == "Case" ||
           op.type == "StatelessCase";
  return op.type == "PartitionedCall" || op.type == "StatefulPartitionedCall";
}

// Returns the input of `call` that a Placeholder named `argument` stands for; -1 if not found. The
// Placeholder's name ends with the name of the op that computes the captured tensor.
int InputByName(const DebugOp& call, llvm::StringRef argument) {
  int best = -1;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    llvm::StringRef name = call.inputs[i].op_name;
    bool fits = argument == name || HasSuffix(argument, ("/" + name).str());
    if (fits && (best < 0 || name.size() > call.inputs[best].op_name.size()))
      best = static_cast<int>(i);
  }
  return best;
}

}  // namespace

BodyRole BodyRoleOf(llvm::StringRef name) {
  if (name.contains("cond_true")) return BodyRole::kThen;
  if (name.contains("cond_false")) return BodyRole::kElse;
  if (name.contains("switch_case_branch")) return BodyRole::kCase;
  if (name.contains("while_cond")) return BodyRole::kLoopCondition;
  return name.contains("while_body") ? BodyRole::kLoopBody : BodyRole::kCalled;
}

void LinkCalls(DebugRun* run) {
  LinkExecutions(run);
  LinkTraces(run);
  CountIterations(run);
}

DebugCalls::DebugCalls(const DebugRun& run) : run_(run), bodies_(run.graphs.size()) {
  for (size_t g = 0; g < run.graphs.size(); ++g) {
    const DebugGraph& graph = run.graphs[g];
    Body& body = bodies_[g];
    std::vector<bool> read(graph.ops.size());
    for (size_t i = 0; i < graph.ops.size(); ++i) {
      if (graph.ops[i].type == "Placeholder") body.arguments.push_back(static_cast<int>(i));
      body.last_order = std::max(body.last_order, graph.ops[i].order);
      for (const DebugInput& input : graph.ops[i].inputs)
        if (input.op >= 0) read[input.op] = true;
    }
    for (size_t i = graph.ops.size(); i-- > 0;) {
      if (graph.ops[i].type == "NoOp") continue;
      if (graph.ops[i].type != "Identity" || read[i]) break;
      body.results.insert(body.results.begin(), static_cast<int>(i));
    }
  }
  for (size_t g = 0; g < run.graphs.size(); ++g) {
    if (run.graphs[g].outer < 0 || bodies_[g].last_order < 0) continue;
    const std::vector<DebugOp>& ops = run.graphs[run.graphs[g].outer].ops;
    auto caller = llvm::find_if(ops, [&](const DebugOp& op) {
      return op.order > bodies_[g].last_order && MayCall(op, run.graphs[g]);
    });
    if (caller != ops.end()) bodies_[g].caller = static_cast<int>(caller - ops.begin());
  }
}

bool DebugCalls::IsLoopBody(int graph) const { return NamedAsLoop(run_.graphs[graph].name); }

int DebugCalls::ArgumentIndex(DebugTensor tensor) const {
  const std::vector<int>& arguments = bodies_[tensor.graph].arguments;
  auto at = std::lower_bound(arguments.begin(), arguments.end(), tensor.op);
  return at != arguments.end() && *at == tensor.op ? static_cast<int>(at - arguments.begin()) : -1;
}

std::optional<DebugTensor> DebugCalls::Outside(DebugTensor argument) const {
  const Body& body = bodies_[argument.graph];
  int index = ArgumentIndex(argument);
  if (index < 0 || body.caller < 0) return std::nullopt;
  const DebugGraph& graph = run_.graphs[argument.graph];
  const DebugOp& call = run_.graphs[graph.outer].ops[body.caller];
  int position = index;
  if (NamedAsBranch(graph.name)) {
    // The branches of an If have the same inputs, but each lists its captures in its own order.
    position = InputByName(call, graph.ops[argument.op].name);
    bool all_given = body.arguments.size() + 1 == call.inputs.size();
    if (position < 0 && all_given) position = index + 1;
  }
  if (position < 0 || static_cast<size_t>(position) >= call.inputs.size()) return std::nullopt;
  const DebugInput& input = call.inputs[position];
  if (input.op < 0) return std::nullopt;
  return DebugTensor{graph.outer, input.op, input.slot};
}

std::optional<DebugTensor> DebugCalls::RoundBefore(DebugTensor argument) const {
  int index = ArgumentIndex(argument), caller = bodies_[argument.graph].caller;
  if (index < 0 || caller < 0) return std::nullopt;
  for (int inner : run_.graphs[run_.graphs[argument.graph].outer].inner)
    if (bodies_[inner].caller == caller &&
        BodyRoleOf(run_.graphs[inner].name) == BodyRole::kLoopBody)
      return Result(inner, index);
  return std::nullopt;
}

std::optional<DebugTensor> DebugCalls::Result(int graph, size_t index) const {
  if (index >= bodies_[graph].results.size()) return std::nullopt;
  return DebugTensor{graph, bodies_[graph].results[index], 0};
}

std::vector<DebugTensor> DebugCalls::Inside(DebugTensor tensor) const {
  std::vector<DebugTensor> results;
  for (int inner : run_.graphs[tensor.graph].inner) {
    if (bodies_[inner].caller != tensor.op ||
        BodyRoleOf(run_.graphs[inner].name) == BodyRole::kLoopCondition)
      continue;
    if (auto result = Result(inner, tensor.slot)) results.push_back(*result);
  }
  return results;
}

std::optional<DebugTensor> DebugCalls::InsideUnrecorded(int graph, const DebugOp& reader,
                                                        const DebugInput& input) const {
  int callee = -1;
  for (int inner : run_.graphs[graph].inner) {
    const Body& body = bodies_[inner];
    bool is_call = BodyRoleOf(run_.graphs[inner].name) == BodyRole::kCalled;
    if (!is_call || body.last_order > reader.order || !Result(inner, input.slot)) continue;
    if (callee < 0 || body.last_order > bodies_[callee].last_order) callee = inner;
  }
  if (callee < 0 || !input.op_name.contains("PartitionedCall")) return std::nullopt;
  return Result(callee, input.slot);
}

}  // namespace grapnel
