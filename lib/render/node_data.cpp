#include "lib/render/node_data.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lib/ir/find.h"
#include "lib/ir/tensor_name.h"
#include "lib/render/css_color.h"
#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

constexpr size_t kMissingListed = 3;
constexpr llvm::StringLiteral kAggregates[] = {"max", "min", "mean", "sum", "count"};

// The page's default scale: --heat-0 to --heat-2 of lib/render/web/theme.css.
const NumberScale& HeatScale() {
  static const NumberScale scale = {{{0, "#fff3d6"}, {0.5, "#fdb863"}, {1, "#e8743b"}}, {}};
  return scale;
}

std::string Between(llvm::StringRef a, llvm::StringRef b, double part) {
  std::string fill = "#";
  for (size_t at : {1, 3, 5}) {
    auto channel = [at](llvm::StringRef color) {
      return static_cast<double>(llvm::hexDigitValue(color[at]) * 16 +
                                 llvm::hexDigitValue(color[at + 1]));
    };
    auto mixed = static_cast<unsigned>(std::lround(channel(a) + (channel(b) - channel(a)) * part));
    fill += llvm::hexdigit(mixed / 16, /*LowerCase=*/true);
    fill += llvm::hexdigit(mixed % 16, /*LowerCase=*/true);
  }
  return fill;
}

std::string OnGradient(llvm::ArrayRef<NumberScale::Step> steps, double place) {
  const auto* next = llvm::find_if(steps, [&](const auto& step) { return step.at >= place; });
  if (next == steps.end()) return steps.back().fill;
  if (next == steps.begin()) return next->fill;
  const NumberScale::Step& before = next[-1];
  return Between(before.fill, next->fill, (place - before.at) / (next->at - before.at));
}

// Returns the node "x" or "function/x"; `graph` is the function that the file gives, or empty.
Node FindByName(const Module& module, llvm::StringRef graph, llvm::StringRef name) {
  const Function* said = graph.empty() ? nullptr : module.FindFunction(graph);
  if (said) {
    if (Node node = said->body.Find(name)) return node;
  }
  if (Node node = module.main.Find(name)) return node;
  for (size_t at = name.find('/'); at != llvm::StringRef::npos; at = name.find('/', at + 1)) {
    const Function* function = module.FindFunction(name.take_front(at));
    if (!function) continue;
    if (Node node = function->body.Find(name.drop_front(at + 1))) return node;
  }
  return {};
}

Node FindEntry(const Module& module, const NodeData::Entry& entry) {
  if (Node node = FindByName(module, entry.graph, entry.node)) return node;
  llvm::StringRef name = ReadTensorName(entry.node).node;
  return name == entry.node ? Node() : FindByName(module, entry.graph, name);
}

}  // namespace

NodeNumbers::NodeNumbers(const NodeData& data, const Module& module) : data_(data) {
  for (const NodeData::Entry& entry : data.entries)
    if (Node node = FindEntry(module, entry)) Take(node, entry.number);
}

void NodeNumbers::Take(const Node& node, const NodeNumber& number) {
  if (!numbers_.try_emplace({&node.graph(), node.id()}, &number).second) return;
  least_ = num_found_ == 0 ? number.value : std::min(least_, number.value);
  largest_ = num_found_ == 0 ? number.value : std::max(largest_, number.value);
  ++num_found_;
}

const NodeNumber* NodeNumbers::Of(const Node& node) const {
  return numbers_.lookup({&node.graph(), node.id()});
}

Expected<std::string> MissingNodes(llvm::ArrayRef<NodeData> data,
                                   llvm::ArrayRef<const Module*> modules) {
  llvm::SetVector<llvm::StringRef> all, missing;
  for (const NodeData& one : data) {
    for (const NodeData::Entry& entry : one.entries) {
      auto is_there = [&](const Module* module) { return bool(FindEntry(*module, entry)); };
      if (all.insert(entry.node) && llvm::none_of(modules, is_there)) missing.insert(entry.node);
    }
  }
  if (missing.empty()) return std::string();
  std::string which = WithCommas(missing.size()) + " of " + Plural(all.size(), "name") +
                      (missing.size() == 1 ? " is not a node here: " : " are not nodes here: ");
  if (missing.size() == all.size())
    which = "none of its " + Plural(all.size(), "name") + " is a node here: ";
  for (size_t i = 0; i < missing.size() && i < kMissingListed; ++i)
    which += (i ? ", '" : "'") + Printable(missing[i]) + "'";
  if (missing.size() > kMissingListed) which += ", \xe2\x80\xa6";
  auto names = [&](NameSink take) {
    for (const Module* module : modules) VisitNodeNames(*module, take);
  };
  which += DidYouMean(missing[0], names);
  if (missing.size() == all.size()) return MakeError("{0}", which);
  return which;
}

std::optional<Aggregate> ParseAggregate(llvm::StringRef name) {
  const auto* found = llvm::find(kAggregates, name);
  if (found == std::end(kAggregates)) return std::nullopt;
  return static_cast<Aggregate>(found - std::begin(kAggregates));
}

llvm::StringRef AggregateName(Aggregate aggregate) {
  return kAggregates[static_cast<size_t>(aggregate)];
}

void NumberSummary::Add(double value) {
  min = count == 0 ? value : std::min(min, value);
  max = count == 0 ? value : std::max(max, value);
  sum += value;
  ++count;
}

void NumberSummary::Add(const NumberSummary& others) {
  if (others.count == 0) return;
  min = count == 0 ? others.min : std::min(min, others.min);
  max = count == 0 ? others.max : std::max(max, others.max);
  sum += others.sum;
  count += others.count;
}

double NumberSummary::Get(Aggregate aggregate) const {
  switch (aggregate) {
    case Aggregate::kMax:
      return max;
    case Aggregate::kMin:
      return min;
    case Aggregate::kMean:
      return count == 0 ? 0 : sum / static_cast<double>(count);
    case Aggregate::kSum:
      return sum;
    case Aggregate::kCount:
      return static_cast<double>(count);
  }
  return 0;
}

std::string FillOf(const NumberScale& scale, double value, double least, double largest) {
  if (scale.gradient.empty() && !scale.thresholds.empty()) {
    for (const NumberScale::Step& step : scale.thresholds)
      if (value <= step.at) return step.fill;
    return "";
  }
  const NumberScale& used = scale.gradient.empty() ? HeatScale() : scale;
  double place = largest > least ? (value - least) / (largest - least) : 1;
  return OnGradient(used.gradient, std::clamp(place, 0.0, 1.0));
}

std::string ValueText(double value) {
  constexpr double kLong = 1000, kExact = 1e15;  // large numbers are shown without a fraction
  double size = std::abs(value);
  if (size < kExact && (size >= kLong || size == std::trunc(size))) {
    std::string digits = WithCommas(static_cast<uint64_t>(std::llround(size)));
    return value < 0 ? "-" + digits : digits;
  }
  return NumberText(value, 4);
}

}  // namespace grapnel
