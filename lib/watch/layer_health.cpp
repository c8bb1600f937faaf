#include "lib/watch/layer_health.h"

#include <algorithm>

#include "lib/ir/number_statistics.h"
#include "lib/support/printable.h"
#include "lib/support/text.h"

namespace grapnel {

void LayerHealth::Add(const TapEvent& event) {
  int layer = layers_.table().LayerOf(event.node);
  if (layer < 0) return;
  Sum& sum = sums_[layer];
  ++sum.tensors;
  sum.health += event.health;
  if (!event.numbers || event.numbers->finite() == 0) return;
  double min = event.numbers->min, max = event.numbers->max;
  sum.min = sum.has_extremes ? std::min(sum.min, min) : min;
  sum.max = sum.has_extremes ? std::max(sum.max, max) : max;
  sum.has_extremes = true;
}

void LayerHealth::Write(llvm::raw_ostream& os) const {
  if (sums_.empty()) return;
  std::vector<std::vector<std::string>> rows = {
      {"tensors", "min", "max", "-inf", "+inf", "nan", "zero", "layer"}};
  for (const auto& one : sums_) {
    const Sum& sum = one.second;
    auto number = [&](double value) { return sum.has_extremes ? NumberText(value, 4) : "-"; };
    rows.push_back({WithCommas(sum.tensors), number(sum.min), number(sum.max),
                    WithCommas(sum.health.neg_inf), WithCommas(sum.health.pos_inf),
                    WithCommas(sum.health.nan), WithCommas(sum.health.zero),
                    Printable(layers_.PathOf(one.first))});
  }
  os << "\n" << Table(rows);
}

}  // namespace grapnel
