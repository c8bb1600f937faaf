#include "lib/check/run_pairs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

namespace grapnel {
namespace {

constexpr int64_t kBytesOfNode = 256;  // estimated memory for a node, without its tensors

}  // namespace

// A hook that makes a NodeRun for each node that has run.
class RunPairs::Recorder : public RunHook {
 public:
  Recorder(std::function<void(NodeRun)> take, Editor edit)
      : take_(std::move(take)), edit_(std::move(edit)) {}

  bool Wants(const Node&) override { return true; }

  Tensor ReplaceConstant(const Node& node, const Tensor& value) override {
    return edit_ ? edit_(node, 0, value) : value;
  }

  Error OnConstant(const Node& node, const Tensor& value, bool /*is_first*/) override {
    take_({node, CurrentCallSites(), {}, {value}});
    return Error::success();
  }

  Error BeforeNode(const Node& node, llvm::ArrayRef<Tensor> inputs) override {
    std::lock_guard lock(mutex_);
    begun_[std::this_thread::get_id()].push_back({node, {inputs.begin(), inputs.end()}});
    return Error::success();
  }

  Error EditOutputs(const Node& node, llvm::MutableArrayRef<Tensor> outputs) override {
    for (size_t i = 0; i < outputs.size() && edit_; ++i)
      outputs[i] = edit_(node, static_cast<int>(i), outputs[i]);
    return Error::success();
  }

  Error AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) override {
    take_({node, CurrentCallSites(), InputsOf(node), {outputs.begin(), outputs.end()}});
    return Error::success();
  }

 private:
  struct Begun {
    Node node;
    std::vector<Tensor> inputs;
  };

  // Returns the inputs that BeforeNode() stored for a node that has run, if any. Later entries of
  // the thread are from nodes that failed, and are dropped.
  std::vector<Tensor> InputsOf(const Node& node) {
    std::lock_guard lock(mutex_);
    std::vector<Begun>& begun = begun_[std::this_thread::get_id()];
    for (size_t i = begun.size(); i-- > 0;) {
      if (begun[i].node != node) continue;
      std::vector<Tensor> inputs = std::move(begun[i].inputs);
      begun.resize(i);
      return inputs;
    }
    return {};
  }

  std::function<void(NodeRun)> take_;
  Editor edit_;
  std::mutex mutex_;
  std::map<std::thread::id, std::vector<Begun>> begun_;
};

namespace {

std::string PlaceInBody(llvm::StringRef function, llvm::StringRef node) {
  return (function + "/" + node).str();
}

std::string PlaceInBody(const Node& node) {
  const CallFrame* call = CurrentCall();
  while (call && !call->function) call = call->outer;
  return PlaceInBody(call ? call->function->name() : "", node.name());
}

uint64_t KeyOf(llvm::StringRef place, int64_t times) {
  // Avoid the two keys that DenseMap reserves.
  uint64_t key = llvm::xxHash64((place + "*" + llvm::Twine(times)).str());
  return key >= ~uint64_t{1} ? key - 2 : key;
}

uint64_t PlaceKey(llvm::StringRef place) { return KeyOf(place, -1); }

}  // namespace

RunPairs::RunPairs(PairSink& sink, int64_t budget, Namers namers, Editor edit, Identity identity)
    : sink_(sink),
      budget_(budget),
      identity_(identity),
      namers_(std::move(namers)),
      recorder_a_(
          std::make_unique<Recorder>([this](NodeRun run) { TakeA(std::move(run)); }, nullptr)),
      recorder_b_(std::make_unique<Recorder>([this](const NodeRun& run) { TakeB(run); },
                                             std::move(edit))) {}

RunPairs::~RunPairs() = default;

RunHook& RunPairs::hook_a() { return *recorder_a_; }
RunHook& RunPairs::hook_b() { return *recorder_b_; }

void RunPairs::PairFeed(const NodeRun& a, const NodeRun& b) { sink_.OnPair(-1, a, b); }

// Returns the bytes that holding the tensor adds: 0 if it has no buffer, if the buffer is held
// already, or if it is a constant (`is_free`), which the plan keeps anyway.
int64_t RunPairs::Hold(const Tensor& tensor, bool is_free) {
  if (!tensor || !tensor.buffer()) return 0;
  if (!buffers_.insert(tensor.buffer().get()).second || is_free) return 0;
  return static_cast<int64_t>(tensor.buffer()->size());
}

// Returns the role of the called function in the calling node, such as "body" (PartOfCaller).
const std::string& RunPairs::PartOf(const CallFrame& call) {
  auto [part, is_new] =
      parts_.try_emplace({&call.caller->graph(), call.caller->id(), call.function});
  if (is_new) part->second = PartOfCaller(*call.caller, call.function->name());
  return part->second;
}

// Returns the place of a node that is running, which includes its callers and iterations.
NodePlace RunPairs::PlaceNow(const Node& node, const Namer& namer) {
  auto place_of = [&](const Node& at) { return namer ? namer(at) : PlaceOfName(at.name()); };
  llvm::SmallVector<const CallFrame*, 8> frames;
  for (const CallFrame* call = CurrentCall(); call; call = call->outer) frames.push_back(call);
  NodePlace place;
  std::string iterations;
  for (const CallFrame* call : llvm::reverse(frames)) {
    if (call->caller) AppendCaller(place_of(*call->caller), PartOf(*call), &place);
    if (call->iteration >= 0) iterations.append("#").append(std::to_string(call->iteration));
  }
  NodePlace own = place_of(node);
  place.path += own.path;
  place.branches += own.branches;
  place.path += iterations;
  return place;
}

void RunPairs::TakeA(NodeRun run) {
  std::lock_guard lock(mutex_);
  NodePlace place = identity_ == Identity::kBodies ? NodePlace{PlaceInBody(run.node), ""}
                                                   : PlaceNow(run.node, namers_.a);
  int64_t times = times_a_[PlaceKey(place.path)]++;
  int64_t order = order_++;
  bool is_constant = run.inputs.empty() && run.node.op() == "Const";
  if (is_constant) Hold(run.outputs[0], /*is_free=*/true);
  if (order < begin_ || end_ >= 0) return;
  held_bytes_ += kBytesOfNode;
  for (const Tensor& tensor : run.inputs) held_bytes_ += Hold(tensor, false);
  for (const Tensor& tensor : run.outputs) held_bytes_ += Hold(tensor, false);
  // Hold at least one node's values, even if they exceed the budget: each repetition of the runs
  // must compare something.
  if (held_bytes_ > budget_ && order > begin_) {
    end_ = order;
    return;
  }
  held_.try_emplace(KeyOf(place.path, times),
                    Held{order, std::move(run), std::move(place.branches)});
}

void RunPairs::TakeB(const NodeRun& run) {
  std::lock_guard lock(mutex_);
  NodePlace place = PlaceNow(run.node, namers_.b);
  Meet(KeyOf(place.path, times_b_[PlaceKey(place.path)]++), run, place.branches);
}

void RunPairs::OfferRecorded(llvm::StringRef function, llvm::StringRef node, int64_t times,
                             const NodeRun& b) {
  std::lock_guard lock(mutex_);
  Meet(KeyOf(PlaceInBody(function, node), times), b, "");
}

void RunPairs::Meet(uint64_t key, const NodeRun& b, llvm::StringRef branches) {
  auto found = held_.find(key);
  if (found == held_.end()) return;
  // Nodes of different branches may have the same path, and the two runs may have taken different
  // branches: such nodes do not match.
  if (!MayBeSameBranches(found->second.branches, branches)) return;
  ++paired_;
  sink_.OnPair(found->second.order, found->second.run, b);
}

bool RunPairs::NextPart() {
  if (begin_ == 0) nodes_of_a_ = order_;
  bool is_more = end_ >= 0;
  begin_ = end_;
  end_ = -1;
  order_ = held_bytes_ = 0;
  held_.clear();
  times_a_.clear();
  times_b_.clear();
  buffers_.clear();
  return is_more;
}

}  // namespace grapnel
