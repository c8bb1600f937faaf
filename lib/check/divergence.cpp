#include "lib/check/divergence.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr size_t kMostWorst = 10;
// If the evaluator cannot compute an op, or if B is a recorded run, a difference of its output
// counts as rounding up to this many times the difference of its inputs.
constexpr double kMostGrowth = 1e3;

bool HoldsValues(const Tensor& tensor) { return tensor && !tensor.HoldsObjects(); }

std::string TypeText(const Tensor& tensor) {
  return DataTypeName(tensor.dtype()).str() + DimsText(tensor.dims());
}

std::string CallersText(llvm::ArrayRef<CallSite> calls) {
  std::string text;
  for (const CallSite& call : calls) {
    if (!call.caller.empty()) text += call.caller + "/";
  }
  return text;
}

// True if the calling nodes and the iterations are the same; names of functions may differ.
bool AreAlike(llvm::ArrayRef<CallSite> a, llvm::ArrayRef<CallSite> b) {
  auto is_same = [](const CallSite& x, const CallSite& y) {
    return x.caller == y.caller && x.iteration == y.iteration;
  };
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), is_same);
}

// Returns the first attribute that differs, in alphabetical order, as "attribute 'alpha' is 0.1 in
// A, 0.3 in B"; empty if there is none. Ignores `value`, attributes that begin with '_', and names
// of functions, whose contents are compared separately.
std::string AttrsText(const Node& a, const Node& b) {
  std::set<llvm::StringRef> keys;
  for (const Node& node : {a, b}) {
    for (auto& [key, value] : node.Attrs()) {
      if (value.FuncNames().empty() && key != "value" && !key.starts_with("_")) keys.insert(key);
    }
  }
  for (llvm::StringRef key : keys) {
    auto of_a = a.Attr(key), of_b = b.Attr(key);
    std::string text_a = of_a ? of_a->ToString() : "missing";
    std::string text_b = of_b ? of_b->ToString() : "missing";
    if (text_a != text_b)
      return llvm::formatv("attribute '{0}' is {1} in A, {2} in B", key, text_a, text_b).str();
  }
  return "";
}

std::string OtherOpText(llvm::StringRef a, llvm::StringRef b) {
  return llvm::formatv("which is {0} in A and {1} in B", a, b).str();
}

// Returns how many terms an op adds up for one element of the output; 0 if it does not add, or if
// the number is unknown.
double TermsOf(const Node& node, llvm::ArrayRef<Tensor> inputs, const Tensor& output) {
  llvm::StringRef op = node.op();
  double out = static_cast<double>(std::max<int64_t>(output.num_elements(), 1));
  auto elements = [&](size_t i) {
    return i < inputs.size() && inputs[i] ? static_cast<double>(inputs[i].num_elements()) : 0;
  };
  if (op == "Sum" || op == "Mean" || op == "BiasAddGrad" || op == "AvgPool")
    return elements(0) / out;
  if (op == "AddN") return static_cast<double>(inputs.size());
  if (op == "MatMul" || op.starts_with("BatchMatMul")) {
    double batch = 1;
    for (int64_t dim : output.dims().drop_back(std::min<size_t>(output.dims().size(), 2)))
      batch *= static_cast<double>(dim);
    return std::sqrt(elements(0) * elements(1) / out / std::max(batch, 1.0));
  }
  if ((op == "Conv2D" || op == "Conv3D") && inputs.size() > 1 && inputs[1].rank() > 0)
    return elements(1) / static_cast<double>(std::max<int64_t>(inputs[1].dims().back(), 1));
  return 0;
}

std::optional<Tensor> Magnitudes(const Tensor& tensor) {
  if (!IsFloating(tensor.dtype())) return tensor;
  auto copy = Tensor::Allocate(tensor.dtype(), tensor.dims());
  if (!copy) {
    llvm::consumeError(copy.takeError());
    return std::nullopt;
  }
  int64_t size = tensor.num_elements();
  if (size == 0) return *copy;
  switch (tensor.dtype()) {
    case proto::DT_FLOAT:
      std::transform(tensor.data<float>(), tensor.data<float>() + size, copy->data<float>(),
                     [](float x) { return std::fabs(x); });
      return *copy;
    case proto::DT_DOUBLE:
      std::transform(tensor.data<double>(), tensor.data<double>() + size, copy->data<double>(),
                     [](double x) { return std::fabs(x); });
      return *copy;
    case proto::DT_HALF:
    case proto::DT_BFLOAT16:
      std::transform(tensor.data<uint16_t>(), tensor.data<uint16_t>() + size,
                     copy->data<uint16_t>(), [](uint16_t x) { return x & 0x7FFF; });
      return *copy;
    default:
      return std::nullopt;
  }
}

}  // namespace

void DivergenceFinder::OnPair(int64_t order, const NodeRun& a, const NodeRun& b) {
  for (size_t i = 0; i < std::min(a.outputs.size(), b.outputs.size()); ++i) {
    if (HoldsValues(a.outputs[i]) && HoldsValues(b.outputs[i]))
      Compare(order, a, b, static_cast<int>(i));
  }
}

void DivergenceFinder::Compare(int64_t order, const NodeRun& a, const NodeRun& b, int output) {
  TensorDifference difference = DifferenceOf(a.outputs[output], b.outputs[output], tolerance_);
  ++divergence_.tensors;
  State state{difference.agreement == Agreement::kDiverged, difference.norm_error};
  auto note = [&] {
    states_a_[{&a.node.graph(), a.node.id(), output}] = state;
    if (b.node) states_b_[{&b.node.graph(), b.node.id(), output}] = state;
  };
  if (difference.agreement == Agreement::kSame) {
    ++divergence_.same;
    return note();
  }
  Mismatch mismatch;
  mismatch.order = order;
  mismatch.node = a.node.name().str();
  mismatch.op = a.node.op().str();
  if (b.node) {
    if (b.node.name() != a.node.name()) mismatch.node_b = b.node.name().str();
    mismatch.op_b = b.node.op().str();
  } else {
    mismatch.op_b = b.recorded_op;
    mismatch.made_at = b.recorded_at;
  }
  mismatch.output = output;
  mismatch.calls = a.calls;
  if (b.node && !AreAlike(a.calls, b.calls)) mismatch.calls_b = b.calls;
  mismatch.type_a = TypeText(a.outputs[output]);
  mismatch.type_b = TypeText(b.outputs[output]);
  mismatch.difference = std::move(difference);
  mismatch.cause = MismatchKind::kRounding;
  if (state.diverged) {
    Answer answer = CauseOf(order, a, b, &mismatch);
    mismatch.cause = answer.cause;
    mismatch.reason = std::move(answer.reason);
    NoteCallers(a);
    if (b.node) NoteCallersOfB();
    ++divergence_.diverged;
  } else {
    ++divergence_.within;
  }
  if (mismatch.cause == MismatchKind::kRounding) NoteGrowth(a, mismatch);
  note();
  Keep(std::move(mismatch));
}

DivergenceFinder::Answer DivergenceFinder::CauseOf(int64_t order, const NodeRun& a,
                                                   const NodeRun& b, Mismatch* mismatch) {
  using C = MismatchKind;
  if (order < 0) return {C::kFault, "as the value fed for it"};
  if (IsCallThatDivergedInside(a)) return {C::kConsequence, "of a difference inside of it"};
  if (!b.node) {
    Answer answer = CauseByRecord(a, mismatch);
    bool is_other_op = !b.recorded_op.empty() && b.recorded_op != a.node.op();
    if (answer.cause != C::kConsequence && is_other_op)
      return {C::kFault, OtherOpText(a.node.op(), b.recorded_op)};
    return answer;
  }
  const std::string& how = mismatch->difference.mismatch;
  bool is_other_op = a.node.op() != b.node.op();
  if (a.inputs.size() != b.inputs.size()) {
    if (FollowsFromBefore(b.node, Run::kB)) return {C::kConsequence, "of what it reads"};
    if (is_other_op) return {C::kFault, OtherOpText(a.node.op(), b.node.op())};
    return {C::kFault, llvm::formatv("which reads {0} in A and {1} in B",
                                     Plural(a.inputs.size(), "tensor"), b.inputs.size())
                           .str()};
  }
  if (is_other_op) {
    Answer answer = CauseByInputs(a, b, mismatch);
    if (answer.cause == C::kConsequence) return answer;
    return {C::kFault, OtherOpText(a.node.op(), b.node.op())};
  }
  if (a.node.op() == "Const") return {C::kFault, "as a constant of the graph"};
  if (a.inputs.empty() && IsVariable(a.node)) {
    if (divergence_.diverged > 0) return {C::kConsequence, "of what was assigned to it"};
    return {C::kFault, "as a variable that held another value before the run"};
  }
  auto is_opaque = [](const Tensor& input) { return input && input.HoldsObjects(); };
  if (llvm::any_of(b.inputs, is_opaque)) {
    if (divergence_.diverged > 0) return {C::kConsequence, "of what diverged before"};
    return {C::kFault,
            "read from a variable, table or list that held another value before the run"};
  }
  Answer answer = CauseByInputs(a, b, mismatch);
  if (answer.cause == C::kRounding && !how.empty() && how != "nan") answer.cause = C::kFault;
  return answer;
}

// Returns, for each input of A's node, the index of the corresponding input of B's node. If the op
// is commutative, prefers an input whose value agrees.
std::vector<size_t> DivergenceFinder::InputsOfB(const NodeRun& a, const NodeRun& b) const {
  std::vector<size_t> of_b(a.inputs.size());
  for (size_t i = 0; i < of_b.size(); ++i) of_b[i] = i;
  const OpInfo* info = DefinitionOf(a.node);
  if (!info || !(info->is_commutative || a.node.op() == "AddN")) return of_b;
  auto agree = [&](size_t i, size_t j) {
    return HoldsValues(a.inputs[i]) && HoldsValues(b.inputs[j]) &&
           DifferenceOf(a.inputs[i], b.inputs[j], tolerance_).agreement != Agreement::kDiverged;
  };
  for (size_t i = 0; i < of_b.size(); ++i) {
    for (size_t j = i; j < of_b.size(); ++j) {
      if (!agree(i, of_b[j])) continue;
      std::swap(of_b[i], of_b[j]);
      break;
    }
  }
  return of_b;
}

// Finds the first input of B's node that diverged or could not be compared. Returns the tensor that
// this input reads if that tensor has no counterpart in A and is not an argument; else an empty
// string.
std::string DivergenceFinder::ReadAlone(const Node& b, llvm::ArrayRef<ComparedInput> inputs,
                                        llvm::ArrayRef<size_t> of_b) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    bool agrees = inputs[i].is_compared && inputs[i].difference.agreement != Agreement::kDiverged;
    if (agrees || static_cast<int>(of_b[i]) >= b.num_inputs()) continue;
    Port from = b.input(static_cast<int>(of_b[i]));
    if (from.node == kNoNode || WasCompared(b.graph().node(from.node), from.index)) return "";
    Node source = b.graph().node(from.node);
    return source.op() == "_Arg" ? "" : OutputName(source.name(), from.index);
  }
  return "";
}

// Finds the cause of a mismatch between two nodes that ran: compares their inputs one by one.
DivergenceFinder::Answer DivergenceFinder::CauseByInputs(const NodeRun& a, const NodeRun& b,
                                                         Mismatch* mismatch) const {
  using C = MismatchKind;
  size_t count = a.inputs.size();
  std::vector<size_t> of_b = InputsOfB(a, b);
  bool diverged = false, same = true;
  double largest = 0;
  for (size_t i = 0; i < count; ++i) {
    ComparedInput input;
    Port from =
        static_cast<int>(i) < a.node.num_inputs() ? a.node.input(static_cast<int>(i)) : Port();
    if (from.node != kNoNode)
      input.name = OutputName(a.node.graph().node(from.node).name(), from.index);
    const Tensor &x = a.inputs[i], &y = b.inputs[of_b[i]];
    input.is_compared = HoldsValues(x) && HoldsValues(y);
    if (input.is_compared) {
      input.difference = DifferenceOf(x, y, tolerance_);
      diverged |= input.difference.agreement == Agreement::kDiverged;
      same &= input.difference.agreement == Agreement::kSame;
      largest = std::max(largest, input.difference.norm_error);
    } else if (bool(x) != bool(y)) {
      diverged = true;  // dead in one run: another branch was taken
    }
    mismatch->inputs.push_back(std::move(input));
  }
  if (diverged) {
    if (!FollowsFromBefore(b.node, Run::kB)) {
      std::string alone = ReadAlone(b.node, mismatch->inputs, of_b);
      if (alone.empty()) return {C::kFault, "because it reads another tensor in B"};
      return {
          C::kFault,
          llvm::formatv("because it reads {0} in B, which has no counterpart in A", alone).str()};
    }
    // If an earlier op was at fault, this difference is a consequence. If so far tensors diverged
    // only by rounding, this op may be the first at fault.
    bool is_faithful =
        !divergence_.faults.empty() || IsFaithful(a, b, mismatch->output).value_or(true);
    if (is_faithful) return {C::kConsequence, "of what it reads"};
    return {
        C::kFault,
        "more than its inputs, which differ by rounding: A's op computes another value from B's "
        "inputs"};
  }
  std::string attrs = AttrsText(a.node, b.node);
  if (!attrs.empty()) attrs = ": " + attrs;
  if (same) {
    const Tensor &x = a.outputs[mismatch->output], &y = b.outputs[mismatch->output];
    if (attrs.empty() && IsRoundingOfSum(a.node, a.inputs, x, y, mismatch->output))
      return {C::kRounding,
              "of equal inputs: its terms cancel, and another order of additions explains "
              "the difference"};
    if (count == 0) return {C::kFault, "though it reads nothing" + attrs};
    return {C::kFault, "though all its inputs are the same, bit for bit" + attrs};
  }
  if (std::optional<bool> is_faithful = IsFaithful(a, b, mismatch->output)) {
    if (*is_faithful)
      return {C::kRounding,
              "of inputs that differ only by rounding: A's op computes the same from B's inputs"};
    return {C::kFault,
            "though its inputs agree: A's op computes another value from B's inputs" + attrs};
  }
  double grown = largest > 0 ? mismatch->difference.norm_error / largest : kMostGrowth + 1;
  if (attrs.empty() && mismatch->difference.mismatch.empty() && grown <= kMostGrowth)
    return {C::kRounding, "of inputs that differ only by rounding"};
  return {C::kFault, "though all its inputs agree" + attrs};
}

// Finds the cause of a mismatch if B is a recorded run (a debug folder), which does not have the
// inputs of nodes: uses how the tensors that A's node reads compared before.
DivergenceFinder::Answer DivergenceFinder::CauseByRecord(const NodeRun& a,
                                                         Mismatch* mismatch) const {
  using C = MismatchKind;
  bool is_complete = true;
  double largest = 0;
  for (int i = 0; i < a.node.num_inputs(); ++i) {
    Port from = a.node.input(i);
    ComparedInput input;
    if (from.node != kNoNode)
      input.name = OutputName(a.node.graph().node(from.node).name(), from.index);
    auto state = states_a_.find({&a.node.graph(), from.node, from.index});
    input.is_compared = state != states_a_.end();
    is_complete &= input.is_compared;
    if (input.is_compared) {
      const State& found = state->second;
      input.difference.norm_error = found.norm_error;
      input.difference.agreement = found.diverged         ? Agreement::kDiverged
                                   : found.norm_error > 0 ? Agreement::kWithin
                                                          : Agreement::kSame;
      largest = std::max(largest, found.norm_error);
    }
    mismatch->inputs.push_back(std::move(input));
  }
  if (FollowsFromBefore(a.node, Run::kA)) return {C::kConsequence, "of what it reads"};
  if (!is_complete)
    return {C::kFault, "though the records of the tensors that it depends on agree"};
  bool is_rounding = largest > 0 && mismatch->difference.mismatch.empty() &&
                     mismatch->difference.norm_error <= kMostGrowth * largest;
  if (is_rounding) return {C::kRounding, "of inputs that differ only by rounding"};
  return {C::kFault, "though all its inputs agree"};
}

bool DivergenceFinder::IsCallThatDivergedInside(const NodeRun& a) const {
  return callers_.count(CallersText(a.calls) + a.node.name().str() + "/") > 0;
}

void DivergenceFinder::NoteCallers(const NodeRun& a) {
  std::string text;
  for (const CallSite& call : a.calls) {
    if (call.caller.empty()) continue;
    text += call.caller + "/";
    callers_.insert(text);
  }
}

void DivergenceFinder::NoteCallersOfB() {
  for (const CallFrame* call = CurrentCall(); call; call = call->outer) {
    if (call->caller) callers_b_.insert({&call->caller->graph(), call->caller->id()});
  }
}

bool DivergenceFinder::FollowsFromBefore(const Node& node, Run run) const {
  constexpr size_t kMost = 10'000;  // nodes to visit; reached if almost no nodes are paired
  const auto& states = run == Run::kA ? states_a_ : states_b_;
  llvm::DenseSet<std::pair<const Graph*, NodeId>> seen;
  std::vector<Node> open = {node};
  auto add = [&](const Node& next) {
    if (next && seen.insert({&next.graph(), next.id()}).second) open.push_back(next);
  };
  while (!open.empty() && seen.size() < kMost) {
    Node at = open.back();
    open.pop_back();
    for (int i = 0; i < at.num_inputs(); ++i) {
      Port from = at.input(i);
      auto state = states.find({&at.graph(), from.node, from.index});
      if (state == states.end()) {
        add(at.input_node(i));
      } else if (state->second.diverged) {
        return true;
      }
    }
    if (run == Run::kB && callers_b_.contains({&at.graph(), at.id()})) return true;
    // The value comes from the previous iteration, in which something may have diverged.
    if (at.op() == "NextIteration" && divergence_.diverged > 0) return true;
    if (at.op() != "_Arg") continue;
    for (const CallFrame* call = CurrentCall(); call; call = call->outer) {
      if (!call->function || &call->function->body != &at.graph()) continue;
      // From the second iteration on, a loop's argument comes from the previous iteration.
      if (call->iteration > 0 && divergence_.diverged > 0) return true;
      if (call->caller) add(*call->caller);
    }
  }
  return seen.size() >= kMost && divergence_.diverged > 0;
}

std::optional<Tensor> DivergenceFinder::Evaluate(const Node& node, llvm::ArrayRef<Tensor> inputs,
                                                 int output) const {
  const OpInfo* info = DefinitionOf(node);
  bool can = evaluator_ && info && !info->is_stateful && CalledFunctions(node).empty() &&
             llvm::all_of(inputs, HoldsValues) && evaluator_->CanEvaluate(node);
  if (!can) return std::nullopt;
  std::vector<Literal> literals;
  for (const Tensor& input : inputs) literals.push_back(input.ToLiteral());
  auto made = evaluator_->Evaluate(node, literals);
  if (!made) {
    llvm::consumeError(made.takeError());
    return std::nullopt;
  }
  if (output >= static_cast<int>(made->size())) return std::nullopt;
  auto tensor = Tensor::FromLiteral((*made)[output]);
  if (tensor) return *tensor;
  llvm::consumeError(tensor.takeError());
  return std::nullopt;
}

// A sum of n terms, added in any order, is off by at most (n - 1) * unit roundoff * the sum of the
// terms' magnitudes.
bool DivergenceFinder::IsRoundingOfSum(const Node& node, llvm::ArrayRef<Tensor> inputs,
                                       const Tensor& x, const Tensor& y, int output) const {
  double terms = TermsOf(node, inputs, x);
  if (terms <= 1 || !IsFloating(x.dtype()) || x.dtype() != y.dtype() || x.dims() != y.dims())
    return false;
  std::vector<Tensor> magnitudes;
  for (const Tensor& input : inputs) {
    std::optional<Tensor> magnitude = HoldsValues(input) ? Magnitudes(input) : std::nullopt;
    if (!magnitude) return false;
    magnitudes.push_back(std::move(*magnitude));
  }
  std::optional<Tensor> sums = Evaluate(node, magnitudes, output);
  if (!sums || sums->num_elements() != x.num_elements()) return false;
  Literal of_a = x.ToLiteral(), of_b = y.ToLiteral(), of_sums = sums->ToLiteral();
  double part = 2 * terms * UnitRoundoff(x.dtype());
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    double error = std::fabs(of_a.AsDouble(i) - of_b.AsDouble(i));
    if (!(error <= part * of_sums.AsDouble(i))) return false;
  }
  return true;
}

std::optional<bool> DivergenceFinder::IsFaithful(const NodeRun& a, const NodeRun& b,
                                                 int output) const {
  std::optional<Tensor> again = Evaluate(a.node, b.inputs, output);
  if (!again) return std::nullopt;
  const Tensor& made = b.outputs[output];
  return DifferenceOf(*again, made, tolerance_).agreement != Agreement::kDiverged ||
         IsRoundingOfSum(a.node, b.inputs, *again, made, output);
}

void DivergenceFinder::NoteGrowth(const NodeRun& a, const Mismatch& mismatch) {
  if (!mismatch.difference.mismatch.empty()) return;
  double before = 0;
  for (int i = 0; i < a.node.num_inputs(); ++i) {
    Port from = a.node.input(i);
    auto state = states_a_.find({&a.node.graph(), from.node, from.index});
    if (state != states_a_.end()) before = std::max(before, state->second.norm_error);
  }
  if (before == 0) return;
  ErrorGrowth growth{mismatch.node, mismatch.op, before, mismatch.difference.norm_error};
  if (!divergence_.growth || growth.Factor() > divergence_.growth->Factor())
    divergence_.growth = std::move(growth);
}

void DivergenceFinder::Keep(Mismatch mismatch) {
  bool diverged = mismatch.difference.agreement == Agreement::kDiverged;
  auto is_same = [&](const Mismatch& p) {
    return p.node == mismatch.node && p.output == mismatch.output &&
           CallersText(p.calls) == CallersText(mismatch.calls);
  };
  std::optional<Mismatch>& first = divergence_.first_diverged;
  if (diverged && (!first || mismatch.order < first->order)) first = mismatch;
  std::optional<Mismatch>& rounding = divergence_.first_rounding;
  bool is_rounding = diverged && mismatch.cause == MismatchKind::kRounding;
  if (is_rounding && (!rounding || mismatch.order < rounding->order)) rounding = mismatch;
  std::vector<Mismatch>& faults = divergence_.faults;
  if (diverged && mismatch.cause == MismatchKind::kFault && llvm::none_of(faults, is_same)) {
    auto by_order = [](const Mismatch& x, const Mismatch& y) { return x.order < y.order; };
    faults.insert(llvm::upper_bound(faults, mismatch, by_order), mismatch);
    if (faults.size() > Divergence::kMostFaults) faults.pop_back();
  }
  auto rank = [](const Mismatch& p) {
    return std::tuple(p.difference.agreement != Agreement::kDiverged, p.difference.mismatch.empty(),
                      -p.difference.norm_error, p.order);
  };
  std::vector<Mismatch>& worst = divergence_.worst;
  auto known = llvm::find_if(worst, is_same);
  if (known != worst.end()) {
    mismatch.times += known->times;
    if (rank(mismatch) < rank(*known)) {
      *known = std::move(mismatch);
    } else {
      known->times = mismatch.times;
    }
  } else {
    worst.push_back(std::move(mismatch));
  }
  std::stable_sort(worst.begin(), worst.end(),
                   [&](const Mismatch& x, const Mismatch& y) { return rank(x) < rank(y); });
  if (worst.size() > kMostWorst) worst.resize(kMostWorst);
}

bool DivergenceFinder::HasDiverged(const Node& b, int output) const {
  auto state = states_b_.find({&b.graph(), b.id(), output});
  return state != states_b_.end() && state->second.diverged;
}

bool DivergenceFinder::WasCompared(const Node& b, int output) const {
  return states_b_.count({&b.graph(), b.id(), output}) > 0;
}

}  // namespace grapnel
