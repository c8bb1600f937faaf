// What an op takes, gives and may be told, and where it runs: as text or as JSON.
#ifndef GRAPNEL_LIB_EXEC_OP_REFERENCE_H_
#define GRAPNEL_LIB_EXEC_OP_REFERENCE_H_

#include "lib/ir/op_table.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Whether this build has a kernel for the op, of any dtype, on the CPU or a GPU.
bool HasKernel(const std::string& op);

// What the executor does without a kernel: constants, placeholders, arguments, TensorFlow 1's
// control flow, sends, collectives.
bool IsExecutorsOwn(llvm::StringRef op);

// "a scalar", "a tensor of rank 4 or more": ranks from the one to the other, OpArg::kAnyRank for
// any above.
std::string RankText(int min_rank, int max_rank);

// The op's name, then what is said of it, indented: traits, inputs, outputs, attributes, and a line
// a kernel.
void WriteOpText(const OpInfo& op, llvm::raw_ostream& os);

// {"name", "traits", "inputs": [{"name", "kind"}], "outputs", "attributes": [{"name", "type",
// "default", "allowed"}], "kernels": [{"device", "types"}]}; an attribute without a default, or
// that may be anything, leaves that out.
void WriteOpJson(const OpInfo& op, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_OP_REFERENCE_H_
