#include "lib/check/cause_text.h"

#include "lib/ir/tensor_name.h"
#include "lib/support/text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

void WriteSource(const DebugRun& run, const Cause& cause, llvm::raw_ostream& os) {
  os << "\nsource ";
  if (cause.frame < 0) {
    os << "not recorded: no file in the stack is yours\n";
    return;
  }
  const DebugFrame& frame = run.frames[cause.frame];
  const DebugSource& source = run.sources[frame.source];
  os << source.path << ":" << frame.line << " in " << frame.function;
  if (cause.framework_frames)
    os << " (" << Plural(cause.framework_frames, "frame") << " of TensorFlow or Keras omitted)";
  os << "\n";
  std::vector<llvm::StringRef> lines = SourceLines(source);
  int last = std::min<int>(static_cast<int>(lines.size()), frame.line + kSourceLinesAround);
  for (int line = std::max(1, frame.line - kSourceLinesAround); line <= last; ++line)
    os << llvm::formatv("{0} {1,5}  {2}\n", line == frame.line ? ">" : " ", line,
                        lines[line - 1].rtrim());
  if (lines.empty()) os << "  (the text of this file is not in the folder)\n";
}

std::string InputLabel(const CauseInput& input) {
  std::string label = input.tensor;
  if (!input.made_by.empty() && input.made_by != input.tensor)
    label += (label.empty() ? "" : " = ") + input.made_by +
             (input.made_in.empty() ? "" : " of " + input.made_in);
  return label.empty() ? "(an eager tensor)" : label;
}

void WriteTensors(const Cause& cause, llvm::raw_ostream& os) {
  os << "\n";
  std::vector<std::vector<std::string>> rows;
  rows.push_back(
      {"output", OutputName(cause.node, cause.alert.output), RecordedTensorText(cause.value)});
  for (const CauseInput& input : cause.inputs)
    rows.push_back({"input", InputLabel(input), RecordedTensorText(input.value)});
  os << Table(rows);
}

void WriteConsequences(const DebugRun& run, const BlameReport& report, llvm::raw_ostream& os) {
  os << "\n";
  if (report.consequences == 0) {
    os << "no later tensor went bad because of it\n";
    return;
  }
  os << Plural(report.consequences, "later tensor")
     << (report.consequences == 1 ? " is a consequence" : " are consequences");
  size_t shown = 0;
  for (const DebugAlert& alert : report.alerts) {
    if (alert.is_cause || shown == 3) continue;
    os << (shown++ ? ", " : ": first ") << AlertName(run, alert) << " ("
       << BadText(AlertValue(run, alert)) << ")";
  }
  os << "\n";
}

// Writes how often the first cause occurred again, and the other causes. The first cause itself has
// been written already.
void WriteOtherCauses(const BlameReport& report, llvm::raw_ostream& os) {
  if (report.num_causes < 2) return;
  os << "\n" << Plural(report.num_causes - 1, "other tensor") << " went bad without a bad input:\n";
  size_t told = 0;
  for (const Cause& cause : report.causes) {
    bool is_first = told == 0;
    told += cause.times;
    if (is_first && cause.times > 1) {
      os << "  the same " << cause.node << " " << Plural(cause.times - 1, "time") << "\n";
    } else if (!is_first) {
      os << "  " << CauseSentence(cause);
      if (cause.times > 1) os << ", " << WithCommas(cause.times) << " times in all";
      if (!cause.also.empty()) os << "; so did " << llvm::join(cause.also, ", ");
      os << "\n";
    }
  }
  if (told < report.num_causes)
    os << "  ... and " << WithCommas(report.num_causes - told) << " more\n";
}

}  // namespace

std::string AlertName(const DebugRun& run, const DebugAlert& alert) {
  llvm::StringRef name =
      alert.trace >= 0 ? run.traces[alert.trace].op_name : run.executions[alert.execution].op_type;
  return OutputName(name, alert.output);
}

void WriteCauseText(const DebugRun& run, const Cause& cause, llvm::raw_ostream& os) {
  os << CauseSentence(cause) << "\n";
  WriteSource(run, cause, os);
  WriteTensors(cause, os);
  if (!cause.also.empty())
    os << "\nlater because of the same input: " << llvm::join(cause.also, ", ") << "\n";
}

void WriteBlameText(const DebugRun& run, const BlameReport& report, llvm::raw_ostream& os) {
  if (run.executions.empty() && run.traces.empty()) {
    os << "the run has no record of a tensor\n";
    return;
  }
  if (!report.can_tell) {
    os << "the run cannot tell: debug mode " << DebugModeName(run.mode)
       << " does not record whether a tensor holds NaN or infinity (FULL_HEALTH does)\n";
    return;
  }
  if (report.causes.empty()) {
    os << "every recorded tensor is finite\n";
    return;
  }
  WriteCauseText(run, report.causes[0], os);
  WriteConsequences(run, report, os);
  WriteOtherCauses(report, os);
}

}  // namespace grapnel
