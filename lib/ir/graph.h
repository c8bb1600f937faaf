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

// One body: the main graph or a function's. Ids are never reused; a removed node leaves a hole.
// In a function's body the arguments are nodes of op _Arg (attributes T, index; named as in the
// signature) and the results nodes of op _Retval, so that they have ports and users as any other.
// About 105 bytes a node. Not thread-safe for writers.
class GRAPNEL_PUBLIC Graph : private NodeTable {
 public:
  explicit Graph(Module* module, const Function* function = nullptr);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  Module& module() const { return *module_; }
  const Function* function() const { return function_; }  // whose body it is; null: nobody's
  // Another number after each change, and another than any other graph's: who keeps what follows
  // from a graph can tell whether it still does.
  uint64_t version() const { return version_; }
  uint64_t id() const { return version_ >> kBitsOfChanges; }  // no other graph's
  // The graph's version at the node's last change: of its op, attributes, device, name or inputs.
  uint64_t VersionOf(NodeId id) const { return texts_[id].version; }
  // The nodes there are whose version is later than `since`, in order of id. Of the cost of the
  // changes since while they are few: the latest are kept, a fourth as many as there are nodes.
  std::vector<NodeId> ChangedSince(uint64_t since) const;

  NodeId end_id() const { return static_cast<NodeId>(nodes_.size()); }  // one past the largest id
  size_t num_nodes() const { return num_alive_; }
  bool IsAlive(NodeId id) const { return id < nodes_.size() && alive_[id]; }
  Node node(NodeId id) const { return Node(this, id); }
  // Says that a node, if there is one of this id, is soon read: a walk over many waits for less.
  void Prefetch(NodeId id) const {
    // Any address may be asked for; of a pointer it would have to be one in the list.
    uintptr_t at = reinterpret_cast<uintptr_t>(nodes_.data()) + id * sizeof(Data);
    __builtin_prefetch(reinterpret_cast<const void*>(at));  // NOLINT(performance-no-int-to-ptr)
  }
  Node Find(llvm::StringRef name) const;  // false when there is none
  Node Find(StringId name) const;         // no wait for memory where names are asked for in order

  // Nodes by which a walk asks before it needs one.
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
  // The nodes that are there, in order of id (the file's order, then as made).
  llvm::iterator_range<Iterator> nodes() const {
    return {Iterator(this, 0), Iterator(this, end_id())};
  }
  // Those of the list, which stays as it is meanwhile; removed ones too.
  llvm::iterator_range<ListIterator> nodes(const std::vector<NodeId>& ids) const {
    const NodeId *begin = ids.data(), *end = begin + ids.size();
    return {ListIterator(this, begin, end), ListIterator(this, end, end)};
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
  // All attributes of a node that has none, or none but such: the bytes of a NodeDef that has only
  // these, which outlive the graph. Nodes with the same bytes share them.
  void ShareAttrs(NodeId id, llvm::StringRef bytes);
  // What a node says beside its name, op, inputs and device is that of `node_def` now, which
  // outlives the graph: attributes, and fields that are not known.
  void SetRest(NodeId id, llvm::StringRef node_def);
  // All attributes of `from` (same module), instead of what `to` has.
  void CopyAttrs(NodeId to, const Node& from);

  // `base` if free, else base_1, base_2, ...
  std::string UniqueName(llvm::StringRef base) const;

  // --- For import and export.
  // A node whose attributes and unknown fields are the bytes of `source`, a NodeDef that outlives
  // the graph. A name that is taken is kept on the node but Find() goes on returning the first.
  // No attribute stands before `attrs_at` in `source`.
  NodeId AddImported(StringId name, StringId op, StringId device, llvm::StringRef source,
                     bool* name_taken = nullptr, size_t attrs_at = 0);
  // An input as the file says it, in the file's order; a dangling one (node kNoNode) keeps its
  // text.
  void AddImportedInput(NodeId id, Port port, llvm::StringRef text, bool control);
  // The NodeDef that the node was read from while neither it nor the name of an input has changed;
  // else empty.
  llvm::StringRef UnchangedSource(NodeId id) const;
  // The NodeDef it was read from, changed since or not: unknown fields come from here.
  llvm::StringRef Source(NodeId id) const {
    return texts_[id].shares_attrs ? llvm::StringRef() : Bytes(id);
  }
  // Whether its attributes are those of Source().
  bool HasAttrsOfSource(NodeId id) const {
    return texts_[id].attrs < 0 && !texts_[id].shares_attrs;
  }
  // Whether they are the bytes that ShareAttrs was given.
  bool SharesAttrs(NodeId id) const { return texts_[id].attrs < 0 && texts_[id].shares_attrs; }
  // The part of that NodeDef, or of the bytes that ShareAttrs was given, that holds the attributes:
  // two nodes with the same have the same ones.
  // Nothing once they were changed.
  std::optional<llvm::StringRef> AttrBytes(NodeId id) const;
  // False: no node has such an attribute, nor had one since the first call, which walks over all
  // attributes; later calls cost nothing. For keys that few graphs have.
  bool MayHaveAttr(llvm::StringRef key);
  void Reserve(size_t nodes);
  // For a copy of a module, whose strings have the same numbers: the nodes of `original`. Bytes
  // outside of the string table are what `share` gives for them.
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
  void AddAttrKey(llvm::StringRef key) {  // which lives as long as the module
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
  // Strings of a graph have numbers in its order: so has what is looked up one after the other.
  struct InOrder : llvm::DenseMapInfo<StringId> {
    static unsigned getHashValue(StringId id) { return id; }
  };
  llvm::SmallDenseMap<StringId, NodeId, 8, InOrder> by_name_;  // most functions are small
  size_t num_alive_ = 0;
  // All changes of nodes after version changes_from_, in order; of several in a row to one node the
  // last.
  std::vector<Change> changes_;
  std::optional<llvm::DenseSet<llvm::StringRef>> attr_keys_;  // for MayHaveAttr; nothing: not known
  uint64_t changes_from_;
};

inline Node::Node(const Graph* graph, NodeId id) : table_(graph), id_(id) {}
inline const Graph& Node::graph() const { return *static_cast<const Graph*>(table_); }

// The ids of live nodes so that each comes after its inputs (data and control); loops' back edges
// (NextIteration -> Merge) do not count. Stable: among nodes that are ready the smallest id comes
// first. Nodes on any other cycle, and what follows them, are left out: compare sizes.
GRAPNEL_PUBLIC std::vector<NodeId> TopologicalOrder(const Graph& graph);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_GRAPH_H_
