#include "lib/diff/scope_hash.h"

#include <algorithm>

#include "lib/diff/body_view.h"
#include "lib/diff/callees_first.h"
#include "lib/diff/labels.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

constexpr uint64_t kControl = 0x9216D5D98979FB1Bull, kBack = 0xD1310BA698DFB5ACull,
                   kFromOutside = 0x2FFD72DBD01ADFB7ull, kReader = 0xB8E1AFED6A267E96ull,
                   kRecursive = 0xBA7C9045F12C7F99ull;

// The scopes in the nodes' names, as a tree: a parent has a smaller index than its children.
class NameTree {
 public:
  struct Scope {
    int32_t parent;
    llvm::StringRef path;
    int32_t children = 0;    // scopes directly below
    bool has_nodes = false;  // a node is directly in the scope
  };

  explicit NameTree(const BodyView& view) {
    scopes_.push_back({kNobody, ""});
    for (int32_t i = 0; i < view.size(); ++i) {
      innermost_.push_back(Walk(view.node(i).name()));
      scopes_[innermost_.back()].has_nodes = true;
    }
  }

  llvm::ArrayRef<Scope> scopes() const { return scopes_; }
  bool IsBlock(int32_t scope) const {
    return scope == 0 || scopes_[scope].has_nodes || scopes_[scope].children > 1;
  }
  int32_t InnermostOf(int32_t node) const { return innermost_[node]; }
  // Returns the next enclosing scope that is a block (not all of its nodes are in one nested
  // scope); kNobody if there is none.
  int32_t Around(int32_t scope) const {
    do {
      scope = scopes_[scope].parent;
    } while (scope != kNobody && !IsBlock(scope));
    return scope;
  }

 private:
  int32_t Walk(llvm::StringRef name) {
    int32_t scope = 0;
    for (size_t begin = 0, slash; (slash = name.find('/', begin)) != llvm::StringRef::npos;
         begin = slash + 1) {
      auto [it, added] = by_part_.try_emplace({scope, name.slice(begin, slash)},
                                              static_cast<int32_t>(scopes_.size()));
      if (added) {
        ++scopes_[scope].children;
        scopes_.push_back({scope, name.take_front(slash)});
      }
      scope = it->second;
    }
    return scope;
  }

  std::vector<Scope> scopes_;
  std::vector<int32_t> innermost_;  // by node
  llvm::DenseMap<std::pair<int32_t, llvm::StringRef>, int32_t> by_part_;
};

// Hashes the blocks of a body, one block at a time.
class BlockHasher {
 public:
  BlockHasher(const BodyView& view, std::vector<uint64_t> labels)
      : view_(view), labels_(std::move(labels)), block_of_(view.size(), kNobody) {
    for (auto* hashes : {&in_, &out_, &both_, &before_}) hashes->resize(view.size());
  }

  // Hashes one block, the nodes of a scope. `nodes` are in the order of the view; `block` is a
  // number that no other block has.
  uint64_t Hash(llvm::ArrayRef<int32_t> nodes, int32_t block) {
    block_ = block;
    for (int32_t i : nodes) {
      block_of_[i] = block;
      both_[i] = labels_[i];
    }
    outside_.clear();
    // A second pass distinguishes nodes with equal inputs and equal readers by the other edges of
    // their neighbors.
    for (int pass = 0; pass < 2; ++pass) {
      Spread(nodes);
      for (int32_t i : nodes) both_[i] = HashInto(HashInto(kReader, in_[i]), out_[i]);
      HashOutside(nodes);
    }
    uint64_t sum = 0;
    for (int32_t i : nodes) sum += HashInto(kReader, both_[i]);
    for (const auto& [port, hash] : outside_) sum += HashInto(kFromOutside, hash);
    return HashInto(nodes.size(), sum);
  }

 private:
  bool IsInside(int32_t node) const { return node != kNobody && block_of_[node] == block_; }

  // Computes in_ and out_ of all nodes, starting from both_.
  void Spread(llvm::ArrayRef<int32_t> nodes) {
    for (int32_t i : nodes) in_[i] = out_[i] = both_[i];
    // Nodes on cycles come last; each round uses the hashes of the previous round, so that their
    // order does not matter.
    size_t ordered =
        llvm::partition_point(nodes,
                              [&](int32_t i) { return view_.position(i) < view_.num_ordered(); }) -
        nodes.begin();
    llvm::ArrayRef<int32_t> cyclic = nodes.drop_front(ordered);
    for (int32_t i : nodes.take_front(ordered)) in_[i] = FromInputs(i);
    Rounds(cyclic, &in_, [&](int32_t i) { return FromInputs(i); });
    Rounds(cyclic, &out_, [&](int32_t i) { return FromReaders(i); });
    for (int32_t i : llvm::reverse(nodes.take_front(ordered))) out_[i] = FromReaders(i);
  }

  template <typename Fold>
  void Rounds(llvm::ArrayRef<int32_t> nodes, std::vector<uint64_t>* hashes, Fold fold) {
    for (int round = 0; round < kRoundsOnCycles && !nodes.empty(); ++round) {
      for (int32_t i : nodes) before_[i] = fold(i);
      for (int32_t i : nodes) (*hashes)[i] = before_[i];
    }
  }

  uint64_t OfSource(int32_t from, int32_t to) const {
    return view_.IsBackEdge(from, to) ? HashInto(kBack, both_[from]) : in_[from];
  }

  uint64_t FromInputs(int32_t i) const {
    uint64_t hash = both_[i], controls = 0;
    for (const BodyView::In& in : view_.DataInputs(i)) {
      if (!IsInside(in.node)) {
        hash = HashInto(hash, HashInto(kFromOutside, outside_.lookup({in.node, in.port})));
      } else {
        hash = HashInto(HashInto(hash, OfSource(in.node, i)), in.port);
      }
    }
    for (const BodyView::In& in : view_.ControlInputs(i))
      if (IsInside(in.node)) controls += HashInto(kControl, OfSource(in.node, i));
    return HashInto(hash, controls);
  }

  uint64_t FromReaders(int32_t i) const {
    uint64_t sum = 0;
    for (const BodyView::Out& out : view_.Readers(i)) {
      if (!IsInside(out.node)) continue;
      uint64_t reader =
          view_.IsBackEdge(i, out.node) ? HashInto(kBack, both_[out.node]) : out_[out.node];
      sum += HashInto(HashInto(HashInto(kReader, out.slot), out.port), reader);
    }
    return HashInto(both_[i], sum);
  }

  // Hashes the values from outside of the block by the nodes that read them.
  void HashOutside(llvm::ArrayRef<int32_t> nodes) {
    llvm::DenseMap<std::pair<int32_t, int32_t>, uint64_t> sums;
    for (int32_t i : nodes) {
      int32_t slot = 0;
      for (const BodyView::In& in : view_.DataInputs(i)) {
        if (!IsInside(in.node))
          sums[{in.node, in.port}] += HashInto(HashInto(kReader, slot), both_[i]);
        ++slot;
      }
    }
    outside_ = std::move(sums);
  }

  const BodyView& view_;
  const std::vector<uint64_t> labels_;
  std::vector<int32_t> block_of_;
  int32_t block_ = kNobody;
  std::vector<uint64_t> in_, out_, both_, before_;
  llvm::DenseMap<std::pair<int32_t, int32_t>, uint64_t> outside_;  // by port
};

std::vector<ScopeBlock> BlocksOf(const BodyView& view, std::vector<uint64_t> labels) {
  NameTree tree(view);
  std::vector<std::vector<int32_t>> nodes(tree.scopes().size());
  for (int32_t i : view.order())
    for (int32_t scope = tree.InnermostOf(i); scope != kNobody; scope = tree.Around(scope))
      nodes[scope].push_back(i);
  BlockHasher hasher(view, std::move(labels));
  std::vector<ScopeBlock> blocks;
  for (size_t scope = 0; scope < nodes.size(); ++scope) {
    if (!tree.IsBlock(static_cast<int32_t>(scope))) continue;
    uint64_t hash = hasher.Hash(nodes[scope], static_cast<int32_t>(scope));
    blocks.push_back({tree.scopes()[scope].path, static_cast<int64_t>(nodes[scope].size()), hash});
  }
  return blocks;
}

}  // namespace

std::vector<std::vector<ScopeBlock>> ScopeBlocks(const Module& module) {
  llvm::StringMap<uint64_t> known;
  auto function_hash = [&](llvm::StringRef name) {
    auto it = known.find(name);
    if (it != known.end()) return it->second;
    return module.FindFunction(name) ? kRecursive : HashText(name);
  };
  std::vector<std::vector<ScopeBlock>> blocks(1 + module.functions.size());
  for (int32_t body : CalleesFirst(module)) {
    const Function* function = body == 0 ? nullptr : module.functions[body - 1].get();
    BodyView view(function ? function->body : module.main, function);
    blocks[body] = BlocksOf(view, StructureLabels(view, function_hash));
    if (function) known.try_emplace(function->name(), blocks[body][0].hash);
  }
  return blocks;
}

}  // namespace grapnel
