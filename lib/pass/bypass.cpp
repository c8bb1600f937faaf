#include "lib/pass/bypass.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"

namespace grapnel {
namespace {

constexpr size_t kFew = 64;  // below this a scan is cheaper than a table

}  // namespace

bool Bypasser::DependsOn(const Node& reader, const Node& source) {
  size_t slots = reader.num_inputs() + reader.num_controls();
  if (source.uses().size() <= kFew) {
    return llvm::any_of(source.uses(), [&](const Use& use) { return use.node == reader.id(); });
  }
  if (slots <= kFew) {
    for (size_t slot = 0; slot < slots; ++slot) {
      if (reader.input(slot).node == source.id()) return true;
    }
    return false;
  }
  auto [it, added] = sources_.try_emplace(reader.id());
  if (added) {
    for (size_t slot = 0; slot < slots; ++slot) ++it->second[reader.input(slot).node];
  }
  auto found = it->second.find(source.id());
  return found != it->second.end() && found->second > 0;
}

void Bypasser::Count(NodeId reader, NodeId source, int by) {
  if (sources_.empty()) return;
  auto it = sources_.find(reader);
  if (it != sources_.end()) it->second[source] += by;
}

void Bypasser::AddControl(const Node& reader, const Node& source) {
  if (reader == source || DependsOn(reader, source)) return;
  edit_.AppendControl(reader, source);
  Count(reader.id(), source.id(), 1);
}

void Bypasser::Bypass(const Node& node) {
  llvm::SmallVector<Port, 4> inputs = node.inputs();
  while (!node.uses().empty()) {
    Use use = node.uses().back();
    Node reader = graph_.node(use.node);
    Port read = reader.input(use.slot);
    Count(reader.id(), node.id(), -1);
    if (!read.IsControl()) {
      edit_.SetInput(reader, use.slot, inputs[read.index]);
      Count(reader.id(), inputs[read.index].node, 1);
    } else {
      auto fresh = llvm::find_if(
          inputs, [&](Port port) { return !DependsOn(reader, graph_.node(port.node)); });
      edit_.SetControlSlot(reader, use.slot,
                           fresh == inputs.end() ? Node() : graph_.node(fresh->node));
      if (fresh != inputs.end()) Count(reader.id(), fresh->node, 1);
    }
    for (Port port : inputs) {
      if (read.IsControl() || port.IsControl()) AddControl(reader, graph_.node(port.node));
    }
  }
}

void Bypasser::Replace(const Node& node, const Node& by) {
  while (!node.uses().empty()) {
    Use use = node.uses().back();
    Node reader = graph_.node(use.node);
    Port read = reader.input(use.slot);
    Count(reader.id(), node.id(), -1);
    if (!read.IsControl()) {
      edit_.SetInput(reader, use.slot, {by.id(), read.index});
    } else if (DependsOn(reader, by)) {
      edit_.SetControlSlot(reader, use.slot, Node());
      continue;
    } else {
      edit_.SetControlSlot(reader, use.slot, by);
    }
    Count(reader.id(), by.id(), 1);
  }
}

void DedupControlInputs(Editor& edit, const Node& node) {
  if (node.num_controls() == 0) return;
  llvm::SmallVector<Port, 8> kept;
  llvm::SmallSet<NodeId, 8> seen;
  for (Port port : node.inputs()) {
    if (seen.insert(port.node).second || !port.IsControl()) kept.push_back(port);
  }
  if (static_cast<int>(kept.size()) != node.num_inputs() + node.num_controls())
    edit.SetInputs(node, kept);
}

}  // namespace grapnel
