#include "lib/diff/followed_changes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "lib/ir/device_name.h"
#include "lib/ir/node_types.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

bool IsOfInputs(const Change& change) {
  return llvm::StringRef(change.what).starts_with("input ") || change.what == "control inputs";
}

bool IsCommutative(const Node& node) {
  const OpInfo* info = FindOp(node.op());
  // TensorFlow does not mark Add as commutative, because it also joins strings.
  return info &&
         (info->is_commutative || (node.op() == "Add" && node.GetType("T") != proto::DT_STRING));
}

constexpr const char* kInOtherOrder = "with operands in another order";
constexpr const char* kReadsSuccessor = "follow a removed input";

// The source of an input: a node's name, which means the same node in both graphs, and its output.
using NamedSource = std::pair<llvm::StringRef, int32_t>;

class Counting {
 public:
  explicit Counting(Diff* diff) : diff_(diff) {
    into_.reserve(diff->removed.size() + 2 * diff->groups.size());
    for (auto [node, fate] : llvm::zip(diff->removed, diff->fates)) into_[node.name] = fate.into;
    for (const GroupEntry& group : diff->groups)
      for (const NodeEntry& node : group.a) into_[node.name] = group.b[0].node.name();
    for (const OpenedCall& call : diff->opened) opened_.insert(call.call);
  }

  void Run() {
    for (MatchedPair& pair : diff_->matched)
      if (!pair.changes.empty()) Sift(&pair);
    for (auto& [what, nodes] : counts_) diff_->counted.push_back({what, std::move(nodes)});
  }

 private:
  void Count(const std::string& what, const MatchedPair& pair) {
    counts_[what].push_back(pair.b.name.str());
  }

  void Sift(MatchedPair* pair) {
    std::vector<Change>& changes = pair->changes;
    bool other_op = pair->a.node.op() != pair->b.node.op();
    if (other_op && IsConstant(pair->b.node)) {
      llvm::erase_if(changes, [](const Change& change) { return change.what != "op"; });
      return;
    }
    llvm::erase_if(changes, [&](const Change& change) {
      if (change.what == "device" && change.before.empty()) {
        Count("placed on " + ShortDevice(change.after), *pair);
      } else if (llvm::StringRef(change.what).starts_with("_")) {
        Count("marked " + change.what, *pair);
      } else {
        return false;
      }
      return true;
    });
    if (other_op || llvm::none_of(changes, IsOfInputs)) return;
    std::string why = WhyOtherInputs(*pair);
    if (why.empty()) return;
    llvm::erase_if(changes, IsOfInputs);
    Count(why, *pair);
  }

  // Returns what replaced a node of the pair's body in A; nullopt if the node was not removed.
  std::optional<llvm::StringRef> Into(const MatchedPair& pair, llvm::StringRef node) const {
    llvm::StringRef function = pair.a.function();
    std::string whole = function.empty() ? "" : (function + "/" + node).str();
    auto found = into_.find(function.empty() ? node : llvm::StringRef(whole));
    if (found == into_.end()) return std::nullopt;
    return found->second;
  }

  // True if the input `after` of B's node is the input `before` of A's node, the node that replaced
  // `before`, or part of what replaced `before`, an inlined call.
  bool Follows(const MatchedPair& pair, const NamedSource& before, const NamedSource& after) const {
    if (before == after) return true;
    if (auto into = Into(pair, before.first)) return *into == after.first;
    llvm::StringRef name = after.first;
    return IsOpened(before.first) && (name.consume_front("Func/") || before.first != name) &&
           name.starts_with(before.first);
  }

  bool IsOpened(llvm::StringRef call) const {
    auto it = opened_.lower_bound(call);
    if (it == opened_.end()) return false;
    llvm::StringRef rest = *it;
    return rest.consume_front(call) && (rest.empty() || rest[0] == '/');
  }

  // Returns the kind of the change if what happened to other nodes explains why the node's inputs
  // changed; else "".
  std::string WhyOtherInputs(const MatchedPair& pair) const {
    std::vector<NamedSource> before = DataSources(pair.a.node), after = DataSources(pair.b.node);
    auto follows = [&](const NamedSource& x, const NamedSource& y) { return Follows(pair, x, y); };
    bool in_order = before.size() == after.size() &&
                    std::equal(before.begin(), before.end(), after.begin(), follows);
    bool swapped =
        !in_order && IsCommutative(pair.b.node) &&
        std::is_permutation(before.begin(), before.end(), after.begin(), after.end(), follows);
    if ((!in_order && !swapped) || !ControlsFollow(pair)) return "";
    return swapped ? kInOtherOrder : kReadsSuccessor;
  }

  static std::vector<NamedSource> DataSources(const Node& node) {
    std::vector<NamedSource> sources;
    for (int i = 0; i < node.num_inputs(); ++i) {
      Node source = node.input_node(i);
      sources.push_back({source ? source.name() : "", node.input(i).index});
    }
    return sources;
  }

  static std::set<llvm::StringRef> Controls(const Node& node) {
    std::set<llvm::StringRef> names;
    for (int i = 0; i < node.num_controls(); ++i)
      if (Node control = node.control(i)) names.insert(control.name());
    return names;
  }

  // True if the fate of other nodes explains the new control inputs: every one that is gone was
  // removed or inlined, and every new one is what became of such a node, or one of its inputs.
  bool ControlsFollow(const MatchedPair& pair) const {
    std::set<llvm::StringRef> before = Controls(pair.a.node), after = Controls(pair.b.node);
    if (before == after) return true;
    std::vector<llvm::StringRef> gone;
    std::set_difference(before.begin(), before.end(), after.begin(), after.end(),
                        std::back_inserter(gone));
    std::set<llvm::StringRef> expected;
    for (llvm::StringRef name : gone) {
      auto into = Into(pair, name);
      if (!into && !IsOpened(name)) return false;
      if (into) expected.insert(*into);
      AddBehind(pair, name, &expected);
    }
    return llvm::all_of(after, [&](llvm::StringRef name) {
      return before.contains(name) || expected.contains(name) ||
             llvm::any_of(gone, [&](llvm::StringRef old) {
               return Follows(pair, {old, kControlPort}, {name, kControlPort});
             });
    });
  }

  // Adds the names of the data and control inputs of node `name` of A. For each input that was
  // removed, also adds what it became, and its own inputs.
  void AddBehind(const MatchedPair& pair, llvm::StringRef name,
                 std::set<llvm::StringRef>* expected) const {
    Node node = pair.a.node.graph().Find(name);
    if (!node) return;
    for (Port port : node.inputs()) {
      if (port.node == kNoNode) continue;
      llvm::StringRef source = Node(&node.graph(), port.node).name();
      auto into = Into(pair, source);
      if (!expected->insert(source).second || !into) continue;
      if (!into->empty()) expected->insert(*into);
      AddBehind(pair, source, expected);
    }
  }

  Diff* diff_;
  // By removed node: what replaced it. The strings are those of the diff and its graphs.
  llvm::DenseMap<llvm::StringRef, llvm::StringRef> into_;
  std::set<llvm::StringRef> opened_;
  std::map<std::string, std::vector<std::string>> counts_;
};

}  // namespace

void CountFollowedChanges(Diff* diff) { Counting(diff).Run(); }

}  // namespace grapnel
