// Compares two models signature by signature.
#ifndef GRAPNEL_LIB_DIFF_SIGNATURE_DIFF_H_
#define GRAPNEL_LIB_DIFF_SIGNATURE_DIFF_H_

#include <string>
#include <vector>

#include "lib/diff/diff.h"
#include "lib/io/open.h"

namespace grapnel {

// How many nodes a signature runs in A and in B, counting the nodes of each called function once,
// and how many of the removed, added, changed and replaced nodes of a diff are among them.
struct NodeChanges {
  size_t nodes_a = 0, nodes_b = 0, removed = 0, added = 0, changed = 0, replaced = 0;
  bool Same() const { return removed + added + changed + replaced == 0; }
};

struct SignatureDiff {
  std::string name;
  bool in_a = false, in_b = false;
  // Changes that callers of the signature see: "input image", "output prob", "method". For an input
  // or output, before and after are dtype and shape, empty on the side that does not have the key.
  std::vector<Change> changes;
  NodeChanges nodes;  // of a signature that both models have
  bool Same() const { return in_a && in_b && changes.empty() && nodes.Same(); }
};

// Returns the signatures of either model by name, without those that TensorFlow adds; without the
// numbers of nodes.
std::vector<SignatureDiff> DiffInterfaces(const GraphInFile& a, const GraphInFile& b);
// Sets the numbers of nodes; `diff` is the comparison of the two graphs. Cost, for each signature:
// linear in the nodes that it reaches and in the size of `diff`.
void CountChanges(const GraphInFile& a, const GraphInFile& b, const Diff& diff,
                  llvm::MutableArrayRef<SignatureDiff> signatures);
// Returns the numbers of nodes of a signature that runs the graph `a` in A and `b` in B; `diff` is
// the comparison of these.
NodeChanges ChangesOf(const Module& a, const Module& b, const Diff& diff);

// True if both models have the same signatures, with the same methods, inputs and outputs.
bool SameInterface(llvm::ArrayRef<SignatureDiff> signatures);

// Writes a line for each signature and for each of its changes; nothing if there are no signatures.
void WriteSignatureDiff(llvm::ArrayRef<SignatureDiff> signatures, llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_SIGNATURE_DIFF_H_
