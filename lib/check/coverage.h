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
  std::string first;   // a node; in a function's body "function/node"
  int64_t nodes = 0;
};

// Returns the ops without a kernel for `device` ("CPU"), in the main graph and in the functions
// that it reaches, sorted by number of nodes, most first, then by op. Linear in the nodes.
std::vector<UnsupportedOp> UnsupportedOps(const Module& module, llvm::StringRef device);

// Writes the attribute "ops": [{"op", "nodes", "reason", "first"}] of an open object.
void WriteUnsupportedJson(llvm::ArrayRef<UnsupportedOp> ops, llvm::json::OStream& json);
// Returns a table; `ops` must not be empty.
std::string UnsupportedTable(llvm::ArrayRef<UnsupportedOp> ops);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_COVERAGE_H_
