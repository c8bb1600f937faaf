// Removes NoOps and Identities if that does not add edges, or edges that cross devices.
//
//   Before:  x -^> NoOp -^> y              After:  x -^> y
//   Before:  x -> Identity -> y            After:  x -> y
//
// Two rules in one file: they remove a node in the same way, on the same condition.
//
// A NoOp that is fetched, fed or kept is bypassed but stays.
//
// Refuses: every Identity if nothing is fetched; an Identity that is fetched, fed or kept, that
// fixes the value of a variable or a receive, that anchors control edges in a branch of a Switch,
// or whose reader cannot wait for the Identity's other inputs (a Merge or a function's result).
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "passes/dependency_optimizer/dependency_optimizer.h"

namespace grapnel {
namespace {

// Distinct readers, at most `limit` + 1 of them.
llvm::SmallVector<Node, 4> ReadersOf(const Dependencies& rule, const Node& node, size_t limit) {
  llvm::SetVector<NodeId, std::vector<NodeId>, llvm::DenseSet<NodeId>> readers;
  for (const Use& use : node.uses()) {
    readers.insert(use.node);
    if (readers.size() > limit) break;
  }
  llvm::SmallVector<Node, 4> nodes;
  for (NodeId id : readers) nodes.push_back(rule.graph.node(id));
  return nodes;
}

bool CrossesNoMoreDevices(Dependencies& rule, const Node& node, llvm::ArrayRef<Node> readers) {
  llvm::SmallVector<StringId, 8> inputs;
  for (Port port : node.inputs()) inputs.push_back(rule.graph.node(port.node).device_id());
  StringId device = node.device_id();
  if (inputs.size() == 1 && readers.size() > 1 && inputs[0] != device) return false;
  if (inputs.size() > 1 && readers.size() == 1 && readers[0].device_id() != device) return false;
  size_t in = llvm::count_if(inputs, [&](StringId id) { return id != device; });
  size_t out =
      llvm::count_if(readers, [&](const Node& reader) { return reader.device_id() != device; });
  size_t after = 0;
  for (StringId id : inputs) {
    for (const Node& reader : readers) after += id != reader.device_id();
  }
  if (after > in + out) return false;
  // Keeps an Identity whose input and some of whose readers are on other devices (unless all of
  // these are on one device): it may receive the tensor once for several readers on its own device.
  bool is_identity = rule.kinds.Is(node, kIdentityOp | kIdentityNOp);
  return !(is_identity && in > 0 && out > 0 && after > 0);
}

// True if removing the node adds no edges, neither in total nor between devices; otherwise records
// a refusal.
bool IsBeneficial(Dependencies& rule, const Node& node) {
  size_t in = node.num_inputs() + node.num_controls();
  bool has_ports = rule.kinds.Is(node, kIdentityNOp) && !IsIdentityNOfOne(node);
  if (in <= 1 && !has_ports && rule.on_one_device) return true;  // for any number of readers
  // in * out <= in + out only if either is 0 or 1, or both are 2.
  size_t limit = in <= 1 || has_ports ? node.uses().size() : in == 2 ? 2 : 1;
  llvm::SmallVector<Node, 4> readers = ReadersOf(rule, node, limit);
  size_t out = readers.size();
  size_t edges_after = in * out;
  if (has_ports) {
    edges_after = node.num_inputs() + node.num_controls() * out;
    for (const Use& use : node.uses())
      edges_after += rule.graph.node(use.node).input(use.slot).IsControl() ? in : 1;
  }
  if (edges_after > in + out)
    return rule.Fails(
        "'{0}' has {1} and {2}{3}: removing it would add edges\nleave it one input or reader",
        node.name(), Plural(in, "input"), Plural(out, "reader"), out > limit ? " or more" : "");
  return rule.on_one_device || CrossesNoMoreDevices(rule, node, readers) ||
         rule.Fails(
             "'{0}' and its neighbors are on several devices, where TensorFlow keeps it to avoid "
             "more transfers\nplace it and its neighbors on one device",
             node.name());
}

Verdict Bypass(Dependencies& rule, const Node& node) {
  for (const Use& use : node.uses()) rule.Push(rule.graph.node(use.node));
  for (int i = 0; i < node.num_controls(); ++i) rule.Push(node.control(i));
  rule.bypasser.Bypass(node);
  if (rule.has_fetches && !rule.IsPreserved(node)) rule.edit.RemoveNode(node);
  return rule.Done();
}

Verdict BypassNoOp(Dependencies& rule, const Node& node) {
  return IsBeneficial(rule, node) ? Bypass(rule, node) : rule.Refused();
}

Verdict BypassIdentity(Dependencies& rule, const Node& node) {
  bool goes = IsBeneficial(rule, node) && rule.CanRemoveIdentity(node);
  return goes ? Bypass(rule, node) : rule.Refused();
}

GRAPNEL_RULE({.optimizer = "dependency_optimizer",
              .phase = kNodes,
              .after = "become_no_op",
              .name = "bypass_no_op",
              .ops = {"NoOp"},
              .help = "nodes that wait for a NoOp wait for its inputs directly",
              .refuses = "NoOps whose removal would add edges, or may add edges between devices",
              .apply = BypassNoOp});

GRAPNEL_RULE(
    {.optimizer = "dependency_optimizer",
     .phase = kNodes,
     .after = "bypass_no_op",
     .name = "bypass_identity",
     .ops = {"Identity", "RefIdentity", "IdentityN"},
     .help = "readers of an Identity read its input",
     .refuses =
         "everything if nothing is fetched; Identities that are fetched, fed or kept, that read a "
         "variable or a receive, that mark a branch of a Switch, whose reader cannot wait for "
         "their other inputs, or whose removal would add edges, or may add edges between devices",
     .apply = BypassIdentity});

}  // namespace
}  // namespace grapnel
