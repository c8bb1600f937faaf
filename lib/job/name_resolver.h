// Finds what a user means by the name of a node, of a tensor or of a layer: the same for all
// commands, flags and calls.
#ifndef GRAPNEL_LIB_JOB_NAME_RESOLVER_H_
#define GRAPNEL_LIB_JOB_NAME_RESOLVER_H_

#include <memory>
#include <optional>
#include <string>

#include "lib/ir/node_selection.h"
#include "lib/job/inner_fetch.h"
#include "lib/job/opened_graph.h"

namespace grapnel {

struct ResolvedFetch {
  std::string tensor;               // of the main graph, if `inner` is not set
  std::optional<InnerFetch> inner;  // a tensor in the body of a function
};

// The kinds of names, of which the first that fits counts:
//
//   key               a key of the signature, or its tensor
//   node              of the main graph
//   call/inner/node   the names of the calling nodes and of the node, as after inlining
//   function/node
//   node              in the network that the signature runs, else in any called function
//   layer             by its path, "encoder/conv", or the end of its path, "conv"
//   pattern           with * ? [ ] (lib/support/glob.h): the nodes whose names match, from any part
//                     on
//   short/name        the name without the scope that all nodes of the network share (SharedScope)
//   end/of/a/name     whole parts at the end of call/inner/node
//   scope             the nodes in it, or what they compute for others; also the end of its name
//   whole/name        in a part of a model: a name that the node has in the whole model
//
// If a name fits several nodes, tensors, layers or scopes of the same kind, or both a key and
// another node (CheckMeansOne), it is ambiguous: the error lists them. Only calls that the
// signature's outputs need count; without a signature, all calls of the main graph.
class NameResolver {
 public:
  // `signature`: its name; empty: the default one. `opened` must outlive this object, and keep its
  // nodes.
  explicit NameResolver(const OpenedGraph& opened, llvm::StringRef signature = {});
  ~NameResolver();

  // Returns the tensor that a name means. A layer means its output. The name may end in an output,
  // "x:1", or as in a function, "x:out:0", and in the iteration of each loop around the node, the
  // outermost first: "x@0", "x:1@2@0"; in one loop, -1 is the last iteration. An argument of a
  // function is the tensor that the call passes. Errors: those of TensorOfKey; an ambiguous name; a
  // malformed pattern; an argument of a loop's function; a node without outputs; -1 for one of
  // several loops. Linear in the bodies on the way, times the number of calls of each.
  Expected<ResolvedFetch> Fetch(llvm::StringRef name);
  // Like Fetch, for a tensor of the main graph. Errors: it is inside of calls.
  Expected<std::string> MainTensor(llvm::StringRef name);
  // Like MainTensor, but returns nullopt if the tensor does not exist or is inside of calls. Errors:
  // all others of Fetch.
  Expected<std::optional<std::string>> MainTensorIfThere(llvm::StringRef name);

  // Returns the nodes that a name means: those of a layer, of a scope or of a pattern, or one node.
  // `may_come`: passes may make nodes of that name, so there is no error if there are none yet.
  // Errors: an ambiguous name; a malformed pattern; no such node.
  Expected<NodeSelection> Nodes(llvm::StringRef name, bool may_come = false);
  // Returns the one node that a name means; of a layer, the node that computes its output. Errors:
  // an ambiguous name; a malformed pattern, or one that several nodes match; no such node.
  Expected<Node> OneNode(llvm::StringRef name);

 private:
  class Search;
  Search& search();
  Error NoSuchNode(llvm::StringRef name);

  const OpenedGraph& opened_;
  const std::string signature_;
  std::unique_ptr<Search> search_;  // made when it is first needed
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_NAME_RESOLVER_H_
