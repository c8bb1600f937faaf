// A node of a graph, as whoever only reads nodes sees it: kernels are made from one. The graph
// itself is in lib/ir/graph.h, which most of the program that is not kernels includes.
#ifndef GRAPNEL_LIB_IR_NODE_H_
#define GRAPNEL_LIB_IR_NODE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/ir/attr.h"
#include "lib/ir/string_table.h"
#include "lib/support/public.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace grapnel {

class Graph;  // lib/ir/graph.h

using NodeId = uint32_t;
constexpr NodeId kNoNode = ~NodeId{0};
constexpr int32_t kControlPort = -1;

// An output of a node; index kControlPort stands for "after this node has run".
struct GRAPNEL_PUBLIC Port {
  NodeId node = kNoNode;
  int32_t index = 0;
  bool IsControl() const { return index == kControlPort; }
  bool operator==(const Port& other) const { return node == other.node && index == other.index; }
  bool operator!=(const Port& other) const { return !(*this == other); }
  bool operator<(const Port& other) const {
    return node != other.node ? node < other.node : index < other.index;
  }
};

// One input of a node that reads a port: `slot` counts data inputs first, then control inputs.
struct GRAPNEL_PUBLIC Use {
  NodeId node;
  uint32_t slot;
};

// A node of a graph, as a value of two words. Valid while the graph lives and the node is not
// removed. What changes a node is in Graph (and, for passes, in the Editor, which keeps the ledger
// too).
class GRAPNEL_PUBLIC Node {
 public:
  Node() = default;
  Node(const Graph* graph, NodeId id) : graph_(graph), id_(id) {}
  explicit operator bool() const { return id_ != kNoNode; }
  bool operator==(const Node& other) const { return id_ == other.id_ && graph_ == other.graph_; }
  bool operator!=(const Node& other) const { return !(*this == other); }

  NodeId id() const { return id_; }
  const Graph& graph() const { return *graph_; }
  llvm::StringRef name() const;
  llvm::StringRef op() const;
  llvm::StringRef device() const;
  StringId name_id() const;
  StringId op_id() const;
  StringId device_id() const;

  // Data inputs, in order. A dangling one (only in a broken graph) has node kNoNode.
  int num_inputs() const;
  Port input(int i) const;  // with a slot as in Use, control inputs too
  Node input_node(int i) const { return Node(graph_, input(i).node); }  // false when dangling
  // Control inputs, in order.
  int num_controls() const;
  Node control(int i) const;
  // Data and control inputs as ports, data first.
  llvm::SmallVector<Port, 4> inputs() const;
  // What a dangling input says in the file ("missing:1"); `slot` as in Use.
  llvm::StringRef DanglingText(int slot) const;

  // Every read of any output, control included; in no particular but a deterministic order.
  llvm::ArrayRef<Use> uses() const;
  bool HasDataUses() const;
  int NumDataUses() const;
  // Reads of one port.
  llvm::SmallVector<Use, 4> UsesOf(int port) const;

  // The attribute as written on the node; nullopt when it is not there.
  std::optional<AttrView> FindAttr(llvm::StringRef key) const;
  // The same, else the op table's default.
  std::optional<AttrView> Attr(llvm::StringRef key) const;
  // Typed shorthands over Attr(); `otherwise` when missing or of another kind.
  DataType GetType(llvm::StringRef key, DataType otherwise = proto::DT_INVALID) const;
  int64_t GetInt(llvm::StringRef key, int64_t otherwise = 0) const;
  float GetFloat(llvm::StringRef key, float otherwise = 0) const;
  bool GetBool(llvm::StringRef key, bool otherwise = false) const;
  std::string GetString(llvm::StringRef key, llvm::StringRef otherwise = {}) const;
  std::vector<int64_t> GetInts(llvm::StringRef key) const;
  // Each attribute as it stands on the node, in no particular order; of a key that is there twice
  // the last counts.
  void ForEachAttr(llvm::function_ref<void(llvm::StringRef, AttrView)> visit) const;
  // Key and value of each attribute on the node, sorted by key.
  std::vector<std::pair<llvm::StringRef, AttrView>> Attrs() const;

 private:
  const Graph* graph_ = nullptr;
  NodeId id_ = kNoNode;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_NODE_H_
