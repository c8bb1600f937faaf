// Finds the ops of a model that cannot run in this build, without a run.
#ifndef GRAPNEL_LIB_CHECK_COVERAGE_H_
#define GRAPNEL_LIB_CHECK_COVERAGE_H_

#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

struct UnsupportedOp {
  std::string op;
  std::string reason;  // "no CPU kernel for op 'X'", or the supported dtypes
  std::string first;   // the first such node; in a function's body "function/node"
  int64_t nodes = 0;
};

// Returns the ops without a kernel for `device` ("CPU") in the main graph and in the functions that
// it calls, directly or indirectly, or that are gradients of these. An op has one entry for each
// reason. Sorted by number of nodes, most first, then by op. Cost: linear in the number of nodes.
std::vector<UnsupportedOp> UnsupportedOps(const Module& module, llvm::StringRef device);

// Writes the key "ops": [{"op", "nodes", "reason", "first"}] into the JSON object that is open.
void WriteUnsupportedJson(llvm::ArrayRef<UnsupportedOp> ops, llvm::json::OStream& json);
// Returns a table with a row for each entry; `ops` must not be empty.
std::string UnsupportedTable(llvm::ArrayRef<UnsupportedOp> ops);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_COVERAGE_H_
