#include "lib/watch/tensor_summary.h"

#include <cmath>

#include "lib/ir/number_statistics.h"
#include "lib/support/text.h"
#include "lib/watch/number_array.h"

namespace grapnel {
namespace {

NumberStatistics ArrayStatistics(const NumberArray& array) {
  NumberStatistics all;
  for (NumberArray::Number value : array.values) all.Add(static_cast<double>(value));
  return all;
}

std::string Text(double number) { return NumberText(number, 6); }

// Returns two lines, titles over numbers: "| a  b | total |" and "| 1  2 |     3 |". The column
// `last` is in a box of its own.
std::string Boxed(llvm::ArrayRef<std::vector<std::string>> columns, size_t last) {
  std::string lines[2];
  for (size_t i = 0; i < columns.size(); ++i) {
    size_t width = std::max(columns[i][0].size(), columns[i][1].size());
    for (int row = 0; row < 2; ++row) {
      const std::string& cell = columns[i][row];
      lines[row] += i == 0 || i == last ? "| " : "";
      lines[row] += std::string(width - cell.size(), ' ') + cell + " ";
      if (i + 1 == columns.size()) lines[row] += "|\n";
    }
  }
  return lines[0] + lines[1];
}

}  // namespace

Expected<std::string> NumericSummary(const Tensor& tensor) {
  ASSIGN_OR_RETURN(NumberArray array, RealNumbers(tensor));
  if (array.values.empty()) return std::string("no elements\n");
  NumberStatistics all = ArrayStatistics(array);
  std::vector<std::vector<std::string>> counts;
  auto add = [&](const char* name, int64_t count) {
    if (count > 0) counts.push_back({name, std::to_string(count)});
  };
  if (tensor.dtype() == proto::DT_BOOL) {
    add("False", all.zero);
    add("True", all.positive);
  } else {
    add("nan", all.nan);
    add("-inf", all.negative_infinite);
    add("-", all.negative);
    add("0", all.zero);
    add("+", all.positive);
    add("+inf", all.positive_infinite);
  }
  counts.push_back({"total", std::to_string(all.elements())});
  std::string text = Boxed(counts, counts.size() - 1);
  if (all.finite() == 0 || tensor.dtype() == proto::DT_BOOL) return text;
  return text + Boxed({{"min", Text(all.min)},
                       {"max", Text(all.max)},
                       {"mean", Text(all.mean())},
                       {"std", Text(all.deviation())}},
                      0);
}

Expected<std::string> HistogramText(const Tensor& tensor, int bins) {
  ASSIGN_OR_RETURN(NumberArray array, RealNumbers(tensor));
  NumberStatistics all = ArrayStatistics(array);
  std::string text;
  if (all.finite() > 0) {
    size_t count = all.min == all.max ? 1 : bins;
    double width = (all.max - all.min) / static_cast<double>(count);
    std::vector<int64_t> sizes(count);
    for (NumberArray::Number value : array.values) {
      if (std::isfinite(value)) ++sizes[all.BinOf(static_cast<double>(value), count)];
    }
    int64_t most = *std::max_element(sizes.begin(), sizes.end());
    constexpr int64_t kBar = 40;
    std::vector<std::vector<std::string>> rows = {{"from", "to", "elements", ""}};
    for (size_t i = 0; i < count; ++i) {
      double begin = all.min + static_cast<double>(i) * width;
      double end = i + 1 == count ? all.max : begin + width;
      int64_t bar = (sizes[i] * kBar + most - 1) / most;
      rows.push_back({Text(begin), Text(end), std::to_string(sizes[i]), std::string(bar, '#')});
    }
    text = Table(rows);
  }
  for (auto [name, count] : {std::pair("NaN", all.nan), std::pair("-inf", all.negative_infinite),
                             std::pair("+inf", all.positive_infinite)}) {
    if (count > 0) text += Plural(count, std::string("element")) + " " + name + "\n";
  }
  return text.empty() ? "no elements\n" : text;
}

Expected<std::string> ChannelsText(const Tensor& tensor, int axis, int64_t limit) {
  ASSIGN_OR_RETURN(NumberArray array, RealNumbers(tensor));
  int place = axis < 0 ? axis + tensor.rank() : axis;
  if (place < 0 || place >= tensor.rank())
    return MakeError("axis {0} is out of range for shape {1}", axis, DimsText(tensor.dims()));
  int64_t inner = 1, channels = tensor.dim(place);
  for (int i = place + 1; i < tensor.rank(); ++i) inner *= tensor.dim(i);
  std::vector<NumberStatistics> each(channels);
  for (int64_t i = 0; i < array.size(); ++i)
    each[i / inner % channels].Add(static_cast<double>(array.values[i]));
  std::vector<std::vector<std::string>> rows = {
      {"index", "min", "max", "mean", "std", "nan", "inf", "zero"}};
  int64_t shown = std::min(channels, limit);
  for (int64_t i = 0; i < shown; ++i) {
    const NumberStatistics& of = each[i];
    std::vector<std::string> row = {std::to_string(i), "", "", "", ""};
    if (of.finite() > 0)
      row = {std::to_string(i), Text(of.min), Text(of.max), Text(of.mean()), Text(of.deviation())};
    for (int64_t count : {of.nan, of.infinite(), of.zero}) row.push_back(std::to_string(count));
    rows.push_back(std::move(row));
  }
  std::string text = Table(rows);
  if (shown < channels) text += "... " + std::to_string(channels - shown) + " more\n";
  return text;
}

}  // namespace grapnel
