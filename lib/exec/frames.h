// Runs a graph that has Switch, Merge or loops made of single nodes (Enter, NextIteration, Exit):
// values computed in the run determine which nodes run, and how often. Also runs any partition, and
// any graph with sends, receives or collectives: these may wait for a message.
#ifndef GRAPNEL_LIB_EXEC_FRAMES_H_
#define GRAPNEL_LIB_EXEC_FRAMES_H_

#include <memory>

#include "lib/exec/frame_plan.h"
#include "lib/exec/helper_threads.h"
#include "lib/exec/rendezvous.h"
#include "lib/exec/tensor.h"
#include "lib/support/cancel.h"

namespace grapnel {

// Executes one run at a time, by TensorFlow's rules. A node that reads or waits for a dead tensor
// outputs dead tensors, but a Merge is alive if one of its inputs is, and a ControlTrigger is
// always alive. A dead NextIteration starts no iteration. An Exit that was never alive is dead when
// its frame is done. Iterations of a loop overlap where values allow it, up to the
// `parallel_iterations` of its Enter; `parallel_iterations` also limits the unreceived messages of
// a _Send in a loop.
// The calling thread schedules all nodes and runs the kernels. A helper takes a long kernel if
// other nodes are ready too, but a node never runs for two iterations at once. A later iteration
// reuses the memory of an earlier one: the allocations of a loop do not depend on its number of
// iterations, and a later run allocates little.
class FrameRunner {
 public:
  // Supplies values and kernels to the runner, and receives its results.
  class Client {
   public:
    virtual ~Client() = default;
    // Returns the flag that cancels the run; may be null. Called once.
    virtual const CancelFlag* cancel() const = 0;
    // True if a hook may call CurrentCall(). Called once.
    virtual bool IsWatched() const = 0;
    // Returns the value of an input that is known before the run.
    virtual Tensor Given(uint32_t node, int input) = 0;
    // Called on any thread, possibly for several nodes at the same time. Values left in `inputs`
    // are dropped.
    virtual Error RunKernel(uint32_t node, llvm::MutableArrayRef<Tensor> inputs,
                            llvm::MutableArrayRef<Tensor> outputs) = 0;
    // Called for a watched node that forwards, sends or receives a live value; dead outputs are
    // empty. A send passes no outputs; a receive and a collective pass no inputs.
    virtual Error Passed(uint32_t node, llvm::ArrayRef<Tensor> inputs,
                         llvm::ArrayRef<Tensor> outputs) = 0;
    // True if the kernel takes long enough to wake another thread for it.
    virtual bool IsLong(uint32_t node) = 0;
    // Called with each live value that is sent to the graph outside of loops, also by an Exit.
    virtual void Result(uint32_t node, int port, const Tensor& value) = 0;
    // Sends the message of a kSend: the client fills in `message.to` and sends it to the receiving
    // partition. Returns false if there is no receiver.
    virtual bool Send(uint32_t node, Message message) = 0;
    // Joins the group of a kCollective and takes its inputs. The result arrives later, as the
    // message `answer`.
    virtual Error Join(uint32_t node, llvm::MutableArrayRef<Tensor> inputs, Message answer) = 0;
    // Ranks how likely a waiting node (a kSend, kRecv or kCollective) is the cause that others
    // wait; 0 is likeliest.
    virtual int StuckRank(uint32_t node) = 0;
    // Explains why the node's value will never arrive.
    virtual Error WhyStuck(uint32_t node) = 0;
  };

  // At most `threads` threads run kernels, including the caller's. `plan`, `helpers` and `client`
  // must outlive the runner; several runners may share the plan and the helpers.
  FrameRunner(const FramePlan& plan, Client& client, HelperThreads& helpers, int threads);
  ~FrameRunner();

  Error Run();
  // A run in steps, for one of several partitions: call Begin, then Continue until no partition has
  // anything to do, then FindStuck and End. The calls may be on different threads, one at a time.
  void Begin();
  Error Continue();
  // Explains, when no partition can continue, why this one has not finished. Considers only nodes
  // of one StuckRank(): call it for rank 0 on all partitions first, then for the next rank.
  static constexpr int kStuckRanks = 3;
  Error FindStuck(int rank);
  void End(bool has_failed);
  // The rendezvous that receives messages for this partition.
  Rendezvous& rendezvous();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_FRAMES_H_
