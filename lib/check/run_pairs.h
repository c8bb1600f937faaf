// Compares two runs side by side: pairs each node of one with its counterpart in the other.
#ifndef GRAPNEL_LIB_CHECK_RUN_PAIRS_H_
#define GRAPNEL_LIB_CHECK_RUN_PAIRS_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "lib/check/bad_producers.h"
#include "lib/check/node_place.h"
#include "lib/exec/executor.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace grapnel {

// One execution of a node.
struct NodeRun {
  Node node;                    // null: from a record, which has only values and the op
  std::vector<CallSite> calls;  // calls around the node, outermost first
  // The inputs and outputs of the kernel; an empty tensor is dead or was not recorded. Constants
  // and feeds have no inputs.
  std::vector<Tensor> inputs, outputs;
  // If this run is a recorded one (a debug folder), and if known: the op's type, and the source
  // line that created the op.
  std::string recorded_op{}, recorded_at{};
};

// Receives the pairs of nodes that RunPairs finds.
class PairSink {
 public:
  virtual ~PairSink() = default;
  // `order` is the position of the execution `a` in run A; -1 for a pair of feeds, on the thread
  // that calls PairFeed(). Other pairs come on the threads of run B, where CurrentCall() returns
  // the call frame in B, or on the thread that calls OfferRecorded(); one call at a time.
  virtual void OnPair(int64_t order, const NodeRun& a, const NodeRun& b) = 0;
};

// Compares two runs: holds the values of run A while run B computes their counterparts. If the
// values exceed a budget, it holds only those of one part of A at a time, and both runs are
// repeated for each part:
//
//   do {
//     run A with hook_a(); run B with hook_b();
//   } while (pairs.NextPart());
//
// Two nodes match if they have the same path (the names of their callers and their own,
// "call/node", which inlining does not change) and run in the same iterations of loops, whether the
// loop is a While or consists of Enter and Exit. Among nodes with equal paths, the n-th of A
// matches the n-th of B, unless they are in different branches. So in each repetition, the
// executions of a node must be in the same order; B may use several threads only if no function
// runs twice at the same time.
class RunPairs {
 public:
  // Returns the place of a node in its body, with names that both graphs share. A null Namer means
  // PlaceOfName() of the node's name.
  using Namer = std::function<NodePlace(const Node&)>;
  struct Namers {
    Namer a, b;
  };
  // Returns the value that replaces an output in run B before other nodes read it
  // (RunHook::EditOutputs, ReplaceConstant). A null Editor means no change.
  using Editor = std::function<Tensor(const Node&, int output, const Tensor&)>;

  // How nodes are matched. kCalls: by path and iterations, as described above. kBodies, for
  // OfferRecorded(): the n-th execution of a node of a function's body, whatever calls the
  // function.
  enum class Identity { kCalls, kBodies };

  // `sink` must outlive this object. `budget` is the most bytes of tensors to hold, but those of
  // one node are always held.
  RunPairs(PairSink& sink, int64_t budget, Namers namers, Editor edit = nullptr,
           Identity identity = Identity::kCalls);
  ~RunPairs();

  RunHook& hook_a();
  RunHook& hook_b();
  // Passes a pair of fed values to the sink. Call it once for each feed, before the runs.
  void PairFeed(const NodeRun& a, const NodeRun& b);
  // For kBodies, if B is a recorded run: offers the execution `b` of a node as the counterpart of
  // the node that A names `node` in `function` (empty: the main graph). `times` is how often B
  // executed the node before.
  void OfferRecorded(llvm::StringRef function, llvm::StringRef node, int64_t times,
                     const NodeRun& b);
  // Drops the held values. Returns true if a part of A has not been held yet, so that both runs
  // must be repeated.
  bool NextPart();

  int64_t nodes_of_a() const { return nodes_of_a_; }  // executions; set by the first NextPart()
  int64_t paired() const { return paired_; }          // number of pairs so far, without feeds

 private:
  class Recorder;
  struct Held {
    int64_t order;
    NodeRun run;
    std::string branches;
  };
  NodePlace PlaceNow(const Node& node, const Namer& namer);
  const std::string& PartOf(const CallFrame& call);
  void TakeA(NodeRun run);
  void TakeB(const NodeRun& run);
  void Meet(uint64_t key, const NodeRun& b, llvm::StringRef branches);
  int64_t Hold(const Tensor& tensor, bool is_free);

  PairSink& sink_;
  const int64_t budget_;
  const Identity identity_;
  const Namers namers_;
  std::unique_ptr<Recorder> recorder_a_, recorder_b_;
  std::mutex mutex_;  // guards the members below
  std::map<std::tuple<const Graph*, NodeId, const Function*>, std::string> parts_;  // of PartOf()
  llvm::DenseMap<uint64_t, Held> held_;
  llvm::DenseMap<uint64_t, int64_t> times_a_, times_b_;  // executions by place (PlaceKey)
  llvm::DenseSet<const void*> buffers_;                  // held buffers, and those of constants
  int64_t held_bytes_ = 0;
  int64_t order_ = 0;             // position of the next execution in run A
  int64_t begin_ = 0, end_ = -1;  // positions of the held part; end_ -1: to the end of the run
  int64_t nodes_of_a_ = 0, paired_ = 0;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_RUN_PAIRS_H_
