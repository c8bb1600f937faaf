// The inputs, outputs, attributes and kernels of an op, as text or as JSON.
#ifndef GRAPNEL_LIB_EXEC_OP_REFERENCE_H_
#define GRAPNEL_LIB_EXEC_OP_REFERENCE_H_

#include "lib/ir/op_table.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// True if this build has a kernel for the op, of any dtype, on the CPU or a GPU.
bool HasKernel(const std::string& op);

// True if the executor itself handles the op: constants, placeholders, arguments and results of
// functions, TensorFlow 1's control flow, sends, receives, collectives.
bool IsExecutorsOwn(llvm::StringRef op);

// Returns a range of ranks as "a scalar" or "a tensor of rank 4 or more"; a `max_rank` of
// OpArg::kAnyRank has no upper limit.
std::string RankText(int min_rank, int max_rank);

// Writes the op's name, then indented its traits, inputs, outputs and attributes, and a line for
// each kernel or one that says that there is none.
void WriteOpText(const OpInfo& op, llvm::raw_ostream& os);

// Writes {"name", "traits", "inputs": [{"name", "kind"}], "outputs", "attributes": [{"name",
// "type", "default", "allowed"}], "kernels": [{"device", "types"}]}. The object of an attribute has
// no "default" if the attribute has none, and no "allowed" if it allows all values.
void WriteOpJson(const OpInfo& op, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_OP_REFERENCE_H_
