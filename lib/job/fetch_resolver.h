// Finds the tensor that a user means by the name of a fetch, in the main graph or inside of calls.
#ifndef GRAPNEL_LIB_JOB_FETCH_RESOLVER_H_
#define GRAPNEL_LIB_JOB_FETCH_RESOLVER_H_

#include <memory>
#include <optional>
#include <string>

#include "lib/job/inner_fetch.h"
#include "lib/job/opened_graph.h"

namespace grapnel {

struct ResolvedFetch {
  std::string tensor;               // of the main graph, if `inner` is not set
  std::optional<InnerFetch> inner;  // a tensor in the body of a function
};

// The kinds of names, of which the first that fits counts. If several tensors fit, they are
// candidates, and the name is ambiguous.
//
//   key, tensor              a key of the signature, a tensor of the main graph: see TensorOfKey
//   call/inner/node          the names of the calling nodes and of the node, as after inlining
//   function/node            if the function is called once
//   node                     in the network that the signature runs, else in any called function
//   layer                    the output of a layer, by its path or the end of it
//   end/of/a/name            whole parts at the end of call/inner/node
//
// Only calls that the signature's outputs need count; without a signature, all calls of the main
// graph. A tensor name may end in an output, "x:1", or as in a function, "x:out:0", and in the
// iteration of each loop around the node, the outermost first: "x@0", "x:1@2@0"; -1 is the last
// iteration. An argument of a function is the tensor that the call passes.
class FetchResolver {
 public:
  // `signature`: its name; empty: the default one. Both must outlive this object.
  FetchResolver(const OpenedGraph& opened, llvm::StringRef signature);
  ~FetchResolver();
  // Errors: those of TensorOfKey; an ambiguous name (the error lists the candidates). Linear in the
  // bodies on the way, times the number of calls of each.
  Expected<ResolvedFetch> Resolve(llvm::StringRef name);

 private:
  class Search;
  const OpenedGraph& opened_;
  const std::string signature_;
  std::unique_ptr<Search> search_;  // made for the first name that is not of the main graph
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_FETCH_RESOLVER_H_
