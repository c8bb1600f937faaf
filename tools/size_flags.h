// Flags that set sizes left unknown by a file, shared by the commands that infer shapes.
#ifndef GRAPNEL_TOOLS_SIZE_FLAGS_H_
#define GRAPNEL_TOOLS_SIZE_FLAGS_H_

#include "lib/job/shape_overrides.h"
#include "tools/command_line.h"

namespace grapnel {

struct SizeFlags : ShapeOverrides {
  void AddTo(CommandLine& line) {
    line.Option("--shape", shapes,
                "unknown sizes of an input: x=8,224,224,3 (? stays unknown); may be repeated")
        .ShownAs("NAME=DIMS");
    line.Option("--batch", batch, "the first size of every input, if it is unknown")
        .Positive()
        .ShownAs("N");
  }
};

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_SIZE_FLAGS_H_
