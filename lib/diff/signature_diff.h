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
  // Changes that callers see: "input image", "output prob", "method". Before and after are dtype
  // and shape, empty on the side without such a key.
  std::vector<Change> changes;
  // Numbers of nodes that it runs, counting the nodes of each called function once: in A, in B, and
  // the differences between them that `diff` lists.
  size_t nodes_a = 0, nodes_b = 0, removed = 0, added = 0, changed = 0, replaced = 0;
  bool Same() const {
    return in_a && in_b && changes.empty() && removed + added + changed + replaced == 0;
  }
};

// Returns the signatures of either model by name, without TensorFlow's own. `diff` must be of the
// graphs as opened. Linear in the nodes that signatures reach, for each signature.
std::vector<SignatureDiff> DiffSignatures(const GraphInFile& a, const GraphInFile& b,
                                          const Diff& diff);

// True if callers of A can use B: no signature is missing, and none has other inputs or outputs.
bool SameInterface(llvm::ArrayRef<SignatureDiff> signatures);

// Writes a line for each signature and for each of its changes; nothing if there are no signatures.
void WriteSignatureDiff(llvm::ArrayRef<SignatureDiff> signatures, llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_SIGNATURE_DIFF_H_
