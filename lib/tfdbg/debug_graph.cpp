#include "lib/tfdbg/debug_graph.h"

#include <map>
#include <unordered_map>

#include "lib/ir/attr.h"
#include "lib/ir/tensor_name.h"
#include "lib/tfdbg/debug_calls.h"
#include "lib/tfdbg/debug_text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

class ModuleMaker {
 public:
  explicit ModuleMaker(const DebugRun& run)
      : run_(run), calls_(run), values_(run.graphs.size()), devices_(run.graphs.size()) {}
  DebugModule Make();

 private:
  void CollectTraces();
  void AddFunction(int graph);
  void AddOps(int graph, Graph* body);
  void AddInputs(int graph, Graph* body);
  Port UnrecordedCall(int graph, const DebugOp& reader, const DebugInput& input, Graph* body);
  void SetCalls();
  void SetTypes(int graph, Graph* body);
  void AddExecutions();
  std::string ExecutionName(size_t index);
  Graph& BodyOf(int graph) { return module().functions[made_.body_of[graph] - 1]->body; }
  llvm::StringRef NameOf(int graph) { return module().functions[made_.body_of[graph] - 1]->name(); }
  Module& module() { return *made_.module; }

  const DebugRun& run_;
  DebugCalls calls_;
  DebugModule made_;
  using Values = llvm::DenseMap<std::pair<int, int>, const RecordedTensor*>;
  std::vector<Values> values_;                                 // by graph, then op and slot
  std::vector<llvm::DenseMap<int, llvm::StringRef>> devices_;  // by graph, then op
  llvm::DenseMap<int, std::string> places_;                    // by stack: scope of its executions
};

// Returns `name`, or an unused name if `name` is empty or used: records may lack names, or repeat
// them.
std::string FreeName(const Graph& graph, llvm::StringRef name) {
  if (name.empty()) name = "nameless";
  return graph.Find(name) ? graph.UniqueName(name) : name.str();
}

void ModuleMaker::CollectTraces() {
  for (const DebugTrace& trace : run_.traces) {
    if (trace.op < 0) continue;
    values_[trace.graph].try_emplace({trace.op, trace.slot}, &trace.value);
    if (!trace.device.empty()) devices_[trace.graph].try_emplace(trace.op, trace.device);
  }
}

// Adds an empty function with the arguments and results that DebugCalls finds; their dtypes are not
// known.
void ModuleMaker::AddFunction(int graph) {
  const DebugGraph& record = run_.graphs[graph];
  std::string base = record.name.empty() ? "nameless" : record.name.str(), name = base;
  for (int again = 2; module().FindFunction(name); ++again)
    name = base + " (" + std::to_string(again) + ")";
  Function* function = module().AddFunction(name);
  made_.body_of[graph] = static_cast<int>(module().functions.size());
  made_.graph_of.push_back(graph);
  function->info.name = name;
  for (size_t i = 0; i < record.ops.size(); ++i) {
    if (!calls_.IsArgument({graph, static_cast<int>(i), 0})) continue;
    function->info.inputs.emplace_back();
    function->info.inputs.back().name = record.ops[i].name.str();
  }
  for (size_t i = 0; calls_.Result(graph, i); ++i) {
    function->info.outputs.emplace_back();
    function->info.outputs.back().name = "result" + std::to_string(i);
  }
}

void ModuleMaker::AddOps(int graph, Graph* body) {
  const std::vector<DebugOp>& ops = run_.graphs[graph].ops;
  body->Reserve(ops.size());
  for (size_t i = 0; i < ops.size(); ++i)
    body->AddNode(FreeName(*body, ops[i].name), ops[i].type.empty() ? "Unknown" : ops[i].type,
                  devices_[graph].lookup(static_cast<int>(i)));
}

// Returns the output of a call that an input of `reader` refers to, and adds a node for the call if
// needed: TensorFlow does not record calls inside functions, but records the ops that read their
// outputs.
Port ModuleMaker::UnrecordedCall(int graph, const DebugOp& reader, const DebugInput& input,
                                 Graph* body) {
  auto result = calls_.InsideUnrecorded(graph, reader, input);
  if (!result || made_.body_of[result->graph] < 0) return {kNoNode, 0};
  Node call = body->Find(input.op_name);
  if (!call) {
    NodeId id = body->AddNode(input.op_name, "PartitionedCall");
    body->SetAttr(id, "f", attr::Func(NameOf(result->graph)));
    call = body->node(id);
  }
  return {call.id(), input.slot};
}

void ModuleMaker::AddInputs(int graph, Graph* body) {
  const std::vector<DebugOp>& ops = run_.graphs[graph].ops;
  for (size_t i = 0; i < ops.size(); ++i) {
    for (const DebugInput& input : ops[i].inputs) {
      Port port{static_cast<NodeId>(input.op), std::max(input.slot, 0)};
      if (input.op < 0) port = UnrecordedCall(graph, ops[i], input, body);
      std::string text = OutputName(input.op_name, input.slot);
      body->AddImportedInput(static_cast<NodeId>(i), port, text, false);
    }
  }
}

std::string AttributeOf(BodyRole role) {
  switch (role) {
    case BodyRole::kLoopCondition:
      return "cond";
    case BodyRole::kLoopBody:
      return "body";
    case BodyRole::kThen:
      return "then_branch";
    case BodyRole::kElse:
      return "else_branch";
    case BodyRole::kCase:
      return "branch";
    case BodyRole::kCalled:
      break;
  }
  return "f";
}

// Sets the attributes of control flow ops that name their bodies. Attributes are not recorded, but
// DebugCalls finds the callers of bodies.
void ModuleMaker::SetCalls() {
  for (size_t g = 0; g < run_.graphs.size(); ++g) {
    int caller = calls_.Caller(static_cast<int>(g)), outer = run_.graphs[g].outer;
    if (caller < 0 || made_.body_of[g] < 0 || made_.body_of[outer] < 0) continue;
    std::string role = AttributeOf(BodyRoleOf(run_.graphs[g].name)), key = role;
    Graph& body = BodyOf(outer);
    Node node = body.node(static_cast<NodeId>(caller));
    for (int other = 1; node.FindAttr(key); ++other) key = role + "_" + std::to_string(other);
    body.SetAttr(node.id(), key, attr::Func(NameOf(static_cast<int>(g))));
  }
}

void ModuleMaker::SetTypes(int graph, Graph* body) {
  const std::vector<DebugOp>& ops = run_.graphs[graph].ops;
  for (const auto& [key, value] : values_[graph]) {
    auto [op, slot] = key;
    NodeId id = static_cast<NodeId>(op);
    const OpInfo* info = FindOp(ops[op].type);
    if (!info || info->outputs.size() != 1 || ops[op].outputs != 1 || slot != 0) continue;
    const OpArg& output = info->outputs[0];
    bool is_one = output.number_attr.empty() && output.type_list_attr.empty();
    if (is_one && value->dtype != proto::DT_INVALID && !output.type_attr.empty())
      body->SetAttr(id, output.type_attr, attr::Type(value->dtype));
  }
}

// Returns a node name for an execution. Its scopes are the user's functions that ran the execution;
// the index distinguishes executions from the same line.
std::string ModuleMaker::ExecutionName(size_t index) {
  const DebugExecution& execution = run_.executions[index];
  auto [place, is_new] = places_.try_emplace(execution.stack);
  if (is_new)
    for (llvm::StringRef function : UserFunctions(run_, execution.stack))
      place->second += function.str() + "/";
  return place->second + ExecutionLabel(run_, execution).str() + "_" + std::to_string(index);
}

void ModuleMaker::AddExecutions() {
  Graph& main = module().main;
  std::map<int, llvm::StringRef> device_names;
  for (const DebugDevice& device : run_.devices) device_names[device.id] = device.name;
  std::unordered_map<int64_t, Port> made_by;
  main.Reserve(run_.executions.size());
  for (size_t i = 0; i < run_.executions.size(); ++i) {
    const DebugExecution& execution = run_.executions[i];
    bool drawn = execution.graph >= 0 && made_.body_of[execution.graph] >= 0;
    llvm::StringRef op = drawn ? NameOf(execution.graph) : execution.op_type;
    llvm::StringRef device;
    if (!execution.device_ids.empty()) device = device_names[execution.device_ids[0]];
    NodeId id = main.AddNode(FreeName(main, ExecutionName(i)), op.empty() ? "Unknown" : op, device);
    for (int64_t tensor : execution.input_ids) {
      auto from = made_by.find(tensor);
      Port port = from == made_by.end() ? Port{kNoNode, 0} : from->second;
      main.AddImportedInput(id, port, "eager tensor " + std::to_string(tensor), false);
    }
    for (size_t slot = 0; slot < execution.output_ids.size(); ++slot)
      made_by[execution.output_ids[slot]] = {id, static_cast<int32_t>(slot)};
  }
}

DebugModule ModuleMaker::Make() {
  made_.module = std::make_unique<Module>();
  made_.body_of.assign(run_.graphs.size(), -1);
  made_.graph_of = {-1};
  CollectTraces();
  int graphs = static_cast<int>(run_.graphs.size());
  for (int g = 0; g < graphs; ++g)
    if (!run_.graphs[g].ops.empty()) AddFunction(g);
  for (int g = 0; g < graphs; ++g) {
    if (made_.body_of[g] < 0) continue;
    AddOps(g, &BodyOf(g));
    AddInputs(g, &BodyOf(g));
    SetTypes(g, &BodyOf(g));
  }
  SetCalls();
  AddExecutions();
  return std::move(made_);
}

}  // namespace

DebugModule MakeDebugModule(const DebugRun& run) { return ModuleMaker(run).Make(); }

}  // namespace grapnel
