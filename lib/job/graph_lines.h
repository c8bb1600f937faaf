// A model as lines for who compares texts, as `git diff` does.
#ifndef GRAPNEL_LIB_JOB_GRAPH_LINES_H_
#define GRAPNEL_LIB_JOB_GRAPH_LINES_H_

#include "lib/io/open.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// A line for each signature's inputs and outputs and for each node, in an order that depends on
// names and edges alone, functions by name. Of long constants the first values, and a hash of all.
void WriteGraphLines(const Model& model, llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_GRAPH_LINES_H_
