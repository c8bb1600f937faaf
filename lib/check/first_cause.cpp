#include "lib/check/first_cause.h"

#include "lib/check/cause_reason.h"
#include "lib/check/value_flow.h"
#include "lib/ir/tensor_name.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

class Blame {
 public:
  Blame(const DebugRun& run, size_t max_causes)
      : run_(run), flow_(run), max_causes_(max_causes), bad_inside_(run.executions.size()) {}
  BlameReport Run();
  std::vector<Cause> Explain(llvm::ArrayRef<DebugAlert> tensors);

 private:
  // Calls on_trace or on_execution for each record, in the order of execution, until a call returns
  // false.
  void Walk(llvm::function_ref<bool(int)> on_trace, llvm::function_ref<bool(int)> on_execution);
  void PassTrace(int index);
  void PassExecution(int index);
  void Add(DebugAlert alert, bool is_cause, llvm::ArrayRef<ValueSource> sources);
  bool IsSameOp(const DebugAlert& a, const DebugAlert& b) const;
  bool HasSameOrigin(const Cause& cause);
  Cause MakeCause(const DebugAlert& alert, llvm::ArrayRef<ValueSource> sources) const;
  void DescribeTrace(const DebugTrace& trace, Cause* cause) const;
  void DescribeExecution(const DebugExecution& execution, Cause* cause) const;
  void DescribeInput(const ValueSource& source, CauseInput* input) const;
  void DescribeStack(Cause* cause) const;
  std::vector<ValueSource> InputsOf(const DebugTrace& trace) const;
  std::vector<ValueSource> InputsOf(const DebugExecution& execution) const;
  bool AnyBad(llvm::ArrayRef<ValueSource> sources) const {
    return llvm::any_of(sources, [&](const ValueSource& s) { return flow_.IsBad(s); });
  }

  const DebugRun& run_;
  ValueFlow flow_;
  size_t max_causes_;
  std::vector<bool> bad_inside_;  // by execution: a trace of the call is bad
  BlameReport report_;
};

std::vector<ValueSource> Blame::InputsOf(const DebugTrace& trace) const {
  std::vector<ValueSource> sources;
  if (trace.op < 0) return sources;
  const DebugOp& op = run_.graphs[trace.graph].ops[trace.op];
  // A Placeholder has no inputs: its source is the caller's tensor.
  if (op.type == "Placeholder")
    sources.push_back(flow_.SourceOfArgument({trace.graph, trace.op, trace.slot}, trace.execution,
                                             trace.iteration));
  for (const DebugInput& input : op.inputs)
    sources.push_back(flow_.SourceOfInput(trace.graph, op, input, trace.execution));
  if (auto variable = flow_.SourceOfVariable({trace.graph, trace.op, trace.slot}))
    sources.push_back(*variable);
  // The output of a call is the value of a result inside the called function.
  auto inside = flow_.SourceInside({trace.graph, trace.op, trace.slot}, trace.execution);
  if (inside && flow_.IsBad(*inside)) sources.push_back(*inside);
  return sources;
}

std::vector<ValueSource> Blame::InputsOf(const DebugExecution& execution) const {
  std::vector<ValueSource> sources;
  for (int64_t id : execution.input_ids) sources.push_back(flow_.SourceOfEager(id));
  return sources;
}

void Blame::PassTrace(int index) {
  const DebugTrace& trace = run_.traces[index];
  report_.can_tell |= trace.value.TellsBad();
  if (trace.value.bad) {
    std::vector<ValueSource> sources = InputsOf(trace);
    DebugAlert alert;
    alert.trace = index;
    alert.output = trace.slot;
    Add(alert, !AnyBad(sources), sources);
    if (trace.execution >= 0) bad_inside_[trace.execution] = true;
  }
  flow_.PassTrace(index);
}

void Blame::PassExecution(int index) {
  const DebugExecution& execution = run_.executions[index];
  std::vector<ValueSource> sources;
  for (size_t i = 0; i < execution.outputs.size(); ++i) {
    report_.can_tell |= execution.outputs[i].TellsBad();
    if (!execution.outputs[i].bad) continue;
    if (sources.empty()) sources = InputsOf(execution);
    DebugAlert alert;
    alert.execution = index;
    alert.output = static_cast<int>(i);
    Add(alert, !bad_inside_[index] && !AnyBad(sources), sources);
  }
  flow_.PassExecution(index);
}

bool Blame::IsSameOp(const DebugAlert& a, const DebugAlert& b) const {
  if (a.output != b.output || (a.trace < 0) != (b.trace < 0)) return false;
  if (a.trace >= 0) {
    const DebugTrace &x = run_.traces[a.trace], &y = run_.traces[b.trace];
    return x.graph == y.graph && x.op_name == y.op_name;
  }
  const DebugExecution &x = run_.executions[a.execution], &y = run_.executions[b.execution];
  return x.op_type == y.op_type && x.stack == y.stack;
}

// True if an earlier cause in the same call is bad because of the same input; then adds the op of
// `cause` to that earlier cause (Cause::also).
bool Blame::HasSameOrigin(const Cause& cause) {
  int input = KnownCauseInput(cause);
  if (input < 0 || cause.execution < 0 || cause.inputs[input].made_by.empty()) return false;
  for (Cause& before : report_.causes) {
    int other = KnownCauseInput(before);
    if (other < 0 || before.execution != cause.execution || before.node == cause.node) continue;
    const CauseInput &a = cause.inputs[input], &b = before.inputs[other];
    if (a.made_by != b.made_by || a.made_in != b.made_in || before.iteration != cause.iteration)
      continue;
    if (!llvm::is_contained(before.also, cause.node)) before.also.push_back(cause.node);
    return true;
  }
  return false;
}

void Blame::Add(DebugAlert alert, bool is_cause, llvm::ArrayRef<ValueSource> sources) {
  std::optional<Cause> cause;
  if (is_cause) {
    cause = MakeCause(alert, sources);
    // An op that is bad because of the same input as an earlier cause is not a cause of its own.
    is_cause = !HasSameOrigin(*cause);
  }
  alert.is_cause = is_cause;
  if (is_cause) {
    ++report_.num_causes;
    auto same = llvm::find_if(report_.causes,
                              [&](const Cause& cause) { return IsSameOp(cause.alert, alert); });
    if (same != report_.causes.end()) {
      ++same->times;
    } else if (report_.causes.size() < max_causes_) {
      report_.causes.push_back(std::move(*cause));
    }
  } else if (report_.num_causes > 0) {
    ++report_.consequences;
  }
  report_.alerts.push_back(alert);
}

void Blame::DescribeInput(const ValueSource& source, CauseInput* input) const {
  input->source = source;
  if (source.value) input->value = *source.value;
  input->is_bad_variable = !source.value && flow_.IsBad(source);
  if (source.tensor.op >= 0) {
    const DebugGraph& graph = run_.graphs[source.tensor.graph];
    input->made_by = OutputName(graph.ops[source.tensor.op].name, source.tensor.slot);
    input->made_in = graph.name.str();
  } else if (source.execution >= 0) {
    input->made_by = OutputName(run_.executions[source.execution].op_type, source.output);
  }
}

void Blame::DescribeTrace(const DebugTrace& trace, Cause* cause) const {
  const DebugGraph& graph = run_.graphs[trace.graph];
  cause->node = trace.op_name.str();
  cause->function = graph.name.str();
  cause->execution = trace.execution;
  if (trace.execution >= 0) cause->step = run_.executions[trace.execution].call;
  for (int g = trace.graph; g >= 0; g = run_.graphs[g].outer)
    if (run_.graphs[g].name.contains("while_")) cause->iteration = trace.iteration;
  if (trace.op < 0) return;
  const DebugOp& op = graph.ops[trace.op];
  cause->op_type = op.type.str();
  cause->stack = op.stack;
  for (size_t i = 0; i < cause->inputs.size() && i < op.inputs.size(); ++i)
    cause->inputs[i].tensor = OutputName(op.inputs[i].op_name, op.inputs[i].slot);
}

void Blame::DescribeExecution(const DebugExecution& execution, Cause* cause) const {
  cause->node = cause->op_type = execution.op_type.str();
  cause->execution = cause->alert.execution;
  cause->stack = execution.stack;
  if (execution.graph >= 0) {
    cause->function = run_.graphs[execution.graph].name.str();
    cause->step = execution.call;
  }
}

void Blame::DescribeStack(Cause* cause) const {
  cause->frame = UserFrame(run_, cause->stack);
  cause->framework_frames = static_cast<int>(
      llvm::count_if(run_.StackAt(cause->stack), [&](int f) { return IsFrameworkFrame(run_, f); }));
  std::vector<llvm::StringRef> functions = UserFunctions(run_, cause->stack);
  cause->place = functions.empty() ? cause->function : llvm::join(functions, " > ");
}

Cause Blame::MakeCause(const DebugAlert& alert, llvm::ArrayRef<ValueSource> sources) const {
  Cause cause;
  cause.alert = alert;
  cause.value = AlertValue(run_, alert);
  cause.inputs.resize(sources.size());
  for (size_t i = 0; i < sources.size(); ++i) DescribeInput(sources[i], &cause.inputs[i]);
  if (alert.trace >= 0) {
    DescribeTrace(run_.traces[alert.trace], &cause);
  } else {
    DescribeExecution(run_.executions[alert.execution], &cause);
  }
  DescribeStack(&cause);
  cause.reason = CauseReason(cause);
  return cause;
}

void Blame::Walk(llvm::function_ref<bool(int)> on_trace,
                 llvm::function_ref<bool(int)> on_execution) {
  size_t trace = 0;
  for (size_t e = 0; e < run_.executions.size(); ++e) {
    // The tensors inside a call (traces) were computed before the call ended, so they come before
    // the call (an execution).
    while (trace < run_.traces.size() &&
           run_.traces[trace].wall_time <= run_.executions[e].wall_time)
      if (!on_trace(static_cast<int>(trace++))) return;
    if (!on_execution(static_cast<int>(e))) return;
  }
  while (trace < run_.traces.size())
    if (!on_trace(static_cast<int>(trace++))) return;
}

BlameReport Blame::Run() {
  Walk(
      [&](int trace) {
        PassTrace(trace);
        return true;
      },
      [&](int execution) {
        PassExecution(execution);
        return true;
      });
  return std::move(report_);
}

std::vector<Cause> Blame::Explain(llvm::ArrayRef<DebugAlert> tensors) {
  llvm::DenseMap<int, std::vector<size_t>> by_trace, by_execution;
  for (size_t i = 0; i < tensors.size(); ++i)
    (tensors[i].trace >= 0 ? by_trace[tensors[i].trace] : by_execution[tensors[i].execution])
        .push_back(i);
  std::vector<Cause> causes(tensors.size());
  size_t left = tensors.size();
  auto explain = [&](const std::vector<size_t>& wanted, llvm::ArrayRef<ValueSource> sources) {
    for (size_t i : wanted) causes[i] = MakeCause(tensors[i], sources);
    left -= wanted.size();
  };
  Walk(
      [&](int trace) {
        auto wanted = by_trace.find(trace);
        if (wanted != by_trace.end()) explain(wanted->second, InputsOf(run_.traces[trace]));
        flow_.PassTrace(trace);
        return left > 0;
      },
      [&](int execution) {
        auto wanted = by_execution.find(execution);
        if (wanted != by_execution.end())
          explain(wanted->second, InputsOf(run_.executions[execution]));
        flow_.PassExecution(execution);
        return left > 0;
      });
  return causes;
}

}  // namespace

const RecordedTensor& AlertValue(const DebugRun& run, const DebugAlert& alert) {
  static const RecordedTensor nothing;  // for an execution without outputs
  if (alert.trace >= 0) return run.traces[alert.trace].value;
  const std::vector<RecordedTensor>& outputs = run.executions[alert.execution].outputs;
  return static_cast<size_t>(alert.output) < outputs.size() ? outputs[alert.output] : nothing;
}

llvm::StringRef AlertOpType(const DebugRun& run, const DebugAlert& alert) {
  if (alert.trace < 0) return run.executions[alert.execution].op_type;
  const DebugTrace& trace = run.traces[alert.trace];
  return trace.op < 0 ? llvm::StringRef() : run.graphs[trace.graph].ops[trace.op].type;
}

BlameReport FindCauses(const DebugRun& run, size_t max_causes) {
  return Blame(run, max_causes).Run();
}

Cause ExplainTensor(const DebugRun& run, const DebugAlert& tensor) {
  return std::move(ExplainTensors(run, tensor)[0]);
}

std::vector<Cause> ExplainTensors(const DebugRun& run, llvm::ArrayRef<DebugAlert> tensors) {
  return Blame(run, 0).Explain(tensors);
}

std::string CauseSentence(const Cause& cause) {
  std::string where;
  auto add = [&](const std::string& text) { where += (where.empty() ? "" : ", ") + text; };
  if (cause.step >= 0) add("step " + std::to_string(cause.step));
  if (cause.iteration >= 0) add("iteration " + std::to_string(cause.iteration) + " of the loop");
  if (!cause.place.empty()) add(cause.place);
  std::string text = cause.node + (where.empty() ? "" : " (" + where + ")");
  if (!cause.value.TellsBad()) return text + " was not recorded";
  if (!cause.value.bad) return text + " has no NaN or infinity";
  text += " made " + BadText(cause.value);
  if (cause.value.what >= Recorded::kBadCounts)
    text += " of " + WithCommas(cause.value.health.elements);
  return text + " " + cause.reason;
}

}  // namespace grapnel
