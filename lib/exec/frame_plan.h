// The fixed part of a graph with frames: which node is in which frame, and who reads what. For
// lib/exec only.
#ifndef GRAPNEL_LIB_EXEC_FRAME_PLAN_H_
#define GRAPNEL_LIB_EXEC_FRAME_PLAN_H_

#include <string>
#include <vector>

#include "lib/exec/frames.h"

namespace grapnel {

// Everything by number, in a few arrays, because a loop walks over it again and again.
struct FramePlan {
  explicit FramePlan(llvm::ArrayRef<FlowNode> nodes);

  static constexpr int32_t kSent = -1;     // the value that is sent
  static constexpr int32_t kLasting = -2;  // nothing: what is there stays there (Frame::lasting)
  static constexpr int32_t kControl = -1;
  // To a node that waits for a value, or for being told (`cell` is kControl).
  struct Edge {
    uint32_t to;
    uint32_t local;      // Item::local of `to`
    int32_t cell;        // of a round: where the value goes
    int32_t constant;    // what goes there: this one of `constants`, or kSent
    FlowKind kind;       // of `to`
    bool is_from_enter;  // the maker is an Enter
    bool TakesValue() const { return constant == kSent && cell != kControl; }
  };
  struct Range {
    uint32_t begin = 0, end = 0;
  };
  // Edges of one output. Those to an Exit or a NextIteration come first: nothing is done for a dead
  // one, and a loop has one of each in every round.
  struct Port {
    Range all;
    uint32_t begin_if_dead = 0;
  };
  struct Item {
    FlowKind kind = FlowKind::kKernel;
    bool is_watched = false;
    bool may_leave = false;
    bool is_constant = false;  // of an Enter: for every round
    int frame = 0;             // that it runs in
    int child = -1;            // of an Enter: number among the frames entered from there
    uint32_t local = 0;        // its number in that frame
    uint32_t first_cell = 0, num_inputs = 0;
    uint32_t first_port = 0, num_outputs = 0;
    uint32_t transfer =
        0;  // of a kRecv or kCollective: among all; of a kSend: among those of its frame
    uint32_t waits_for = 0;  // edges; of a Merge control edges only
    int32_t alive = -1;      // of a Merge: an input that is given
    Range given;             // inputs that are, in `given_inputs`
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
    int64_t max_rounds = 0;  // at a time; 0: no Enter has said
    std::vector<uint32_t> exits;
    // By cell: the number of the constant that lies there in every round, kSent if none does.
    std::vector<int32_t> lasting;
    std::vector<uint32_t> passing;  // the other cells that anything is sent to
  };

  std::vector<Node> nodes;        // for their names
  std::vector<Tensor> constants;  // by node
  std::vector<Item> items;
  std::vector<Frame> frames;
  std::vector<Port> ports;
  std::vector<Edge> edges;
  std::vector<int> given_inputs;
  uint32_t most_outputs = 0;
  uint32_t num_recvs = 0;
  bool may_share = true;  // no node in a loop has state

 private:
  void FindFrames(llvm::ArrayRef<FlowNode> nodes);
  using EdgesByPort = std::vector<std::vector<std::vector<Edge>>>;  // by node; the last: controls
  void KeepThere(uint32_t id, Edge& edge);
  void Shorten(llvm::ArrayRef<FlowNode> nodes, EdgesByPort& by_port);
  void Connect(llvm::ArrayRef<FlowNode> nodes);
  int ChildOf(int frame, const std::string& name);
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_FRAME_PLAN_H_
