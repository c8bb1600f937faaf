// Fusions and splits: one node whose inputs and readers are those of a whole region.
#include <algorithm>

#include "lib/diff/matching.h"
#include "lib/ir/op_table.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace grapnel {
namespace {

// No fusion takes in more; what fans out wider is no one's private input.
constexpr size_t kLargestRegion = 64, kWidestFan = 256;

// What a free `head` of the other body is for a reader there at `slot`, if `reader` of this one is
// that reader's partner. Where the order of arguments does not matter, rewrites change it: then
// what has the name of `head` is meant, and nothing that has a partner already.
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

// The nodes of `parts` that could stand for `head`: they read nothing but what head reads, each
// other, and constants that nobody else reads.
class Region {
 public:
  Region(const Side& whole, const Side& parts, const std::vector<NodeGroup>& groups, int32_t head,
         bool head_in_a)
      : whole_(whole), parts_(parts), groups_(groups), head_(head), head_in_a_(head_in_a) {}

  // False when head's inputs have no known partners.
  bool Grow() {
    for (const BodyView::In& in : whole_.view->DataInputs(head_)) AddSource(in.node);
    for (size_t i = 0; i < sources_.size(); ++i) Visit(sources_[i]);
    for (size_t i = 0; i < region_.size() && region_.size() < kLargestRegion; ++i)
      Visit(region_[i]);
    return !region_.empty();
  }

  // The node whose readers are head's readers, or kNobody.
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

  // For when nothing is known of head's readers: the one node that anybody outside reads.
  int32_t LoneExit() const {
    auto head_readers = whole_.view->Readers(head_);
    for (const BodyView::Out& out : head_readers) {
      if (!whole_.IsFree(out.node)) return kNobody;
    }
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

  // What `exit` is made of within the region; empty when somebody outside reads a part of it, or
  // when it leaves out what head reads.
  std::vector<int32_t> PartsOf(int32_t exit) const {
    llvm::SmallSetVector<int32_t, 8> parts;
    llvm::DenseSet<int32_t> read;
    parts.insert(exit);
    for (size_t i = 0; i < parts.size(); ++i) {
      for (const BodyView::In& in : parts_.view->DataInputs(parts[i])) {
        if (region_.contains(in.node) || IsPrivateConstant(in.node)) {
          parts.insert(in.node);
        } else {
          read.insert(in.node);
        }
      }
    }
    for (int32_t part : parts) {
      for (const BodyView::Out& out : parts_.view->Readers(part)) {
        if (part != exit && !parts.contains(out.node)) return {};
      }
    }
    for (int32_t source : needed_) {
      if (!read.count(source)) return {};
    }
    return std::vector<int32_t>(parts.begin(), parts.end());
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
    return parts_.IsFree(node) &&
           llvm::all_of(parts_.view->DataInputs(node), [&](const BodyView::In& in) {
             return in.node != kNobody && (sources_.contains(in.node) ||
                                           region_.contains(in.node) || IsPrivateConstant(in.node));
           });
  }

  bool IsPrivateConstant(int32_t node) const {
    return node != kNobody && parts_.IsFree(node) && parts_.view->DataInputs(node).empty() &&
           parts_.view->Readers(node).size() == 1 &&
           !ComesFromOutside(parts_.view->node(node).op());
  }

  // What is fed, handed in or kept elsewhere is no part of a computation.
  static bool ComesFromOutside(llvm::StringRef op) {
    const OpInfo* info = FindOp(op);
    return op.starts_with("Placeholder") || op == "_Arg" || (info && info->is_stateful);
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

}  // namespace

// Whether `head` is another op on what `exit` and its `num_parts` - 1 constants are made of: it has
// constants of its own in their places.
static bool TakesPlaceOf(const Side& whole, int32_t head, const Side& parts, int32_t exit,
                         size_t num_parts) {
  auto of_head = whole.view->DataInputs(head), of_exit = parts.view->DataInputs(exit);
  if (of_head.size() != of_exit.size()) return false;
  size_t constants = 0;
  for (size_t i = 0; i < of_head.size(); ++i) {
    bool free = of_head[i].node != kNobody && whole.IsFree(of_head[i].node);
    bool own = of_exit[i].node != kNobody && parts.IsFree(of_exit[i].node);
    if (free != own) return false;
    if (!free) continue;
    if (!whole.view->DataInputs(of_head[i].node).empty() ||
        !parts.view->DataInputs(of_exit[i].node).empty())
      return false;
    ++constants;
  }
  return constants > 0 && constants + 1 == num_parts;
}

void Matching::MatchWithConstants(int32_t a, int32_t b) {
  Match(a, b);
  auto of_a = a_.view->DataInputs(a), of_b = b_.view->DataInputs(b);
  for (size_t i = 0; i < of_a.size(); ++i) {
    int32_t in_a = of_a[i].node, in_b = of_b[i].node;
    if (in_a != kNobody && in_b != kNobody && Alike(in_a, in_b, Likeness::kOp)) Match(in_a, in_b);
  }
}

bool Matching::FindReplacement(Side& whole, Side& parts, int32_t head, bool as_pair) {
  bool head_in_a = &whole == &a_;
  Region region(whole, parts, groups_, head, head_in_a);
  if (!region.Grow()) return false;
  int32_t exit = region.Exit();
  if (exit == kNobody && !as_pair) exit = region.LoneExit();
  if (exit == kNobody) return false;
  std::vector<int32_t> nodes = region.PartsOf(exit);
  if (nodes.empty() || (nodes.size() == 1) != as_pair) return false;
  if (!as_pair && TakesPlaceOf(whole, head, parts, exit, nodes.size())) {
    MatchWithConstants(head_in_a ? head : exit, head_in_a ? exit : head);
    return true;
  }
  if (as_pair) {
    Match(head_in_a ? head : nodes[0], head_in_a ? nodes[0] : head);
  } else if (head_in_a) {
    AddGroup({head}, std::move(nodes));
  } else {
    AddGroup(std::move(nodes), {head});
  }
  return true;
}

// A constant of B where A computed from constants: the node that was read there, and all that
// served it alone.
bool Matching::FindFolded(int32_t head) {
  int32_t exit = kNobody;
  for (const BodyView::Out& out : b_.view->Readers(head)) {
    int32_t reader = b_.other[out.node];
    if (reader == kNobody || out.slot == kControlPort) continue;
    exit = InputAt(a_, reader, out.slot, b_.view->node(head).name());
    if (exit != kNobody) break;
  }
  if (exit == kNobody || !a_.IsFree(exit) || a_.view->DataInputs(exit).empty()) return false;
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

bool Matching::FindGroups() {
  bool found = false;
  for (int32_t b : b_.view->order()) {
    bool constant = b_.labels->constant[b] && b_.view->DataInputs(b).empty();
    if (b_.IsFree(b) && constant) found |= FindFolded(b);
  }
  // Along the data: what one fusion makes, the next one reads. Pairs last, so that no part of a
  // split is taken for the whole.
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
