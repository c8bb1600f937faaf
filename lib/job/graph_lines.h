// A model as canonical text, for line-based tools such as `git diff`.
#ifndef GRAPNEL_LIB_JOB_GRAPH_LINES_H_
#define GRAPNEL_LIB_JOB_GRAPH_LINES_H_

#include <memory>

#include "lib/io/bundle.h"
#include "lib/io/open.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Writes a line for each node, in an order that depends only on names and edges. Long constants
// whose values differ show their first values and a hash of all values.
//
// Of a model with signatures, writes for each of them its inputs and outputs and the graph that it
// runs, once for signatures that run the same; not the nodes that save, restore and initialize. The
// names of functions are without the numbers that TensorFlow gives anew each time, and attributes
// that say nothing about the computation are left out. Last come the variables, with dtype, shape
// and, if the model was opened as a folder with its values, their checksum. So a model that is
// built again in the same way gives the same text.
void WriteGraphLines(const std::shared_ptr<Model>& model, llvm::raw_ostream& os);

// Writes a line for each tensor of a checkpoint except its object graph: name, dtype, shape and
// checksum.
void WriteCheckpointLines(const Bundle& checkpoint, llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_GRAPH_LINES_H_
