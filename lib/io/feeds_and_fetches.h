// The fed and fetched tensors of a model, and whether the model is valid.
#ifndef GRAPNEL_LIB_IO_FEEDS_AND_FETCHES_H_
#define GRAPNEL_LIB_IO_FEEDS_AND_FETCHES_H_

#include <string>
#include <vector>

#include "lib/io/open.h"
#include "lib/support/public.h"

namespace grapnel {

// Names of the tensors that go into a graph and come out of it.
struct GRAPNEL_PUBLIC FeedsAndFetches {
  std::vector<std::string> feeds, fetches;
};

// Returns those of the case, else of the signature (see ChooseSignature), else none. Fails if no
// signature has that name.
GRAPNEL_PUBLIC Expected<FeedsAndFetches> FeedsAndFetchesOf(const Model& model,
                                                           const GraphInFile& graph,
                                                           llvm::StringRef signature = {});

// Returns the tensor of a signature's argument or result; the name of any other tensor stays
// unchanged. Errors: no signature of that name, or neither a key nor a tensor; they suggest similar
// names.
GRAPNEL_PUBLIC Expected<std::string> TensorOfKey(const Model& model, const GraphInFile& graph,
                                                 llvm::StringRef signature, llvm::StringRef name);

// Returns the user-visible names of fetches: the key of the signature's result for that tensor,
// else the tensor's name.
GRAPNEL_PUBLIC std::vector<std::string> NamesOfFetches(const Model& model, const GraphInFile& graph,
                                                       llvm::StringRef signature,
                                                       llvm::ArrayRef<std::string> fetches);

// The problems of the file and of the graph, including those that verification finds.
GRAPNEL_PUBLIC std::vector<Problem> ProblemsOf(const Model& model, const GraphInFile& graph);

// Sends warnings to the sink; returns errors as one Error that lists the first 20, each with file
// and node.
GRAPNEL_PUBLIC Error CheckValid(const Model& model, const GraphInFile& graph,
                                const MessageSink& sink);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_FEEDS_AND_FETCHES_H_
