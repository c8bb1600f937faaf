// A graph as it can be shown to others: without values, paths and the program's text.
#ifndef GRAPNEL_LIB_IO_STRIP_CONSTANTS_H_
#define GRAPNEL_LIB_IO_STRIP_CONSTANTS_H_

#include "lib/ir/module.h"

namespace grapnel {

// Leaves in `module` what says how it is built, and takes out the rest, of all bodies and of what
// the library says of functions:
//
// - Every tensor in an attribute, also in lists and in the attributes of functions that an
// attribute
//   names, keeps dtype and shape alone, and lists of floats are empty: nodes that lost something
//   have the attribute kValuesLeftOut, by which readers here tell a constant without a value from
//   zeros, which is what TensorFlow reads, and from one of another value.
// - Of texts in attributes those stay that an op's definition lists (`SAME`) or that name nodes,
//   functions and formats (kKeptTexts in the .cpp); a shared_name that is not the node's own
//   becomes one that tells as much, whether two are the same; all others, as file names and
//   addresses may be among them, become empty.
// - The lines of the program (debug_info), descriptions in signatures, and fields that are not
//   known go.
//
// Shapes that followed from values are noted first (`_output_shapes`). Nodes keep their ids, so
// that what was found of the graph before, as a Diff, stands. Cost: shape inference, and linear in
// attributes.
void StripConstants(Module* module);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_STRIP_CONSTANTS_H_
