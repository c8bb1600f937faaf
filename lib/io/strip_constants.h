// Strips a graph for publication: removes values, paths and source locations.
#ifndef GRAPNEL_LIB_IO_STRIP_CONSTANTS_H_
#define GRAPNEL_LIB_IO_STRIP_CONSTANTS_H_

#include "lib/ir/module.h"

namespace grapnel {

// Keeps the structure of `module` and removes the rest, in all bodies and in the library's data on
// functions:
//
// - Every tensor in an attribute, also in lists and in the attributes of functions that an
//   attribute names, keeps only dtype and shape, and lists of floats become empty. Nodes that lost
//   something get the attribute kValuesLeftOut, so that grapnel can tell a constant without a value
//   from zeros, which TensorFlow reads, and from a constant with a different value.
// - Strings in attributes stay if an op's definition lists them (`SAME`) or if they name nodes,
//   functions and formats (kKeptTexts in the .cpp); a shared_name other than the node's own is
//   replaced by one that still tells which are equal; all others become empty, since they may be
//   file names or addresses.
// - Source locations (debug_info), descriptions in signatures, and unknown fields are removed.
//
// Shapes that followed from values are recorded first (`_output_shapes`). Nodes keep their ids, so
// earlier results about the graph, such as a Diff, stay valid. Cost: shape inference, and linear in
// attributes.
void StripConstants(Module* module);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_STRIP_CONSTANTS_H_
