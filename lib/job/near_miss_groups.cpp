#include "lib/job/near_miss_groups.h"

#include <map>
#include <tuple>

#include "lib/pass/near_misses.h"
#include "lib/shape/flops.h"
#include "lib/shape/inference.h"
#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

namespace grapnel {
namespace {

constexpr size_t kShown = 4;

// Returns the reason without the quoted names in it. An apostrophe within a word is not a quote:
// "isn't".
std::string WithoutNames(llvm::StringRef reason) {
  std::string text;
  while (!reason.empty()) {
    size_t open = reason.find('\'');
    size_t close = open == llvm::StringRef::npos ? open : reason.find('\'', open + 1);
    bool in_word = open != llvm::StringRef::npos && open > 0 && llvm::isAlnum(reason[open - 1]);
    if (close == llvm::StringRef::npos || in_word) {
      size_t taken = in_word ? open + 1 : reason.size();
      text += reason.take_front(taken);
      reason = reason.drop_front(taken);
      continue;
    }
    text += (reason.take_front(open) + "'...'").str();
    reason = reason.drop_front(close + 1);
  }
  return text;
}

// Estimates the cost of a refused pattern: the FLOPs of the pattern's last node, which the refusal
// names, and of the nodes that produce its inputs.
class Costs {
 public:
  explicit Costs(const Module& module) : module_(module) {}

  int64_t Of(const Refusal& refusal) {
    const Function* function =
        refusal.function.empty() ? nullptr : module_.FindFunction(refusal.function);
    if (!refusal.function.empty() && !function) return 0;
    const Graph& graph = function ? function->body : module_.main;
    Node node = graph.Find(refusal.node);
    if (!node) return 0;
    auto shapes = shapes_.find(&graph);
    if (shapes == shapes_.end()) shapes = shapes_.emplace(&graph, InferShapes(graph)).first;
    int64_t flops = EstimateFlops(node, shapes->second).value_or(0);
    for (int i = 0; i < node.num_inputs(); ++i) {
      if (Node input = node.input_node(i))
        flops += EstimateFlops(input, shapes->second).value_or(0);
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

std::vector<NearMissGroup> GroupNearMisses(llvm::ArrayRef<Refusal> misses, const Module& module,
                                           const LineTable& lines) {
  std::vector<NearMissGroup> groups;
  std::map<std::tuple<std::string, std::string, std::string>, size_t> index;
  Costs costs(module);
  for (const Refusal& miss : misses) {
    std::string reason = WithoutNames(miss.reason);
    auto [it, fresh] = index.try_emplace({miss.pass, miss.rule, reason}, groups.size());
    if (fresh) groups.push_back({miss.pass, miss.rule, miss.reason, {}, {}, 0});
    NearMissGroup& group = groups[it->second];
    if (!group.places.empty()) group.reason = reason;
    group.places.push_back(PlaceOf(miss));
    auto line = lines.LineOf(lines.Find(miss.function, miss.node));
    group.made_at.push_back(line ? FrameText(*line) : "");
    group.flops += costs.Of(miss);
  }
  llvm::stable_sort(groups, [](const NearMissGroup& a, const NearMissGroup& b) {
    return std::make_tuple(a.flops, a.places.size()) > std::make_tuple(b.flops, b.places.size());
  });
  return groups;
}

ShortNames NamesOf(llvm::ArrayRef<NearMissGroup> groups, std::vector<std::string> known,
                   const Module& after) {
  std::vector<std::string> printed;
  for (const NearMissGroup& group : groups) llvm::append_range(printed, group.places);
  llvm::append_range(known, AllNodeNames(after));
  llvm::append_range(known, printed);
  return ShortNames(std::move(known), printed);
}

void WriteNearMissGroups(llvm::ArrayRef<NearMissGroup> groups, bool all, const ShortNames& names,
                         llvm::raw_ostream& os) {
  if (std::string left_out = names.Note(); !left_out.empty()) os << left_out << "\n";
  for (const NearMissGroup& group : groups) {
    size_t count = group.places.size();
    os << group.pass << "/" << group.rule << ": ";
    if (count == 1) os << "'" << Printable(names.Of(group.places[0])) << "': ";
    os << names.InText(group.reason);
    if (count > 1) os << ": " << Plural(count, "node");
    if (group.flops > 0) os << ", " << FlopsText(group.flops);
    if (count == 1 && !group.made_at[0].empty()) os << ", made at " << group.made_at[0];
    os << "\n";
    if (count == 1) continue;
    size_t shown = all || count <= kShown + 1 ? count : kShown;
    for (size_t i = 0; i < shown; ++i) {
      os << "  " << Printable(names.Of(group.places[i]));
      if (!group.made_at[i].empty()) os << ", made at " << group.made_at[i];
      os << "\n";
    }
    if (shown < count) os << "  ... and " << WithCommas(count - shown) << " more (--all)\n";
  }
}

}  // namespace grapnel
