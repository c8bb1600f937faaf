// Signatures: which one is meant, and the body that it runs.
#ifndef GRAPNEL_LIB_IO_SIGNATURE_H_
#define GRAPNEL_LIB_IO_SIGNATURE_H_

#include <map>
#include <string>
#include <vector>

#include "lib/io/open.h"

namespace grapnel {

// Whether it is there for TensorFlow's loader and not for who uses the model:
// "__saved_model_init_op", "__saved_model_train_op".
bool IsInternal(const Signature& signature);

// "serving_default", else the only signature, else the one that reaches the most nodes (of equals
// the first), internal ones aside. Null: there is none.
const Signature* DefaultSignature(const GraphInFile& graph);
// The signature called `name`; without a name the default. Null: none is asked for, and there is
// none. Errors: there is none of that name (with what is near).
Expected<const Signature*> ChooseSignature(const Model& model, const GraphInFile& graph,
                                           llvm::StringRef name = {});

// What a signature runs: the innermost body to which the bodies around it only hand values on. A
// model that TensorFlow 2 saved has a call in its main graph, of a wrapper that calls the network.
struct SignatureBody {
  std::string name;  // of the signature
  const Graph* graph = nullptr;
  const Function* function = nullptr;  // null: the main graph itself
  std::vector<std::string> calls;      // functions on the way there, the innermost last
  // By id, the nodes that the outputs need; empty: all.
  std::vector<bool> needed;

  struct End {
    std::string key;  // of the signature
    Port port;        // in `graph`: of an argument or placeholder; what a result reads
  };
  std::vector<End> inputs, outputs;  // those that are handed on, in the signature's order
  // Of arguments of `function`: what of the main graph they are, such as a variable's handle.
  std::map<Port, Port> from_main;
};
// Cost: linear in the main graph and the bodies on the way. What is broken is passed over.
SignatureBody BodyOf(const GraphInFile& graph, const Signature& signature);

// Nodes of the main graph that only save and restore variables: the saver needs them, and no
// signature does. None: there is no saver.
std::vector<NodeId> NodesOfSaver(const GraphInFile& graph);
// Those, and the nodes of functions that nothing else calls.
std::vector<Node> ReachedBySaver(const GraphInFile& graph);

// Nodes of the main graph that the outputs of `signatures` need, by id.
std::vector<NodeId> NeededNodes(const Graph& main, llvm::ArrayRef<Signature> signatures);
// Those, and the nodes of all functions that they call, arguments and results aside.
std::vector<Node> ReachedNodes(const GraphInFile& graph, llvm::ArrayRef<Signature> signatures);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_SIGNATURE_H_
