#include "lib/diff/provenance.h"

#include <algorithm>

#include "lib/io/ledger.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

int32_t Find(const BodyView& view, llvm::StringRef name) {
  Node node = view.graph().Find(name);
  return node ? view.IndexOf(node.id()) : kNobody;
}

}  // namespace

Expected<Provenance> Provenance::Parse(llvm::StringRef jsonl) {
  Provenance out;
  RETURN_IF_ERROR(ForEachLedgerEntry(jsonl, [&](int, const LedgerEntry& entry) {
    out.bodies_[entry.Text("function")].Apply(entry.Names("used"), entry.Names("made"),
                                              entry.Names("changed"), entry.Names("removed"));
  }));
  return out;
}

Provenance::Origins Provenance::BodyHistory::OriginsOf(const std::string& name) const {
  if (auto it = made.find(name); it != made.end()) return it->second;
  Origins origins{name};
  if (auto it = absorbed.find(name); it != absorbed.end())
    origins.insert(it->second.begin(), it->second.end());
  return origins;
}

void Provenance::BodyHistory::Apply(const std::vector<std::string>& used,
                                    const std::vector<std::string>& made_now,
                                    const std::vector<std::string>& changed,
                                    const std::vector<std::string>& removed_now) {
  // The origins of the new nodes: those of the nodes that the rewrite both used and removed.
  // Without such nodes, there are none.
  Origins origins;
  for (const std::string& name : used) {
    if (!llvm::is_contained(removed_now, name)) continue;
    origins.merge(OriginsOf(name));
  }
  for (const std::string& name : removed_now) {
    absorbed.erase(name);
    if (made.erase(name) == 0) removed.insert(name);
  }
  for (const std::string& name : made_now) made[name] = origins;
  for (const std::string& name : changed) {
    auto it = made.find(name);
    Origins& all = it != made.end() ? it->second : absorbed[name];
    all.insert(origins.begin(), origins.end());
  }
}

KnownPairs Provenance::PairsOf(const BodyView& a, const BodyView& b) const {
  KnownPairs known;
  auto name_of = [](const BodyView& view) {
    return view.function() ? view.function()->name().str() : std::string();
  };
  auto history = bodies_.find(name_of(b));
  if (name_of(a) != name_of(b)) return known;
  static const BodyHistory kNothing;
  const BodyHistory& body = history == bodies_.end() ? kNothing : history->second;
  for (int32_t i = 0; i < a.size(); ++i) {
    std::string name = a.node(i).name().str();
    int32_t other = Find(b, name);
    bool kept = !body.removed.count(name) && !body.made.count(name);
    // A rule may give a node's name to a node with another op: the matching stages decide about
    // such nodes.
    if (kept && other != kNobody && a.op(i) == b.op(other)) known.pairs.push_back({i, other});
  }
  // The nodes of B by their origins. An origin in two sets is ambiguous. A constant does not count
  // if a node that is not a constant has the same origin.
  std::map<Origins, std::vector<int32_t>> by_origins;
  auto claim = [&](const std::string& name, const Origins& origins) {
    int32_t node = Find(b, name);
    if (node == kNobody || origins.empty()) return;
    by_origins[origins].push_back(node);
  };
  for (const auto& [name, origins] : body.made) claim(name, origins);
  // If a node that took over the work of others has another op than before, it is a fusion under
  // the name of one of its nodes. If the op is the same, a rewrite only redirected edges around
  // removed neighbors.
  for (const auto& [name, others] : body.absorbed) {
    int32_t before = Find(a, name), after = Find(b, name);
    if (before != kNobody && after != kNobody && !others.empty() && a.op(before) != b.op(after))
      claim(name, body.OriginsOf(name));
  }
  auto all_constant = [&](llvm::ArrayRef<int32_t> nodes) {
    return llvm::all_of(nodes, [&](int32_t node) { return b.node(node).op() == "Const"; });
  };
  struct Claims {
    int by_constants = 0, by_others = 0;
  };
  std::map<std::string, Claims> claims;
  for (const auto& [origins, nodes] : by_origins) {
    bool constant = all_constant(nodes);
    for (const std::string& origin : origins)
      ++(constant ? claims[origin].by_constants : claims[origin].by_others);
  }
  for (const auto& [origins, made_of_them] : by_origins) {
    bool constant = all_constant(made_of_them);
    std::vector<int32_t> from;
    for (const std::string& origin : origins) {
      int32_t node = Find(a, origin);
      const Claims& claim = claims[origin];
      bool certain =
          constant ? claim.by_constants == 1 && claim.by_others == 0 : claim.by_others == 1;
      if (node != kNobody && certain) from.push_back(node);
    }
    if (from.size() == 1 && made_of_them.size() == 1) {
      if (a.op(from[0]) == b.op(made_of_them[0])) known.pairs.push_back({from[0], made_of_them[0]});
    } else if (!from.empty()) {
      known.groups.push_back({from, made_of_them});
    }
  }
  return known;
}

}  // namespace grapnel
