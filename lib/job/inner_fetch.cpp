#include "lib/job/inner_fetch.h"

#include "lib/exec/call_stack.h"
#include "lib/ir/tensor_name.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

// The calls and loops in which a thread is.
struct CallPosition {
  std::string path;            // the names of the calling nodes, each followed by '/'
  std::vector<int64_t> loops;  // the iteration of each loop, from the outermost
  bool is_known = true;        // false: a function was called without a node
};

CallPosition PositionOf(const CallFrame* frame) {
  CallPosition at;
  std::vector<llvm::StringRef> callers;
  for (; frame; frame = frame->outer) {
    if (frame->iteration >= 0) at.loops.push_back(frame->iteration);
    if (!frame->function) continue;
    at.is_known &= frame->caller != nullptr;
    callers.push_back(frame->caller ? frame->caller->name() : "");
  }
  std::reverse(at.loops.begin(), at.loops.end());
  for (llvm::StringRef caller : llvm::reverse(callers)) at.path += (caller + "/").str();
  return at;
}

// True if `path` is `name` or ends with it after a '/'.
bool EndsWithName(llvm::StringRef path, llvm::StringRef name) {
  return path.consume_back(name) && (path.empty() || path.ends_with("/"));
}

std::string NameOfIterations(llvm::ArrayRef<int64_t> iterations) {
  std::string text;
  for (int64_t iteration : iterations) text += "@" + std::to_string(iteration);
  return text;
}

}  // namespace

std::string InnerFetch::Path() const {
  std::string path;
  for (const InnerCall& call : calls) path += call.caller + "/";
  return path + node;
}

std::string InnerFetch::Name() const {
  return NodeDefInput(name, output) + NameOfIterations(iterations);
}

InnerFetchHook::InnerFetchHook(std::vector<InnerFetch> fetches)
    : fetches_(std::move(fetches)), caught_(fetches_.size()) {
  for (size_t i = 0; i < fetches_.size(); ++i) {
    for (const InnerCall& call : fetches_[i].calls) functions_.insert(call.function);
    caught_[i].path = fetches_[i].Path();
    if (fetches_[i].iterations.size() == 1 && fetches_[i].iterations[0] < 0)
      caught_[i].keep = static_cast<size_t>(-fetches_[i].iterations[0]);
  }
}

void InnerFetchHook::Clear() {
  std::lock_guard lock(mutex_);
  began_.clear();
  for (Caught& caught : caught_) {
    caught.last.clear();
    caught.loops.clear();
    caught.times = 0;
  }
}

bool InnerFetchHook::IsOf(size_t i, const Node& node) const {
  const InnerFetch& fetch = fetches_[i];
  if (!EndsWithName(node.name(), fetch.node) || !EndsWithName(caught_[i].path, node.name()))
    return false;
  const Function* function = FunctionOf(node.graph());
  bool is_inlined = node.name() != fetch.node;
  return is_inlined || (function && function->name() == fetch.calls.back().function);
}

bool InnerFetchHook::Wants(const Node& node) {
  return llvm::any_of(llvm::seq(fetches_.size()), [&](size_t i) { return IsOf(i, node); });
}

void InnerFetchHook::AddNeeded(const Graph& body, llvm::SmallVectorImpl<NodeId>* needed) {
  const Function* function = FunctionOf(body);
  for (const InnerFetch& fetch : fetches_) {
    if (!function || fetch.calls.back().function != function->name()) continue;
    if (Node node = body.Find(fetch.node)) needed->push_back(node.id());
  }
}

void InnerFetchHook::OnCall(const CallFrame& call) {
  if (!call.function || !functions_.count(call.function->name().str())) return;
  std::string began = PositionOf(&call).path + " " + call.function->name().str();
  std::lock_guard lock(mutex_);
  began_.insert(std::move(began));
}

Error InnerFetchHook::AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) {
  std::optional<CallPosition> at;
  for (size_t i = 0; i < fetches_.size(); ++i) {
    const InnerFetch& fetch = fetches_[i];
    if (!IsOf(i, node)) continue;
    if (!at) at = PositionOf(CurrentCall());
    size_t output = static_cast<size_t>(fetch.output);
    bool is_here = at->is_known && at->path + node.name().str() == caught_[i].path;
    if (!is_here || output >= outputs.size() || !outputs[output]) continue;
    std::lock_guard lock(mutex_);
    Caught& caught = caught_[i];
    ++caught.times;
    caught.loops.resize(std::max(caught.loops.size(), at->loops.size()));
    for (size_t level = 0; level < at->loops.size(); ++level)
      caught.loops[level] = std::max(caught.loops[level], at->loops[level]);
    bool is_from_end = fetch.iterations.size() == 1 && fetch.iterations[0] < 0;
    if (!is_from_end && at->loops != fetch.iterations) continue;
    if (caught.last.size() == caught.keep) caught.last.pop_front();
    caught.last.push_back(outputs[output]);
  }
  return Error::success();
}

// Returns which call on the way did not begin; empty if all did.
std::string InnerFetchHook::WhyNoCall(const InnerFetch& fetch) const {
  std::string path;
  for (const InnerCall& call : fetch.calls) {
    path += call.caller + "/";
    if (began_.count(path + " " + call.function)) continue;
    std::string caller = llvm::StringRef(path).drop_back().str();
    switch (call.kind) {
      case CallKind::kBranch:
        return "it is in branch '" + call.function + "' of '" + caller + "', which did not run";
      case CallKind::kBody:
        return "it is in loop '" + caller + "', which ran no iteration";
      case CallKind::kCond:
      case CallKind::kCall:
        return "'" + caller + "', which calls its function '" + call.function + "', did not run";
    }
  }
  return "";
}

Expected<Tensor> InnerFetchHook::Value(size_t i) const {
  std::lock_guard lock(mutex_);
  const InnerFetch& fetch = fetches_[i];
  const Caught& caught = caught_[i];
  bool is_enough = caught.last.size() == caught.keep;
  if (is_enough) return caught.last.front();
  std::string name = fetch.Name();
  if (caught.times == 0) {
    std::string why = WhyNoCall(fetch);
    return MakeError("fetch '{0}' has no value in this run: {1}", name,
                     why.empty() ? "it was not computed" : why);
  }
  if (caught.loops.empty())
    return MakeError("fetch '{0}': it is in no loop, so it has no iterations", name);
  bool is_in_range = fetch.iterations.size() == caught.loops.size();
  for (size_t level = 0; is_in_range && level < caught.loops.size(); ++level)
    is_in_range = fetch.iterations[level] >= 0 && fetch.iterations[level] <= caught.loops[level];
  if (is_in_range)
    return MakeError("fetch '{0}' has no value in this run: it was computed in other iterations",
                     name);
  std::vector<int64_t> first(caught.loops.size(), 0);
  InnerFetch example = fetch;
  example.iterations = first;
  std::string from = example.Name();
  example.iterations = caught.loops;
  std::vector<std::string> counts;
  for (int64_t last : caught.loops) counts.push_back(Plural(last + 1, "iteration"));
  return MakeError("fetch '{0}' is in {1} with {2}: name an iteration, from '{3}' to '{4}'", name,
                   counts.size() == 1 ? "a loop" : Plural(counts.size(), "loop"),
                   llvm::join(counts, " and "), from, example.Name());
}

}  // namespace grapnel
