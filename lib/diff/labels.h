// Hashes of a node by itself, without its surroundings, from strict to loose.
#ifndef GRAPNEL_LIB_DIFF_LABELS_H_
#define GRAPNEL_LIB_DIFF_LABELS_H_

#include <vector>

#include "lib/diff/body_view.h"
#include "lib/diff/ignore.h"

namespace grapnel {

struct Labels {
  std::vector<uint64_t> exact;  // op, device, attributes, constants' values, functions' bodies
  std::vector<uint64_t> kind;   // op and attributes; a constant's dtype and shape; no functions
  std::vector<uint64_t> op;     // the op; all calls of library functions are one
  // True for constants that their value alone identifies: of 64 bytes and more.
  std::vector<bool> telling;
  std::vector<bool> constant;  // has a tensor among its attributes
};

// For the name of a library function, `function_hash` returns a hash of its body that depends on no
// names; for any other name, a hash of the name. Reads every constant's bytes.
Labels MakeLabels(const BodyView& view, const IgnoreRules& ignore,
                  llvm::function_ref<uint64_t(llvm::StringRef)> function_hash);

// Hashes of what a node computes, under any name and on any device: op, attributes except names and
// hints, functions by `function_hash`, and a constant's dtype and shape. Does not read the
// constants' bytes.
std::vector<uint64_t> StructureLabels(const BodyView& view,
                                      llvm::function_ref<uint64_t(llvm::StringRef)> function_hash);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_LABELS_H_
