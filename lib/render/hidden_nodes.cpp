#include "lib/render/hidden_nodes.h"

#include <algorithm>
#include <set>
#include <utility>

#include "lib/render/edges.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SparseBitVector.h"

namespace grapnel {
namespace {

// By hidden node: the boxes that it reads, directly or through hidden nodes.
using Behind = llvm::DenseMap<NodeId, llvm::SparseBitVector<>>;

// Computes Behind. Iterates until nothing changes, because hidden nodes may form a loop.
Behind BoxesBehind(const Graph& graph, llvm::ArrayRef<uint32_t> box_of,
                   const std::vector<bool>& hidden) {
  Behind behind;
  std::vector<NodeId> changed;
  auto add = [&](NodeId id, const llvm::SparseBitVector<>& boxes) {
    bool grew = (behind[id] |= boxes);
    if (grew) changed.push_back(id);
  };
  for (Node node : graph.nodes()) {
    if (!hidden[node.id()]) continue;
    llvm::SparseBitVector<> boxes;
    for (Port port : node.inputs()) {
      if (port.node != kNoNode && box_of[port.node] < kBoxFolded) boxes.set(box_of[port.node]);
    }
    add(node.id(), boxes);
  }
  while (!changed.empty()) {
    NodeId id = changed.back();
    changed.pop_back();
    const llvm::SparseBitVector<> boxes = behind[id];
    for (const Use& use : graph.node(id).uses()) {
      if (hidden[use.node]) add(use.node, boxes);
    }
  }
  return behind;
}

}  // namespace

bool HiddenNodes::IsWord(llvm::StringRef word) {
  return word.starts_with("op:") || word.starts_with("name:") || NameRegex::IsWord(word);
}

Error HiddenNodes::Add(llvm::StringRef word) {
  llvm::StringRef text = word;
  if (text.consume_front("op:") || text.consume_front("name:")) {
    auto glob = Glob::Parse(text);
    if (!glob) return Annotate(word, glob.takeError());
    (word.starts_with("op:") ? ops_ : names_).push_back(std::move(*glob));
    return Error::success();
  }
  ASSIGN_OR_RETURN(NameRegex regex, NameRegex::Parse(word));
  regexes_.push_back(std::move(regex));
  return Error::success();
}

bool HiddenNodes::Hides(const Node& node) const {
  if (FitsAny(ops_, node.op()) || FitsAny(names_, node.name())) return true;
  return llvm::any_of(regexes_, [&](const NameRegex& regex) { return regex.Matches(node.name()); });
}

std::vector<std::pair<uint32_t, uint32_t>> EdgesThrough(const Graph& graph,
                                                        llvm::ArrayRef<uint32_t> box_of,
                                                        const std::vector<bool>& hidden) {
  Behind behind = BoxesBehind(graph, box_of, hidden);
  std::set<std::pair<uint32_t, uint32_t>> edges;
  for (Node node : graph.nodes()) {
    uint32_t to = box_of[node.id()];
    if (to >= kBoxFolded) continue;
    for (Port port : node.inputs()) {
      if (port.node == kNoNode || !hidden[port.node]) continue;
      for (uint32_t from : behind[port.node]) {
        if (from != to) edges.insert({from, to});
      }
    }
  }
  return {edges.begin(), edges.end()};
}

}  // namespace grapnel
