#include "lib/pass/run_text.h"

#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {
namespace {

void List(llvm::raw_ostream& os, const char* what, const std::vector<std::string>& names) {
  constexpr size_t kShown = 6;
  if (names.empty()) return;
  os << "; " << what;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i == kShown) {
      os << " and " << names.size() - i << " more";
      break;
    }
    os << (i ? ", '" : " '") << Printable(names[i]) << "'";
  }
}

}  // namespace

std::string RewriteText(const Rewrite& rewrite) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << rewrite.number << ". " << rewrite.pass << "/" << rewrite.rule;
  if (!rewrite.function.empty()) os << " in function '" << Printable(rewrite.function) << "'";
  if (!rewrite.node.empty()) os << " at '" << Printable(rewrite.node) << "'";
  List(os, "made", rewrite.made);
  List(os, "changed", rewrite.changed);
  List(os, "removed", rewrite.removed);
  List(os, "functions", rewrite.functions);
  if (!rewrite.note.empty()) os << "\n   " << rewrite.note;
  os << "\n";
  return os.str();
}

std::string TimingTable(const OptimizeResult& result) {
  std::vector<std::vector<std::string>> rows = {{"pass", "iteration", "rewrites", "ms"}};
  double total = 0;
  for (const Stage& stage : result.stages) {
    double ms = stage.time.count() / 1e6;
    total += ms;
    std::string pass = stage.pass;
    if (!stage.function.empty()) pass += " in " + stage.function;
    rows.push_back({pass, std::to_string(stage.iteration), std::to_string(stage.rewrites),
                    llvm::formatv("{0:F2}", ms).str()});
  }
  rows.push_back(
      {"all passes", "", std::to_string(result.rewrites), llvm::formatv("{0:F2}", total).str()});
  return Table(rows);
}

}  // namespace grapnel
