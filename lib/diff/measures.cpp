#include "lib/diff/measures.h"

#include "lib/ir/node_types.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

// True if input `slot` of the reader is a shape, an axis or a size, not data.
bool IsMeasureOf(const Node& reader, int slot) {
  static const llvm::StringSet<> kArguments = {
      "axis",      "begin",        "block_shape", "concat_dim",   "crops",
      "dim",       "dims",         "end",         "filter_sizes", "input_sizes",
      "multiples", "output_shape", "paddings",    "perm",         "reduction_indices",
      "shape",     "size",         "size_splits", "split_dim",    "strides"};
  const OpInfo* info = DefinitionOf(reader);
  return info && kArguments.contains(ArgumentOfInput(reader, *info, slot));
}

}  // namespace

bool IsMeasure(const Node& constant) {
  if (constant.op() != "Const" || !IsInteger(constant.GetType("dtype"))) return false;
  return !constant.uses().empty() && llvm::all_of(constant.uses(), [&](const Use& use) {
    return IsMeasureOf(constant.graph().node(use.node), static_cast<int>(use.slot));
  });
}

}  // namespace grapnel
