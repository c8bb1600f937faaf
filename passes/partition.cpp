// Cuts every edge to another device: values that cross are sent and received there. The result is
// one graph that consists of the partitions of all devices.
//
//   Before:  a @cpu:0 -> b @cpu:1      After:  a -> _Send @cpu:0      _Recv -> b @cpu:1
//
// Partitions as TensorFlow does (lib/place/partition.h), but keeps one graph, which therefore runs,
// dumps and is recorded like any other. Names, devices and attributes are those of the partitions.
//
// Errors: those of PartitionByDevice, such as a node without a full device name. Bodies of
// functions are left alone.
#include "lib/place/partition.h"

#include <map>

#include "lib/pass/pass.h"
#include "lib/place/settings.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

class PartitionPass : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    if (edit.function()) return Error::success();
    ASSIGN_OR_RETURN(auto kernels, KernelsOf(edit.config()));
    ASSIGN_OR_RETURN(PartitionedGraph split, PartitionByDevice(edit.module(), *kernels));
    Joiner(edit, split).Run();
    return Error::success();
  }

 private:
  // Makes the one graph equal to the partitions: adds the nodes that they have in addition, and
  // moves those that they place elsewhere.
  class Joiner {
   public:
    Joiner(Editor& edit, const PartitionedGraph& split) : edit_(edit), split_(split) {
      for (const Partition& part : split.partitions) {
        for (Node node : part.module->main.nodes()) nodes_[node.name()] = node;
      }
    }

    void Run() {
      for (Node node : Present()) Move(node);
      for (const Transfer& transfer : split_.transfers) Claim(transfer);
      // The nodes that partitioning adds, by the node whose values they send and receive; kNoNode:
      // the nodes of control loops.
      std::map<NodeId, std::vector<Node>> made;
      for (const Partition& part : split_.partitions) {
        for (Node node : part.module->main.nodes()) {
          if (edit_.graph().Find(node.name())) continue;
          auto source = source_of_.find(node.name());
          made[source == source_of_.end() ? kNoNode : source->second].push_back(node);
        }
      }
      // Loops first: receivers in a loop wait for nodes of that loop.
      AddMade(kNoNode, made[kNoNode]);
      made.erase(kNoNode);
      for (const auto& [source, nodes] : made) AddMade(source, nodes);
      for (Node node : Present()) Connect(node);
    }

   private:
    std::vector<Node> Present() const {
      std::vector<Node> present;
      for (Node node : edit_.graph().nodes()) present.push_back(node);
      return present;
    }

    // Moves a control flow node to the device of its input or its reader.
    void Move(const Node& node) {
      auto placed = nodes_.find(node.name());
      if (placed == nodes_.end() || placed->second.device() == node.device()) return;
      if (!edit_.Runs("move_control_flow")) return;
      if (!edit_.Begin("move_control_flow", node)) return;
      edit_.SetDevice(node, placed->second.device());
      edit_.End();
    }

    // Records the nodes of a transfer in source_of_: send, receive and, for a control edge, the
    // constant that is sent and the Identities that read the receive.
    void Claim(const Transfer& transfer) {
      Node send = nodes_.lookup(transfer.send), recv = nodes_.lookup(transfer.recv);
      source_of_[send.name()] = source_of_[recv.name()] = transfer.source;
      if (transfer.port != kControlPort) return;
      source_of_[send.input_node(0).name()] = transfer.source;
      for (const Use& use : recv.uses())
        source_of_[recv.graph().node(use.node).name()] = transfer.source;
    }

    // Adds the nodes that send one node's values or, for kNoNode, the nodes of control loops.
    void AddMade(NodeId source, llvm::ArrayRef<Node> nodes) {
      Node from = source == kNoNode ? Node() : edit_.graph().node(source);
      const char* step = from ? "send_and_receive" : "turn_along";
      if (!edit_.Runs(step) || !edit_.Begin(step, from)) return;
      if (from) edit_.Used(from);
      for (const Node& node : nodes) {
        Node made = edit_.AddNode(node.name(), node.op(), node.device());
        for (const auto& [key, value] : node.Attrs()) edit_.SetAttr(made, key, value.bytes());
      }
      for (const Node& node : nodes) {
        if (auto inputs = InputsAsIn(node))
          edit_.SetInputs(edit_.graph().Find(node.name()), *inputs);
      }
      edit_.End();
    }

    // The ports of this graph that correspond to the inputs of a node of a partition; nullopt if
    // one of them does not exist yet.
    std::optional<llvm::SmallVector<Port, 4>> InputsAsIn(const Node& node) const {
      llvm::SmallVector<Port, 4> ports;
      for (Port port : node.inputs()) {
        Node input = edit_.graph().Find(node.graph().node(port.node).name());
        if (!input) return std::nullopt;
        ports.push_back({input.id(), port.index});
      }
      return ports;
    }

    void Connect(const Node& node) {
      Node wanted = nodes_.lookup(node.name());
      auto inputs = wanted ? InputsAsIn(wanted) : std::nullopt;
      if (!inputs || node.inputs() == *inputs) return;
      if (!edit_.Runs("read_what_came") || !edit_.Begin("read_what_came", node)) return;
      edit_.SetInputs(node, *inputs);
      edit_.End();
    }

    Editor& edit_;
    const PartitionedGraph& split_;
    llvm::StringMap<Node> nodes_;        // of all partitions
    llvm::StringMap<NodeId> source_of_;  // for nodes made by a transfer: the node that is sent
  };
};

GRAPNEL_PASS(PartitionPass,
             (PassInfo{
                 .name = "partition",
                 .config_name = "partition",
                 .run_once = true,
                 .help = "sends and receives values that cross devices, as TensorFlow partitions",
                 .refuses = "bodies of functions; fails at nodes without a full device name"}),
             {"move_control_flow",
              "Switch and Exit go to their input's device, Enter and "
              "NextIteration to their reader's"},
             {"read_what_came", "a node reads a receiver instead of another device's node"},
             {"send_and_receive", "sends a value or a control edge to another device"},
             {"turn_along", "adds a control loop on each device that receives values of a loop"});

}  // namespace
}  // namespace grapnel
