// Compares two models signature by signature.
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
  // Changes that callers of the signature see: "input image", "output prob", "method". For an input
  // or output, before and after are dtype and shape, empty on the side that does not have the key.
  std::vector<Change> changes;
  // How many nodes the signature runs in A and in B, counting the nodes of each called function
  // once, and how many of the diff's removed, added, changed and replaced nodes are among them. 0
  // unless both models have the signature.
  size_t nodes_a = 0, nodes_b = 0, removed = 0, added = 0, changed = 0, replaced = 0;
  bool Same() const {
    return in_a && in_b && changes.empty() && removed + added + changed + replaced == 0;
  }
};

// Returns the signatures of either model by name, without those that TensorFlow adds. `diff` must
// be the comparison of these two graphs. Cost, for each signature: linear in the nodes that it
// reaches and in the size of `diff`.
std::vector<SignatureDiff> DiffSignatures(const GraphInFile& a, const GraphInFile& b,
                                          const Diff& diff);

// True if both models have the same signatures, with the same methods, inputs and outputs.
bool SameInterface(llvm::ArrayRef<SignatureDiff> signatures);

// Writes a line for each signature and for each of its changes; nothing if there are no signatures.
void WriteSignatureDiff(llvm::ArrayRef<SignatureDiff> signatures, llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_SIGNATURE_DIFF_H_
