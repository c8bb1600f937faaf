#include "lib/watch/tap_table.h"

#include "lib/ir/number_statistics.h"
#include "lib/ir/tensor_name.h"
#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "lib/watch/array_text.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

namespace grapnel {
namespace {

constexpr unsigned kNumber = 10, kCount = 7, kType = 16, kRun = 4;

// A column to the left of the tensor's name.
struct Column {
  std::string title, cell;
  unsigned width;
  bool is_text = false;  // aligned on the left
};

Column CountColumn(const char* title, int64_t count) {
  return {title, std::to_string(count), kCount};
}
Column TruthColumn(const char* title, bool is) { return {title, is ? "yes" : "no", kCount}; }
Column TypeColumn(const TapEvent& event) {
  return {"type", DataTypeName(event.dtype).str() + DimsText(event.dims), kType, /*is_text=*/true};
}
// A column of a statistic, which only finite numbers have.
Column StatisticColumn(const char* title, const TapEvent& event,
                       double (*of)(const NumberStatistics&)) {
  bool has_any = event.numbers && event.numbers->finite() > 0;
  return {title, has_any ? NumberText(of(*event.numbers), 4) : "", kNumber};
}

std::vector<Column> ColumnsOf(const TapEvent& event, TapMode mode) {
  const Health& health = event.health;
  switch (mode) {
    case TapMode::kNoTensor:
      return {};
    case TapMode::kCurtHealth:
      return {TruthColumn("bad", health.IsBad())};
    case TapMode::kThreeSlots:
      return {TruthColumn("-inf", health.neg_inf > 0), TruthColumn("+inf", health.pos_inf > 0),
              TruthColumn("nan", health.nan > 0)};
    case TapMode::kConciseHealth:
      return {CountColumn("size", health.elements), CountColumn("-inf", health.neg_inf),
              CountColumn("+inf", health.pos_inf), CountColumn("nan", health.nan)};
    case TapMode::kShape:
    case TapMode::kFullTensor:
      return {TypeColumn(event)};
    case TapMode::kFullHealth:
      return {
          StatisticColumn("min", event, [](const NumberStatistics& all) { return all.min; }),
          StatisticColumn("mean", event, [](const NumberStatistics& all) { return all.mean(); }),
          StatisticColumn("max", event, [](const NumberStatistics& all) { return all.max; }),
          CountColumn("-inf", health.neg_inf),
          CountColumn("+inf", health.pos_inf),
          CountColumn("nan", health.nan),
          CountColumn("zero", health.zero),
          TypeColumn(event)};
  }
  return {};
}

// Returns ", in body that while calls, iteration 2": the calls around the node, innermost first.
std::string PlaceText(const TapCalls& calls) {
  std::string text;
  if (!calls) return text;
  for (const TapCall& call : llvm::reverse(*calls)) {
    if (!call.function) {
      text += ", in loop " + Printable(call.loop);
    } else {
      text += ", in " + Printable(call.function->name());
      text += call.caller ? " that " + Printable(call.caller.name()) + " calls"
                          : std::string(" that a dataset calls");
    }
    if (call.iteration >= 0) text += ", iteration " + std::to_string(call.iteration);
  }
  return text;
}

void WriteCells(llvm::ArrayRef<Column> columns, bool is_header, llvm::raw_ostream& os) {
  for (const Column& column : columns) {
    const std::string& cell = is_header ? column.title : column.cell;
    if (column.is_text)
      os << llvm::left_justify(cell, column.width);
    else
      os << llvm::right_justify(cell, column.width);
    os << "  ";
  }
}

}  // namespace

void TapTable::Format(const TapEvent& event, llvm::raw_ostream& os) {
  std::vector<Column> columns = ColumnsOf(event, mode_);
  if (event.run > 0)
    columns.insert(columns.begin(), Column{"run", std::to_string(event.run), kRun});
  if (!std::exchange(has_header_, true)) {
    WriteCells(columns, /*is_header=*/true, os);
    os << "tensor\n";
  }
  WriteCells(columns, /*is_header=*/false, os);
  os << Printable(OutputName(event.node.name(), event.output)) << " (" << Printable(event.node.op())
     << ")" << PlaceText(event.calls) << "\n";
  if (mode_ != TapMode::kFullTensor) return;
  os << (event.value ? ArrayString(event.value) : event.text) << "\n";
}

}  // namespace grapnel
