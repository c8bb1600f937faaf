#include "lib/shape/body_costs.h"

#include <algorithm>
#include <limits>
#include <set>

#include "lib/ir/node_types.h"
#include "lib/shape/flops.h"
#include "lib/shape/loop_trips.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

int64_t Sum(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}
int64_t Product(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

// Adds the cost of `times` runs.
void Add(const RunCost& more, RunCost* cost, int64_t times = 1) {
  cost->flops = Sum(cost->flops, Product(more.flops, times));
  cost->bytes = Sum(cost->bytes, Product(more.bytes, times));
  cost->open = Sum(cost->open, more.open);
}

std::vector<const Function*> FunctionsOf(const Node& node) {
  std::vector<const Function*> functions;
  for (llvm::StringRef name : CalledFunctions(node)) {
    if (const Function* function = node.graph().module().FindFunction(name))
      functions.push_back(function);
  }
  return functions;
}

// How often a node runs the functions in its attributes, or its op if that is a function.
enum class TripCount { kNone, kOnce, kOneOf, kLoop, kUnknown };

TripCount MannerOf(const Node& node) {
  if (!MayCallFunctions(node)) return TripCount::kNone;
  if (node.graph().module().FindFunction(node.op())) return TripCount::kOnce;
  TripCount manner =
      llvm::StringSwitch<TripCount>(node.op())
          .Cases("PartitionedCall", "StatefulPartitionedCall", "RemoteCall", "TPUPartitionedCall",
                 TripCount::kOnce)
          .Cases("If", "StatelessIf", "_If", "Case", "StatelessCase", TripCount::kOneOf)
          .Cases("While", "StatelessWhile", "_While", TripCount::kLoop)
          .Default(TripCount::kUnknown);
  return manner == TripCount::kUnknown && FunctionsOf(node).empty() ? TripCount::kNone : manner;
}

// True for constants, feeds, arguments and variables, which exist before a run and so do not take
// memory of the run.
bool IsThereBefore(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("Const", "HostConst", "Placeholder", "PlaceholderV2", "PlaceholderWithDefault", "_Arg",
             true)
      .Cases("VarHandleOp", "VariableV2", "Variable", true)
      .Default(false);
}

// Returns how often a node runs a function that it calls: once, or as often as its loop runs, of
// which the condition is tested once more; nullopt if that is not known.
std::optional<int64_t> RunsOf(const Node& node, const Function& function, TripCount manner,
                              const ModuleShapes& shapes) {
  if (manner == TripCount::kOnce) return 1;
  if (manner != TripCount::kLoop) return std::nullopt;
  std::optional<int64_t> trips = TripsOf(node, shapes);
  if (!trips) return std::nullopt;
  std::optional<AttrView> condition = node.FindAttr("cond");
  bool is_condition = condition && condition->AsFuncName().value_or("") == function.name();
  return is_condition ? Sum(*trips, 1) : *trips;
}

bool IsBackEdge(const Node& from, const Node& to) {
  return from.op().ends_with("NextIteration") && to.op().ends_with("Merge");
}

// True if the node computes its result from the shape of its input, which is known.
bool NeedsOnlyShape(const Node& node, const ShapeMap& shapes) {
  bool may_be = llvm::StringSwitch<bool>(node.op())
                    .Cases("Shape", "Size", "Rank", "ZerosLike", "OnesLike", true)
                    .Default(false);
  return may_be && node.num_inputs() > 0 && shapes.OfPort(node.input(0)).IsFullyKnown();
}

// The memory of a body's tensors. Tensors that share memory form one buffer.
class Buffers {
 public:
  Buffers(const Graph& graph, const ShapeMap& shapes, llvm::ArrayRef<NodeId> order)
      : first_(graph.end_id(), -1) {
    for (NodeId id : order) Give(graph.node(id), shapes);
    for (NodeId id : order) {
      Node node = graph.node(id);
      for (int i = 0; i < node.num_inputs(); ++i) {
        if (int buffer = Of(node.input(i)); buffer >= 0) {
          ++readers_[buffer];
          kept_[buffer] = kept_[buffer] || node.op() == "_Retval";
        }
      }
    }
    bool is_main = &graph == &graph.module().main;
    for (size_t i = 0; is_main && i < readers_.size(); ++i) kept_[i] = readers_[i] == 0;
  }

  // Returns the bytes of the new buffers that the node creates.
  int64_t MadeBy(const Node& node) const {
    int64_t bytes = 0;
    for (int buffer : made_.lookup(node.id())) bytes = Sum(bytes, bytes_[buffer]);
    return bytes;
  }
  // Returns the bytes that can be freed after the node has run.
  int64_t GivenBackAfter(const Node& node) {
    int64_t bytes = 0;
    for (int i = 0; i < node.num_inputs(); ++i) {
      int buffer = Of(node.input(i));
      if (buffer >= 0 && --readers_[buffer] == 0 && !kept_[buffer])
        bytes = Sum(bytes, bytes_[buffer]);
    }
    for (int buffer : made_.lookup(node.id()))
      if (readers_[buffer] == 0 && !kept_[buffer]) bytes = Sum(bytes, bytes_[buffer]);
    return bytes;
  }

 private:
  int Of(Port port) const {
    if (port.node == kNoNode || first_[port.node] < 0 || port.index < 0) return -1;
    if (port.index >= count_.lookup(port.node)) return -1;
    return of_port_[first_[port.node] + port.index];
  }
  void Give(const Node& node, const ShapeMap& shapes) {
    int count = shapes.NumOutputs(node.id());
    first_[node.id()] = static_cast<int>(of_port_.size());
    count_[node.id()] = count;
    std::vector<int> made, given;
    for (int i = 0; i < count; ++i) {
      int buffer = -1;
      if (MovesNothing(node.op())) {
        if (node.num_inputs() > 0) buffer = Of(node.input(std::min(i, node.num_inputs() - 1)));
      } else if (!IsThereBefore(node.op())) {
        Port port{node.id(), i};
        buffer = static_cast<int>(bytes_.size());
        bytes_.push_back(BytesOf(shapes.TypeOf(port), shapes.OfPort(port)).value_or(0));
        made.push_back(buffer);
      }
      given.push_back(buffer);
    }
    of_port_.insert(of_port_.end(), given.begin(), given.end());
    readers_.resize(bytes_.size());
    kept_.resize(bytes_.size());
    if (!made.empty()) made_[node.id()] = std::move(made);
  }

  std::vector<int> first_, of_port_;
  llvm::DenseMap<NodeId, int> count_;
  llvm::DenseMap<NodeId, std::vector<int>> made_;
  std::vector<int64_t> bytes_;
  std::vector<int> readers_;
  std::vector<bool> kept_;
};

}  // namespace

std::vector<NodeId> RunOrder(const Graph& graph) {
  std::vector<NodeId> sorted = TopologicalOrder(graph), order, ready;
  std::vector<uint32_t> position(graph.end_id(), 0), waits_for(graph.end_id(), 0);
  for (uint32_t i = 0; i < sorted.size(); ++i) position[sorted[i]] = i;
  for (NodeId id : sorted) {
    Node node = graph.node(id);
    if (IsThereBefore(node.op())) {
      order.push_back(id);
      continue;
    }
    for (Port port : node.inputs()) {
      if (port.node == kNoNode) continue;
      Node input = graph.node(port.node);
      waits_for[id] += !IsThereBefore(input.op()) && !IsBackEdge(input, node);
    }
    if (waits_for[id] == 0) ready.push_back(id);
  }
  std::reverse(ready.begin(), ready.end());
  while (!ready.empty()) {
    Node node = graph.node(ready.back());
    ready.pop_back();
    order.push_back(node.id());
    llvm::SmallVector<NodeId, 8> readers;
    for (const Use& use : node.uses()) {
      Node reader = graph.node(use.node);
      if (!IsThereBefore(reader.op()) && !IsBackEdge(node, reader)) readers.push_back(use.node);
    }
    llvm::sort(readers, [&](NodeId a, NodeId b) { return position[a] > position[b]; });
    for (NodeId reader : readers) {
      if (--waits_for[reader] == 0) ready.push_back(reader);
    }
  }
  return order;
}

RunCost ModuleCosts::OfCall(const Node& node) {
  RunCost cost;
  TripCount manner = MannerOf(node);
  bool is_open = manner == TripCount::kUnknown;
  for (const Function* function : FunctionsOf(node)) {
    const RunCost& callee = OfBody(function->body);
    if (manner == TripCount::kUnknown) continue;
    if (manner == TripCount::kOneOf) {
      cost.flops = std::max(cost.flops, callee.flops);
      cost.bytes = std::max(cost.bytes, callee.bytes);
      cost.open = std::max(cost.open, callee.open);
    } else {
      std::optional<int64_t> runs = RunsOf(node, *function, manner, shapes_);
      is_open |= !runs;
      Add(callee, &cost, runs.value_or(1));
    }
    cost.peak_bytes = std::max(cost.peak_bytes, callee.peak_bytes);
  }
  cost.open += is_open;
  return cost;
}

RunCost ModuleCosts::OfNode(const Node& node) {
  const ShapeMap& shapes = shapes_.Of(node.graph());
  TripCount manner = MannerOf(node);
  RunCost cost = manner == TripCount::kNone ? RunCost() : OfCall(node);
  bool is_open = false;
  int64_t outputs = 0;
  bool makes = !MovesNothing(node.op()) && !IsThereBefore(node.op());
  for (int i = 0, end = makes ? shapes.NumOutputs(node.id()) : 0; i < end; ++i) {
    Port port{node.id(), i};
    DataType type = shapes.TypeOf(port);
    std::optional<int64_t> bytes = BytesOf(type, shapes.OfPort(port));
    bool is_read = i == 0 || !node.UsesOf(i).empty();
    is_open |= !bytes && is_read && DataTypeSize(BaseType(type)) > 0;
    outputs = Sum(outputs, bytes.value_or(0));
  }
  if (manner == TripCount::kNone || manner == TripCount::kUnknown) {
    std::optional<int64_t> flops = manner == TripCount::kNone ? EstimateFlops(node, shapes) : 0;
    is_open |= !flops;
    cost.flops = flops.value_or(0);
    cost.bytes = outputs;
    cost.peak_bytes = outputs;
  } else {
    // The results of a function stay in memory for its caller; during an iteration, a loop also
    // holds the values that it carries.
    cost.peak_bytes = manner == TripCount::kLoop ? Sum(cost.peak_bytes, outputs)
                                                 : std::max(cost.peak_bytes, outputs);
  }
  cost.open += is_open;
  return cost;
}

std::vector<NodeId> ModuleCosts::NodesThatRun(const Graph& body) const {
  std::vector<NodeId> nodes, todo;
  if (const Function* function = FunctionOf(body)) {
    for (const Function::Result& result : function->results) todo.push_back(result.node);
    for (const auto& [name, id] : function->control_results) todo.push_back(id);
  } else {
    todo = outputs_;
  }
  bool all_run = todo.empty();
  std::vector<bool> is_needed(body.end_id(), false);
  for (NodeId id : todo) is_needed[id] = true;
  const ShapeMap& shapes = shapes_.Of(body);
  while (!todo.empty()) {
    Node node = body.node(todo.back());
    todo.pop_back();
    bool needs_values = !NeedsOnlyShape(node, shapes);
    for (Port port : node.inputs()) {
      bool is_read = port.node != kNoNode && (needs_values || port.IsControl());
      if (!is_read || is_needed[port.node]) continue;
      is_needed[port.node] = true;
      todo.push_back(port.node);
    }
  }
  for (Node node : body.nodes()) {
    if (all_run || is_needed[node.id()]) nodes.push_back(node.id());
  }
  return nodes;
}

int64_t ModuleCosts::PeakOf(const Graph& body) {
  std::vector<bool> runs(body.end_id(), false);
  for (NodeId id : NodesThatRun(body)) runs[id] = true;
  std::vector<NodeId> order = RunOrder(body);
  llvm::erase_if(order, [&](NodeId id) { return !runs[id]; });
  Buffers buffers(body, shapes_.Of(body), order);
  int64_t held = 0, peak = 0;
  for (NodeId id : order) {
    Node node = body.node(id);
    int64_t made = buffers.MadeBy(node);
    int64_t while_it_runs = made;
    if (MannerOf(node) != TripCount::kNone) while_it_runs = std::max(made, OfNode(node).peak_bytes);
    peak = std::max(peak, Sum(held, while_it_runs));
    held = std::max<int64_t>(0, Sum(held, made) - buffers.GivenBackAfter(node));
  }
  return peak;
}

const RunCost& ModuleCosts::OfBody(const Graph& body) {
  auto [known, added] = bodies_.try_emplace(&body);
  if (!added) return known->second;
  // A recursive call of this function finds this entry, and counts as a node of unknown cost.
  known->second.open = 1;
  RunCost cost;
  for (NodeId id : NodesThatRun(body)) Add(OfNode(body.node(id)), &cost);
  cost.peak_bytes = PeakOf(body);
  return bodies_[&body] = cost;
}

std::map<const Graph*, std::optional<int64_t>> ModuleCosts::Runs() const {
  std::map<const Graph*, std::optional<int64_t>> runs;
  std::map<const Graph*, size_t> waits_for;
  std::map<const Graph*, std::vector<std::pair<const Graph*, std::optional<int64_t>>>> calls;
  auto look = [&](const Graph& graph) {
    runs[&graph] = 0;
    for (Node node : graph.nodes()) {
      TripCount how = MannerOf(node);
      if (how == TripCount::kNone) continue;
      for (const Function* function : FunctionsOf(node)) {
        calls[&graph].push_back({&function->body, RunsOf(node, *function, how, shapes_)});
        ++waits_for[&function->body];
      }
    }
  };
  look(module_.main);
  for (const auto& function : module_.functions) look(function->body);
  runs[&module_.main] = 1;
  std::vector<const Graph*> ready = {&module_.main};
  for (const auto& function : module_.functions)
    if (waits_for[&function->body] == 0) ready.push_back(&function->body);
  std::set<const Graph*> done;
  while (!ready.empty()) {
    const Graph* graph = ready.back();
    ready.pop_back();
    done.insert(graph);
    for (auto [callee, times] : calls[graph]) {
      std::optional<int64_t>& of_callee = runs[callee];
      bool never = runs[graph] && *runs[graph] == 0;
      if (!never) {
        if (!times || !runs[graph]) of_callee.reset();
        if (of_callee) *of_callee = Sum(*of_callee, Product(*times, *runs[graph]));
      }
      if (--waits_for[callee] == 0) ready.push_back(callee);
    }
  }
  // Functions in a cycle of calls, and the functions that they call, run an unknown number of
  // times.
  for (auto& [graph, count] : runs)
    if (!done.count(graph)) count.reset();
  return runs;
}

}  // namespace grapnel
