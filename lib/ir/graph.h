// A graph of integers: nodes, typed ports, control edges and their users, over names that are
// interned.
#ifndef GRAPNEL_LIB_IR_GRAPH_H_
#define GRAPNEL_LIB_IR_GRAPH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/ir/attr.h"
#include "lib/ir/string_table.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/iterator_range.h"

namespace grapnel {

class Graph;
class Module;

using NodeId = uint32_t;
constexpr NodeId kNoNode = ~NodeId{0};
constexpr int32_t kControlPort = -1;

// An output of a node; index kControlPort stands for "after this node has run".
struct Port {
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
struct Use {
  NodeId node;
  uint32_t slot;
};

// A node of a graph, as a value of two words. Valid while the graph lives and the node is not
// removed. What changes a node is in Graph (and, for passes, in the Editor, which keeps the ledger
// too).
class Node {
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

// One body: the main graph or a function's. Ids are never reused; a removed node leaves a hole.
// In a function's body the arguments are nodes of op _Arg (attributes T, index; named as in the
// signature) and the results nodes of op _Retval, so that they have ports and users as any other.
// About 110 bytes a node. Not thread-safe for writers.
class Graph {
 public:
  explicit Graph(Module* module) : module_(module) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  Module& module() const { return *module_; }

  NodeId end_id() const { return static_cast<NodeId>(nodes_.size()); }  // one past the largest id
  size_t num_nodes() const { return num_alive_; }
  bool IsAlive(NodeId id) const { return id < nodes_.size() && nodes_[id].alive; }
  Node node(NodeId id) const { return Node(this, id); }
  Node Find(llvm::StringRef name) const;  // false when there is none
  Node Find(StringId name) const;

  class Iterator {
   public:
    Iterator(const Graph* graph, NodeId id) : graph_(graph), id_(id) { SkipDead(); }
    Node operator*() const { return Node(graph_, id_); }
    Iterator& operator++() {
      ++id_;
      SkipDead();
      return *this;
    }
    bool operator!=(const Iterator& other) const { return id_ != other.id_; }

   private:
    void SkipDead() {
      while (id_ < graph_->end_id() && !graph_->nodes_[id_].alive) ++id_;
    }
    const Graph* graph_;
    NodeId id_;
  };
  // The nodes that are there, in order of id (the file's order, then as made).
  llvm::iterator_range<Iterator> nodes() const {
    return {Iterator(this, 0), Iterator(this, end_id())};
  }

  // --- Changes. Each keeps users right; none checks types (the verifier does).
  // A name that is taken is the caller's bug: see UniqueName.
  NodeId AddNode(llvm::StringRef name, llvm::StringRef op, llvm::StringRef device = {});
  void RemoveNode(NodeId id);  // its inputs are let go; it must have no uses
  void SetOp(NodeId id, llvm::StringRef op);
  void SetDevice(NodeId id, llvm::StringRef device);
  void Rename(NodeId id, llvm::StringRef name);
  void AddInput(NodeId id, Port port);            // after the last data input
  void SetInput(NodeId id, int slot, Port port);  // data or control, as the slot is
  void RemoveInput(NodeId id, int slot);          // later slots move down
  bool AddControl(NodeId id, NodeId from);  // false when it was there; cost: the lesser of id's
                                            // inputs and from's readers
  void AppendControl(NodeId id,
                     NodeId from);  // for a caller who knows that it is not there; constant time
  bool RemoveControl(NodeId id, NodeId from);  // every such edge; false when there was none
  void RemoveControlSlot(
      NodeId id, uint32_t slot);  // in constant time: the last control input takes its place
  void SetInputs(NodeId id,
                 llvm::ArrayRef<Port> ports);  // all of them; control ports after data ports
  void SetAttr(NodeId id, llvm::StringRef key,
               llvm::StringRef value);  // a serialized AttrValue (lib/ir/attr.h)
  // The same, put together of pieces where it stays, which is returned: a large value is copied
  // once.
  llvm::StringRef SetAttr(NodeId id, llvm::StringRef key, llvm::ArrayRef<llvm::StringRef> pieces);
  void RemoveAttr(NodeId id, llvm::StringRef key);
  // All attributes of `from` (same module), instead of what `to` has.
  void CopyAttrs(NodeId to, const Node& from);

  // `base` if free, else base_1, base_2, ...
  std::string UniqueName(llvm::StringRef base) const;

  // --- For import and export.
  // A node whose attributes and unknown fields are the bytes of `source`, a NodeDef that outlives
  // the graph. A name that is taken is kept on the node but Find() goes on returning the first.
  NodeId AddImported(StringId name, StringId op, StringId device, llvm::StringRef source,
                     bool* name_taken = nullptr);
  // An input as the file says it, in the file's order; a dangling one (node kNoNode) keeps its
  // text.
  void AddImportedInput(NodeId id, Port port, llvm::StringRef text, bool control);
  // The NodeDef that the node was read from while neither it nor the name of an input has changed;
  // else empty.
  llvm::StringRef UnchangedSource(NodeId id) const;
  // The NodeDef it was read from, changed since or not: unknown fields come from here.
  llvm::StringRef Source(NodeId id) const { return {nodes_[id].source, nodes_[id].source_size}; }
  // The part of that NodeDef that holds the attributes: two nodes with the same have the same ones.
  // Nothing once they were changed.
  std::optional<llvm::StringRef> AttrBytes(NodeId id) const;
  void Reserve(size_t nodes);

 private:
  friend class Node;
  struct Edge {
    NodeId node;
    int32_t port;
    uint32_t use;  // where `node` lists this edge among its uses; for a dangling edge the StringId
                   // of its text
  };
  struct Attribute {
    StringId key;
    llvm::StringRef value;
  };
  struct Data {
    StringId name, op, device;
    uint32_t num_data = 0;
    llvm::SmallVector<Edge, 2> edges;
    llvm::SmallVector<Use, 2> uses;
    const char* source = nullptr;
    uint32_t source_size = 0;
    int32_t attrs = -1;  // index into attrs_; -1 while they are still in `source`
    bool alive = true;
    bool changed = false;
  };

  Edge MakeEdge(NodeId reader, uint32_t slot, Port port);
  void DropUse(const Edge& edge);
  void RemoveEdge(NodeId id, uint32_t slot);
  std::vector<Attribute>& OwnAttrs(NodeId id);

  Module* module_;
  std::vector<Data> nodes_;
  std::vector<std::vector<Attribute>> attrs_;
  llvm::DenseMap<StringId, NodeId> by_name_;
  size_t num_alive_ = 0;
};

// The ids of live nodes so that each comes after its inputs (data and control); loops' back edges
// (NextIteration -> Merge) do not count. Stable: among nodes that are ready the smallest id comes
// first. Nodes on any other cycle, and what follows them, are left out: compare sizes.
std::vector<NodeId> TopologicalOrder(const Graph& graph);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_GRAPH_H_
