// Runs a graph that has Switch, Merge and loops of single nodes: which nodes run, and how often, is
// known only as they do.
#ifndef GRAPNEL_LIB_EXEC_FRAMES_H_
#define GRAPNEL_LIB_EXEC_FRAMES_H_

#include <memory>
#include <optional>
#include <vector>

#include "lib/exec/tensor.h"
#include "lib/ir/graph.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

enum class FlowKind : uint8_t {
  kKernel,         // any other op
  kSwitch,         // hands its input to one output; the others are dead
  kMerge,          // the first of its inputs that is alive, and which one it was
  kEnter,          // into a frame: a loop of its own, by frame name
  kExit,           // out of it
  kNextIteration,  // to the next round of the loop
  kLoopCond,       // hands a value on
  kTrigger,        // ControlTrigger: runs even if what it waits for is dead
};
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
  bool is_watched = false;  // no kernel, but to be told of all the same
};

// TensorFlow's rules: what reads or waits for something dead is dead, but a Merge is alive when an
// input is; a dead NextIteration ends its round; an Exit that never came alive is dead when its
// frame is done. On the calling thread alone; a round's memory goes when the round is done.
class FrameRunner {
 public:
  // Nodes come after their inputs, but for a Merge after its NextIteration.
  explicit FrameRunner(std::vector<FlowNode> nodes);
  ~FrameRunner();

  // The value of an input that is given.
  using Given = llvm::function_ref<Tensor(uint32_t node, int input)>;
  // Runs a kernel. Also told of other nodes that are watched, whose outputs are there then.
  using Kernel = llvm::function_ref<Error(uint32_t node, llvm::MutableArrayRef<Tensor> inputs,
                                          llvm::MutableArrayRef<Tensor> outputs)>;
  // An output that is alive outside of any loop.
  using Result = llvm::function_ref<void(uint32_t node, int port, const Tensor& value)>;
  Error Run(Given given, Kernel kernel, Result result);

 private:
  class State;
  struct Edge {
    uint32_t to;
    int32_t input;  // kControlPort: `to` waits
  };
  struct Info {
    int frame = 0;       // that it runs in
    uint32_t local = 0;  // its number in that frame
    uint32_t first_input = 0;
    uint32_t waits_for = 0;                // edges; of a Merge control edges only
    std::vector<std::vector<Edge>> edges;  // by port
    std::vector<Edge> controls;
  };
  // One for each frame name and place it is entered from; 0 is the graph itself.
  struct Frame {
    int parent = -1;
    std::string name;
    std::vector<uint32_t> nodes;
    uint32_t num_inputs = 0;
    int num_enters = 0;
    std::vector<uint32_t> exits;
  };
  int ChildOf(int frame, const std::string& name);

  std::vector<FlowNode> nodes_;
  std::vector<Info> infos_;
  std::vector<Frame> frames_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_FRAMES_H_
