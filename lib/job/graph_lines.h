// A model as canonical text, for line-based tools such as `git diff`.
#ifndef GRAPNEL_LIB_JOB_GRAPH_LINES_H_
#define GRAPNEL_LIB_JOB_GRAPH_LINES_H_

#include "lib/io/open.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Writes a line for each input and output of the signatures that users call and for each node, in
// an order that depends only on names and edges; functions are sorted by name. Long constants whose
// values differ show their first values and a hash of all values.
void WriteGraphLines(const Model& model, llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_GRAPH_LINES_H_
