#include "lib/job/near_miss_groups.h"

#include <map>
#include <tuple>

#include "lib/diff/fusion.h"
#include "lib/pass/near_misses.h"
#include "lib/shape/flops.h"
#include "lib/shape/inference.h"
#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"

namespace grapnel {
namespace {

constexpr size_t kShownPlaces = 4;

// Calls `plain` and `quoted` with the parts of a text in its order, those that are quoted without
// the quotes. An apostrophe within a word is not a quote: "isn't".
void VisitQuoted(llvm::StringRef text, llvm::function_ref<void(llvm::StringRef)> plain,
                 llvm::function_ref<void(llvm::StringRef)> quoted) {
  while (!text.empty()) {
    size_t open = text.find('\'');
    size_t close = open == llvm::StringRef::npos ? open : text.find('\'', open + 1);
    bool in_word = open != llvm::StringRef::npos && open > 0 && llvm::isAlnum(text[open - 1]);
    if (close == llvm::StringRef::npos || in_word) {
      size_t taken = in_word ? open + 1 : text.size();
      plain(text.take_front(taken));
      text = text.drop_front(taken);
      continue;
    }
    plain(text.take_front(open));
    quoted(text.slice(open + 1, close));
    text = text.drop_front(close + 1);
  }
}

// Returns the reason without the quoted names in it.
std::string WithoutNames(llvm::StringRef reason) {
  std::string text;
  VisitQuoted(
      reason, [&](llvm::StringRef part) { text += part; },
      [&](llvm::StringRef) { text += "'...'"; });
  return text;
}

bool IsFusion(llvm::StringRef rule) { return rule.starts_with("fuse_"); }

// True for passes that only tidy up: they remove, merge or move nodes, or choose functions.
bool IsUpkeep(llvm::StringRef pass) {
  return pass == "model_pruner" || pass == "dependency_optimizer" || pass == "function_optimizer" ||
         pass == "common_subgraph_elimination" || pass == "loop_optimizer" ||
         pass == "implementation_selector" || pass == "debug_stripper";
}

// Weighs a refused pattern by its last node, which the refusal names, and by the nodes that produce
// the inputs of that one.
class Costs {
 public:
  explicit Costs(const Module& module) : module_(module) {}

  // Returns the nodes of the pattern; none if the graph no longer has it.
  std::vector<Node> NodesOf(const Refusal& refusal) const {
    const Function* function =
        refusal.function.empty() ? nullptr : module_.FindFunction(refusal.function);
    if (!refusal.function.empty() && !function) return {};
    Node node = (function ? function->body : module_.main).Find(refusal.node);
    if (!node) return {};
    std::vector<Node> nodes = {node};
    for (int i = 0; i < node.num_inputs(); ++i)
      if (Node input = node.input_node(i)) nodes.push_back(input);
    return nodes;
  }

  int64_t FlopsOf(llvm::ArrayRef<Node> nodes) {
    int64_t flops = 0;
    for (const Node& node : nodes) {
      const Graph& graph = node.graph();
      auto shapes = shapes_.find(&graph);
      if (shapes == shapes_.end()) shapes = shapes_.emplace(&graph, InferShapes(graph)).first;
      flops += EstimateFlops(node, shapes->second).value_or(0);
    }
    return flops;
  }

 private:
  const Module& module_;
  std::map<const Graph*, ShapeMap> shapes_;
};

std::string FlopsText(int64_t flops) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (flops >= 1000000000)
    os << llvm::format("%.1f GFLOPs", flops / 1e9);
  else if (flops >= 1000000)
    os << llvm::format("%.1f MFLOPs", flops / 1e6);
  else
    os << WithCommas(flops) << " FLOPs";
  return text;
}

}  // namespace

NearMissGroups GroupNearMisses(llvm::ArrayRef<Refusal> misses, const Module& module,
                               const LineTable& lines, const MadeNodes& made, bool all) {
  NearMissGroups found;
  std::vector<NearMissGroup>& groups = found.groups;
  std::map<std::tuple<std::string, std::string, std::string>, size_t> index;
  Costs costs(module);
  for (const Refusal& miss : misses) {
    const MadeNode* new_node = made.Find(PlaceOf(miss));
    if (new_node && new_node->is_helper && !all) {
      ++found.hidden;
      continue;
    }
    std::string reason = WithoutNames(miss.reason);
    auto [it, fresh] = index.try_emplace({miss.pass, miss.rule, reason}, groups.size());
    if (fresh) {
      groups.emplace_back();
      groups.back().pass = miss.pass;
      groups.back().rule = miss.rule;
      groups.back().reason = miss.reason;
    }
    NearMissGroup& group = groups[it->second];
    if (!group.places.empty()) group.reason = reason;
    group.places.push_back(PlaceOf(miss));
    group.made_for.push_back(new_node ? new_node->origin : "");
    auto line = lines.LineOf(lines.Find(miss.function, miss.node));
    group.made_at.push_back(line ? FrameText(*line) : "");
    std::vector<Node> nodes = costs.NodesOf(miss);
    group.flops += costs.FlopsOf(nodes);
    if (IsUpkeep(miss.pass)) continue;
    bool is_fusion = IsFusion(miss.rule) || (!nodes.empty() && IsContraction(nodes[0].op()));
    auto interest = is_fusion ? NearMissGroup::kFusion : NearMissGroup::kArithmetic;
    group.interest = std::max(group.interest, interest);
  }
  auto weight = [](const NearMissGroup& group) {
    return std::make_tuple(group.interest, group.flops, group.places.size());
  };
  llvm::stable_sort(groups, [&](const NearMissGroup& a, const NearMissGroup& b) {
    return weight(a) > weight(b);
  });
  return found;
}

ShortNames NamesOf(llvm::ArrayRef<NearMissGroup> groups, std::vector<std::string> known,
                   const Module& after) {
  std::vector<std::string> printed, quoted;
  for (const NearMissGroup& group : groups) {
    llvm::append_range(printed, group.places);
    for (const std::string& origin : group.made_for)
      if (!origin.empty()) printed.push_back(origin);
    VisitQuoted(
        group.reason, [](llvm::StringRef) {},
        [&](llvm::StringRef name) { quoted.push_back(name.str()); });
  }
  llvm::append_range(known, AllNodeNames(after));
  llvm::append_range(known, printed);
  llvm::StringSet<> nodes;
  for (const std::string& name : known) nodes.insert(name);
  llvm::copy_if(quoted, std::back_inserter(printed),
                [&](const std::string& name) { return nodes.contains(name); });
  return ShortNames(std::move(known), printed);
}

void WriteNearMissGroups(const NearMissGroups& found, bool all, const ShortNames& names,
                         llvm::raw_ostream& os) {
  if (std::string left_out = names.Note(); !left_out.empty()) os << left_out << "\n";
  auto origin_of = [&](const NearMissGroup& group, size_t i) {
    const std::string& origin = group.made_for[i];
    return origin.empty() ? "" : ", made for '" + Printable(names.Of(origin)) + "'";
  };
  auto line_of = [](const NearMissGroup& group, size_t i) {
    return group.made_at[i].empty() ? "" : ", made at " + group.made_at[i];
  };
  for (const NearMissGroup& group : found.groups) {
    size_t count = group.places.size();
    os << group.pass << "/" << group.rule << ": ";
    if (count == 1) os << "'" << Printable(names.Of(group.places[0])) << "': ";
    os << names.InText(group.reason);
    if (count > 1) os << ": " << Plural(count, "node");
    if (group.flops > 0) os << ", " << FlopsText(group.flops);
    if (count == 1) os << origin_of(group, 0) << line_of(group, 0);
    os << "\n";
    if (count == 1) continue;
    size_t shown = all || count <= kShownPlaces + 1 ? count : kShownPlaces;
    for (size_t i = 0; i < shown; ++i) {
      os << "  " << Printable(names.Of(group.places[i])) << origin_of(group, i) << line_of(group, i)
         << "\n";
    }
    if (shown < count) os << "  ... and " << WithCommas(count - shown) << " more (--all)\n";
  }
  if (found.hidden > 0)
    os << "not shown: " << Plural(found.hidden, "near miss")
       << " at nodes that only stand where a call, loop or branch was (--all)\n";
}

}  // namespace grapnel
