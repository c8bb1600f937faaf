#include "lib/watch/expression_hook.h"

#include "lib/exec/call_stack.h"
#include "lib/ir/tensor_name.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// The most moments (see Moment) for which an expression's tensors are kept: more than the
// iterations that usually overlap.
constexpr size_t kMostMoments = 256;

std::string NameOf(const Graph& body) {
  const Function* function = FunctionOf(body);
  return function ? function->name().str() : "";
}

}  // namespace

size_t ExpressionHook::Watch(ExpressionPlace place) {
  Watched watched;
  watched.function = NameOf(*place.body);
  for (Port port : place.ports) {
    Node maker = place.body->node(port.node);
    watched.makers.push_back(maker.name().str());
    sees_inputs_ |= maker.op() == "_Arg";
  }
  watched.lasting.resize(place.ports.size());
  watched.is_planned.resize(place.ports.size());
  watched.place = std::move(place);
  watched_.push_back(std::move(watched));
  return watched_.size() - 1;
}

void ExpressionHook::Clear() {
  std::lock_guard lock(mutex_);
  for (Watched& watched : watched_) {
    watched.seen.clear();
    watched.lasting.assign(watched.lasting.size(), Tensor());
  }
}

const std::string& ExpressionHook::FunctionNameOf(const Graph& body) {
  auto [known, is_new] = functions_.try_emplace(&body);
  if (is_new) known->second = NameOf(body);
  return known->second;
}

bool ExpressionHook::Wants(const Node& node) {
  std::lock_guard lock(mutex_);
  const std::string function = FunctionNameOf(node.graph());
  std::vector<Use> uses;
  for (size_t e = 0; e < watched_.size(); ++e) {
    Watched& watched = watched_[e];
    if (watched.function != function) continue;
    for (size_t i = 0; i < watched.makers.size(); ++i) {
      if (watched.makers[i] != node.name()) continue;
      watched.is_planned[i] = true;
      uses.push_back({e, i, watched.place.ports[i].index});
    }
  }
  bool wants = !uses.empty();
  if (wants) outputs_[{&node.graph(), node.id()}] = std::move(uses);
  return WantsInputs(node) || wants;
}

// Function arguments have no node that runs, so an argument's value is observed as an input of its
// first reader in the plan.
bool ExpressionHook::WantsInputs(const Node& node) {
  if (!sees_inputs_) return false;
  const std::string function = FunctionNameOf(node.graph());
  std::vector<Use> uses;
  for (int slot = 0; slot < node.num_inputs(); ++slot) {
    Port from = node.input(slot);
    if (from.node == kNoNode || from.IsControl()) continue;
    Node maker = node.graph().node(from.node);
    if (maker.op() != "_Arg") continue;
    for (size_t e = 0; e < watched_.size(); ++e) {
      if (watched_[e].function != function) continue;
      for (size_t i = 0; i < watched_[e].makers.size(); ++i) {
        if (watched_[e].makers[i] != maker.name()) continue;
        if (read_.insert({&node.graph(), e, i}).second) uses.push_back({e, i, slot});
      }
    }
  }
  if (uses.empty()) return false;
  inputs_[{&node.graph(), node.id()}] = std::move(uses);
  return true;
}

Error ExpressionHook::BeforeNode(const Node& node, llvm::ArrayRef<Tensor> inputs) {
  std::vector<Use> uses;
  {
    std::lock_guard lock(mutex_);
    uses = inputs_.lookup({&node.graph(), node.id()});
  }
  for (const Use& use : uses) {
    if (use.index < static_cast<int>(inputs.size()) && inputs[use.index])
      RETURN_IF_ERROR(Take(use, node.graph().node(node.input(use.index).node), inputs[use.index],
                           /*lasts=*/false));
  }
  return Error::success();
}

Error ExpressionHook::AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) {
  std::vector<Use> uses;
  {
    std::lock_guard lock(mutex_);
    uses = outputs_.lookup({&node.graph(), node.id()});
  }
  for (const Use& use : uses) {
    if (use.index < static_cast<int>(outputs.size()) && outputs[use.index])
      RETURN_IF_ERROR(Take(use, node, outputs[use.index], /*lasts=*/false));
  }
  return Error::success();
}

Error ExpressionHook::OnConstant(const Node& node, const Tensor& value, bool /*is_first*/) {
  std::vector<Use> uses;
  {
    std::lock_guard lock(mutex_);
    uses = outputs_.lookup({&node.graph(), node.id()});
  }
  for (const Use& use : uses) RETURN_IF_ERROR(Take(use, node, value, /*lasts=*/true));
  return Error::success();
}

Error ExpressionHook::SetFed(Port port, const Tensor& value) {
  for (size_t e = 0; e < watched_.size(); ++e) {
    const ExpressionPlace& place = watched_[e].place;
    for (size_t i = 0; i < place.ports.size(); ++i) {
      if (!watched_[e].function.empty() || place.ports[i] != port) continue;
      watched_[e].is_planned[i] = true;
      RETURN_IF_ERROR(Take({e, i, port.index}, Node(), value, /*lasts=*/true));
    }
  }
  return Error::success();
}

// Drops the values of an earlier call whose CallFrame was at the same address.
void ExpressionHook::OnCall(const CallFrame& call) {
  std::lock_guard lock(mutex_);
  for (Watched& watched : watched_) {
    for (auto it = watched.seen.lower_bound({&call, {}});
         it != watched.seen.end() && it->first.call == &call;)
      it = watched.seen.erase(it);
  }
}

ExpressionHook::Moment ExpressionHook::Now() {
  Moment moment;
  const CallFrame* frame = CurrentCall();
  for (; frame && !frame->function; frame = frame->outer)
    moment.iterations.emplace_back(frame->loop.str(), frame->iteration);
  moment.call = frame;
  std::reverse(moment.iterations.begin(), moment.iterations.end());
  return moment;
}

Error ExpressionHook::Take(const Use& use, const Node& maker, const Tensor& value, bool lasts) {
  std::vector<Tensor> values;
  {
    std::lock_guard lock(mutex_);
    if (!Complete(watched_[use.expression], use, value, lasts, &values)) return Error::success();
  }
  return OnValues(use.expression, maker, values);
}

// Drops one iteration, the oldest kept one of its loop, if too many are kept: an iteration that
// never computes one of the tensors would otherwise be kept forever.
void ExpressionHook::ForgetOldIterations(Watched& watched, const Moment& now) {
  if (watched.seen.size() <= kMostMoments) return;
  auto oldest = llvm::find_if(watched.seen, [&](const auto& entry) {
    return !entry.first.iterations.empty() && (entry.first < now || now < entry.first);
  });
  if (oldest != watched.seen.end()) watched.seen.erase(oldest);
}

bool ExpressionHook::Complete(Watched& watched, const Use& use, const Tensor& value, bool lasts,
                              std::vector<Tensor>* values) {
  size_t count = watched.place.ports.size();
  if (lasts) watched.lasting[use.tensor] = value;
  if (count == 1) {
    values->push_back(value);
    return true;
  }
  Moment now = Now();
  if (!lasts) {
    std::vector<Tensor>& here = watched.seen[now];
    here.resize(count);
    here[use.tensor] = value;
    ForgetOldIterations(watched, now);
  }
  *values = watched.lasting;
  // Look in the innermost iteration first, then outwards: the nearest value counts.
  for (Moment at = now;; at.iterations.pop_back()) {
    auto found = watched.seen.find(at);
    for (size_t i = 0; found != watched.seen.end() && i < count; ++i) {
      if (!(*values)[i]) (*values)[i] = found->second[i];
    }
    if (at.iterations.empty()) break;
  }
  if (!llvm::all_of(*values, [](const Tensor& tensor) { return tensor.operator bool(); }))
    return false;
  // An iteration or call with all tensors is done. Keep values outside of loops and calls: other
  // iterations may need them.
  if (!now.iterations.empty() || now.call) watched.seen.erase(now);
  return true;
}

std::string ExpressionHook::NotComputed(size_t expression) const {
  std::lock_guard lock(mutex_);
  const Watched& watched = watched_[expression];
  if (!watched.function.empty()) return "";
  for (size_t i = 0; i < watched.makers.size(); ++i) {
    if (!watched.is_planned[i]) return OutputName(watched.makers[i], watched.place.ports[i].index);
  }
  return "";
}

}  // namespace grapnel
