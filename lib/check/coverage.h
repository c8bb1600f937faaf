// Which ops of a model cannot run here: asked before a run, instead of found out by it.
#ifndef GRAPNEL_LIB_CHECK_COVERAGE_H_
#define GRAPNEL_LIB_CHECK_COVERAGE_H_

#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

struct UnsupportedOp {
  std::string op;
  std::string reason;  // "no CPU kernel for op 'X'", or which dtypes there are
  std::string first;   // node; of a function's body "function/node"
  int64_t nodes = 0;
};

// Ops without a kernel for `device` ("CPU"), in the main graph and in the functions that it
// reaches. Sorted by nodes, most first, then by op. Linear in the nodes.
std::vector<UnsupportedOp> UnsupportedOps(const Module& module, llvm::StringRef device);

// "ops": [{"op", "nodes", "reason", "first"}], as an attribute of an object that is open.
void WriteUnsupportedJson(llvm::ArrayRef<UnsupportedOp> ops, llvm::json::OStream& json);
// A table of at least one.
std::string UnsupportedTable(llvm::ArrayRef<UnsupportedOp> ops);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_COVERAGE_H_
