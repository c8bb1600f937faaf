// Hashes of a node by itself, without its inputs and readers, from strict to loose.
#ifndef GRAPNEL_LIB_DIFF_LABELS_H_
#define GRAPNEL_LIB_DIFF_LABELS_H_

#include <vector>

#include "lib/diff/body_view.h"
#include "lib/diff/ignore.h"

namespace grapnel {

struct Labels {
  std::vector<uint64_t> exact;  // op, device, attributes, constants' values, functions' bodies
  std::vector<uint64_t> kind;   // op and attributes; a constant's dtype and shape; no functions
  std::vector<uint64_t> op;     // the op; the same hash if the op is a library function
  // True for constants whose value alone identifies them: those with 64 bytes or more.
  std::vector<bool> telling;
  std::vector<bool> constant;  // has a tensor attribute
};

// For the name of a library function, `function_hash` must return a hash of its body that does not
// depend on names; for other names, a hash of the name. Reads the bytes of every constant.
Labels MakeLabels(const BodyView& view, const IgnoreRules& ignore,
                  llvm::function_ref<uint64_t(llvm::StringRef)> function_hash);

// Returns, for each node, a hash of what it computes, independent of its name and device: op,
// attributes except names and hints, functions by `function_hash`, and the dtype and shape of a
// constant. Does not decode constants.
std::vector<uint64_t> StructureLabels(const BodyView& view,
                                      llvm::function_ref<uint64_t(llvm::StringRef)> function_hash);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_LABELS_H_
