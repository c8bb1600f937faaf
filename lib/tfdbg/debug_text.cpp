#include "lib/tfdbg/debug_text.h"

#include <ctime>

#include "lib/support/text.h"
#include "lib/tfdbg/v1_dump.h"

namespace grapnel {
namespace {

constexpr size_t kShown = 12;

void WriteFunctions(const DebugRun& run, bool all, llvm::raw_ostream& os) {
  std::vector<std::vector<std::string>> rows = {
      {"function", "ops", "calls", "tensors traced", "inside"}};
  std::vector<size_t> calls(run.graphs.size()), traces(run.graphs.size());
  for (const DebugExecution& execution : run.executions)
    if (execution.graph >= 0) ++calls[execution.graph];
  for (const DebugTrace& trace : run.traces) ++traces[trace.graph];
  size_t left_out = 0;
  for (size_t i = 0; i < run.graphs.size(); ++i) {
    const DebugGraph& graph = run.graphs[i];
    if (graph.ops.empty()) continue;
    if (!all && rows.size() > kShown) {
      ++left_out;
      continue;
    }
    std::string outer = graph.outer >= 0 ? run.graphs[graph.outer].name.str() : "";
    rows.push_back({graph.name.str(), WithCommas(graph.ops.size()), WithCommas(calls[i]),
                    WithCommas(traces[i]), outer});
  }
  if (rows.size() == 1) return;
  os << "\n" << Table(rows, "  ");
  if (left_out) os << "  ... and " << Plural(left_out, "function") << " more (--all)\n";
}

void WriteRunText(const DebugRun& run, bool all, size_t num_bad, llvm::raw_ostream& os) {
  os << "\nrun " << (run.id.empty() ? "(without an id)" : run.id);
  if (run.start_time > 0) os << ", started " << TimeText(run.start_time);
  if (!run.tensorflow_version.empty()) os << ", TensorFlow " << run.tensorflow_version;
  if (run.sets.size() > 1) os << ", " << WithCommas(run.sets.size()) << " processes";
  bool is_v1 = run.file_version == kV1;
  os << "\n  " << Plural(run.executions.size(), is_v1 ? "run" : "execution")
     << (is_v1 ? " of a session, " : " of eager ops and functions, ")
     << Plural(run.traces.size(), "tensor") << (is_v1 ? " dumped, " : " traced inside functions, ");
  if (is_v1)
    os << kV1;
  else
    os << "debug mode " << DebugModeName(run.mode);
  os << "\n  " << Plural(run.graphs.size(), "graph") << ", "
     << Plural(run.sources.size(), "source file") << ", "
     << Plural(run.frames.size(), "stack frame") << "\n";
  for (const DebugDevice& device : run.devices) os << "  device " << device.name << "\n";
  if (num_bad > 0) {
    os << "  " << Plural(num_bad, "tensor")
       << " with NaN or infinity: `grapnel blame` shows which was first\n";
  }
  WriteFunctions(run, all, os);
}

}  // namespace

llvm::StringRef ExecutionLabel(const DebugRun& run, const DebugExecution& execution) {
  return execution.graph < 0 ? execution.op_type : run.graphs[execution.graph].name;
}

std::string TimeText(double seconds_since_1970) {
  // Reject times that gmtime may not handle; no run has such a start time.
  if (!(seconds_since_1970 > 0) || seconds_since_1970 > 1e11) return "";
  std::time_t time = static_cast<std::time_t>(seconds_since_1970);
  std::tm parts;
  char text[64];
  if (!gmtime_r(&time, &parts)) return "";
  size_t size = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  return std::string(text, size);
}

void WriteDebugFolderText(const DebugFolder& folder, bool all,
                          llvm::function_ref<size_t(const DebugRun&)> count_bad,
                          llvm::raw_ostream& os) {
  os << folder.path << ": debug folder, " << Plural(folder.runs.size(), "run") << "\n";
  for (const DebugRun& run : folder.runs) WriteRunText(run, all, count_bad(run), os);
  if (folder.problems.empty()) return;
  os << "\n" << Plural(folder.problems.size(), "problem") << "\n";
  size_t shown = all ? folder.problems.size() : std::min<size_t>(folder.problems.size(), 20);
  for (size_t i = 0; i < shown; ++i) os << "  " << folder.problems[i] << "\n";
  if (shown < folder.problems.size())
    os << "  ... and " << WithCommas(folder.problems.size() - shown) << " more (--all)\n";
}

}  // namespace grapnel
