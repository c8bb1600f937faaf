// Runs a graph that has Switch, Merge and loops of single nodes: which nodes run, and how often, is
// known only as they do.
#ifndef GRAPNEL_LIB_EXEC_FRAMES_H_
#define GRAPNEL_LIB_EXEC_FRAMES_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/exec/helper_threads.h"
#include "lib/exec/mailbox.h"
#include "lib/exec/tensor.h"
#include "lib/ir/node.h"

namespace grapnel {

enum class FlowKind : uint8_t {
  kKernel,         // any other op
  kSwitch,         // hands its input to one output; the others are dead
  kMerge,          // the first of its inputs that is alive, and which one it was
  kEnter,          // into a frame: a loop of its own, by frame name
  kExit,           // out of it
  kNextIteration,  // to the next round of the loop
  kPass,           // hands its input on: LoopCond, Identity
  kConstant,       // a constant, dead where what it waits for is
  kTrigger,        // ControlTrigger: runs even if what it waits for is dead
  kSend,           // to another part, also what is dead
  kRecv,           // waits, without a thread, for what a kSend sends in the same iteration
  kCollective,     // waits like that for the others of its group (lib/exec/collectives.h)
};
// kPass for LoopCond alone: an Identity is a kernel where somebody watches, or passes references.
FlowKind FlowKindOf(const Node& node);

struct FlowNode {
  struct Input {
    int64_t maker = -1;  // the number of the node; -1: given from the start
    int32_t port = 0;
  };
  Node node;
  FlowKind kind = FlowKind::kKernel;
  std::vector<Input> inputs;
  std::vector<uint32_t> controls;  // numbers of nodes to wait for
  int num_outputs = 0;
  Tensor constant;          // of kConstant
  bool is_watched = false;  // no kernel, but to be told of all the same
  bool may_leave = false;   // its kernel may run on another thread
  // Its results depend on what else ran before. One of these in a loop keeps the whole run on one
  // thread, where the order is always the same.
  bool has_state = false;
};

// TensorFlow's rules: what reads or waits for something dead is dead, but a Merge is alive when an
// input is; a dead NextIteration ends its round; an Exit that never came alive is dead when its
// frame is done. Rounds of a loop overlap where values allow it, at most as many as its Enter's
// `parallel_iterations` says; nor is a send in a loop more values ahead of its receiver than that.
//
// The calling thread decides everything and runs the kernels; one that is long, and not alone,
// goes to a helper, but no node runs twice at a time. Memory of a round is used again for the next
// one: a loop allocates nothing however often it goes round, and a later run nothing at all.
class FrameRunner {
 public:
  // What the runner asks for, and tells of.
  class Client {
   public:
    virtual ~Client() = default;
    // The value of an input that is given.
    virtual Tensor Given(uint32_t node, int input) = 0;
    // On any thread, of several nodes at a time; `inputs` are left to whoever comes next.
    virtual Error RunKernel(uint32_t node, llvm::MutableArrayRef<Tensor> inputs,
                            llvm::MutableArrayRef<Tensor> outputs) = 0;
    // A node without a kernel that is watched, with its outputs; those that are dead are empty.
    virtual Error Passed(uint32_t node, llvm::ArrayRef<Tensor> inputs,
                         llvm::ArrayRef<Tensor> outputs) = 0;
    // Whether the kernel takes so long that another thread is worth waking.
    virtual bool IsLong(uint32_t node) = 0;
    // An output that is alive outside of any loop.
    virtual void Result(uint32_t node, int port, const Tensor& value) = 0;
    // Of a kSend. `parcel.to` is left to the client: a kRecv, in the part whose mailbox it puts it
    // in. False: nobody reads it.
    virtual bool Send(uint32_t node, Parcel parcel) = 0;
    // Of a kCollective, with its inputs, which it takes; `answer` says where its result goes.
    virtual Error Join(uint32_t node, llvm::MutableArrayRef<Tensor> inputs, Parcel answer) = 0;
    // How likely it is that others wait because this one does, kSend, kRecv or kCollective; 0 is
    // likeliest.
    virtual int StuckRank(uint32_t node) = 0;
    // Why nothing will ever come for it.
    virtual Error WhyStuck(uint32_t node) = 0;
  };

  // Nodes come after their inputs, but for a Merge after its NextIteration. At most `threads` run
  // kernels; `helpers` and `client` outlive the runner.
  FrameRunner(llvm::ArrayRef<FlowNode> nodes, Client& client, HelperThreads& helpers, int threads);
  ~FrameRunner();

  Error Run();
  // The same in steps, for one of several parts: Begin, Continue until all parts have nothing to
  // do, FindStuck, End. Steps may be on different threads, one at a time.
  void Begin();
  Error Continue();
  // Why the run has not come to its end, when no part can go on: a receiver whose value nobody
  // sent.
  // Only nodes of this rank are looked at: all parts are asked for 0 first, then for the next.
  static constexpr int kStuckRanks = 3;
  Error FindStuck(int rank);
  void End(bool has_failed);
  Mailbox& inbox();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_FRAMES_H_
