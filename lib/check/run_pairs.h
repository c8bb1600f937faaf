// Two runs side by side: each node of one with the node of the other that stands for it.
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

// A node that ran once.
struct NodeRun {
  Node node;                    // none: the run was recorded, and only values and op are known
  std::vector<CallSite> calls;  // within which it ran, outermost first
  // Tensors as the kernel had them; an empty one is dead or was not recorded. Of a constant or a
  // feed no inputs.
  std::vector<Tensor> inputs, outputs;
  // Of a recorded run, where they are known: the op's type, and the line of the program that made
  // it.
  std::string recorded_op{}, recorded_at{};
};

// What is told of each pair.
class PairSink {
 public:
  virtual ~PairSink() = default;
  // `order` counts the nodes of run A. On the thread of run B, one at a time; CurrentCall() is B's.
  virtual void OnPair(int64_t order, const NodeRun& a, const NodeRun& b) = 0;
};

// Holds what run A gave until run B gives its counterpart. Of runs that give more than a budget,
// only a part of A is held at a time, and both run again for the next part:
//
//   do {
//     run A with hook_a(); run B with hook_b();
//   } while (pairs.NextPart());
//
// Nodes are the same when their names are, after those of their callers ("call/node": so a function
// that was put in the place of its call is found again), in the same iterations of loops, whether a
// While runs them or Enter and Exit; of what is still alike, the n-th of A is the n-th of B, unless
// they are of different branches. So both runs must be such that a node's runs come in the same
// order each time; B may have several threads, outside of functions that run twice at a time.
class RunPairs {
 public:
  // Of a node, where it is among what both runs call alike, from the body on that it is in. Null:
  // PlaceOfName() of its name.
  using Namer = std::function<NodePlace(const Node&)>;
  struct Namers {
    Namer a, b;
  };
  // What B makes of a value before anybody reads it (RunHook::EditOutputs); null: nothing.
  using Editor = std::function<Tensor(const Node&, int output, const Tensor&)>;

  // kCalls: as above. kBodies: the n-th run of a node of a function's body, whoever called it.
  enum class Identity { kCalls, kBodies };

  // `sink` outlives it. `budget`: bytes of tensors.
  RunPairs(PairSink& sink, int64_t budget, Namers namers, Editor edit = nullptr,
           Identity identity = Identity::kCalls);
  ~RunPairs();

  RunHook& hook_a();
  RunHook& hook_b();
  // What a run is given from outside, in both; told once, before the runs.
  void PairFeed(const NodeRun& a, const NodeRun& b);
  // Of kBodies and a B that does not run now: what A calls the function (empty: the main graph) and
  // the node; `times`: how often it ran before.
  void OfferRecorded(llvm::StringRef function, llvm::StringRef node, int64_t times,
                     const NodeRun& b);
  // True: part of A was not held yet. Drops what is held.
  bool NextPart();

  int64_t nodes_of_a() const { return nodes_of_a_; }  // after the first NextPart()
  int64_t paired() const { return paired_; }          // of all parts so far

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
  std::mutex mutex_;  // guards what follows
  std::map<std::tuple<const Graph*, NodeId, const Function*>, std::string> parts_;  // PartOf()
  llvm::DenseMap<uint64_t, Held> held_;
  llvm::DenseMap<uint64_t, int64_t> times_a_, times_b_;  // by name, callers and iterations
  llvm::DenseSet<const void*> buffers_;                  // counted in held_bytes_
  int64_t held_bytes_ = 0;
  int64_t order_ = 0;             // the next node of A in this run
  int64_t begin_ = 0, end_ = -1;  // the part that is held; -1: to the end
  int64_t nodes_of_a_ = 0, paired_ = 0;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_RUN_PAIRS_H_
