// Runs a graph that has Switch, Merge and loops of single nodes: which nodes run, and how often, is
// known only as they do.
#ifndef GRAPNEL_LIB_EXEC_FRAMES_H_
#define GRAPNEL_LIB_EXEC_FRAMES_H_

#include <memory>

#include "lib/exec/frame_plan.h"
#include "lib/exec/helper_threads.h"
#include "lib/exec/rendezvous.h"
#include "lib/exec/tensor.h"
#include "lib/support/cancel.h"

namespace grapnel {

// One run at a time, by TensorFlow's rules. A node that reads or waits for a dead tensor puts out
// dead tensors, but a Merge is alive when one of its inputs is. A dead NextIteration starts no
// iteration. An Exit that was never alive is dead when its frame is done. Iterations of a loop
// overlap where values allow it, at most as many as `parallel_iterations` of its Enter says; nor
// has a _Send in a loop more messages that were not received than that.
//
// The calling thread decides everything and runs the kernels. A kernel that is long, and not the
// only one that is ready, goes to a helper, but no node runs twice at a time. The memory of an
// iteration is used again for a later one: a loop allocates nothing however many iterations it has,
// and a later run nothing at all.
class FrameRunner {
 public:
  // What the runner asks for, and tells of.
  class Client {
   public:
    virtual ~Client() = default;
    // Set: the run is to end. Asked once.
    virtual const CancelFlag* cancel() const = 0;
    // Whether anybody asks for CurrentCall(). Asked once.
    virtual bool IsWatched() const = 0;
    // The value of an input that is given.
    virtual Tensor Given(uint32_t node, int input) = 0;
    // Called on any thread, for several nodes at a time. What it leaves in `inputs` is dropped.
    virtual Error RunKernel(uint32_t node, llvm::MutableArrayRef<Tensor> inputs,
                            llvm::MutableArrayRef<Tensor> outputs) = 0;
    // A watched node without a kernel has run; outputs that are dead are empty.
    virtual Error Passed(uint32_t node, llvm::ArrayRef<Tensor> inputs,
                         llvm::ArrayRef<Tensor> outputs) = 0;
    // Whether the kernel takes so long that another thread is worth waking.
    virtual bool IsLong(uint32_t node) = 0;
    // An output that is alive, of a node outside of any loop.
    virtual void Result(uint32_t node, int port, const Tensor& value) = 0;
    // Of a kSend. The client fills in `message.to` and sends it to the partition that receives it.
    // False: nobody does.
    virtual bool Send(uint32_t node, Message message) = 0;
    // Of a kCollective: it takes the inputs. The result comes later, as the message `answer`.
    virtual Error Join(uint32_t node, llvm::MutableArrayRef<Tensor> inputs, Message answer) = 0;
    // How likely it is that other nodes wait because this one does (a kSend, kRecv or kCollective);
    // 0 is likeliest.
    virtual int StuckRank(uint32_t node) = 0;
    // Why what the node waits for will never come.
    virtual Error WhyStuck(uint32_t node) = 0;
  };

  // At most `threads` run kernels, the caller's included. `plan`, `helpers` and `client` outlive
  // the runner; several runners may share the plan and the helpers.
  FrameRunner(const FramePlan& plan, Client& client, HelperThreads& helpers, int threads);
  ~FrameRunner();

  Error Run();
  // The same in steps, for one of several partitions: Begin, Continue until no partition has
  // anything to do, FindStuck, End. Steps may be on different threads, one at a time.
  void Begin();
  Error Continue();
  // When no partition can go on: why this one has not come to its end, if it has not. It looks at
  // nodes of one rank: all partitions are asked for rank 0 first, then for the next.
  static constexpr int kStuckRanks = 3;
  Error FindStuck(int rank);
  void End(bool has_failed);
  // Where messages to this partition are sent.
  Rendezvous& rendezvous();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_FRAMES_H_
