#include "lib/render/series.h"

#include <map>

#include "lib/render/pair_hash.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

// Returns the hash of a name without its numbers and the underscores before these numbers.
uint64_t NamesHash(llvm::StringRef name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = 0; i < name.size(); ++i) {
    bool before_number = name[i] == '_' && i + 1 < name.size() && llvm::isDigit(name[i + 1]);
    if (before_number || llvm::isDigit(name[i])) continue;
    hash = (hash ^ static_cast<unsigned char>(name[i])) * 0x100000001b3;
  }
  return hash;
}

llvm::StringRef From(llvm::StringRef name, size_t begin) {
  return name.substr(std::min(begin, name.size()));
}

}  // namespace

llvm::StringRef NameStem(llvm::StringRef name) {
  llvm::StringRef stem = name.rtrim("0123456789");
  if (stem.size() == name.size() || stem.empty()) return name;
  return stem.size() > 1 && stem.back() == '_' ? stem.drop_back() : stem;
}

ScopeStructures::ScopeStructures(const Graph& graph, llvm::ArrayRef<ScopeName> scopes,
                                 llvm::ArrayRef<uint32_t> scope_of, bool names)
    : hash_(scopes.size(), 0) {
  std::vector<uint32_t> depth(scopes.size(), 0);
  for (size_t i = 1; i < scopes.size(); ++i) depth[i] = depth[scopes[i].parent] + 1;
  auto common = [&](uint32_t a, uint32_t b) {
    while (a != b) {
      uint32_t& deeper = depth[a] < depth[b] ? b : a;
      deeper = scopes[deeper].parent;
    }
    return a;
  };
  auto op = [](const Node& node) { return static_cast<uint64_t>(llvm::hash_value(node.op())); };
  auto name_or = [&](llvm::StringRef name, size_t begin, uint64_t otherwise) {
    return names ? NamesHash(From(name, begin)) : otherwise;
  };
  for (Node node : graph.nodes()) {
    uint32_t scope = scope_of[node.id()];
    if (scope == kNone) continue;
    hash_[scope] += HashOfPair(name_or(node.name(), scopes[scope].name_from, 0), op(node));
    auto edge = [&](NodeId from, uint64_t slot) {
      if (from >= scope_of.size() || scope_of[from] == kNone) return;
      uint32_t around = common(scope, scope_of[from]);
      if (around == 0) return;  // the outermost scope has no siblings
      size_t begin = scopes[around].name_from;
      Node source = graph.node(from);
      hash_[around] += HashOfPair(HashOfPair(name_or(source.name(), begin, op(source)),
                                             name_or(node.name(), begin, op(node))),
                                  slot);
    };
    for (Port port : node.inputs()) edge(port.node, static_cast<uint64_t>(port.index));
  }
  for (size_t i = scopes.size(); i-- > 1;) {
    const ScopeName& scope = scopes[i];
    if (!names && hash_[i] == 0) continue;  // the scope has nothing to compare
    hash_[scope.parent] +=
        HashOfPair(name_or(scope.path, scopes[scope.parent].name_from, 0), HashOfPair(hash_[i], 1));
  }
}

std::vector<std::vector<uint32_t>> FindSeries(llvm::ArrayRef<SeriesCandidate> members,
                                              llvm::ArrayRef<std::pair<uint32_t, uint32_t>> edges,
                                              size_t smallest) {
  std::map<std::pair<llvm::StringRef, uint64_t>, size_t> index;
  std::vector<std::vector<uint32_t>> alike;
  for (uint32_t i = 0; i < members.size(); ++i) {
    auto [it, fresh] = index.try_emplace({members[i].stem, members[i].structure}, alike.size());
    if (fresh) alike.emplace_back();
    alike[it->second].push_back(i);
  }
  std::vector<uint32_t> begin(members.size() + 1, 0), readers(edges.size());
  for (auto& [from, to] : edges) ++begin[from + 1];
  for (size_t i = 0; i < members.size(); ++i) begin[i + 1] += begin[i];
  std::vector<uint32_t> next(begin.begin(), begin.end() - 1);
  for (auto& [from, to] : edges) readers[next[from]++] = to;

  // By member, the accepted series that contains it, or null. All members of a series count as one
  // box: flow that enters one of them leaves all of them.
  std::vector<const std::vector<uint32_t>*> series_of(members.size(), nullptr);
  auto flows_back = [&](const std::vector<uint32_t>& series) {
    std::vector<bool> is_member(members.size()), seen(members.size());
    for (uint32_t member : series) is_member[member] = true;
    std::vector<uint32_t> stack(series);
    auto visit = [&](uint32_t from, uint32_t to) {
      if (is_member[to]) return !is_member[from];
      if (!seen[to]) stack.push_back(to);
      seen[to] = true;
      return false;
    };
    while (!stack.empty()) {
      uint32_t from = stack.back();
      stack.pop_back();
      for (uint32_t i = begin[from]; i < begin[from + 1]; ++i) {
        if (visit(from, readers[i])) return true;
      }
      if (is_member[from] || !series_of[from]) continue;
      for (uint32_t other : *series_of[from]) visit(from, other);
    }
    return false;
  };
  std::vector<std::vector<uint32_t>> found;
  for (std::vector<uint32_t>& list : alike) {
    if (list.size() < smallest || flows_back(list)) continue;
    for (uint32_t member : list) series_of[member] = &list;
    found.push_back(list);
  }
  return found;
}

}  // namespace grapnel
