#include "lib/serve/pages/debug_graph_page.h"

#include "lib/tfdbg/debug_text.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

// The largest number of outputs, and of inputs, in the panel; the card has all.
constexpr size_t kMostLines = 20;

std::string InputText(const CauseInput& input) {
  std::string name = input.tensor;
  if (!input.made_by.empty() && input.made_by != name)
    name += (name.empty() ? "" : " = ") + input.made_by +
            (input.made_in.empty() ? "" : " of " + input.made_in);
  if (name.empty()) name = "an eager tensor";
  return name + ": " +
         (input.is_bad_variable ? "a variable with NaN or infinity"
                                : RecordedTensorText(input.value));
}

// Returns "gen_nan_mlp.py:21 in loss_fn" and the text of that line; "" if no file of the stack is
// the user's.
std::string SourceLineText(const DebugRun& run, const Cause& cause) {
  if (cause.frame < 0) return "";
  const DebugFrame& frame = run.frames[cause.frame];
  const DebugSource& source = run.sources[frame.source];
  std::string text = (llvm::sys::path::filename(source.path) + ":" + llvm::Twine(frame.line) +
                      " in " + frame.function)
                         .str();
  std::vector<llvm::StringRef> lines = SourceLines(source);
  if (frame.line > 0 && static_cast<size_t>(frame.line) <= lines.size())
    text += "\n  " + lines[frame.line - 1].trim().str();
  return text;
}

}  // namespace

DebugGraphPage::DebugGraphPage(const DebugRun& run, const DebugModule& module,
                               const DebugIndex& index, const BlameReport& report,
                               DebugCards& cards, std::string title)
    : run_(run), module_(module), cards_(cards) {
  std::vector<Body> bodies = Bodies(*module.module);
  records_.resize(bodies.size());
  for (size_t i = 0; i < bodies.size(); ++i) {
    body_[bodies[i].graph] = i;
    records_[i].resize(bodies[i].graph->end_id());
    if (i > 0) MarkGraph(module.graph_of[i], index);
  }
  MarkExecutions(index);
  MarkCauses(report);
  marks_.title = "health";
  marks_.kinds = {"first cause", "clean", "NaN or infinity", "another cause"};
  marks_.kind_of = [this](const Node& node) {
    const Record* record = RecordOf(node);
    return record ? static_cast<int>(record->mark) : kNone;
  };
  marks_.details = [this](const Node& node) { return Details(node); };
  marks_.summary.push_back(
      report.can_tell
          ? "main is what Python ran, in order; functions are as they were traced. What has no "
            "color was not recorded."
          : "Mode " + DebugModeName(run.mode) + " does not record whether a tensor is bad.");
  page_ = std::make_unique<GraphPage>(*module.module, llvm::ArrayRef<Signature>(), std::move(title),
                                      &marks_);
}

void DebugGraphPage::MarkGraph(int graph, const DebugIndex& index) {
  std::vector<Record>& records = records_[module_.body_of[graph]];
  for (size_t op = 0; op < run_.graphs[graph].ops.size(); ++op) {
    Record& record = records[op];
    for (int trace : index.Traces(graph, static_cast<int>(op))) {
      const RecordedTensor& value = run_.traces[trace].value;
      if (record.trace < 0 || value.bad) record.trace = trace;
      if (value.TellsBad()) record.mark = value.bad ? kBad : kClean;
      if (value.bad) break;
    }
  }
}

void DebugGraphPage::MarkExecutions(const DebugIndex& index) {
  for (size_t i = 0; i < run_.executions.size(); ++i) {
    Record& record = records_[0][i];
    record.execution = static_cast<int>(i);
    for (const RecordedTensor& output : run_.executions[i].outputs)
      if (output.TellsBad()) record.mark = kClean;
    if (index.IsBad(record.execution)) record.mark = kBad;
  }
}

DebugGraphPage::Record* DebugGraphPage::RecordOf(const DebugAlert& alert) {
  if (alert.trace < 0) return &records_[0][alert.execution];
  const DebugTrace& trace = run_.traces[alert.trace];
  int body = module_.body_of[trace.graph];
  return trace.op < 0 || body < 0 ? nullptr : &records_[body][trace.op];
}

void DebugGraphPage::MarkCauses(const BlameReport& report) {
  bool is_first = true;
  for (const DebugAlert& alert : report.alerts) {
    if (!alert.is_cause) continue;
    Record* record = RecordOf(alert);
    if (record && record->mark != kFirstCause) record->mark = is_first ? kFirstCause : kOtherCause;
    is_first = false;
  }
}

const DebugGraphPage::Record* DebugGraphPage::RecordOf(const Node& node) const {
  auto body = body_.find(&node.graph());
  if (body == body_.end() || node.id() >= records_[body->second].size()) return nullptr;
  return &records_[body->second][node.id()];
}

std::vector<PageMarks::Detail> DebugGraphPage::Details(const Node& node) const {
  std::vector<PageMarks::Detail> details;
  const Record* record = RecordOf(node);
  if (record && (record->trace >= 0 || record->execution >= 0)) {
    Cause cause = cards_.CauseOf(record->trace, record->execution);
    PageMarks::Detail health{"Health", "", "", CauseSentence(cause) + "\n"};
    std::vector<DebugCards::Output> outputs = cards_.OutputsOf(record->trace, record->execution);
    for (size_t i = 0; i < std::min(outputs.size(), kMostLines); ++i)
      health.text += "Output " + std::to_string(outputs[i].slot) + ": " +
                     RecordedTensorText(*outputs[i].value) + "\n";
    for (size_t i = 0; i < std::min(cause.inputs.size(), kMostLines); ++i)
      health.text += "Input " + std::to_string(i) + ": " + InputText(cause.inputs[i]) + "\n";
    health.card = CardName(record->trace, record->execution);
    details.push_back(std::move(health));
    if (std::string text = SourceLineText(run_, cause); !text.empty())
      details.push_back({"Source", "", "", std::move(text)});
    return details;
  }
  // No value of this op was recorded, but the source line that made the op is known.
  int graph = module_.graph_of[body_.lookup(&node.graph())];
  if (graph < 0 || node.id() >= run_.graphs[graph].ops.size()) return details;
  Cause cause;
  cause.frame = UserFrame(run_, run_.graphs[graph].ops[node.id()].stack);
  if (std::string text = SourceLineText(run_, cause); !text.empty())
    details.push_back({"Source", "", "", std::move(text)});
  return details;
}

}  // namespace grapnel
