#include "lib/watch/tap_report.h"

#include <map>
#include <set>

#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "lib/ir/types.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

// Returns the main graph and the bodies of the functions that it calls, directly or indirectly.
std::vector<const Graph*> ReachedBodies(const Module& module) {
  std::vector<const Graph*> bodies = {&module.main};
  std::set<const Graph*> seen(bodies.begin(), bodies.end());
  for (size_t i = 0; i < bodies.size(); ++i) {
    for (Node node : bodies[i]->nodes()) {
      if (!MayCallFunctions(node)) continue;
      for (llvm::StringRef name : CalledFunctions(node)) {
        const Function* function = module.FindFunction(name);
        if (function && seen.insert(&function->body).second) bodies.push_back(&function->body);
      }
    }
  }
  return bodies;
}

std::string WhyNotRun(const Node& node, bool is_planned) {
  if (is_planned) return "it did not run: its branch was not taken, or the run ended before";
  return FunctionOf(node.graph()) ? "no call of its function needed it" : "no fetch needs it";
}

}  // namespace

TapReport::TapReport(const Module& module, llvm::ArrayRef<std::string> fed, Tap& tap) {
  std::set<std::string> given;
  for (const std::string& tensor : fed) {
    TensorName name = ReadTensorName(tensor);
    given.insert(OutputName(name.node, name.index));
  }
  TapCounts counts = tap.counts();
  for (const Graph* graph : ReachedBodies(module)) {
    const Function* function = FunctionOf(*graph);
    for (Node node : graph->nodes()) {
      const OpInfo* info = DefinitionOf(node);
      llvm::SmallVector<DataType, 4> types;
      if (info) {
        auto of = TypesOf(node, *info);
        if (of)
          types = of->outputs;
        else
          llvm::consumeError(of.takeError());
      }
      auto counted = counts.find({graph, node.id()});
      for (size_t i = 0; i < types.size(); ++i) {
        TapReportLine line;
        if (function) line.function = function->name().str();
        line.tensor = OutputName(node.name(), static_cast<int32_t>(i));
        line.op = node.op().str();
        line.why_not = tap.WhyNot(node, types[i]);
        bool is_planned = counted != counts.end();
        if (line.why_not.empty() && is_planned && i < counted->second.size())
          line.times = counted->second[i];
        if (line.why_not.empty() && line.times == 0)
          line.why_not =
              !function && given.count(line.tensor) ? "it is fed" : WhyNotRun(node, is_planned);
        lines_.push_back(std::move(line));
      }
    }
  }
}

void TapReport::Write(llvm::raw_ostream& os) const {
  std::map<std::string, int64_t> by_reason;
  int64_t tapped = 0;
  for (const TapReportLine& line : lines_) {
    if (line.why_not.empty())
      ++tapped;
    else
      ++by_reason[line.why_not];
  }
  os << "# " << Plural(static_cast<int64_t>(lines_.size()), "tensor") << ": " << tapped
     << " tapped\n";
  for (const auto& [reason, count] : by_reason)
    os << "# " << count << " not tapped: " << reason << "\n";
  for (const TapReportLine& line : lines_) {
    if (!line.function.empty()) os << line.function << ": ";
    os << line.tensor << " (" << line.op << ")  ";
    if (line.why_not.empty())
      os << "tapped " << Plural(line.times, "time") << "\n";
    else
      os << "not tapped: " << line.why_not << "\n";
  }
}

}  // namespace grapnel
