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

// One run of a node.
struct NodeRun {
  Node node;                    // null: a recorded run, of which only values and op are known
  std::vector<CallSite> calls;  // around the node, outermost first
  // Tensors as the kernel had them; an empty one is dead or was not recorded. Constants and feeds
  // have no inputs.
  std::vector<Tensor> inputs, outputs;
  // For a recorded run, if known: the op's type, and the line of the program that made it.
  std::string recorded_op{}, recorded_at{};
};

// Receives each pair.
class PairSink {
 public:
  virtual ~PairSink() = default;
  // `order` counts the nodes of run A. Called on the thread of run B, one at a time; CurrentCall()
  // is B's.
  virtual void OnPair(int64_t order, const NodeRun& a, const NodeRun& b) = 0;
};

// Holds the values of run A until run B computes their counterparts. If the values exceed a budget,
// it holds only a part of A at a time, and both runs are repeated for the next part:
//
//   do {
//     run A with hook_a(); run B with hook_b();
//   } while (pairs.NextPart());
//
// Nodes match if their names do, prefixed by those of their callers ("call/node": so an inlined
// function is found again), in the same iterations of loops, whether a While runs them or Enter and
// Exit. Among equal names the n-th of A matches the n-th of B, unless they are in different
// branches. So in both runs the repetitions of a node must come in the same order each time; B may
// use several threads, except for functions that run twice at a time.
class RunPairs {
 public:
  // Returns the place of a node in the naming that both runs share, starting at its body. Null:
  // PlaceOfName() of its name.
  using Namer = std::function<NodePlace(const Node&)>;
  struct Namers {
    Namer a, b;
  };
  // Returns the value with which B replaces another before it is read (RunHook::EditOutputs); null:
  // no change.
  using Editor = std::function<Tensor(const Node&, int output, const Tensor&)>;

  // kCalls: as above. kBodies: the n-th run of a node of a function's body, whatever calls it.
  enum class Identity { kCalls, kBodies };

  // `sink` must outlive it. `budget`: bytes of tensors.
  RunPairs(PairSink& sink, int64_t budget, Namers namers, Editor edit = nullptr,
           Identity identity = Identity::kCalls);
  ~RunPairs();

  RunHook& hook_a();
  RunHook& hook_b();
  // Adds a value that both runs get from outside. Call it once, before the runs.
  void PairFeed(const NodeRun& a, const NodeRun& b);
  // For kBodies, if B is a record: adds a node run of B under A's names of the function (empty: the
  // main graph) and the node; `times`: the number of its earlier runs.
  void OfferRecorded(llvm::StringRef function, llvm::StringRef node, int64_t times,
                     const NodeRun& b);
  // Returns true if part of A has not been held yet. Drops the held values.
  bool NextPart();

  int64_t nodes_of_a() const { return nodes_of_a_; }  // after the first NextPart()
  int64_t paired() const { return paired_; }          // in all parts so far

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
  std::map<std::tuple<const Graph*, NodeId, const Function*>, std::string> parts_;  // PartOf()
  llvm::DenseMap<uint64_t, Held> held_;
  llvm::DenseMap<uint64_t, int64_t> times_a_, times_b_;  // by name, callers and iterations
  llvm::DenseSet<const void*> buffers_;                  // counted in held_bytes_
  int64_t held_bytes_ = 0;
  int64_t order_ = 0;             // of the next node of A in this run
  int64_t begin_ = 0, end_ = -1;  // the part that is held; -1: to the end
  int64_t nodes_of_a_ = 0, paired_ = 0;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_RUN_PAIRS_H_
