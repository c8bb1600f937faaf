// Taking nodes out of the way: their readers read what they read. Control edges, of which a node
// may have very many, are asked for and changed in constant time.
#ifndef GRAPNEL_LIB_PASS_BYPASS_H_
#define GRAPNEL_LIB_PASS_BYPASS_H_

#include "lib/pass/editor.h"

namespace grapnel {

// While one is in use, edges change through it only.
class Bypasser {
 public:
  explicit Bypasser(Editor& edit) : edit_(edit), graph_(edit.graph()) {}

  // Whether `reader` has an input from `source`, data or control.
  bool DependsOn(const Node& reader, const Node& source);
  // `reader` waits for `source`, unless it has an input from it anyway.
  void AddControl(const Node& reader, const Node& source);

  // Readers of port i of `node` read its input i instead, nodes that wait for it wait for all its
  // inputs, and all of them wait for its control inputs. `node` is left without readers. Cost: the
  // edges that go and come.
  void Bypass(const Node& node);
  // Readers of `node` read the same port of `by` instead, and nodes that wait for it wait for `by`.
  // `node` is left without readers.
  void Replace(const Node& node, const Node& by);

 private:
  using Counts = llvm::DenseMap<NodeId, uint32_t>;
  void Count(NodeId reader, NodeId source, int by);

  Editor& edit_;
  Graph& graph_;
  llvm::DenseMap<NodeId, Counts>
      sources_;  // of readers with many inputs that were asked for sources with many readers
};

// Drops control inputs that say what another input of the node says; inside a rewrite.
void DedupControlInputs(Editor& edit, const Node& node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_BYPASS_H_
