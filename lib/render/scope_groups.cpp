#include <algorithm>
#include <cmath>
#include <optional>

#include "lib/render/labels.h"
#include "lib/render/scope_tree_builder.h"
#include "lib/support/text.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

// A group of members with similar names has at least this many members.
constexpr size_t kSmallestGroup = 3;
// FindAllSeries looks for series only in scopes with more than kSeriesAbove members; such a series
// has at least kSmallestSeries members.
constexpr size_t kSeriesAbove = 12, kSmallestSeries = 4;
// More inputs than this are one box.
constexpr size_t kMostInputs = 8;
// More replicas than this are a series.
constexpr size_t kMostReplicas = 16;
// Members are grouped by names only if at most this many groups and single members remain.
constexpr size_t kMostByNames = 40;
// The number of parts that CutAlongFlow aims for in one scope. Of members before and after
// replicas, each side gets its share, but at least kFewParts: so few members stay as they are.
constexpr uint32_t kMostFlowParts = 20, kFewParts = 8;
// SplitEvenly aims for slices of kSliceSize members (for a series, see there), but makes at most
// kMostSlices slices of a scope and kMostSlicesOfSeries of a series. Slices with too many members
// are divided in turn.
constexpr size_t kSliceSize = 40, kMostSlices = 40, kMostSlicesOfSeries = 9;

// Returns "FIRST ... LAST". Of the last name, drops the words that it shares with the beginning of
// the first name; the rest begins with a word that begins with a letter.
std::string RangeTitle(llvm::StringRef first, llvm::StringRef last) {
  size_t word = 0;
  for (size_t i = 0; i < first.size() && i < last.size() && first[i] == last[i]; ++i) {
    bool ends = last[i] == '/' || last[i] == '_';
    if (ends && i + 1 < last.size() && llvm::isAlpha(last[i + 1])) word = i + 1;
  }
  return (first + " \xe2\x80\xa6 " + last.drop_front(word)).str();
}

}  // namespace

void ScopeTree::Builder::Build(uint32_t group_above, bool keep_outermost) {
  found_.emplace_back();
  FindScopes(keep_outermost);
  if (layers_ && !layers_->empty()) FindLayers();
  ListMembers();
  dropped_into_.assign(found_.size(), kNoScope);
  if (layers_ && !layers_->empty()) DropWrappers();
  DropCyclicScopes();
  GroupInputs();
  FindAllSeries();
  // found_ grows: groups are added at its end and visited later.
  for (ScopeId id = 0; id < found_.size(); ++id) GroupMembers(id, group_above);
  Number();
  Count();
}

// Makes one part of the graph's inputs if there are many: what reads them is of more interest.
void ScopeTree::Builder::GroupInputs() {
  std::vector<Member> inputs, others;
  for (const Member& member : MembersOf(kRootScope)) {
    bool is_input = !member.is_scope && GroupOf(graph_.node(member.id).op()) == OpGroup::kInput;
    (is_input ? inputs : others).push_back(member);
  }
  if (inputs.size() <= kMostInputs || others.empty()) return;
  Clear(kRootScope);
  for (const Member& member : others) Move(member, kRootScope);
  ScopeId made = AddGroup(kRootScope, inputs.front().name, inputs.back().name);
  found_[made].part = found_[made].inputs = true;
  found_[made].title = Keep(Plural(inputs.size(), "input"));
  for (const Member& member : inputs) Move(member, made);
}

// Makes groups of a scope's members if there are too many. Replicas stay out of groups of other
// members, because each is a box of its own.
void ScopeTree::Builder::GroupMembers(ScopeId scope, uint32_t group_above) {
  auto is_large = [&] { return NumMembersOf(scope) > group_above; };
  if (found_[scope].series || found_[scope].slice) {
    if (is_large()) SplitEvenly(scope);
    return;
  }
  std::vector<Member> kept = TakeOutKept(scope);
  if (is_large() && (!kept.empty() || !GroupByNames(scope))) CutAlongFlow(scope, kept);
  PutBackKept(scope, kept);
}

// Returns the members that no flow leads to from a replica, then the others. A group of both would
// be above the replicas and below them. Returns one list if there are no replicas.
std::vector<std::vector<ScopeTree::Builder::Member>> ScopeTree::Builder::BeforeAndAfter(
    llvm::ArrayRef<Member> members, llvm::ArrayRef<Member> kept) {
  std::vector<std::vector<Member>> sides(kept.empty() ? 1 : 2);
  if (kept.empty()) sides[0] = members.vec();
  if (kept.empty()) return sides;
  std::vector<Member> all = members.vec();
  all.insert(all.end(), kept.begin(), kept.end());
  std::vector<std::vector<uint32_t>> readers(all.size());
  for (auto [from, to] : EdgesAmong(all)) readers[from].push_back(to);
  std::vector<bool> is_after(all.size(), false);
  std::vector<uint32_t> stack;
  for (uint32_t i = 0; i < kept.size(); ++i) stack.push_back(members.size() + i);
  while (!stack.empty()) {
    uint32_t from = stack.back();
    stack.pop_back();
    for (uint32_t to : readers[from]) {
      if (!is_after[to]) stack.push_back(to);
      is_after[to] = true;
    }
  }
  for (size_t i = 0; i < members.size(); ++i) sides[is_after[i]].push_back(members[i]);
  return sides;
}

std::vector<ScopeTree::Builder::Member> ScopeTree::Builder::TakeOutKept(ScopeId scope) {
  std::vector<Member> kept;
  llvm::erase_if(found_[scope].children, [&](ScopeId child) {
    if (found_[child].kept) kept.push_back({true, child, found_[child].path});
    return found_[child].kept;
  });
  return kept;
}

// Adds the replicas to the scope again: those whose names differ only in a number as a series, if
// they are many.
void ScopeTree::Builder::PutBackKept(ScopeId scope, llvm::ArrayRef<Member> kept) {
  llvm::StringMap<size_t> index;
  std::vector<std::vector<Member>> alike;
  for (const Member& member : kept) {
    auto [it, fresh] = index.try_emplace(NameStem(member.name), alike.size());
    if (fresh) alike.emplace_back();
    alike[it->second].push_back(member);
  }
  for (const std::vector<Member>& members : alike) {
    ScopeId into = scope;
    if (members.size() > kMostReplicas) {
      into = AddGroup(scope, members.front().name, members.back().name);
      found_[into].series = found_[into].kept = true;
    }
    for (const Member& member : members) Move(member, into);
  }
}

// Makes series of scopes whose names differ only in a number, before any other groups are made.
void ScopeTree::Builder::FindAllSeries() {
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
    if (!structures) structures = Structures(true);
    MakeSeries(id, *structures, shows);
  }
}

ScopeStructures ScopeTree::Builder::Structures(bool names) const {
  std::vector<ScopeStructures::ScopeName> scopes;
  scopes.reserve(found_.size());
  for (const Found& scope : found_) scopes.push_back({scope.parent, scope.path, scope.name_from});
  if (names) return ScopeStructures(graph_, scopes, tree_.scope_of_, true);
  std::vector<ScopeId> shown_in = tree_.scope_of_;
  for (NodeId id = 0; id < shown_in.size(); ++id) {
    if (uses_[id] != NodeUse::kShown) shown_in[id] = kNoScope;
  }
  return ScopeStructures(graph_, scopes, shown_in, false);
}

// True if the names of enough scopes among the members differ only in the last number.
bool ScopeTree::Builder::MayHaveSeries(ScopeId scope) const {
  llvm::StringMap<size_t> stems;
  for (const Member& member : FreeMembersOf(scope)) {
    if (member.is_scope && ++stems[NameStem(member.name)] >= kSmallestSeries) return true;
  }
  return false;
}

void ScopeTree::Builder::MakeSeries(ScopeId scope, const ScopeStructures& structures,
                                    const std::vector<bool>& shows) {
  std::vector<Member> members = MembersOf(scope);
  std::vector<SeriesCandidate> candidates;
  for (const Member& member : members) {
    // Only scopes become series here. FlowParts finds the series of ops better, because it uses
    // their edges.
    bool fits = member.is_scope && shows[member.id] && !found_[member.id].kept;
    std::string alone = std::to_string(candidates.size()) + "/";
    candidates.push_back({fits ? NameStem(member.name).str() : alone,
                          member.is_scope ? structures.HashOf(member.id) : 0});
  }
  auto series = FindSeries(candidates, EdgesAmong(members), kSmallestSeries);
  if (series.empty()) return;
  Clear(scope);
  std::vector<ScopeId> into(members.size(), scope);
  for (std::vector<uint32_t>& list : series) {
    auto number = [&](uint32_t i) {  // of names with one stem, the shorter has the smaller number
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

// Groups members by the word of their names that begins at `from` and ends before the next '_'.
// Returns the groups in the order of their first members.
std::vector<std::vector<ScopeTree::Builder::Member>> ScopeTree::Builder::ByWord(
    llvm::ArrayRef<Member> members, size_t from) {
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

// Groups members whose names begin with the same word. Does nothing and returns false if no word
// has enough members for a group, if flow would leave such a group and reenter it, or if too many
// groups and single members would remain.
bool ScopeTree::Builder::GroupByNames(ScopeId scope) {
  size_t from = found_[scope].name_from;
  std::vector<Member> members = MembersOf(scope);
  std::vector<std::vector<Member>> words = ByWord(members, from);
  while (words.size() == 1) {  // all members share the word: tries the next one
    llvm::StringRef rest = members[0].name.substr(from);
    if (rest.empty()) return false;
    from += std::min(rest.size(), rest.find('_', 1)) + 1;
    words = ByWord(members, from);
  }
  std::vector<Member> ordered;
  std::vector<uint32_t> group_of;
  for (uint32_t i = 0; i < words.size(); ++i) {
    ordered.insert(ordered.end(), words[i].begin(), words[i].end());
    group_of.insert(group_of.end(), words[i].size(), i);
  }
  size_t entities = 0;
  for (const std::vector<Member>& word : words)
    entities += word.size() >= kSmallestGroup ? 1 : word.size();
  if (entities > kMostByNames || entities == members.size()) return false;
  FlowEdges edges = EdgesAmong(ordered);
  for (auto& [a, b] : edges) {
    a = group_of[a];
    b = group_of[b];
  }
  uint32_t count = static_cast<uint32_t>(words.size());
  std::vector<uint32_t> cycles = CyclesOf(count, std::move(edges)), on(count, 0);
  for (uint32_t i = 0; i < count; ++i) {
    if (++on[cycles[i]] > 1) return false;
  }
  Group(scope, words, from);
  return true;
}

void ScopeTree::Builder::Group(ScopeId scope, const std::vector<std::vector<Member>>& words,
                               size_t from) {
  Clear(scope);
  for (const std::vector<Member>& word : words) {
    // The group of AddN_1, AddN_2, ... may include AddN itself. So the group's prefix, "AddN_",
    // comes from a name that goes on after the word.
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

uint32_t ScopeTree::Builder::SizeOf(const Member& member) const {
  uint32_t size = 0;
  ForEachNode(member, [&](NodeId) { ++size; });
  return size;
}

// Returns a hash that does not depend on names: of a node's op, or of a scope's contents.
uint64_t ScopeTree::Builder::StructureOf(const Member& member) const {
  if (!member.is_scope) {
    llvm::StringRef op = graph_.node(member.id).op();
    uint64_t structure = static_cast<uint64_t>(llvm::hash_value(op));
    // Each argument or result gets a structure of its own, so that none counts as a repeat of
    // another.
    return op == "_Arg" || op == "_Retval" ? structure + member.id : structure;
  }
  if (member.id < structures_.size()) return structures_[member.id];
  uint64_t structure = 1;
  ForEachNode(member, [&](NodeId node) {
    structure += static_cast<uint64_t>(llvm::hash_value(graph_.node(node).op()));
  });
  return structure;
}

llvm::StringRef ScopeTree::Builder::OwnName(ScopeId scope, llvm::StringRef name) const {
  return name.drop_front(std::min(name.size(), found_[scope].name_from));
}

// True for an input or a result of the graph. If these are few, each is a box of its own: users
// look for them first.
bool ScopeTree::Builder::IsEnd(ScopeId scope, const Member& member) const {
  if (scope != kRootScope || member.is_scope) return false;
  Node node = graph_.node(member.id);
  return GroupOf(node.op()) == OpGroup::kInput || node.uses().empty();
}

void ScopeTree::Builder::CutAlongFlow(ScopeId scope, llvm::ArrayRef<Member> kept) {
  if (structures_.empty()) {
    ScopeStructures structures = Structures(false);
    for (ScopeId id = 0; id < found_.size(); ++id)
      structures_.push_back(id < structures.size() ? structures.HashOf(id) : 0);
  }
  // Members without shown nodes do not become members of parts: they stay directly in the scope.
  std::vector<Member> members, alone, ends;
  for (const Member& member : MembersOf(scope))
    (IsEnd(scope, member) ? ends : SizeOf(member) > 0 ? members : alone).push_back(member);
  bool are_few = ends.size() <= 2 * kMostInputs;
  std::vector<Member>& into = are_few ? alone : members;
  into.insert(into.end(), ends.begin(), ends.end());
  if (members.size() < 2) return;
  struct Side {
    std::vector<Member> members;
    std::vector<FlowMember> flow;
    std::vector<FlowPart> parts;
  };
  std::vector<Side> sides;
  for (std::vector<Member>& part : BeforeAndAfter(members, kept)) {
    Side& side = sides.emplace_back();
    side.members = std::move(part);
    for (const Member& member : side.members)
      side.flow.push_back({StructureOf(member), SizeOf(member), OwnName(scope, member.name)});
    uint32_t share = kMostFlowParts * side.members.size() / members.size();
    if (!kept.empty() && side.members.size() <= kFewParts) {
      for (uint32_t i = 0; i < side.members.size(); ++i) side.parts.push_back({{{i}}});
    } else {
      side.parts = FlowParts(side.flow, EdgesAmong(side.members), std::max(share, kFewParts));
    }
  }
  const std::vector<FlowPart>& first = sides[0].parts;
  bool is_whole = sides.size() == 1 && first.size() == 1 && first[0].repeats.size() == 1;
  if (is_whole) return SplitEvenly(scope);
  found_[scope].cut = true;
  titles_.clear();
  Clear(scope);
  for (const Member& member : alone) Move(member, scope);
  for (const Side& side : sides) {
    NameWords words(side.flow);
    for (const FlowPart& part : side.parts) AddPart(scope, side.members, part, words);
  }
}

void ScopeTree::Builder::AddPart(ScopeId scope, llvm::ArrayRef<Member> members,
                                 const FlowPart& part, const NameWords& words) {
  if (part.repeats.size() == 1) {
    AddRepeat(scope, members, part.repeats[0], words);
    return;
  }
  const std::vector<uint32_t>&first = part.repeats.front(), &last = part.repeats.back();
  ScopeId series = AddGroup(scope, members[first.front()].name, members[last.back()].name);
  found_[series].series = true;
  std::string begin = WordsOf(scope, members, first, words);
  std::string end = WordsOf(scope, members, last, words);
  bool named = !begin.empty() && !end.empty() && titles_.insert(begin + end).second;
  found_[series].title =
      Keep(named ? RangeTitle(begin, end)
                 : RangeTitle(members[first.front()].name, members[last.back()].name));
  for (const std::vector<uint32_t>& repeat : part.repeats)
    AddRepeat(series, members, repeat, words);
}

// Adds a group to `scope` for one repeat of a series, or for a part that is not a series. A single
// member gets no group.
ScopeId ScopeTree::Builder::AddRepeat(ScopeId scope, llvm::ArrayRef<Member> members,
                                      llvm::ArrayRef<uint32_t> part, const NameWords& words) {
  ScopeId into = scope;
  if (part.size() > 1) {
    into = AddGroup(scope, members[part.front()].name, members[part.back()].name);
    found_[into].part = true;
    std::string title = WordsOf(scope, members, part, words);
    if (title.empty() || !titles_.insert(title).second)
      title = RangeTitle(members[part.front()].name, members[part.back()].name);
    found_[into].title = Keep(std::move(title));
  }
  for (uint32_t member : part) Move(members[member], into);
  return into;
}

// Returns "block_3_*" if the part has several members, whose names all begin with these words, the
// last of which ends in a number; else "".
std::string ScopeTree::Builder::WordsOf(ScopeId scope, llvm::ArrayRef<Member> members,
                                        llvm::ArrayRef<uint32_t> part,
                                        const NameWords& words) const {
  std::string start = words.Common(part).str();
  bool all = llvm::all_of(
      part, [&](uint32_t i) { return OwnName(scope, members[i].name).starts_with(start); });
  if (start.empty() || !all || part.size() == 1) return "";
  return (members[part.front()].name.take_front(found_[scope].name_from) + start + "*").str();
}

// Moves the members of `scope` into groups of equal size, in the order of the flow. Used for a
// series, whose members look the same anyway, for a slice, and for a scope that FlowParts cannot
// cut. A series of n members gets about sqrt(n) slices, but at most kMostSlicesOfSeries.
void ScopeTree::Builder::SplitEvenly(ScopeId scope) {
  std::vector<Member> members = MembersOf(scope);
  size_t count = members.size();
  std::vector<uint32_t> order = FlowOrder(static_cast<uint32_t>(count), EdgesAmong(members));
  bool series = found_[scope].series;
  size_t size = series ? static_cast<size_t>(std::sqrt(count)) : kSliceSize;
  size_t parts =
      std::clamp((count + size - 1) / size, size_t{2}, series ? kMostSlicesOfSeries : kMostSlices);
  Clear(scope);
  for (size_t part = 0; part < parts; ++part) {
    size_t begin = count * part / parts, end = count * (part + 1) / parts;
    ScopeId into = AddGroup(scope, members[order[begin]].name, members[order[end - 1]].name);
    (series || found_[scope].slice ? found_[into].slice : found_[into].part) = true;
    for (size_t i = begin; i < end; ++i) Move(members[order[i]], into);
  }
}

llvm::StringRef ScopeTree::Builder::Keep(std::string text) {
  tree_.texts_.push_back(std::move(text));
  return tree_.texts_.back();
}

// Adds an empty group to `scope`. Its path is made of the names of its first and last members.
ScopeId ScopeTree::Builder::AddGroup(ScopeId scope, llvm::StringRef first, llvm::StringRef last) {
  ScopeId id = static_cast<ScopeId>(found_.size());
  found_[scope].children.push_back(id);
  found_.emplace_back();
  Found& made = found_.back();
  made.parent = scope;
  made.group = true;
  made.name_from = found_[scope].name_from;
  made.path = Keep(first.str() + " \xe2\x80\xa6 " + OwnName(scope, last).str());
  return id;
}

}  // namespace grapnel
