// Strips a graph so that it can be published: removes values, file paths and source locations.
#ifndef GRAPNEL_LIB_IO_STRIP_CONSTANTS_H_
#define GRAPNEL_LIB_IO_STRIP_CONSTANTS_H_

#include "lib/ir/module.h"

namespace grapnel {

// Keeps the structure of `module`: nodes, edges, names, devices, and numbers, dtypes and shapes in
// attributes. Removes the rest, in all bodies and in the library's data about functions:
//
// - Every tensor in an attribute, also in lists and in the attributes of functions in an
//   attribute, keeps only dtype and shape, and lists of floats become empty. Nodes that lost a
//   value get the attribute kValuesLeftOut, so that grapnel can distinguish a constant without a
//   value from zeros (as which TensorFlow reads it) and from a constant with a different value.
// - Strings in attributes stay if an op's definition lists them (`SAME`) or if they name nodes,
//   functions, tensors, devices, ops or formats (kKeptTexts in the .cpp file); a shared_name other
//   than the node's own name is replaced by a text that is the same for equal names; all other
//   strings become empty, since they may be file names or addresses.
// - Source locations (debug_info), descriptions in signatures, and unknown fields are removed.
//
// Before that, the inferred shapes of outputs are recorded (`_output_shapes`), if any rank is
// known, since they may follow from values. Nodes keep their ids, so earlier results about the
// graph, such as a Diff, stay valid. Cost: shape inference, and linear in attributes.
void StripConstants(Module* module);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_STRIP_CONSTANTS_H_
