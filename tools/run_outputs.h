// Outputs the fetches of `run`: prints them, writes them as JSON, saves them to files.
#ifndef GRAPNEL_TOOLS_RUN_OUTPUTS_H_
#define GRAPNEL_TOOLS_RUN_OUTPUTS_H_

#include <string>
#include <vector>

#include "lib/exec/tensor.h"
#include "llvm/Support/JSON.h"
#include "tools/command.h"

namespace grapnel {

// How much of the fetches is printed, and how.
struct PrintFlags {
  bool all = false;    // every element
  bool exact = false;  // on one line, as exactly as in the text form of a graph

  // `when` begins the help: "with --eager: ".
  void AddTo(CommandLine& line, const std::string& when = "");
};

// A fetch: the tensor, its display name, and its output file; if `file` is empty, the fetch is
// printed.
struct Fetched {
  std::string tensor, name, file;
};

// Returns the fetches with their files. `asked`: the values of --fetch, "NAME" or "NAME=FILE.npy".
// `tensors` begins with the tensors of `asked`, in the same order.
std::vector<Fetched> FetchedBy(llvm::ArrayRef<std::string> tensors,
                               llvm::ArrayRef<std::string> names,
                               llvm::ArrayRef<std::string> asked);
// Returns an error if the directory of an output file in `asked` does not exist. Called before the
// run, since files are written after the last run.
Error CheckFoldersOf(llvm::ArrayRef<std::string> asked);

// Prints each fetch that has a value and no file: its name, its type, and its elements as NumPy
// prints them.
void PrintFetches(llvm::ArrayRef<Fetched> fetched, llvm::ArrayRef<Tensor> outputs,
                  const PrintFlags& flags, llvm::raw_ostream& out);
// Writes the fetches of all runs, including fetches that are saved to files, and then what `more`
// adds to the document. `all`: every element, not only the first 8.
void WriteFetchesJson(llvm::ArrayRef<Fetched> fetched, llvm::ArrayRef<std::vector<Tensor>> runs,
                      bool all, llvm::function_ref<void(llvm::json::OStream&)> more,
                      llvm::raw_ostream& os);
// Saves the fetches that have a file, and says so.
Error SaveFetches(llvm::ArrayRef<Fetched> fetched, llvm::ArrayRef<Tensor> outputs,
                  Invocation& invocation);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_RUN_OUTPUTS_H_
