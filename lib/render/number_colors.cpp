#include "lib/render/number_colors.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lib/render/edges.h"
#include "lib/render/labels.h"
#include "lib/render/node_data.h"
#include "lib/support/printable.h"
#include "llvm/ADT/DenseSet.h"

namespace grapnel {
namespace {

constexpr int kLegendSteps = 5;

struct BoxNumbers {
  NumberSummary own, folded;
  std::string fill;  // color of the last node with a color of its own

  // The numbers of a box. For an op, nodes folded into it count only if the op itself has no
  // number; for a scope, all nodes count.
  NumberSummary Of(BoxKind kind) const {
    if (kind == BoxKind::kOp) return own.count > 0 ? own : folded;
    NumberSummary all = own;
    all.Add(folded);
    return all;
  }
};

// Returns the box of a node; for a folded node, the box of its nearest reader.
uint32_t HomeOf(const Node& node, llvm::ArrayRef<uint32_t> box_of) {
  std::vector<NodeId> ring = {node.id()};
  llvm::DenseSet<NodeId> seen;
  for (size_t i = 0; i < ring.size(); ++i) {
    uint32_t box = box_of[ring[i]];
    if (box != kBoxFolded) return box;
    for (const Use& use : node.graph().node(ring[i]).uses())
      if (seen.insert(use.node).second) ring.push_back(use.node);
  }
  return kBoxOutside;
}

std::vector<BoxNumbers> NumbersOfBoxes(llvm::ArrayRef<BodyBoxes> bodies, const NodeNumbers& numbers,
                                       size_t num_boxes) {
  std::vector<BoxNumbers> of_box(num_boxes);
  for (const BodyBoxes& body : bodies) {
    for (Node node : body.plan->graph->nodes()) {
      const NodeNumber* number = numbers.Of(node);
      uint32_t box = number ? HomeOf(node, body.box_of) : kBoxOutside;
      if (box >= kBoxFolded) continue;
      bool folded = body.box_of[node.id()] == kBoxFolded;
      (folded ? of_box[box].folded : of_box[box].own).Add(number->value);
      if (!folded && !number->fill.empty()) of_box[box].fill = number->fill;
    }
  }
  return of_box;
}

std::pair<double, double> RangeOf(llvm::ArrayRef<NumberSummary> of_box, const NodeNumbers& numbers,
                                  Aggregate aggregate) {
  if (aggregate != Aggregate::kSum && aggregate != Aggregate::kCount)
    return {numbers.least(), numbers.largest()};
  std::pair<double, double> range = {0, 0};
  for (const NumberSummary& box : of_box) {
    double value = box.Get(aggregate);
    range = {std::min(range.first, value), std::max(range.second, value)};
  }
  return range;
}

// Returns the legend: the colors of a few numbers, or of each threshold.
std::vector<Swatch> LegendOf(const NumberScale& scale, double least, double largest) {
  std::vector<Swatch> swatches;
  if (scale.gradient.empty() && !scale.thresholds.empty()) {
    swatches.reserve(scale.thresholds.size());
    for (const NumberScale::Step& step : scale.thresholds)
      swatches.push_back({(swatches.empty() ? "up to " : "to ") + ValueText(step.at), step.fill});
    return swatches;
  }
  int steps = largest > least ? kLegendSteps : 1;
  swatches.reserve(steps);
  for (int i = 0; i < steps; ++i) {
    double value = largest - (largest - least) * (steps - 1 - i) / std::max(1, steps - 1);
    swatches.push_back({ValueText(value), FillOf(scale, value, least, largest)});
  }
  return swatches;
}

}  // namespace

void ColorByNumbers(llvm::ArrayRef<BodyBoxes> bodies, const ViewOptions& options,
                    Picture* picture) {
  const NodeNumbers& numbers = *options.numbers;
  const NumberScale& scale = numbers.data().scale;
  std::string word = AggregateName(options.aggregate).str();
  std::vector<BoxNumbers> of_box = NumbersOfBoxes(bodies, numbers, picture->boxes.size());
  std::vector<NumberSummary> summaries;
  summaries.reserve(of_box.size());
  for (size_t i = 0; i < of_box.size(); ++i)
    summaries.push_back(of_box[i].Of(picture->boxes[i].kind));
  auto [least, largest] = RangeOf(summaries, numbers, options.aggregate);
  picture->color_title = Printable(numbers.data().name) + " (" + word + " in closed boxes)";
  picture->colors.push_back({"", kNeutralFill.str()});
  for (Swatch& swatch : LegendOf(scale, least, largest))
    picture->colors.push_back(std::move(swatch));
  for (size_t i = 0; i < of_box.size(); ++i) {
    const NumberSummary& summary = summaries[i];
    if (summary.count == 0) continue;
    Box& box = picture->boxes[i];
    double value = summary.Get(options.aggregate);
    bool alone = box.kind == BoxKind::kOp && summary.count == 1;
    box.notes.push_back((alone ? "" : word + " ") + ValueText(value));
    std::string fill = of_box[i].fill;
    if (fill.empty() || box.kind != BoxKind::kOp) fill = FillOf(scale, value, least, largest);
    if (fill.empty()) continue;
    box.color = static_cast<int>(picture->colors.size());
    picture->colors.push_back({"", fill});
  }
}

}  // namespace grapnel
