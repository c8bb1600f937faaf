// One body of a graph as arrays, for algorithms that access each node and edge many times.
#ifndef GRAPNEL_LIB_DIFF_BODY_VIEW_H_
#define GRAPNEL_LIB_DIFF_BODY_VIEW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

constexpr int32_t kNobody = -1;
// How often the nodes of cycles, which have no order, are hashed.
constexpr int kRoundsOnCycles = 8;

// Nodes have the indices 0, 1, ... in the graph's order. Names and ops are hashes of strings, since
// the two modules to compare give equal strings different ids.
class BodyView {
 public:
  struct In {
    int32_t node;  // kNobody: the input dangles
    int32_t port;  // kControlPort: a control input
  };
  struct Out {
    int32_t node;  // the reader
    int32_t slot;  // index of the reader's data input; kControlPort: a control input
    int32_t port;
  };

  // `graph` must outlive the view. `function` is null for the main graph. `names_only`: the view
  // has neither name classes nor an order. Linear.
  BodyView(const Graph& graph, const Function* function, bool names_only = false);

  int32_t size() const { return static_cast<int32_t>(ids_.size()); }
  Node node(int32_t i) const { return graph_->node(ids_[i]); }
  int32_t IndexOf(NodeId id) const { return id < index_of_.size() ? index_of_[id] : kNobody; }
  const Graph& graph() const { return *graph_; }
  const Function* function() const { return function_; }

  llvm::ArrayRef<In> DataInputs(int32_t i) const {
    return llvm::ArrayRef<In>(ins_).slice(in_begin_[i], num_data_[i]);
  }
  llvm::ArrayRef<In> ControlInputs(int32_t i) const {
    return llvm::ArrayRef<In>(ins_).slice(in_begin_[i] + num_data_[i],
                                          in_begin_[i + 1] - in_begin_[i] - num_data_[i]);
  }
  llvm::ArrayRef<Out> Readers(int32_t i) const {
    return llvm::ArrayRef<Out>(outs_).slice(out_begin_[i], out_begin_[i + 1] - out_begin_[i]);
  }

  uint64_t name(int32_t i) const { return names_[i]; }
  // Hash of the name without the numbers that TensorFlow adds to make names unique (see NameClass).
  uint64_t name_class(int32_t i) const { return name_classes_[i]; }
  uint64_t op(int32_t i) const { return ops_[i]; }

  // True if the edge closes a v1 loop: NextIteration -> Merge.
  bool IsBackEdge(int32_t from, int32_t to) const { return feeds_back_[from] && merges_[to]; }

  // Indices in topological order, ignoring back edges. Nodes on other cycles, and nodes that depend
  // on these, come last, from position `num_ordered` on, in the graph's order.
  const std::vector<int32_t>& order() const { return order_; }
  int32_t num_ordered() const { return num_ordered_; }
  int32_t position(int32_t i) const { return positions_[i]; }

 private:
  void ReadNodes(bool with_classes);
  void ReadEdges();
  Port PortOfBroken(llvm::StringRef text) const;
  void Order();

  const Graph* graph_;
  const Function* function_;
  std::vector<NodeId> ids_;
  std::vector<int32_t> index_of_;
  std::vector<In> ins_;
  std::vector<Out> outs_;
  std::vector<uint32_t> in_begin_, out_begin_, num_data_;
  std::vector<uint64_t> names_, name_classes_, ops_;
  std::vector<bool> feeds_back_, merges_;
  std::vector<int32_t> order_, positions_;
  int32_t num_ordered_ = 0;
};

// Returns "functional/conv2d/BiasAdd" for "functional_1/conv2d_7_1/BiasAdd", and "f" for
// "__inference_f_16": that is, the name without the numbers that change when a program builds a
// model again.
std::string NameClass(llvm::StringRef name);

// Mixes `value` into `seed`. The order of values matters.
inline uint64_t HashInto(uint64_t seed, uint64_t value) {
  uint64_t hash = (seed ^ value) * 0x9FB21C651E98DF25ull + 0x632BE59BD9B4E019ull;
  hash ^= hash >> 32;
  hash *= 0xD6E8FEB86659FD93ull;
  return hash ^ (hash >> 29);
}
uint64_t HashText(llvm::StringRef text);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_BODY_VIEW_H_
