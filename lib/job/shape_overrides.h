// The shape overrides of a command line, for sizes that a file leaves unknown: "--shape
// x=8,224,224,3", "--batch 8".
#ifndef GRAPNEL_LIB_JOB_SHAPE_OVERRIDES_H_
#define GRAPNEL_LIB_JOB_SHAPE_OVERRIDES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lib/job/opened_graph.h"
#include "lib/support/public.h"

namespace grapnel {

struct GRAPNEL_PUBLIC ShapeOverrides {
  // "NAME=DIMS": NAME is a key of a signature's inputs, a tensor, or a node; DIMS are sizes
  // separated by commas, ? for one that stays unknown, empty for a scalar.
  std::vector<std::string> shapes;
  int64_t batch = 0;  // 0: not given
  bool empty() const { return shapes.empty() && batch == 0; }
};

// Reads sizes separated by commas, ? for an unknown one; "" is a scalar. The error quotes what is
// not a size.
GRAPNEL_PUBLIC Expected<Shape> ParseSizes(llvm::StringRef text);

// Writes the sizes into the `shape` attribute of the placeholders, where shape inference reads
// them. The batch size applies to the placeholders without a default that the file's signatures
// take, or to all of them without signatures, if the first size is unknown and the rank is known.
// Keys are looked up in `signature`; if `signature` is empty, in all signatures, first in the
// default one.
//
// Errors name the flag ("--shape", "--batch"): a malformed text; an unknown name (with the nearest
// ones), or one that is not a placeholder; a shape that contradicts the file's; no input of
// known rank has an unknown first size.
GRAPNEL_PUBLIC Error FillSizes(const ShapeOverrides& given, llvm::StringRef signature,
                               OpenedGraph* opened);

// True if an input of known rank has an unknown first size, which a batch size would set.
GRAPNEL_PUBLIC bool HasOpenBatch(const OpenedGraph& opened);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_SHAPE_OVERRIDES_H_
