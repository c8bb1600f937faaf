// Removes nodes from the data flow: their readers then read the nodes' inputs. Each look-up or
// change of a control edge takes constant time, since a node may have very many of them.
#ifndef GRAPNEL_LIB_PASS_BYPASS_H_
#define GRAPNEL_LIB_PASS_BYPASS_H_

#include "lib/pass/editor.h"

namespace grapnel {

// While a Bypasser is in use, change edges only through it.
class Bypasser {
 public:
  explicit Bypasser(Editor& edit) : edit_(edit), graph_(edit.graph()) {}

  // True if `reader` has a data or control input from `source`.
  bool DependsOn(const Node& reader, const Node& source);
  // Makes `reader` wait for `source`, unless `reader` already has an input from `source` or is
  // `source`.
  void AddControl(const Node& reader, const Node& source);

  // Readers of port i of `node` then read input i of `node`, nodes that wait for `node` wait for
  // all its inputs, and both kinds of nodes wait for its control inputs. `node` is left without
  // readers. Cost: the number of removed and added edges.
  void Bypass(const Node& node);
  // Readers of `node` then read the port of `by` with the same index, and nodes that wait for
  // `node` wait for `by`. `node` is left without readers.
  void Replace(const Node& node, const Node& by);

 private:
  using Counts = llvm::DenseMap<NodeId, uint32_t>;
  void Count(NodeId reader, NodeId source, int by);

  Editor& edit_;
  Graph& graph_;
  llvm::DenseMap<NodeId, Counts>
      // for each reader, how many of its inputs come from each source; filled by DependsOn, and
      // only for a reader with many inputs of a source with many readers
      sources_;
};

// Drops control inputs of `node` that repeat another of its inputs. Call it inside a rewrite.
void DedupControlInputs(Editor& edit, const Node& node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_BYPASS_H_
