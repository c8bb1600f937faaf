// Groups the dumps of Grappler's passes into runs of MetaOptimizer.
#ifndef GRAPNEL_LIB_DIFF_META_RUNS_H_
#define GRAPNEL_LIB_DIFF_META_RUNS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Hashes of a dump's contents, from which its place in the order follows. Equal hashes mean equal
// contents; 0 means that the file cannot be read.
struct DumpContent {
  uint64_t bytes = 0;  // of the bytes of the file
  uint64_t names = 0;  // of the node names in the main graph, in any order
  uint64_t body = 0;   // like `names`, without arguments and results
  // The name of each function in the library, and the hash of its node names like `body`.
  std::vector<std::pair<std::string, uint64_t>> functions = {};
};
using ContentOf = llvm::function_ref<const DumpContent&(llvm::StringRef file)>;

// One run of MetaOptimizer. Its dumps are in the order in which TensorFlow writes them: usually two
// iterations of the passes over the graph, two of the final module pass, then the result. Grappler
// optimizes library functions in runs of their own, with another address and without a result.
struct MetaRun {
  struct Stage {
    std::string file, stage;  // "after model_pruner, iteration 0"
  };
  std::vector<Stage> stages;
  bool has_result = false;
  const std::string& first() const { return stages.front().file; }
  const std::string& last() const { return stages.back().file; }
};

// Groups the files named after_MetaOptimizer_iteration_I_PASS_ADDRESS_K and the like into runs;
// ignores other files. ADDRESS is that of an object of the optimizer: all files of one run have the
// same address, but other runs may have it too. K numbers files that would otherwise have the same
// name. The contents show which file comes after which: each iteration starts from the result of
// the previous one. The runs are sorted by address, then by time.
std::vector<MetaRun> MetaRunsOf(llvm::ArrayRef<std::string> files, ContentOf content);

// True if MetaRunsOf uses the file.
bool IsMetaDump(llvm::StringRef file);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_META_RUNS_H_
