// Cuts a part of a graph out as a graph of its own.
#ifndef GRAPNEL_LIB_PASS_CUT_H_
#define GRAPNEL_LIB_PASS_CUT_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/shape/inference.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// A tensor that a Placeholder replaces.
struct CutInput {
  std::string tensor;       // "conv1:0", in the original graph
  std::string placeholder;  // the Placeholder's name; empty: no output needs the tensor
  DataType dtype = proto::DT_INVALID;
  Shape shape;  // as inferred; unknown dimensions are negative
};

struct CutResult {
  std::vector<CutInput> inputs;  // in the requested order
  size_t nodes_before = 0;
  std::vector<std::string> functions;  // the names of the removed functions
};

// Keeps the nodes of the main graph that `outputs` need when the tensors `inputs` are given, and
// the functions of the library that they call. Nodes keep their names. A Placeholder for output 0
// of a removed node takes that node's name; one for output i gets the name "NODE_i". Nodes that a
// needed node waits for are needed, too; a control input from a removed node becomes one from that
// node's Placeholder. Colocation requests (`_class`) with removed nodes are dropped. Errors: an
// input of unknown dtype, an input that is a reference to a variable, a cut through a while loop of
// Enter, Switch and Merge nodes, or a part that is not a valid graph.
Expected<CutResult> CutGraph(Module* module, llvm::ArrayRef<Port> inputs,
                             llvm::ArrayRef<Port> outputs);

// A copy of some nodes of a body.
struct ExtractedNodes {
  std::unique_ptr<Module> module;    // points into the module of the body, which must outlive it
  std::vector<CutInput> inputs;      // each with its own Placeholder
  std::vector<std::string> fetches;  // tensors that nodes outside read
  std::vector<Port> wanted;          // where the copy has the tensors that were asked for
};

// Maps an argument of the body to what replaces it: an output of a node in another body, which
// ExtractNodes copies instead of adding a Placeholder.
using StandIns = std::map<Port, std::pair<Node, int32_t>>;

// Copies the nodes `ids` of a main graph or of a function's body, and the functions that they call.
// Each tensor that these nodes read from other nodes becomes a Placeholder, with the dtype and
// shape in `shapes` and a name as CutGraph chooses it; but a node without inputs (a constant, a
// variable) is copied instead. A function's arguments become Placeholders and its results fetches.
// An argument in `stand_ins` is replaced by a copy of the node that `stand_ins` names instead: a
// node without inputs in another body of the module, such as the variable that a call passes.
// Control edges from nodes that are not copied are dropped. The copy also has the tensors `wanted`
// of the body, which get Placeholders like tensors that a node reads. The copy may not be able to
// run: it may contain half a loop. Errors: an input from another node that has an unknown dtype or
// is a reference to a variable, or a function that cannot be copied. Linear in the body and the
// library.
Expected<ExtractedNodes> ExtractNodes(const Graph& body, const ShapeMap& shapes,
                                      llvm::ArrayRef<NodeId> ids, const StandIns& stand_ins = {},
                                      llvm::ArrayRef<Port> wanted = {});

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_CUT_H_
