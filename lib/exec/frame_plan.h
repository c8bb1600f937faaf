// The fixed part of a graph with frames: which node is in which frame, and who reads what. Private
// to lib/exec.
#ifndef GRAPNEL_LIB_EXEC_FRAME_PLAN_H_
#define GRAPNEL_LIB_EXEC_FRAME_PLAN_H_

#include <string>
#include <vector>

#include "lib/exec/tensor.h"
#include "lib/ir/node.h"

namespace grapnel {

enum class FlowKind : uint8_t {
  kKernel,         // any other op
  kSwitch,         // hands its input to one output; the others are dead
  kMerge,          // the first of its inputs that is alive, and which one it was
  kEnter,          // into a frame: a loop of its own, by frame name
  kExit,           // out of it
  kNextIteration,  // to the next iteration of the loop
  kPass,           // hands its input on: LoopCond, Identity
  kConstant,       // a constant, dead where what it waits for is
  kTrigger,        // ControlTrigger: runs even if what it waits for is dead
  kSend,           // to another partition, dead tensors too
  kRecv,           // waits, without a thread, for what a kSend sends in the same iteration
  kCollective,     // waits like that for the others of its group (lib/exec/collectives.h)
};
// Of an Identity it says kKernel: it is one where a hook watches it or it passes a reference, which
// the plan builder knows.
FlowKind FlowKindOf(llvm::StringRef op);

// What a FramePlan is made of. Nodes come after their inputs, but for a Merge, which may come
// before its NextIteration.
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
  Tensor constant;           // of kConstant
  bool is_watched = false;   // the client is told of it, though it has no kernel
  bool may_offload = false;  // its kernel may run on another thread
  // Its results depend on what else ran before. One of these in a loop keeps the whole run on one
  // thread, where the order is always the same.
  bool has_state = false;
};

// Everything by number, in a few arrays, because a loop walks over it again and again. Not changed
// after it is made: any number of runs read it at the same time.
struct FramePlan {
  // Errors: a node that reads values of different loops, or of a loop that it is not in.
  static Expected<FramePlan> Make(llvm::ArrayRef<FlowNode> nodes);

  static constexpr int32_t kSent = -1;     // the value that is sent
  static constexpr int32_t kInPlace = -2;  // nothing: a constant lies there (Frame::constant_cells)
  static constexpr int32_t kControl = -1;
  // To a node that waits for a value, or that waits for its maker alone (`cell` is kControl).
  struct Edge {
    uint32_t to;
    uint32_t local;      // Item::local of `to`
    int32_t cell;        // where the value goes in an iteration
    int32_t constant;    // what goes there: this one of `constants`, or kSent
    FlowKind kind;       // of `to`
    bool is_from_enter;  // the maker is an Enter
    bool TakesValue() const { return constant == kSent && cell != kControl; }
  };
  struct Range {
    uint32_t begin = 0, end = 0;
  };
  // Edges of one output. Those to an Exit or a NextIteration come first: nothing is done for a dead
  // tensor there, and a loop has one of each in every iteration.
  struct Port {
    Range all;
    uint32_t begin_if_dead = 0;
  };
  struct Item {
    FlowKind kind = FlowKind::kKernel;
    bool is_watched = false;
    bool may_offload = false;
    bool is_constant = false;  // of an Enter: its value is for every iteration
    int frame = 0;             // that it runs in
    int child = -1;            // of an Enter: number among the frames entered from there
    uint32_t local = 0;        // its number in that frame
    uint32_t first_cell = 0, num_inputs = 0;
    uint32_t first_port = 0, num_outputs = 0;
    // Its number among all kRecv and kCollective; of a kSend: among those of its frame.
    uint32_t transfer = 0;
    uint32_t waits_for = 0;  // edges; of a Merge control edges only
    int32_t alive = -1;      // of a Merge: an input that is given
    Range given;             // inputs that are given, in `given_inputs`
    Port controls;
  };
  // One for each frame name and place it is entered from; 0 is the graph itself.
  struct Frame {
    int parent = -1;
    int number = 0;  // among its parent's children
    std::string name;
    std::vector<uint32_t> nodes;
    std::vector<int> children;
    uint32_t num_cells = 0;
    int num_enters = 0;
    uint32_t num_sends = 0;
    int64_t max_iterations = 0;  // at a time; 0: no Enter has said how many
    std::vector<uint32_t> exits;
    // By cell: the constant that lies there in every iteration; kSent: none does.
    std::vector<int32_t> constant_cells;
    std::vector<uint32_t> value_cells;  // the other cells, to which values are sent
  };

  std::vector<Node> nodes;        // for their names
  std::vector<Tensor> constants;  // by node
  std::vector<Item> items;
  std::vector<Frame> frames;
  std::vector<Port> ports;
  std::vector<Edge> edges;
  std::vector<int> given_inputs;
  uint32_t most_outputs = 0;
  uint32_t num_recvs = 0;  // kRecv and kCollective
  bool may_share = true;   // with helpers: no node in a loop has state

 private:
  explicit FramePlan(size_t num_nodes) : items(num_nodes), frames(1) {}
  Error FindFrames(llvm::ArrayRef<FlowNode> nodes);
  Error CheckFrames(llvm::ArrayRef<FlowNode> nodes, llvm::ArrayRef<int> output_frame) const;
  // By node, then by port; the last port of a node: its control edges.
  using EdgesByPort = std::vector<std::vector<std::vector<Edge>>>;
  EdgesByPort FindEdges(llvm::ArrayRef<FlowNode> nodes);
  void LayOut(llvm::ArrayRef<FlowNode> nodes, EdgesByPort& by_port);
  void PutInPlace(uint32_t id, Edge& edge);
  void Shorten(llvm::ArrayRef<FlowNode> nodes, EdgesByPort& by_port);
  void Connect(llvm::ArrayRef<FlowNode> nodes);
  int ChildOf(int frame, const std::string& name);
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_FRAME_PLAN_H_
