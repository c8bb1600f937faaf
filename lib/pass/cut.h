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
  Shape shape;  // as inferred; unknown dimensions are -1
};

struct CutResult {
  std::vector<CutInput> inputs;  // in the requested order
  size_t nodes_before = 0;
  std::vector<std::string> functions;  // the names of the removed functions
};

// Keeps the nodes of the main graph that `outputs` need when the tensors `inputs` are given, and
// the functions of the library that they call. Nodes keep their names. A Placeholder for output 0
// of a removed node takes that node's name; for other outputs, the name and a number. Nodes that a
// needed node waits for are needed, too; a control input from a removed node becomes one from that
// node's Placeholder. Colocation requests (`_class`) with removed nodes are dropped. Errors: an
// input of unknown dtype, a reference to a variable, or a cut through a loop of single nodes.
Expected<CutResult> CutGraph(Module* module, llvm::ArrayRef<Port> inputs,
                             llvm::ArrayRef<Port> outputs);

// A copy of some nodes of a body.
struct ExtractedNodes {
  std::unique_ptr<Module> module;    // points into the module of the body, which must outlive it
  std::vector<CutInput> inputs;      // each with its own Placeholder
  std::vector<std::string> fetches;  // tensors that nodes outside read
};

// For ports of arguments of the body: the output of a node in another body that is copied instead.
using StandIns = std::map<Port, std::pair<Node, int32_t>>;

// Copies the nodes `ids` of a main graph or of a function's body, and the functions that they call.
// Each tensor that these nodes read from other nodes becomes a Placeholder, with the dtype and
// shape in `shapes` and a name as CutGraph chooses it; but a node without inputs (a constant, a
// variable) is copied instead. A function's arguments become Placeholders and its results fetches,
// except for the arguments in `stand_ins`: those become a copy of that output of a node without
// inputs in another body of the module, such as the variable that a call passes. Control edges from
// other nodes are dropped. The copy may not be able to run: it may contain half a loop. Errors: an
// input from another node that has an unknown dtype or is a reference to a variable. Linear in the
// nodes and the called functions.
Expected<ExtractedNodes> ExtractNodes(const Graph& body, const ShapeMap& shapes,
                                      llvm::ArrayRef<NodeId> ids, const StandIns& stand_ins = {});

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_CUT_H_
