// A read-only view of a node of a graph. Kernels are created from such a view, and most of them
// need no more than this file; most other code also includes the graph, lib/ir/graph.h.
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
#include "lib/support/short_list.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace grapnel {

class Graph;      // lib/ir/graph.h
class NodeTable;  // below

using NodeId = uint32_t;
constexpr NodeId kNoNode = ~NodeId{0};
constexpr int32_t kControlPort = -1;

// An output of a node. With index kControlPort it is the node's control output, which a control
// input reads.
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

// A use of a port: input `slot` of `node`. Slots count data inputs first, then control inputs.
struct GRAPNEL_PUBLIC Use {
  NodeId node;
  uint32_t slot;
};

// A node of a graph, as a small value: a pointer to the graph's table and an id. Valid while the
// graph lives and the node is not removed. Changes go through Graph, in passes through the Editor,
// which also records them in the ledger.
class GRAPNEL_PUBLIC Node {
 public:
  Node() = default;
  inline Node(const Graph* graph, NodeId id);  // in lib/ir/graph.h
  explicit operator bool() const { return id_ != kNoNode; }
  bool operator==(const Node& other) const { return id_ == other.id_ && table_ == other.table_; }
  bool operator!=(const Node& other) const { return !(*this == other); }

  NodeId id() const { return id_; }
  inline const Graph& graph() const;  // in lib/ir/graph.h
  inline llvm::StringRef name() const;
  inline llvm::StringRef op() const;
  inline llvm::StringRef device() const;
  inline StringId name_id() const;
  inline StringId op_id() const;
  inline StringId device_id() const;

  // Data inputs, in order. A dangling input (only in a broken graph) has node kNoNode.
  inline int num_inputs() const;
  inline Port input(int i) const;  // `i` is a slot as in Use, so control inputs work too
  // The node that input `i` reads; converts to false if the input dangles.
  Node input_node(int i) const { return Node(table_, input(i).node); }
  // Control inputs, in order.
  inline int num_controls() const;
  inline Node control(int i) const;
  // Data and control inputs as ports, data first.
  inline llvm::SmallVector<Port, 4> inputs() const;
  // The text of a dangling input in the file ("missing:1"), or the name of the removed node that it
  // read; empty if the input does not dangle. `slot` is as in Use.
  llvm::StringRef DanglingText(int slot) const;

  // All uses of any output, control included; the order is deterministic but unspecified.
  inline llvm::ArrayRef<Use> uses() const;
  inline bool HasDataUses() const;
  inline int NumDataUses() const;
  // The uses of output `port`.
  llvm::SmallVector<Use, 4> UsesOf(int port) const;

  // The attribute value as written on the node; nullopt if the node does not have the attribute.
  std::optional<AttrView> FindAttr(llvm::StringRef key) const;
  // The attribute value on the node, or else the default in the op table; nullopt if there is
  // neither.
  std::optional<AttrView> Attr(llvm::StringRef key) const;
  // Return the value of Attr() in a C++ type; `otherwise` (of GetInts: an empty list) if the
  // attribute is missing or has another type.
  DataType GetType(llvm::StringRef key, DataType otherwise = proto::DT_INVALID) const;
  int64_t GetInt(llvm::StringRef key, int64_t otherwise = 0) const;
  float GetFloat(llvm::StringRef key, float otherwise = 0) const;
  bool GetBool(llvm::StringRef key, bool otherwise = false) const;
  std::string GetString(llvm::StringRef key, llvm::StringRef otherwise = {}) const;
  std::vector<int64_t> GetInts(llvm::StringRef key) const;
  // Calls `visit` for each attribute on the node, in unspecified order. If a file has a key twice,
  // visits both values; the later one counts.
  void ForEachAttr(llvm::function_ref<void(llvm::StringRef, AttrView)> visit) const;
  // The key and value of each attribute on the node, sorted by key.
  std::vector<std::pair<llvm::StringRef, AttrView>> Attrs() const;

 private:
  Node(const NodeTable* table, NodeId id) : table_(table), id_(id) {}

  const NodeTable* table_ = nullptr;  // the table of the node's graph
  NodeId id_ = kNoNode;
};

// Storage of a Graph's nodes. Declared here so that reads are inlined; only Node and Graph use it.
class GRAPNEL_PUBLIC NodeTable {
 protected:
  friend class Node;
  struct Edge {
    NodeId node;
    int32_t port;
    // The index of this edge in the uses of `node`. For a dangling edge, the StringId of its
    // DanglingText.
    uint32_t use;
  };
  struct Attribute {
    StringId key;
    llvm::StringRef value;
  };
  // The fields of a node that walks over the graph read; they fit in one cache line.
  struct alignas(64) Data {
    StringId op;
    uint32_t num_data = 0;
    ShortList<Edge, 2> edges;
    ShortList<Use, 2> uses;
  };
  // The other fields of a node.
  struct Text {
    StringId name, device;
    const char* source = nullptr;
    uint32_t source_size = 0, attrs_at = 0;
    int32_t attrs = -1;  // index into attrs_; -1: the attributes are still in `source`
    bool changed = false;
    bool shares_attrs = false;  // `source` was set by ShareAttrs
    uint64_t version = 0;
  };
  static_assert(sizeof(Data) == 64 && sizeof(Text) == 40);

  explicit NodeTable(const StringTable& strings) : strings_(strings) {}
  // The bytes of `source` from the first attribute on.
  llvm::StringRef FieldsFromAttrs(NodeId id) const {
    const Text& text = texts_[id];
    return {text.source + text.attrs_at, text.source_size - text.attrs_at};
  }

  const StringTable& strings_;  // of the module
  std::vector<Data> nodes_;     // by node id, like texts_ and alive_
  std::vector<Text> texts_;
  std::vector<uint8_t> alive_;  // 1; 0 if the node was removed
  std::vector<std::vector<Attribute>> attrs_;
};

llvm::StringRef Node::name() const { return table_->strings_.Get(name_id()); }
llvm::StringRef Node::op() const { return table_->strings_.Get(op_id()); }
llvm::StringRef Node::device() const { return table_->strings_.Get(device_id()); }
StringId Node::name_id() const { return table_->texts_[id_].name; }
StringId Node::op_id() const { return table_->nodes_[id_].op; }
StringId Node::device_id() const { return table_->texts_[id_].device; }

int Node::num_inputs() const { return static_cast<int>(table_->nodes_[id_].num_data); }
Port Node::input(int i) const {
  const NodeTable::Edge& edge = table_->nodes_[id_].edges[i];
  return {edge.node, edge.port};
}
int Node::num_controls() const {
  const NodeTable::Data& data = table_->nodes_[id_];
  return static_cast<int>(data.edges.size() - data.num_data);
}
Node Node::control(int i) const {
  const NodeTable::Data& data = table_->nodes_[id_];
  return Node(table_, data.edges[data.num_data + i].node);
}
llvm::SmallVector<Port, 4> Node::inputs() const {
  llvm::SmallVector<Port, 4> ports;
  for (const NodeTable::Edge& edge : table_->nodes_[id_].edges)
    ports.push_back({edge.node, edge.port});
  return ports;
}

llvm::ArrayRef<Use> Node::uses() const { return table_->nodes_[id_].uses; }
bool Node::HasDataUses() const {
  for (const Use& use : uses()) {
    if (use.slot < table_->nodes_[use.node].num_data) return true;
  }
  return false;
}
int Node::NumDataUses() const {
  int count = 0;
  for (const Use& use : uses()) count += use.slot < table_->nodes_[use.node].num_data;
  return count;
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_NODE_H_
