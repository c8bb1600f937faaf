// Chooses a signature and finds the body that it runs.
#ifndef GRAPNEL_LIB_IO_SIGNATURE_H_
#define GRAPNEL_LIB_IO_SIGNATURE_H_

#include <map>
#include <string>
#include <vector>

#include "lib/io/open.h"

namespace grapnel {

// True for signatures that TensorFlow's loader runs, not users of the model:
// "__saved_model_init_op", "__saved_model_train_op".
bool IsInternal(const Signature& signature);

// Returns "serving_default", else the only signature, else the one that reaches the most nodes (the
// first of equals), ignoring internal ones. Null if
// the graph has no signature.
const Signature* DefaultSignature(const GraphInFile& graph);
// Returns the signature called `name`, or the default if `name` is empty. Null if `name` is empty
// and there is no default. Fails if no signature has that name (suggests similar ones).
Expected<const Signature*> ChooseSignature(const Model& model, const GraphInFile& graph,
                                           llvm::StringRef name = {});

// The body that a signature runs: the innermost one, whose enclosing bodies only forward values. In
// a TF2 SavedModel, the main graph calls a wrapper function, which calls the network.
struct SignatureBody {
  std::string name;  // of the signature
  const Graph* graph = nullptr;
  const Function* function = nullptr;  // null: the main graph itself
  std::vector<std::string> calls;      // functions called on the way there, the innermost last
  // By node id, true for nodes that the outputs need; empty: all.
  std::vector<bool> needed;

  struct End {
    std::string key;  // in the signature
    Port port;        // in `graph`: of an argument or placeholder; for a result, the port it reads
  };
  std::vector<End> inputs, outputs;  // those that are forwarded, in the signature's order
  // Maps arguments of `function` to their source in the main graph, such as a variable's handle.
  std::map<Port, Port> from_main;
};
// Linear in the main graph and the bodies on the way. Ignores broken parts.
SignatureBody BodyOf(const GraphInFile& graph, const Signature& signature);

// Nodes of the main graph that only save and restore variables: the saver needs them, and no
// signature does. Empty if there is no saver.
std::vector<NodeId> NodesOfSaver(const GraphInFile& graph);
// The same nodes, plus those of functions that only they call.
std::vector<Node> ReachedBySaver(const GraphInFile& graph);

// Nodes of the main graph that the outputs of `signatures` need, by id.
std::vector<NodeId> NeededNodes(const Graph& main, llvm::ArrayRef<Signature> signatures);
// The same nodes, plus those of all functions that they call, except arguments and results.
std::vector<Node> ReachedNodes(const GraphInFile& graph, llvm::ArrayRef<Signature> signatures);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_SIGNATURE_H_
