// A part of a graph as a graph of its own.
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

// A tensor in whose place a Placeholder came.
struct CutInput {
  std::string tensor;       // "conv1:0", in the graph as it was
  std::string placeholder;  // its name; empty: no output needs the tensor, so there is none
  DataType dtype = proto::DT_INVALID;
  Shape shape;  // as inferred; unknown dimensions are -1
};

struct CutResult {
  std::vector<CutInput> inputs;  // in the order that was asked for
  size_t nodes_before = 0;
  std::vector<std::string> functions;  // that went
};

// Keeps of the main graph what `outputs` need when the tensors `inputs` are given, and of the
// library what that calls. Nodes keep their names, and so does a Placeholder when it stands for
// output 0 of a node that went; else it has that name and a number. Control inputs count as needed;
// one from a node that went waits for its Placeholder. Requests to share a device (`_class`) with
// nodes that went are dropped. Errors: an input of unknown dtype, a reference to a variable, or a
// cut that leaves half a loop of single nodes.
Expected<CutResult> CutGraph(Module* module, llvm::ArrayRef<Port> inputs,
                             llvm::ArrayRef<Port> outputs);

// A copy of some nodes of a body.
struct ExtractedNodes {
  std::unique_ptr<Module> module;    // points into the module of the body, which must outlive it
  std::vector<CutInput> inputs;      // each with a Placeholder of its own
  std::vector<std::string> fetches;  // tensors that nodes outside read
};

// By port of an argument of the body.
using StandIns = std::map<Port, std::pair<Node, int32_t>>;

// Copies the nodes `ids` of a main graph or of a function's body, and of the library what they
// call. For each tensor that they read from elsewhere there is a Placeholder, of the dtype and
// shape that `shapes` has and with a name as CutGraph gives it; but what reads nothing itself (a
// constant, a variable) is copied too. A function's arguments become Placeholders and its results
// fetches, but for those of `stand_ins`: in the place of an argument comes a copy of that output of
// a node without inputs in another body of the module, such as the variable that a call hands in.
// Control edges from elsewhere go. The copy need not be one that runs: it may have half a
// loop. Errors: a tensor from elsewhere of unknown dtype, or a reference to a variable. Linear in
// the nodes and in what is called.
Expected<ExtractedNodes> ExtractNodes(const Graph& body, const ShapeMap& shapes,
                                      llvm::ArrayRef<NodeId> ids, const StandIns& stand_ins = {});

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_CUT_H_
