// Matches fusions and splits: a single node of one graph with a region of nodes of the other graph
// that has the same inputs and readers as a whole. In this file `head` is the single node, and
// `exit` the node of the region whose output replaces that of `head`.
#include <algorithm>

#include "lib/diff/constant_cone.h"
#include "lib/diff/fusion.h"
#include "lib/diff/matching.h"
#include "lib/ir/op_table.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace grapnel {
namespace {

constexpr size_t kWidestFan = 256;  // the readers of a node with more readers are not considered

// `reader` is the partner of a node that reads `head`, an unpaired node of the other body, at
// `slot`. Returns the node that `reader` reads at `slot`. Rewrites may swap the two inputs of a
// commutative op: for such a reader, returns the other input if it has the name of `head`, or if
// the input at `slot` is already matched.
int32_t InputAt(const Side& side, int32_t reader, int slot, llvm::StringRef head) {
  auto inputs = side.view->DataInputs(reader);
  if (slot < 0 || static_cast<size_t>(slot) >= inputs.size()) return kNobody;
  int32_t there = inputs[slot].node;
  const OpInfo* op = inputs.size() == 2 ? FindOp(side.view->node(reader).op()) : nullptr;
  if (!op || !op->is_commutative) return there;
  int32_t beside = inputs[1 - slot].node;
  if (beside == kNobody || !side.IsFree(beside)) return there;
  bool swapped = there == kNobody || !side.IsFree(there) || side.view->node(beside).name() == head;
  return swapped ? beside : there;
}

// The nodes of a region that replaces one node, each after its inputs, and the constants that they
// read, in the order of use, each once.
struct RegionParts {
  std::vector<int32_t> nodes, constants;
};

// The nodes of one graph, `parts`, that may replace `head`, a node of the other: they read only the
// partners of head's inputs, each other, and values computed from constants alone.
class Region {
 public:
  Region(const Side& whole, const Side& parts, const std::vector<NodeGroup>& groups, int32_t head,
         bool head_in_a)
      : whole_(whole), parts_(parts), groups_(groups), head_(head), head_in_a_(head_in_a) {}

  // Finds the nodes of the region; false if there are none, for example because head's inputs have
  // no partners.
  bool Grow() {
    for (const BodyView::In& in : whole_.view->DataInputs(head_)) AddSource(in.node);
    for (size_t i = 0; i < sources_.size(); ++i) Visit(sources_[i]);
    for (size_t i = 0; i < region_.size() && region_.size() < kLargestRegion; ++i)
      Visit(region_[i]);
    return !region_.empty();
  }

  // Returns the node of the region that the partners of head's readers read; kNobody if there is
  // none.
  int32_t Exit() const {
    auto head_readers = whole_.view->Readers(head_);
    for (const BodyView::Out& out : head_readers) {
      int32_t partner = whole_.other[out.node];
      if (partner == kNobody || out.slot == kControlPort) continue;
      int32_t node = InputAt(parts_, partner, out.slot, whole_.view->node(head_).name());
      if (node != kNobody && region_.contains(node)) return node;
    }
    return kNobody;
  }

  // Returns the exit of the region if head's readers are not matched: for a fusion, the node with
  // the last fused op; otherwise the only node that has readers outside of the region, or no
  // readers.
  int32_t LoneExit() const {
    auto head_readers = whole_.view->Readers(head_);
    for (const BodyView::Out& out : head_readers) {
      if (!whole_.IsFree(out.node)) return kNobody;
    }
    if (Fusion fusion(whole_.view->node(head_)); fusion) return ExitOf(fusion);
    int32_t exit = kNobody;
    for (int32_t node : region_) {
      if (!LeadsOut(node)) continue;
      if (exit != kNobody) return kNobody;
      exit = node;
    }
    if (exit == kNobody) return kNobody;
    bool is_end = parts_.view->Readers(exit).empty();
    return is_end == head_readers.empty() ? exit : kNobody;
  }

  // Returns the first node, in topological order, that together with its inputs in the region may
  // be the nodes of that fusion.
  int32_t ExitOf(const Fusion& fusion) const {
    std::vector<int32_t> nodes(region_.begin(), region_.end());
    llvm::sort(nodes, [&](int32_t x, int32_t y) {
      return parts_.view->position(x) < parts_.view->position(y);
    });
    for (int32_t node : nodes) {
      if (fusion.EndsIn(parts_.view->node(node).op()) &&
          fusion.CanBeOf(parts_, PartsOf(node).nodes))
        return node;
    }
    return kNobody;
  }

  // Returns `exit` and the nodes of the region that it depends on. Empty if other nodes read one of
  // them besides `exit`, or if together they do not read all of head's inputs.
  RegionParts PartsOf(int32_t exit) const {
    llvm::SmallSetVector<int32_t, 8> nodes;
    llvm::SmallSetVector<int32_t, 8> constants;
    llvm::DenseSet<int32_t> read;
    nodes.insert(exit);
    for (size_t i = 0; i < nodes.size(); ++i) {
      for (const BodyView::In& in : parts_.view->DataInputs(nodes[i])) {
        if (region_.contains(in.node)) {
          nodes.insert(in.node);
        } else if (sources_.contains(in.node)) {
          read.insert(in.node);
        } else {
          ConstantCone cone = ConstantConeOf(parts_, in.node);
          read.insert(cone.known.begin(), cone.known.end());
          if (cone.known.empty()) constants.insert(in.node);
        }
      }
    }
    for (int32_t node : nodes) {
      for (const BodyView::Out& out : parts_.view->Readers(node)) {
        if (node != exit && out.slot != kControlPort && !nodes.contains(out.node)) return {};
      }
    }
    for (int32_t source : needed_) {
      if (!read.count(source)) return {};
    }
    return InOrder(nodes.takeVector(), constants.takeVector());
  }

 private:
  void AddSource(int32_t input) {
    if (input == kNobody) return;
    if (int32_t partner = whole_.other[input]; partner != kNobody) {
      sources_.insert(partner);
      needed_.push_back(partner);
    } else if (int32_t group = whole_.group[input]; group != kNobody) {
      const NodeGroup& nodes = groups_[group];
      for (int32_t node : head_in_a_ ? nodes.b : nodes.a) sources_.insert(node);
    }
  }

  void Visit(int32_t source) {
    auto readers = parts_.view->Readers(source);
    if (readers.size() > kWidestFan) return;
    for (const BodyView::Out& out : readers) {
      if (out.slot != kControlPort && Fits(out.node)) region_.insert(out.node);
    }
  }

  bool Fits(int32_t node) const {
    return parts_.IsFree(node) && !ConstantConeOf(parts_, node).is_one &&
           llvm::all_of(parts_.view->DataInputs(node), [&](const BodyView::In& in) {
             return in.node != kNobody &&
                    (sources_.contains(in.node) || region_.contains(in.node) ||
                     ConstantConeOf(parts_, in.node).is_one);
           });
  }

  // Sorts the nodes in topological order, and the constants in the order in which the nodes use
  // them.
  RegionParts InOrder(llvm::ArrayRef<int32_t> nodes, llvm::ArrayRef<int32_t> constants) const {
    RegionParts result{nodes.vec(), {}};
    llvm::sort(result.nodes, [&](int32_t x, int32_t y) {
      return parts_.view->position(x) < parts_.view->position(y);
    });
    for (int32_t node : result.nodes) {
      for (const BodyView::In& in : parts_.view->DataInputs(node)) {
        if (llvm::is_contained(constants, in.node) &&
            !llvm::is_contained(result.constants, in.node))
          result.constants.push_back(in.node);
      }
    }
    return result;
  }

  bool LeadsOut(int32_t node) const {
    auto readers = parts_.view->Readers(node);
    return readers.empty() || llvm::any_of(readers, [&](const BodyView::Out& out) {
             return !region_.contains(out.node);
           });
  }

  const Side &whole_, &parts_;
  const std::vector<NodeGroup>& groups_;
  int32_t head_;
  bool head_in_a_;
  llvm::SmallSetVector<int32_t, 8> sources_, region_;
  std::vector<int32_t> needed_;
};

// Adds to the group those constants that only one of its nodes reads.
void AddPrivate(const Side& side, RegionParts* parts) {
  for (int32_t constant : parts->constants) {
    if (side.view->DataInputs(constant).empty() && side.view->Readers(constant).size() == 1)
      parts->nodes.push_back(constant);
  }
}

}  // namespace

// True if `head` and `nodes` may stand for each other. If `head` is a fusion, it must consist of
// the ops of `nodes`. Otherwise, several nodes must not contain a fused op, and if `head` is an
// elementwise sum or product, no matrix product or convolution.
static bool CanReplace(const Side& whole, int32_t head, const Side& parts,
                       llvm::ArrayRef<int32_t> nodes) {
  if (Fusion fusion(whole.view->node(head)); fusion) return fusion.CanBeOf(parts, nodes);
  if (nodes.size() == 1) return true;
  const OpInfo* op = FindOp(whole.view->node(head).op());
  bool by_element = op && (op->is_commutative || op->is_aggregate);
  return llvm::none_of(nodes, [&](int32_t i) {
    Node node = parts.view->node(i);
    return Fusion(node) || (by_element && IsContraction(node.op()));
  });
}

bool Matching::FindReplacement(Side& whole, Side& parts, int32_t head, bool as_pair) {
  bool head_in_a = &whole == &a_;
  Region region(whole, parts, groups_, head, head_in_a);
  if (!region.Grow()) return false;
  int32_t exit = region.Exit();
  if (exit == kNobody && !as_pair) exit = region.LoneExit();
  if (exit == kNobody) return false;
  RegionParts found = region.PartsOf(exit);
  if (found.nodes.empty() || !CanReplace(whole, head, parts, found.nodes)) return false;
  std::vector<int32_t> constants = FreeConstantsOf(whole, head);
  bool same_constants = constants.size() == found.constants.size();
  // If A's `head` was split, the nodes in B must read as many constants as it does. If B's `head`
  // is a fusion, it may have merged the constants that the nodes in A read.
  if (head_in_a && !same_constants && !constants.empty()) return false;
  // If `head` reads no constants, those that the region reads were fused into it too.
  if (constants.empty()) AddPrivate(parts, &found);
  if ((found.nodes.size() == 1) != as_pair) return false;
  if (same_constants) {
    for (size_t i = 0; i < constants.size(); ++i)
      MatchConstants(head_in_a ? constants[i] : found.constants[i],
                     head_in_a ? found.constants[i] : constants[i]);
  }
  if (as_pair) {
    Match(head_in_a ? head : exit, head_in_a ? exit : head);
  } else if (head_in_a) {
    AddGroup({head}, std::move(found.nodes));
  } else {
    AddGroup(std::move(found.nodes), {head});
  }
  return true;
}

// Pairs two constants that are read at the same place; if A computes the value and B has a
// constant, it was folded.
void Matching::MatchConstants(int32_t a, int32_t b) {
  if (a_.view->DataInputs(a).empty() == b_.view->DataInputs(b).empty()) {
    if (Alike(a, b, Similarity::kOp)) Match(a, b);
  } else if (b_.view->DataInputs(b).empty()) {
    AddFolded(a, b);
  }
}

// Handles a constant of B for a value that A computes from constants: groups it with the node that
// computes this value in A, and with all nodes that only this node uses.
bool Matching::FindFolded(int32_t head) {
  int32_t exit = kNobody;
  for (const BodyView::Out& out : b_.view->Readers(head)) {
    int32_t reader = b_.other[out.node];
    if (reader == kNobody || out.slot == kControlPort) continue;
    exit = InputAt(a_, reader, out.slot, b_.view->node(head).name());
    if (exit != kNobody) break;
  }
  if (exit == kNobody || !a_.IsFree(exit) || a_.view->DataInputs(exit).empty()) return false;
  return AddFolded(exit, head);
}

bool Matching::AddFolded(int32_t exit, int32_t head) {
  llvm::SmallSetVector<int32_t, 16> parts;
  parts.insert(exit);
  auto serves_alone = [&](int32_t node) {
    return llvm::all_of(a_.view->Readers(node), [&](const BodyView::Out& out) {
      return out.slot == kControlPort || parts.contains(out.node);
    });
  };
  for (size_t i = 0; i < parts.size() && parts.size() < kLargestRegion; ++i) {
    for (const BodyView::In& in : a_.view->DataInputs(parts[i])) {
      if (in.node != kNobody && a_.IsFree(in.node) && serves_alone(in.node)) parts.insert(in.node);
    }
  }
  if (parts.size() == 1) return false;
  AddGroup(std::vector<int32_t>(parts.begin(), parts.end()), {head});
  return true;
}

// Returns the nodes of a fusion, from the main op to the last one. A fusion has the name of its
// last op, so this finds the nodes even if rewrites changed its inputs and readers.
static std::vector<int32_t> PartsByName(const Side& side, int32_t last, const Fusion& fusion) {
  constexpr size_t kLongestFusion = 8;
  llvm::SmallSetVector<int32_t, 8> nodes;
  nodes.insert(last);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes.size() > kLongestFusion) return {};
    if (fusion.IsBase(side.view->node(nodes[i]).op())) continue;
    for (const BodyView::In& in : side.view->DataInputs(nodes[i])) {
      if (in.node != kNobody && side.IsFree(in.node) && !ConstantConeOf(side, in.node).is_one)
        nodes.insert(in.node);
    }
  }
  for (int32_t node : nodes) {
    for (const BodyView::Out& out : side.view->Readers(node))
      if (node != last && out.slot != kControlPort && !nodes.contains(out.node)) return {};
  }
  if (!fusion.CanBeOf(side, nodes.getArrayRef())) return {};
  return std::vector<int32_t>(nodes.begin(), nodes.end());
}

bool Matching::FindNamedFusions() {
  bool found = false;
  for (int32_t b : b_.view->order()) {
    Node node = b_.view->node(b);
    Fusion fusion(node);
    if (!fusion || !b_.IsFree(b)) continue;
    Node last = a_.view->graph().Find(node.name());
    int32_t a = last ? a_.view->IndexOf(last.id()) : kNobody;
    if (a == kNobody || !a_.IsFree(a) || !fusion.EndsIn(last.op())) continue;
    std::vector<int32_t> parts = PartsByName(a_, a, fusion);
    if (parts.size() < 2) continue;
    AddGroup(std::move(parts), {b});
    found = true;
  }
  return found;
}

bool Matching::FindGroups() {
  bool found = false;
  for (int32_t b : b_.view->order()) {
    bool constant = b_.labels->constant[b] && b_.view->DataInputs(b).empty();
    if (b_.IsFree(b) && constant) found |= FindFolded(b);
  }
  // Visits inputs before their readers, because a fusion may read the output of another fusion.
  // Pairs single nodes last: else one of the nodes of a split would become the partner of the
  // original node.
  for (bool as_pair : {false, true}) {
    for (int32_t b : b_.view->order()) {
      if (b_.IsFree(b)) found |= FindReplacement(b_, a_, b, as_pair);
    }
    for (int32_t a : a_.view->order()) {
      if (a_.IsFree(a)) found |= FindReplacement(a_, b_, a, as_pair);
    }
  }
  return found;
}

}  // namespace grapnel
