// Which tensors of a model are fed and fetched, and whether it can be used.
#ifndef GRAPNEL_LIB_IO_FEEDS_AND_FETCHES_H_
#define GRAPNEL_LIB_IO_FEEDS_AND_FETCHES_H_

#include <string>
#include <vector>

#include "lib/io/open.h"
#include "lib/support/public.h"

namespace grapnel {

// Tensors that go into a graph and come out of it, by name.
struct GRAPNEL_PUBLIC FeedsAndFetches {
  std::vector<std::string> feeds, fetches;
};

// Those of the case, else of the signature (see ChooseSignature), else none.
// Errors: there is no signature of that name.
GRAPNEL_PUBLIC Expected<FeedsAndFetches> FeedsAndFetchesOf(const Model& model,
                                                           const GraphInFile& graph,
                                                           llvm::StringRef signature = {});

// The tensor that a signature's argument or result stands for; the name of any other tensor is its
// own. Errors: there is no signature of that name, or neither key nor tensor; they say what is
// near.
GRAPNEL_PUBLIC Expected<std::string> TensorOfKey(const Model& model, const GraphInFile& graph,
                                                 llvm::StringRef signature, llvm::StringRef name);

// What a person calls results: the key of the signature's result that a tensor is, else its name.
GRAPNEL_PUBLIC std::vector<std::string> NamesOfFetches(const Model& model, const GraphInFile& graph,
                                                       llvm::StringRef signature,
                                                       llvm::ArrayRef<std::string> fetches);

// Those of the file and of the graph, found by verification too.
GRAPNEL_PUBLIC std::vector<Problem> ProblemsOf(const Model& model, const GraphInFile& graph);

// Warnings go to the sink; errors make an Error that lists them (the first 20), each with file and
// node.
GRAPNEL_PUBLIC Error CheckValid(const Model& model, const GraphInFile& graph,
                                 const MessageSink& sink);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_FEEDS_AND_FETCHES_H_
