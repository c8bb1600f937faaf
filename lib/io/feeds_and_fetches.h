// Finds out which tensors of a model are fed and fetched, and checks whether the model is valid.
#ifndef GRAPNEL_LIB_IO_FEEDS_AND_FETCHES_H_
#define GRAPNEL_LIB_IO_FEEDS_AND_FETCHES_H_

#include <string>
#include <vector>

#include "lib/io/open.h"
#include "lib/support/public.h"

namespace grapnel {

// Names of the tensors that a run feeds and fetches.
struct GRAPNEL_PUBLIC FeedsAndFetches {
  std::vector<std::string> feeds, fetches;
};

// Returns the feeds and fetches of the case; without a case, those that the graph's text declares;
// without these, those of the signature (see ChooseSignature); otherwise empty lists. Fails if
// there is no signature called `signature`.
GRAPNEL_PUBLIC Expected<FeedsAndFetches> FeedsAndFetchesOf(const Model& model,
                                                           const GraphInFile& graph,
                                                           llvm::StringRef signature = {});

// Returns the tensor of the signature's argument or result with the key `name`. If there is no such
// key and `name` is a tensor of the main graph, returns it unchanged. Errors: there is no signature
// of that name, or `name` is neither a key nor a tensor (suggests similar names, or says in which
// function it is).
GRAPNEL_PUBLIC Expected<std::string> TensorOfKey(const Model& model, const GraphInFile& graph,
                                                 llvm::StringRef signature, llvm::StringRef name);

// Return the names under which a user knows fetches or feeds: for each tensor the key of the
// signature's result or argument that it is, or the tensor's name if it is neither.
GRAPNEL_PUBLIC std::vector<std::string> NamesOfFetches(const Model& model, const GraphInFile& graph,
                                                       llvm::StringRef signature,
                                                       llvm::ArrayRef<std::string> fetches);
GRAPNEL_PUBLIC std::vector<std::string> NamesOfFeeds(const Model& model, const GraphInFile& graph,
                                                     llvm::StringRef signature,
                                                     llvm::ArrayRef<std::string> feeds);

// Returns the problems of the file and of the graph, including those that the graph verifier finds.
GRAPNEL_PUBLIC std::vector<Problem> ProblemsOf(const Model& model, const GraphInFile& graph);

// Passes problems that are not errors to `sink`, if it is not null; returns errors as one Error
// that lists the first 20, each with the file.
GRAPNEL_PUBLIC Error CheckValid(const Model& model, const GraphInFile& graph,
                                const MessageSink& sink);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_FEEDS_AND_FETCHES_H_
