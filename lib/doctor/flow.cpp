#include "lib/doctor/flow.h"

#include "lib/ir/node_types.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

// The most nested walks to a common origin. It bounds the recursion for a long chain of functions
// that all have several callers.
constexpr int kMostWalks = 64;

bool IsLoop(llvm::StringRef op) { return op == "While" || op == "StatelessWhile"; }

bool HandsOn(llvm::StringRef op) {
  static const llvm::StringSet<> kOps = {
      "Identity",    "RefIdentity",     "Snapshot",           "StopGradient",
      "EnsureShape", "PreventGradient", "CheckNumerics",      "Enter",
      "RefEnter",    "CheckNumericsV2", "OptimizationBarrier"};
  return kOps.contains(op);
}

bool Reshapes(const Node& node) {
  static const llvm::StringSet<> kOps = {"Reshape", "Squeeze", "ExpandDims", "Transpose"};
  if (node.op() == "Cast")
    return IsFloating(node.GetType("SrcT")) && IsFloating(node.GetType("DstT"));
  return kOps.contains(node.op());
}

std::pair<NodeId, int32_t> Key(Port port) { return {port.node, port.index}; }

}  // namespace

bool PortSet::Insert(const BodyPort& port) {
  nodes_.insert({port.graph, port.port.node});
  return ports_.insert(port.key()).second;
}

Flow::Flow(const Module& module) : module_(module) {
  for (const auto& function : module.functions) {
    Signature& signature = signatures_[&function->body];
    for (NodeId id : function->args) {
      int count = std::max(NumOutputs(function->body.node(id)), 1);
      for (int i = 0; i < count; ++i) {
        signature.index_of_argument[{id, i}] = static_cast<int>(signature.arguments.size());
        signature.arguments.push_back({id, i});
      }
    }
    for (const Function::Result& result : function->results) {
      Node node = function->body.node(result.node);
      for (int i = 0; i < node.num_inputs(); ++i) {
        signature.index_of_result[{node.id(), i}] = static_cast<int>(signature.results.size());
        signature.results.push_back(node.input(i));
      }
    }
  }
  for (Node node : module.main.nodes()) AddCalls(node);
  for (const auto& function : module.functions) {
    for (Node node : function->body.nodes()) AddCalls(node);
  }
}

void Flow::AddCalls(const Node& node) {
  if (!MayCallFunctions(node) && !module_.FindFunction(node.op())) return;
  llvm::StringRef op = node.op();
  bool is_branch = op == "If" || op == "StatelessIf" || op == "Case" || op == "StatelessCase";
  bool is_call = op == "PartitionedCall" || op == "StatefulPartitionedCall";
  if (!is_branch && !is_call && !IsLoop(op) && !module_.FindFunction(op)) return;
  auto cond = node.FindAttr("cond");
  std::string condition = IsLoop(op) && cond ? cond->AsFuncName().value_or("").str() : "";
  for (llvm::StringRef name : CalledFunctions(node)) {
    const Function* function = module_.FindFunction(name);
    if (!function) continue;
    bool is_cond = IsLoop(op) && name == condition;
    Site site{node, is_branch ? 1 : 0, IsLoop(op) && !is_cond, is_cond};
    calls_[{&node.graph(), node.id()}].push_back({function, site});
    signatures_[&function->body].sites.push_back(site);
  }
}

const std::vector<std::pair<const Function*, Flow::Site>>* Flow::CallsOf(const Node& node) const {
  auto found = calls_.find({&node.graph(), node.id()});
  return found == calls_.end() ? nullptr : &found->second;
}

bool Flow::IsInvariant(const Graph& body, const Signature& signature, int index) const {
  if (index >= static_cast<int>(signature.results.size()) ||
      index >= static_cast<int>(signature.arguments.size()))
    return true;  // the body does not return this argument
  Port at = signature.results[index];
  for (size_t i = 0; i < body.num_nodes() && at.node != kNoNode; ++i) {
    if (at == signature.arguments[index]) return true;
    Node node = body.node(at.node);
    if (!HandsOn(node.op()) || node.num_inputs() == 0) return false;
    at = node.input(0);
  }
  return false;
}

std::vector<BodyPort> Flow::Before(const BodyPort& port) const {
  std::vector<BodyPort> before;
  auto add = [&](const Graph& graph, Port from) {
    if (from.node != kNoNode && !from.IsControl()) before.emplace_back(graph, from);
  };
  Node node = port.node();
  auto signature = signatures_.find(port.graph);
  if (signature != signatures_.end()) {
    const Signature& own = signature->second;
    auto argument = own.index_of_argument.find(Key(port.port));
    if (argument != own.index_of_argument.end()) {
      int index = argument->second;
      for (const Site& site : own.sites) {
        if (index + site.shift < site.caller.num_inputs())
          add(site.caller.graph(), site.caller.input(index + site.shift));
        if (site.is_body && !IsInvariant(*port.graph, own, index))
          add(*port.graph, own.results[index]);
      }
      return before;
    }
  }
  if (const auto* calls = CallsOf(node)) {
    int index = port.port.index;
    bool stays = llvm::any_of(*calls, [&](const auto& call) {
      const Graph& body = call.first->body;
      return call.second.is_body && IsInvariant(body, signatures_.find(&body)->second, index);
    });
    for (const auto& [function, site] : *calls) {
      const Signature& callee = signatures_.find(&function->body)->second;
      // A loop's output also depends on the loop's condition, which determines the number of
      // iterations, unless the body returns this argument unchanged.
      for (size_t i = 0; site.is_cond && !stays && i < callee.results.size(); ++i)
        add(function->body, callee.results[i]);
      for (int i = 0; i < site.shift; ++i) add(*port.graph, node.input(i));
      if (!site.is_cond && !stays && index < static_cast<int>(callee.results.size()))
        add(function->body, callee.results[index]);
      if (site.is_body && index < node.num_inputs()) add(*port.graph, node.input(index));
    }
    return before;
  }
  if (node.op() == "IdentityN") {
    if (port.port.index < node.num_inputs()) add(*port.graph, node.input(port.port.index));
    return before;
  }
  for (int i = 0; i < node.num_inputs(); ++i) add(*port.graph, node.input(i));
  return before;
}

std::vector<std::pair<Node, int>> Flow::Readers(const BodyPort& port) const {
  std::vector<std::pair<Node, int>> readers;
  PortSet seen;
  std::vector<BodyPort> open = {port};
  seen.Insert(port);
  while (!open.empty()) {
    BodyPort at = open.back();
    open.pop_back();
    for (const Use& use : at.node().UsesOf(at.port.index)) {
      Node reader = at.graph->node(use.node);
      int slot = static_cast<int>(use.slot);
      if (reader.op() != "_Retval" && !CallsOf(reader)) {
        readers.emplace_back(reader, slot);
        continue;
      }
      // The call itself reads the inputs that are not arguments, such as the condition of an If.
      if (const auto* calls = CallsOf(reader)) {
        if (!calls->empty() && slot < calls->front().second.shift)
          readers.emplace_back(reader, slot);
      }
      for (const BodyPort& inner : After(at)) {
        if (seen.Insert(inner)) open.push_back(inner);
      }
    }
  }
  return readers;
}

std::vector<BodyPort> Flow::After(const BodyPort& port) const {
  std::vector<BodyPort> after;
  for (const Use& use : port.node().UsesOf(port.port.index)) {
    Node reader = port.graph->node(use.node);
    int slot = static_cast<int>(use.slot);
    if (slot >= reader.num_inputs()) continue;
    if (reader.op() == "_Retval") {
      auto signature = signatures_.find(port.graph);
      if (signature == signatures_.end()) continue;
      const Signature& own = signature->second;
      auto result = own.index_of_result.find({reader.id(), slot});
      if (result == own.index_of_result.end()) continue;
      for (const Site& site : own.sites) {
        if (site.is_cond) continue;
        after.emplace_back(site.caller, result->second);
        if (site.is_body && result->second < static_cast<int>(own.arguments.size()))
          after.emplace_back(*port.graph, own.arguments[result->second]);
      }
    } else if (const auto* calls = CallsOf(reader)) {
      for (const auto& [function, site] : *calls) {
        const Signature& callee = signatures_.find(&function->body)->second;
        int argument = slot - site.shift;
        if (argument >= 0 && argument < static_cast<int>(callee.arguments.size()))
          after.emplace_back(function->body, callee.arguments[argument]);
        if (site.is_body) after.emplace_back(reader, slot);
      }
    } else if (reader.op() == "IdentityN") {
      after.emplace_back(reader, slot);
    } else {
      for (int i = 0; i < NumOutputs(reader); ++i) after.emplace_back(reader, i);
    }
  }
  return after;
}

PortSet Flow::Backward(llvm::ArrayRef<BodyPort> ends, Passes passes) const {
  PortSet seen;
  std::vector<BodyPort> open;
  auto take = [&](const BodyPort& port) {
    if (seen.Insert(port)) open.push_back(port);
  };
  llvm::for_each(ends, take);
  while (!open.empty()) {
    BodyPort at = open.back();
    open.pop_back();
    Node node = at.node();
    bool crosses = node.op() == "_Arg" || node.op() == "IdentityN" || CallsOf(node);
    if (crosses || !passes) {
      llvm::for_each(Before(at), take);
      continue;
    }
    for (int i = 0; i < node.num_inputs(); ++i) {
      if (node.input(i).node != kNoNode && passes(node, i)) take({*at.graph, node.input(i)});
    }
  }
  return seen;
}

PortSet Flow::Forward(llvm::ArrayRef<BodyPort> starts) const {
  PortSet seen;
  std::vector<BodyPort> open;
  auto take = [&](const BodyPort& port) {
    if (seen.Insert(port)) open.push_back(port);
  };
  llvm::for_each(starts, take);
  while (!open.empty()) {
    BodyPort at = open.back();
    open.pop_back();
    llvm::for_each(After(at), take);
  }
  return seen;
}

BodyPort Flow::Source(BodyPort port, bool reshaped) const {
  Sources known;
  return Source(port, reshaped, 0, &known);
}

// `known` maps tensors to their origins. A tensor maps to itself until its walk ends, which avoids
// endless walks around loops. `depth`: the number of walks of which this one is a part.
BodyPort Flow::Source(BodyPort port, bool reshaped, int depth, Sources* known) const {
  llvm::SmallVector<BodyPort, 4> walked;
  while (port) {
    auto [found, added] = known->try_emplace(port.key(), port);
    if (!added) {
      port = found->second;
      break;
    }
    walked.push_back(port);
    Node node = port.node();
    if (HandsOn(node.op()) || (reshaped && Reshapes(node))) {
      if (node.num_inputs() == 0 || node.input(0).node == kNoNode) break;
      port = {*port.graph, node.input(0)};
      continue;
    }
    if (node.op() != "_Arg" && node.op() != "IdentityN" && !CallsOf(node)) break;
    std::vector<BodyPort> before = Before(port);
    bool may_join = node.op() == "_Arg" && depth < kMostWalks;
    BodyPort next = before.size() == 1 ? before[0]
                    : may_join         ? CommonSource(before, reshaped, depth + 1, known)
                                       : BodyPort();
    if (!next) break;
    port = next;
  }
  for (const BodyPort& each : walked) (*known)[each.key()] = port;
  return port;
}

// Returns the origin that all tensors have: several callers, such as the signatures of a model, pass
// the same variable. Returns null if there are no tensors, or several origins.
BodyPort Flow::CommonSource(llvm::ArrayRef<BodyPort> tensors, bool reshaped, int depth,
                            Sources* known) const {
  if (tensors.empty()) return {};
  BodyPort first = Source(tensors[0], reshaped, depth, known);
  for (const BodyPort& other : tensors.drop_front()) {
    if (Source(other, reshaped, depth, known).key() != first.key()) return {};
  }
  return first;
}

BodyPort Flow::SourceOf(const Node& node, int slot, bool reshaped) const {
  if (slot >= node.num_inputs() || node.input(slot).node == kNoNode) return {};
  return Source({node.graph(), node.input(slot)}, reshaped);
}

bool PassesValue(const Node& node, int /*slot*/) {
  static const llvm::StringSet<> kShapeOnly = {"Shape", "ShapeN",    "Size",
                                               "Rank",  "ZerosLike", "OnesLike"};
  return !kShapeOnly.contains(node.op());
}

bool PassesGradient(const Node& node, int slot) {
  static const llvm::StringSet<> kNone = {"StopGradient", "PreventGradient",
                                          "ArgMax",       "ArgMin",
                                          "Round",        "Rint",
                                          "Floor",        "Ceil",
                                          "Sign",         "Equal",
                                          "NotEqual",     "Less",
                                          "LessEqual",    "Greater",
                                          "GreaterEqual", "LogicalAnd",
                                          "LogicalOr",    "LogicalNot",
                                          "Shape",        "ShapeN",
                                          "Size",         "Rank",
                                          "ZerosLike",    "OnesLike",
                                          "OneHot",       "FloorDiv",
                                          "InTopK",       "InTopKV2",
                                          "Where",        "IsFinite",
                                          "IsNan",        "IsInf",
                                          "Bucketize",    "Multinomial"};
  // In these ops, the inputs after the first are only indices, axes or sizes.
  static const llvm::StringSet<> kFirstOnly = {
      "Reshape",        "Sum",        "Mean",      "Max",         "Min",    "Prod",
      "GatherV2",       "Gather",     "GatherNd",  "Tile",        "Pad",    "StridedSlice",
      "Slice",          "ExpandDims", "Transpose", "BroadcastTo", "TopKV2", "PadV2",
      "ResourceGather", "ReverseV2",  "Cumsum"};
  llvm::StringRef op = node.op();
  if (kNone.contains(op)) return false;
  if (kFirstOnly.contains(op) && slot > 0) return false;
  if ((op == "Select" || op == "SelectV2") && slot == 0) return false;
  if (op == "Fill") return slot == 1;
  if (op == "Cast") return IsFloating(node.GetType("SrcT")) && IsFloating(node.GetType("DstT"));
  return true;
}

}  // namespace grapnel
