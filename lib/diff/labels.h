// What a node is by itself, as hashes: from all that counts down to the op alone.
#ifndef GRAPNEL_LIB_DIFF_LABELS_H_
#define GRAPNEL_LIB_DIFF_LABELS_H_

#include <vector>

#include "lib/diff/body_view.h"
#include "lib/diff/ignore.h"

namespace grapnel {

struct Labels {
  std::vector<uint64_t> exact;  // op, device, attributes, constants' values, functions' bodies
  std::vector<uint64_t> kind;   // op and attributes; of a constant dtype and shape; no functions
  std::vector<uint64_t> op;     // the op; all calls of library functions are one
  // Whether the node is a constant that is known by its value alone: of 64 bytes and more.
  std::vector<bool> telling;
  std::vector<bool> constant;  // has a tensor among its attributes
};

// `function_hash` is a hash of a library function's body that no name takes part in; of any other
// name it gives a hash of the name. Reads every constant's bytes.
Labels MakeLabels(const BodyView& view, const IgnoreRules& ignore,
                  llvm::function_ref<uint64_t(llvm::StringRef)> function_hash);

// What a node computes, whatever it is called and wherever it runs: op, attributes but those that
// hold names or hints, functions by `function_hash`; of a constant dtype and shape, whose bytes are
// not read.
std::vector<uint64_t> StructureLabels(const BodyView& view,
                                      llvm::function_ref<uint64_t(llvm::StringRef)> function_hash);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_LABELS_H_
