// The fixed part of a graph with frames: the frame of each node, and the readers of each value.
// Private to lib/exec.
#ifndef GRAPNEL_LIB_EXEC_FRAME_PLAN_H_
#define GRAPNEL_LIB_EXEC_FRAME_PLAN_H_

#include <string>
#include <vector>

#include "lib/exec/tensor.h"
#include "lib/ir/node.h"

namespace grapnel {

enum class FlowKind : uint8_t {
  kKernel,         // any other op
  kSwitch,         // forwards its input to one output; the others are dead
  kMerge,          // forwards the first live input, and its index
  kEnter,          // forwards its input into the loop's frame, found by name
  kExit,           // forwards its input out of the frame
  kNextIteration,  // forwards its input to the next iteration of the loop
  kPass,           // forwards its input: LoopCond, Identity
  kConstant,       // a constant, dead if a node that it waits for is dead
  kTrigger,        // ControlTrigger: runs even after dead nodes
  kSend,           // sends its input, also a dead tensor, to a kRecv
  kRecv,           // waits, without a thread, for the kSend's message of the same iteration
  kCollective,     // waits likewise for the other members of its group (lib/exec/collectives.h)
};
// Returns the kind of an op. Constants and ops such as Identity are kKernel here: the plan builder
// may make them kConstant or kPass.
FlowKind FlowKindOf(llvm::StringRef op);

// An error if the node makes a loop: an Enter, a NextIteration, a LoopCond, or the Merge or Switch
// of a loop. A fed value of one would be outside of the loop, which could not end.
Error CheckCanFeed(const Node& node);
// Returns the error that a node is in a loop and cannot be fed, which says what can be; success if
// it is in none.
Error FeedInLoop(const Node& node);

// A node of the graph from which a FramePlan is made. Nodes follow their inputs, except for a
// Merge, which may precede its NextIteration.
struct FlowNode {
  struct Input {
    int64_t maker = -1;  // index of the FlowNode; -1: known before the run
    int32_t port = 0;
  };
  Node node;
  FlowKind kind = FlowKind::kKernel;
  std::vector<Input> inputs;
  std::vector<uint32_t> controls;  // indices of the nodes to wait for
  int num_outputs = 0;
  Tensor constant;           // the value of a kConstant
  bool is_watched = false;   // the client is notified of it, even if it has no kernel
  bool may_offload = false;  // its kernel may run on another thread
  // True if the outputs may depend on earlier executions of this or other nodes. One such node in a
  // loop keeps the whole run on one thread, where the order is deterministic.
  bool has_state = false;
};

// The plan of a graph with frames. Its nodes (Item), edges and frames are in a few arrays and refer
// to each other by index, because the runner traverses them in each iteration of a loop. Immutable
// after Make: any number of runs may read the plan at the same time.
struct FramePlan {
  // Errors: a node reads or waits for nodes of different loops, or of a loop that it is not in.
  static Expected<FramePlan> Make(llvm::ArrayRef<FlowNode> nodes);

  // Edge::constant: the edge brings the value that the producer sends.
  static constexpr int32_t kSent = -1;
  // Edge::constant: the edge brings no value, because its cell holds a constant in every iteration
  // (Frame::constant_cells).
  static constexpr int32_t kInPlace = -2;
  static constexpr int32_t kControl = -1;  // Edge::cell
  // An edge to a node that waits for a value, or (`cell` is kControl) only for the producer to run.
  struct Edge {
    uint32_t to;
    uint32_t local;      // Item::local of `to`
    int32_t cell;        // where the value is stored in an iteration
    int32_t constant;    // index in `constants` of the value, kSent or kInPlace
    FlowKind kind;       // the kind of node `to`
    bool is_from_enter;  // the source is an Enter
    bool TakesValue() const { return constant == kSent && cell != kControl; }
  };
  struct Range {
    uint32_t begin = 0, end = 0;
  };
  // The edges of one output. Edges to an Exit or a NextIteration of a loop come first, so that they
  // can be skipped for a dead tensor, which has no effect there: a loop has such edges in every
  // iteration.
  struct Port {
    Range all;
    uint32_t begin_if_dead = 0;
  };
  struct Item {
    FlowKind kind = FlowKind::kKernel;
    bool is_watched = false;
    bool may_offload = false;
    bool is_constant = false;  // for an Enter: its value is for every iteration
    int frame = 0;             // the frame that the node runs in
    int child = -1;            // for an Enter: index among the child frames of `frame`
    uint32_t local = 0;        // index among the nodes of `frame`
    uint32_t first_cell = 0, num_inputs = 0;
    uint32_t first_port = 0, num_outputs = 0;
    // For a kRecv or kCollective: index among all nodes of these kinds; for a kSend: index among
    // the kSends of its frame.
    uint32_t transfer = 0;
    uint32_t waits_for = 0;  // number of edges to wait for; only control edges for a Merge
    int32_t alive = -1;      // for a Merge: an input known before the run; -1: none
    Range given;             // inputs known before the run, in `given_inputs`
    Port controls;
  };
  // A loop that runs in a frame of its own, or the graph itself (frame 0). Enters with the same
  // `frame_name` in the same outer frame enter the same frame.
  struct Frame {
    int parent = -1;
    int number = 0;  // index among the parent's children
    std::string name;
    std::vector<uint32_t> nodes;
    std::vector<int> children;
    uint32_t num_cells = 0;
    int num_enters = 0;
    uint32_t num_sends = 0;
    int64_t max_iterations = 0;  // at a time, as the loop's first Enter sets it; 0 for frame 0
    std::vector<uint32_t> exits;
    // By cell (where one input of a node is stored): the index in `constants` of the value that the
    // cell holds in every iteration; kSent for the other cells.
    std::vector<int32_t> constant_cells;
    std::vector<uint32_t> value_cells;  // the other cells, which receive values
  };

  std::vector<Node> nodes;        // kept for names in errors
  std::vector<Tensor> constants;  // by node
  std::vector<Item> items;
  std::vector<Frame> frames;
  std::vector<Port> ports;
  std::vector<Edge> edges;
  std::vector<int> given_inputs;
  uint32_t most_outputs = 0;
  uint32_t num_recvs = 0;  // number of kRecv and kCollective nodes
  bool may_share = true;   // may use helpers: no node in a loop has state

 private:
  explicit FramePlan(size_t num_nodes) : items(num_nodes), frames(1) {}
  Error FindFrames(llvm::ArrayRef<FlowNode> nodes);
  Error CheckFrames(llvm::ArrayRef<FlowNode> nodes, llvm::ArrayRef<int> output_frame) const;
  // The edges by node, then by port; the last port of a node has its control edges.
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
