#include "lib/render/scope_tree.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "lib/render/flow_order.h"
#include "lib/render/series.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

// Fewer siblings than this make no group.
constexpr size_t kSmallestGroup = 3;
// Scopes with fewer entities have no series, which have no fewer members.
constexpr size_t kSeriesAbove = 12, kSmallestSeries = 4;
// Members of a part, and parts of a scope: with more members parts are larger, and split again.
constexpr size_t kPartSize = 40, kMostParts = 40, kMostPartsOfSeries = 9;

// The slash that ends the part of `name` that begins at `from`; npos for the last part. A slash at
// the end of the name, and the second of two, belong to a part.
size_t EndOfPart(llvm::StringRef name, size_t from) {
  size_t slash = name.find('/', from + 1);
  return slash + 1 == name.size() ? llvm::StringRef::npos : slash;
}

}  // namespace

// Scopes in the order they are found; Number() gives them their ids.
class ScopeTree::Builder {
 public:
  Builder(const Graph& graph, llvm::ArrayRef<NodeUse> uses, ScopeTree* tree)
      : graph_(graph), uses_(uses), tree_(*tree) {}

  void Build(uint32_t group_above, uint32_t parts_above) {
    found_.emplace_back();
    FindScopes();
    ListMembers();
    FindAllSeries();
    for (ScopeId id = 0; id < found_.size();
         ++id) {  // groups are added at the end, and looked at in their turn
      if (NumMembersOf(id) > group_above && !found_[id].series) Group(id);
      if (NumMembersOf(id) > (found_[id].series ? group_above : parts_above)) Split(id);
    }
    Number();
    Count();
  }

 private:
  struct Found {
    ScopeId parent = kNoScope;
    llvm::StringRef path;
    bool group = false, series = false, part = false;
    size_t name_from = 0;     // where in its members' names the part of their own begins
    uint32_t num_folded = 0;  // folded nodes that lie in no deeper scope
    std::vector<ScopeId> children;
    std::vector<NodeId> ops;
  };

  void FindScopes() {
    std::vector<ScopeId>& scope_of = tree_.scope_of_;
    scope_of.assign(graph_.end_id(), kNoScope);
    std::vector<size_t> last_part(graph_.end_id());
    for (Node node : graph_.nodes()) {
      if (uses_[node.id()] == NodeUse::kOutside) continue;
      scope_of[node.id()] = Walk(node.name());
      last_part[node.id()] = trail_.empty() ? 0 : trail_.back().slash + 1;
    }
    // Which ops are named as a scope is known only when all scopes are.
    for (Node node : graph_.nodes()) {
      ScopeId& scope = scope_of[node.id()];
      if (scope == kNoScope) continue;
      auto same = by_part_.find({scope, node.name().substr(last_part[node.id()])});
      if (same != by_part_.end()) scope = same->second;
    }
  }

  // The scope of a name. Neighbours in the file mostly share theirs, so the walk goes on where the
  // last one agrees.
  ScopeId Walk(llvm::StringRef name) {
    size_t common = 0, limit = std::min(name.size(), last_name_.size());
    while (common < limit && name[common] == last_name_[common]) ++common;
    while (!trail_.empty() &&
           (trail_.back().slash >= common || trail_.back().slash + 1 == name.size())) {
      trail_.pop_back();
    }
    last_name_ = name;
    ScopeId scope = trail_.empty() ? kRootScope : trail_.back().scope;
    size_t from = trail_.empty() ? 0 : trail_.back().slash + 1;
    for (size_t slash; (slash = EndOfPart(name, from)) != llvm::StringRef::npos; from = slash + 1) {
      ScopeId next = static_cast<ScopeId>(found_.size());
      auto [it, fresh] = by_part_.try_emplace({scope, name.slice(from, slash)}, next);
      if (fresh) {
        found_.emplace_back();
        found_.back().parent = scope;
        found_.back().path = name.substr(0, slash);
        found_.back().name_from = slash + 1;
      }
      scope = it->second;
      trail_.push_back({scope, slash});
    }
    return scope;
  }

  void ListMembers() {
    for (ScopeId id = 1; id < found_.size(); ++id) found_[found_[id].parent].children.push_back(id);
    for (Node node : graph_.nodes()) {
      if (tree_.scope_of_[node.id()] == kNoScope) continue;
      Found& scope = found_[tree_.scope_of_[node.id()]];
      if (uses_[node.id()] == NodeUse::kShown) {
        scope.ops.push_back(node.id());
      } else {
        ++scope.num_folded;
      }
    }
  }

  // Series are looked for among the scopes that names make, before any are grouped.
  void FindAllSeries() {
    size_t num_scopes = found_.size();
    std::vector<bool> shows(num_scopes, false);
    std::vector<ScopeId> wide;
    for (ScopeId id = static_cast<ScopeId>(num_scopes); id-- > 0;) {
      if (!found_[id].ops.empty()) shows[id] = true;
      if (shows[id] && id != kRootScope) shows[found_[id].parent] = true;
      if (NumMembersOf(id) > kSeriesAbove) wide.push_back(id);
    }
    std::optional<ScopeStructures> structures;
    for (ScopeId id : llvm::reverse(wide)) {
      if (!MayHaveSeries(id)) continue;
      if (!structures) structures = Structures();
      MakeSeries(id, *structures, shows);
    }
  }

  ScopeStructures Structures() const {
    std::vector<ScopeStructures::ScopeName> names;
    names.reserve(found_.size());
    for (const Found& scope : found_) names.push_back({scope.parent, scope.path, scope.name_from});
    return ScopeStructures(graph_, names, tree_.scope_of_);
  }

  // Whether enough members' names differ in a last number only.
  bool MayHaveSeries(ScopeId scope) const {
    llvm::StringMap<size_t> stems;
    for (const Member& member : MembersOf(scope)) {
      if (++stems[NameStem(member.name)] >= kSmallestSeries) return true;
    }
    return false;
  }

  void MakeSeries(ScopeId scope, const ScopeStructures& structures,
                  const std::vector<bool>& shows) {
    std::vector<Member> members = MembersOf(scope);
    std::vector<SeriesCandidate> candidates;
    for (const Member& member : members) {
      // What nobody sees, and arguments and results, have no like.
      std::string alone = std::to_string(candidates.size()) + "/";
      llvm::StringRef op = member.is_scope ? "" : graph_.node(member.id).op();
      bool fits = member.is_scope ? shows[member.id] : op != "_Arg" && op != "_Retval";
      candidates.push_back({fits ? NameStem(member.name).str() : alone,
                            member.is_scope ? structures.HashOf(member.id)
                                            : static_cast<uint64_t>(llvm::hash_value(op))});
    }
    auto series = FindSeries(candidates, EdgesAmong(members), kSmallestSeries);
    if (series.empty()) return;
    found_[scope].children.clear();
    found_[scope].ops.clear();
    std::vector<ScopeId> into(members.size(), scope);
    for (std::vector<uint32_t>& list : series) {
      auto number = [&](uint32_t i) {  // of one stem the shorter name has the smaller number
        return std::make_pair(members[i].name.size(), members[i].name);
      };
      std::sort(list.begin(), list.end(),
                [&](uint32_t a, uint32_t b) { return number(a) < number(b); });
      ScopeId made = AddGroup(scope, members[list.front()].name, members[list.back()].name);
      found_[made].series = true;
      for (uint32_t member : list) into[member] = made;
    }
    for (size_t i = 0; i < members.size(); ++i) Move(members[i], into[i]);
  }

  struct Member {
    bool is_scope;
    uint32_t id;
    llvm::StringRef name;
  };

  size_t NumMembersOf(ScopeId scope) const {
    return found_[scope].children.size() + found_[scope].ops.size();
  }

  std::vector<Member> MembersOf(ScopeId scope) const {
    std::vector<Member> members;
    for (ScopeId id : found_[scope].children) members.push_back({true, id, found_[id].path});
    for (NodeId id : found_[scope].ops) members.push_back({false, id, graph_.node(id).name()});
    return members;
  }

  // Members by the word of their names that begins at `from`; words end at '_'. In order of first
  // appearance.
  static std::vector<std::vector<Member>> ByWord(llvm::ArrayRef<Member> members, size_t from) {
    llvm::StringMap<size_t> index;
    std::vector<std::vector<Member>> words;
    for (const Member& member : members) {
      llvm::StringRef rest = member.name.substr(from);
      auto [it, fresh] = index.try_emplace(rest.substr(0, rest.find('_', 1)), words.size());
      if (fresh) words.emplace_back();
      words[it->second].push_back(member);
    }
    return words;
  }

  // Moves members of `scope` whose names begin with the same word into groups.
  void Group(ScopeId scope) {
    size_t from = found_[scope].name_from;
    std::vector<Member> members = MembersOf(scope);
    std::vector<std::vector<Member>> words = ByWord(members, from);
    while (words.size() == 1) {  // all begin alike: the word after may tell them apart
      llvm::StringRef rest = members[0].name.substr(from);
      if (rest.empty()) return;
      from += std::min(rest.size(), rest.find('_', 1)) + 1;
      words = ByWord(members, from);
    }
    found_[scope].children.clear();
    found_[scope].ops.clear();
    for (const std::vector<Member>& word : words) {
      // AddN itself counts among AddN_1, AddN_2 ...; the prefix is read from a name that goes on.
      auto goes_on = std::find_if(word.begin(), word.end(), [&](const Member& member) {
        return member.name.find('_', from + 1) != llvm::StringRef::npos;
      });
      ScopeId into = scope;
      if (word.size() >= kSmallestGroup && goes_on != word.end()) {
        into = static_cast<ScopeId>(found_.size());
        found_[scope].children.push_back(into);
        found_.emplace_back();
        found_.back().parent = scope;
        found_.back().group = true;
        found_.back().name_from = goes_on->name.find('_', from + 1) + 1;
        found_.back().path = goes_on->name.substr(0, found_.back().name_from);
      }
      for (const Member& member : word) Move(member, into);
    }
  }

  // Edges between members of a scope, by number: children first, then ops.
  std::vector<std::pair<uint32_t, uint32_t>> EdgesAmong(llvm::ArrayRef<Member> members) {
    constexpr uint32_t kNoMember = ~uint32_t{0};
    member_of_.resize(graph_.end_id(), kNoMember);
    std::vector<NodeId> nodes;
    auto add = [&](NodeId node, uint32_t member) {
      member_of_[node] = member;
      nodes.push_back(node);
    };
    for (uint32_t i = 0; i < members.size(); ++i) {
      if (!members[i].is_scope) {
        add(members[i].id, i);
        continue;
      }
      llvm::SmallVector<ScopeId, 8> below = {members[i].id};
      while (!below.empty()) {
        const Found& scope = found_[below.pop_back_val()];
        below.append(scope.children.begin(), scope.children.end());
        for (NodeId op : scope.ops) add(op, i);
      }
    }
    std::vector<std::pair<uint32_t, uint32_t>> edges;
    for (NodeId node : nodes) {
      for (Port port : graph_.node(node).inputs()) {
        if (port.node == kNoNode) continue;
        uint32_t from = member_of_[port.node], to = member_of_[node];
        if (from != kNoMember && from != to) edges.push_back({from, to});
      }
    }
    for (NodeId node : nodes) member_of_[node] = kNoMember;
    return edges;
  }

  // Moves members of `scope` into parts of equal size. Of a series, which is as good to look at
  // from afar, there are as many parts as each has members.
  void Split(ScopeId scope) {
    std::vector<Member> members = MembersOf(scope);
    size_t count = members.size();
    std::vector<uint32_t> order = FlowOrder(static_cast<uint32_t>(count), EdgesAmong(members));
    bool series = found_[scope].series;
    size_t size = series ? static_cast<size_t>(std::sqrt(count)) : kPartSize;
    size_t parts =
        std::clamp((count + size - 1) / size, size_t{2}, series ? kMostPartsOfSeries : kMostParts);
    found_[scope].children.clear();
    found_[scope].ops.clear();
    for (size_t part = 0; part < parts; ++part) {
      size_t begin = count * part / parts, end = count * (part + 1) / parts;
      ScopeId into = AddGroup(scope, members[order[begin]].name, members[order[end - 1]].name);
      found_[into].part = true;
      for (size_t i = begin; i < end; ++i) Move(members[order[i]], into);
    }
  }

  // A group that is named by its first and last member.
  ScopeId AddGroup(ScopeId scope, llvm::StringRef first, llvm::StringRef last) {
    ScopeId id = static_cast<ScopeId>(found_.size());
    found_[scope].children.push_back(id);
    found_.emplace_back();
    Found& made = found_.back();
    made.parent = scope;
    made.group = true;
    made.name_from = found_[scope].name_from;
    tree_.texts_.push_back(first.str() + " \xe2\x80\xa6 " +
                           last.drop_front(std::min(last.size(), made.name_from)).str());
    made.path = tree_.texts_.back();
    return id;
  }

  void Move(const Member& member, ScopeId into) {
    if (member.is_scope) {
      found_[member.id].parent = into;
      found_[into].children.push_back(member.id);
    } else {
      tree_.scope_of_[member.id] = into;
      found_[into].ops.push_back(member.id);
    }
  }

  // Breadth first: parents before children, siblings side by side.
  void Number() {
    std::vector<ScopeId> order = {kRootScope}, number(found_.size());
    order.reserve(found_.size());
    tree_.scopes_.resize(found_.size());
    for (ScopeId id = 0; id < order.size(); ++id) {
      const Found& found = found_[order[id]];
      Scope& scope = tree_.scopes_[id];
      number[order[id]] = id;
      scope.parent = id == kRootScope ? kNoScope : number[found.parent];
      scope.path = found.path;
      scope.group = found.group;
      scope.series = found.series;
      scope.part = found.part;
      scope.first_child = static_cast<ScopeId>(order.size());
      scope.num_children = static_cast<uint32_t>(found.children.size());
      scope.first_op = static_cast<uint32_t>(tree_.ops_.size());
      scope.num_direct_ops = static_cast<uint32_t>(found.ops.size());
      scope.num_ops = scope.num_direct_ops + found.num_folded;
      order.insert(order.end(), found.children.begin(), found.children.end());
      tree_.ops_.insert(tree_.ops_.end(), found.ops.begin(), found.ops.end());
    }
    for (ScopeId& scope : tree_.scope_of_) {
      if (scope != kNoScope) scope = number[scope];
    }
  }

  void Count() {
    for (ScopeId id = static_cast<ScopeId>(tree_.size()); id-- > 0;) {
      Scope& scope = tree_.scopes_[id];
      scope.num_shown += scope.num_direct_ops;
      scope.num_entities += scope.num_direct_ops;
      if (scope.num_entities != 1 || scope.num_direct_ops == 1) scope.core = id;
      if (id == kRootScope) break;
      Scope& parent = tree_.scopes_[scope.parent];
      parent.num_ops += scope.num_ops;
      parent.num_shown += scope.num_shown;
      if (scope.num_shown > 0) {
        ++parent.num_entities;
        parent.core = scope.core;  // holds where the parent turns out to have no other entity
      }
    }
  }

  const Graph& graph_;
  llvm::ArrayRef<NodeUse> uses_;
  ScopeTree& tree_;
  std::vector<Found> found_;
  llvm::DenseMap<std::pair<ScopeId, llvm::StringRef>, ScopeId> by_part_;
  struct Step {
    ScopeId scope;
    size_t slash;  // that ends its path
  };
  std::vector<uint32_t> member_of_;  // by node, for EdgesAmong
  llvm::StringRef last_name_;
  std::vector<Step> trail_;  // the scopes of last_name_
};

ScopeTree::ScopeTree(const Graph& graph, llvm::ArrayRef<NodeUse> uses, uint32_t group_above,
                     uint32_t parts_above) {
  Builder(graph, uses, this).Build(group_above, parts_above);
}

ScopeId ScopeTree::Find(llvm::StringRef path) const {
  bool group = path.size() > 1 && path.back() == '*';
  if (group) path = path.drop_back();
  while (!group && path.size() > 1 && path.back() == '/') path = path.drop_back();
  for (ScopeId id = 0; id < scopes_.size(); ++id) {
    if (IsPrefix(id) == group && scopes_[id].path == path) return id;
  }
  return kNoScope;
}

std::string ScopeTree::PathText(ScopeId id) const {
  return scopes_[id].path.str() + (IsPrefix(id) ? "*" : "");
}

std::string ScopeTree::TitleText(ScopeId id) const {
  return PathText(id) + (scopes_[id].group ? " \xc3\x97" + std::to_string(NumMembers(id)) : "");
}

size_t ScopeTree::NumMembers(ScopeId id) const {
  size_t count = 0;
  llvm::SmallVector<ScopeId, 8> stack = {id};
  while (!stack.empty()) {
    const Scope& scope = scopes_[stack.pop_back_val()];
    bool parts = scope.num_children > 0 && scopes_[scope.first_child].part;
    if (!parts) count += scope.num_entities;
    for (ScopeId i = 0; parts && i < scope.num_children; ++i)
      stack.push_back(scope.first_child + i);
  }
  return count;
}

ScopeId ScopeTree::RealScope(ScopeId id) const {
  while (scopes_[id].group) id = scopes_[id].parent;
  return id;
}

}  // namespace grapnel
