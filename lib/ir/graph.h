// A graph of nodes with integer ids: data and control inputs, the uses of each node's outputs, and
// interned names.
#ifndef GRAPNEL_LIB_IR_GRAPH_H_
#define GRAPNEL_LIB_IR_GRAPH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/ir/attr.h"
#include "lib/ir/node.h"
#include "lib/ir/string_table.h"
#include "lib/support/public.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/iterator_range.h"

namespace grapnel {

class Function;
class Module;

// The nodes of the main graph or of a function's body. Ids are never reused: after the removal of a
// node, its id stays unused. In a function's body, arguments are nodes of op _Arg (attributes T,
// index; named as in the signature) and results are nodes of op _Retval, so they have ports and
// uses like any other node. A node takes 105 bytes, besides its entry in the table of names, and
// more if it has over two inputs, over two uses or changed attributes. A change needs a lock
// against all other threads that use the graph.
class GRAPNEL_PUBLIC Graph : private NodeTable {
 public:
  explicit Graph(Module* module, const Function* function = nullptr);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  Module& module() const { return *module_; }
  const Function* function() const { return function_; }  // of this body; null for the main graph
  // A number that changes with each modification and that no other graph has. A cache of results
  // about a graph compares it to find out whether they are still valid.
  uint64_t version() const { return version_; }
  uint64_t id() const { return version_ >> kBitsOfChanges; }  // unique per graph
  // The version at which the node last changed: its op, attributes, device, name or inputs, the
  // name of a node that it reads, or in a function the op of such a node.
  uint64_t VersionOf(NodeId id) const { return texts_[id].version; }
  // Returns the live nodes that changed after version `since`, in order of id. The cost depends on
  // the number of changes while these are few: the graph lists its latest changes, up to 256 plus a
  // quarter of its number of nodes. Otherwise the function looks at all nodes.
  std::vector<NodeId> ChangedSince(uint64_t since) const;

  NodeId end_id() const { return static_cast<NodeId>(nodes_.size()); }  // one past the largest id
  size_t num_nodes() const { return num_alive_; }
  bool IsAlive(NodeId id) const { return id < nodes_.size() && alive_[id]; }
  Node node(NodeId id) const { return Node(this, id); }
  // Prefetches a node into the CPU's cache before the caller reads it, which speeds up walks over
  // large graphs. The id need not exist.
  void Prefetch(NodeId id) const {
    // Computes the address as an integer, because a pointer beyond the end of the vector would be
    // undefined.
    uintptr_t at = reinterpret_cast<uintptr_t>(nodes_.data()) + id * sizeof(Data);
    __builtin_prefetch(reinterpret_cast<const void*>(at));  // NOLINT(performance-no-int-to-ptr)
  }
  Node Find(llvm::StringRef name) const;  // an empty Node if not found
  Node Find(StringId name) const;         // fast if names come in the graph's order

  // How many nodes ahead a walk prefetches.
  static constexpr NodeId kAhead = 8;

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
      while (id_ < graph_->end_id() && !graph_->alive_[id_]) ++id_;
      graph_->Prefetch(id_ + kAhead);
    }
    const Graph* graph_;
    NodeId id_;
  };
  class ListIterator {
   public:
    ListIterator(const Graph* graph, const NodeId* at, const NodeId* end)
        : graph_(graph), at_(at), end_(end) {}
    Node operator*() const {
      if (end_ - at_ > kAhead) graph_->Prefetch(at_[kAhead]);
      return Node(graph_, *at_);
    }
    ListIterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator!=(const ListIterator& other) const { return at_ != other.at_; }

   private:
    const Graph* graph_;
    const NodeId *at_, *end_;
  };
  // The live nodes, in order of id (first those of the file in its order, then new ones in order of
  // creation).
  llvm::iterator_range<Iterator> nodes() const {
    return {Iterator(this, 0), Iterator(this, end_id())};
  }
  // The nodes with the given ids, in the list's order, including removed nodes. The list must not
  // change during the walk.
  llvm::iterator_range<ListIterator> nodes(const std::vector<NodeId>& ids) const {
    const NodeId *begin = ids.data(), *end = begin + ids.size();
    return {ListIterator(this, begin, end), ListIterator(this, end, end)};
  }

  // The functions from here to CopyAttrs change the graph. Each keeps the uses consistent with the
  // inputs; none checks types (the verifier does). A name that another node already has is a bug of
  // the caller: see UniqueName.
  NodeId AddNode(llvm::StringRef name, llvm::StringRef op, llvm::StringRef device = {});
  void RemoveNode(NodeId id);  // removes its inputs; the node must have no uses
  void SetOp(NodeId id, llvm::StringRef op);
  void SetDevice(NodeId id, llvm::StringRef device);
  void Rename(NodeId id, llvm::StringRef name);
  void AddInput(NodeId id, Port port);            // after the last data input
  void SetInput(NodeId id, int slot, Port port);  // a data or control input, depending on the slot
  void RemoveInput(NodeId id, int slot);          // later inputs move down by one slot
  // Adds a control input from node `from`; returns false if `id` has it already. To find out, looks
  // through the inputs of `id` or the readers of `from`, whichever are fewer.
  bool AddControl(NodeId id, NodeId from);
  // Like AddControl, in constant time; the caller must know that `id` does not have the input yet.
  void AppendControl(NodeId id, NodeId from);
  bool RemoveControl(NodeId id, NodeId from);  // removes all such inputs; false if there is none
  // Removes a control input in constant time: the last control input moves to its slot.
  void RemoveControlSlot(NodeId id, uint32_t slot);
  // Replaces all inputs of the node; in `ports`, control ports must come last.
  void SetInputs(NodeId id, llvm::ArrayRef<Port> ports);
  // Sets an attribute to a serialized AttrValue (lib/ir/attr.h).
  void SetAttr(NodeId id, llvm::StringRef key, llvm::StringRef value);
  // Sets an attribute to the AttrValue that the pieces give when concatenated. A large value need
  // not be copied to join them first. Returns the stored value.
  llvm::StringRef SetAttr(NodeId id, llvm::StringRef key, llvm::ArrayRef<llvm::StringRef> pieces);
  void RemoveAttr(NodeId id, llvm::StringRef key);
  // Gives a node without attributes of its own those in `bytes`, a serialized NodeDef that contains
  // only attributes and that must outlive the graph. All nodes that get the same `bytes` share
  // them, without a copy.
  void ShareAttrs(NodeId id, llvm::StringRef bytes);
  // Replaces the attributes and unknown fields of a node, that is all but name, op, inputs and
  // device, by those of `node_def`, which must outlive the graph.
  void SetRest(NodeId id, llvm::StringRef node_def);
  // Replaces all attributes of `to` by those of `from`, a node of the same module.
  void CopyAttrs(NodeId to, const Node& from);

  // Returns `base` if no node has that name, otherwise base_1, base_2, ...
  std::string UniqueName(llvm::StringRef base) const;

  // For import: adds a node whose attributes and unknown fields are those of `source`, a NodeDef
  // that outlives the graph; in `source`, no attribute comes before the offset `attrs_at`. The name
  // may be taken by another node: `name_taken` is then set, and Find() still returns the first
  // node.
  NodeId AddImported(StringId name, StringId op, StringId device, llvm::StringRef source,
                     bool* name_taken = nullptr, size_t attrs_at = 0);
  // For import: adds an input after the existing ones of its sort. A dangling input has node
  // kNoNode, and keeps its `text` from the file; a dangling data input after a control input, which
  // only damaged files have, is dropped.
  void AddImportedInput(NodeId id, Port port, llvm::StringRef text, bool control);
  // The NodeDef that the node was read from, if it is still what export would write: the node is
  // unchanged, and no node that it reads was renamed or, in a function, got another op. Otherwise
  // empty.
  llvm::StringRef UnchangedSource(NodeId id) const;
  // The NodeDef that the node was read from (or that SetRest set), even if the node has changed
  // since; its unknown fields are still those of the node. Empty for a node without one.
  llvm::StringRef Source(NodeId id) const {
    return texts_[id].shares_attrs ? llvm::StringRef() : Bytes(id);
  }
  // True if the node's attributes are still those of Source().
  bool HasAttrsOfSource(NodeId id) const {
    return texts_[id].attrs < 0 && !texts_[id].shares_attrs;
  }
  // True if the node's attributes are the bytes passed to ShareAttrs.
  bool SharesAttrs(NodeId id) const { return texts_[id].attrs < 0 && texts_[id].shares_attrs; }
  // The bytes of Source(), or of ShareAttrs, from the first attribute on: if they are equal for two
  // nodes, so are the attributes. Nullopt once the node's attributes have changed.
  std::optional<llvm::StringRef> AttrBytes(NodeId id) const;
  // Returns false if no node can have the attribute `key`: none had it at the first call of this
  // function, and none got it since. The first call walks over all attributes; later calls take one
  // lookup. For keys that occur in few graphs.
  bool MayHaveAttr(llvm::StringRef key);
  void Reserve(size_t nodes);
  // Copies the nodes of `original` into this graph. This graph belongs to the original's module or
  // to a copy of it, so strings have the same ids. `share` is called for bytes outside of the
  // string table and returns bytes that the copy may refer to.
  void CopyNodes(const Graph& original, llvm::function_ref<llvm::StringRef(llvm::StringRef)> share);

 private:
  friend class Node;
  static constexpr int kBitsOfChanges = 40;
  static uint64_t FirstVersion();
  llvm::StringRef Bytes(NodeId id) const { return {texts_[id].source, texts_[id].source_size}; }
  struct Change {
    uint64_t version;
    NodeId node;
  };
  void Mark(NodeId id) {
    texts_[id].changed = true;
    texts_[id].version = version_;
    if (!changes_.empty() && changes_.back().node == id)
      changes_.back().version = version_;
    else
      AddChange(id);
  }
  void AddChange(NodeId id);
  void AddAttrKey(llvm::StringRef key) {  // the key lives as long as the module
    if (attr_keys_) attr_keys_->insert(key);
  }
  void ForgetChanges();
  NodeId Append(StringId name, StringId op, StringId device, llvm::StringRef source,
                bool* name_taken, size_t attrs_at);
  Edge MakeEdge(NodeId reader, uint32_t slot, Port port);
  void DropUse(const Edge& edge);
  void RemoveEdge(NodeId id, uint32_t slot);
  std::vector<Attribute>& OwnAttrs(NodeId id);

  Module* module_;
  const Function* function_;
  uint64_t version_;
  // Uses a string id as its own hash: ids are in the order in which the graph was read, so lookups
  // in that order find neighboring slots.
  struct InOrder : llvm::DenseMapInfo<StringId> {
    static unsigned getHashValue(StringId id) { return id; }
  };
  llvm::SmallDenseMap<StringId, NodeId, 8, InOrder> by_name_;  // most functions are small
  size_t num_alive_ = 0;
  // The changes of nodes after version changes_from_, in order. Changes of one node directly after
  // each other are one entry.
  std::vector<Change> changes_;
  std::optional<llvm::DenseSet<llvm::StringRef>> attr_keys_;  // for MayHaveAttr; nullopt: not built
  uint64_t changes_from_;
};

inline Node::Node(const Graph* graph, NodeId id) : table_(graph), id_(id) {}
inline const Graph& Node::graph() const { return *static_cast<const Graph*>(table_); }

// Returns the ids of live nodes, each after its inputs, data and control, except for back edges of
// loops (NextIteration -> Merge). Of the nodes whose inputs are all listed, the smallest id comes
// next. Omits nodes on other cycles and nodes that depend on them: the result then has fewer nodes
// than the graph.
GRAPNEL_PUBLIC std::vector<NodeId> TopologicalOrder(const Graph& graph);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_GRAPH_H_
