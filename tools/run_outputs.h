// What comes of the fetches of `run`: printed, written as JSON, saved to files.
#ifndef GRAPNEL_TOOLS_RUN_OUTPUTS_H_
#define GRAPNEL_TOOLS_RUN_OUTPUTS_H_

#include <string>
#include <vector>

#include "lib/exec/tensor.h"

namespace grapnel {

// What came of a fetch: the tensor, what a person calls it, and the file that it goes to; empty: it
// is printed.
struct Fetched {
  std::string tensor, name, file;
};

// `asked`: what --fetch says, "NAME" or "NAME=FILE.npy"; those come first among the tensors, in
// their order.
std::vector<Fetched> FetchedBy(llvm::ArrayRef<std::string> tensors,
                               llvm::ArrayRef<std::string> names,
                               llvm::ArrayRef<std::string> asked);
// The files are written after the last run: an error where one has no folder to be written in.
Error CheckFoldersOf(llvm::ArrayRef<std::string> asked);

// A line for each that goes to no file; `all`: every element, and not the first 8.
void PrintFetches(llvm::ArrayRef<Fetched> fetched, llvm::ArrayRef<Tensor> outputs, bool all,
                  llvm::raw_ostream& out);
// Of all runs. What is saved to files is in the document too.
void WriteFetchesJson(llvm::ArrayRef<Fetched> fetched, llvm::ArrayRef<std::vector<Tensor>> runs,
                      bool all, llvm::raw_ostream& os);
Error SaveFetches(llvm::ArrayRef<Fetched> fetched, llvm::ArrayRef<Tensor> outputs);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_RUN_OUTPUTS_H_
