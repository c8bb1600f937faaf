// What differs between two models, signature by signature.
#ifndef GRAPNEL_LIB_DIFF_SIGNATURE_DIFF_H_
#define GRAPNEL_LIB_DIFF_SIGNATURE_DIFF_H_

#include <string>
#include <vector>

#include "lib/diff/diff.h"
#include "lib/io/open.h"

namespace grapnel {

struct SignatureDiff {
  std::string name;
  bool in_a = false, in_b = false;
  // Of what callers see: "input image", "output prob", "method"; before and after are dtype and
  // shape, empty on the side that has no such key.
  std::vector<Change> changes;
  // Nodes that it runs, those of all functions that it calls counted once: of A, of B, and of both
  // together how many `diff` tells apart.
  size_t nodes_a = 0, nodes_b = 0, removed = 0, added = 0, changed = 0, replaced = 0;
  bool Same() const {
    return in_a && in_b && changes.empty() && removed + added + changed + replaced == 0;
  }
};

// By name, those of either model; TensorFlow's own are left out. `diff` is of the graphs as they
// were opened. Linear in what signatures reach, for each of them.
std::vector<SignatureDiff> DiffSignatures(const GraphInFile& a, const GraphInFile& b,
                                          const Diff& diff);

// Whether callers of B can go on as with A: no signature is missing, none takes or gives another
// thing.
bool SameInterface(llvm::ArrayRef<SignatureDiff> signatures);

// A line for each and one for each change of it; nothing where there are none.
void WriteSignatureDiff(llvm::ArrayRef<SignatureDiff> signatures, llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_SIGNATURE_DIFF_H_
