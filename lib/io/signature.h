// Chooses a signature of a model, and finds the function body or graph that does its work.
#ifndef GRAPNEL_LIB_IO_SIGNATURE_H_
#define GRAPNEL_LIB_IO_SIGNATURE_H_

#include <map>
#include <string>
#include <vector>

#include "lib/io/open.h"

namespace grapnel {

// The name of the signature that TensorFlow Serving and exports use if no other is named.
inline constexpr const char* kDefaultSignature = "serving_default";

// True for signatures that TensorFlow's loader runs and users do not: "__saved_model_init_op",
// "__saved_model_train_op".
bool IsInternal(const Signature& signature);

// Returns the signatures that users run, by network: "serving_default" first, then by name.
// Signatures with the same inputs and outputs that run the same body have one network, as those
// that Keras's model.export() writes do.
std::vector<std::vector<const Signature*>> SignaturesByNetwork(const GraphInFile& graph);
// Returns the first signature of each network.
std::vector<const Signature*> DistinctSignatures(const GraphInFile& graph);
// Returns the signature that is meant where none is named: "serving_default"; without it, the only
// one of DistinctSignatures. Null if there are none or several.
const Signature* DefaultSignature(const GraphInFile& graph);
// Returns the signature called `name`, or DefaultSignature if `name` is empty. Null if `name` is
// empty and there is no default. If there is no signature of that name, returns an error that
// suggests similar names, or says that an object has a function of that name.
Expected<const Signature*> ChooseSignature(const Model& model, const GraphInFile& graph,
                                           llvm::StringRef name = {});
// Like ChooseSignature, for jobs on a single signature: an error that lists the signatures if
// `name` is empty and there are several without a default, or that lists the functions of the
// objects if there are only these. Null only if there are neither signatures nor such functions.
Expected<const Signature*> ChooseOneSignature(const Model& model, const GraphInFile& graph,
                                              llvm::StringRef name = {});

// The graph that does the work of a signature: in a TF2 SavedModel, the main graph calls a wrapper
// function, which calls the network's function. BodyOf goes from the main graph inward as long as a
// graph only forwards values to one call.
struct SignatureBody {
  std::string name;  // the name of the signature
  const Graph* graph = nullptr;
  const Function* function = nullptr;  // null: the body is the main graph
  std::vector<std::string> calls;      // the called functions from the main graph to this body
  // By node id, true for nodes that the outputs need; empty: all nodes are needed.
  std::vector<bool> needed;

  struct End {
    std::string key;  // the key in the signature
    // A port of `graph`: for an input, that of an argument or placeholder; for an output, the one
    // whose value is the result.
    Port port;
  };
  // The inputs of the body, in the order of its arguments (of the main graph: of the signature),
  // and its outputs, in the order of the signature.
  std::vector<End> inputs, outputs;
  // Maps arguments of `function` to the port of the main graph that provides them, such as the
  // handle of a variable.
  std::map<Port, Port> from_main;
  // Returns the node of the main graph whose output an argument of the body receives; null for
  // another node, and for an argument that is an input.
  Node GivenByMain(const Node& argument) const;
};
// Finds the body of a signature. Linear in the main graph and in the bodies on the way to the
// result. Ignores inputs and outputs whose tensors do not exist.
SignatureBody BodyOf(const GraphInFile& graph, const Signature& signature);

// Returns the nodes of the main graph that the saver needs and no signature does: they only save
// and restore variables. Empty if there is no saver.
std::vector<NodeId> NodesOfSaver(const GraphInFile& graph);
// Returns the nodes of NodesOfSaver, and the nodes of functions that only these call.
std::vector<Node> ReachedBySaver(const GraphInFile& graph);
// Returns the nodes, of the main graph and of functions, that only save, restore or initialize
// variables and tables: no signature that users call and no other result needs them. Without such
// a signature, returns ReachedBySaver. Linear in the graph.
std::vector<Node> UpkeepNodes(const GraphInFile& graph);

// Returns the nodes of the main graph that the outputs of `signatures` need, by id.
std::vector<NodeId> NeededNodes(const Graph& main, llvm::ArrayRef<Signature> signatures);
// Returns the nodes of NeededNodes, and the nodes of all functions that these call, except
// arguments and results.
std::vector<Node> ReachedNodes(const GraphInFile& graph, llvm::ArrayRef<Signature> signatures);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_SIGNATURE_H_
