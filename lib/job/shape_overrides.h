// Sizes that a file leaves open, as somebody gives them: "--shape x=8,224,224,3", "--batch 8".
#ifndef GRAPNEL_LIB_JOB_SHAPE_OVERRIDES_H_
#define GRAPNEL_LIB_JOB_SHAPE_OVERRIDES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lib/job/opened_graph.h"
#include "lib/support/public.h"

namespace grapnel {

struct GRAPNEL_PUBLIC ShapeOverrides {
  // "NAME=DIMS": NAME is a key of a signature's inputs, a tensor, or a node; DIMS are sizes between
  // commas, ? for one that stays open, nothing for a scalar.
  std::vector<std::string> shapes;
  int64_t batch = 0;  // 0: none
  bool empty() const { return shapes.empty() && batch == 0; }
};

// Writes them into the `shape` of the placeholders, from where inference takes them. The batch is
// the first size of each input of the file's signatures, or, where it has none, of each
// placeholder, as far as that is open and has a known rank. Keys are of `signature`, or of any:
// first of serving_default.
//
// Errors name the flag ("--shape", "--batch"): a text that cannot be read, a name that is not there
// (with the nearest ones) or is no placeholder, a shape that contradicts the file's; no input has
// an open first size.
GRAPNEL_PUBLIC Error FillSizes(const ShapeOverrides& given, llvm::StringRef signature,
                               OpenedGraph* opened);

// Whether an input has a first size that is open, which a batch would fill.
GRAPNEL_PUBLIC bool HasOpenBatch(const OpenedGraph& opened);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_SHAPE_OVERRIDES_H_
