// Maps frames in code that AutoGraph generated back to the user's code. TensorFlow does this
// itself, except on threads of its own (MirroredStrategy).
#ifndef GRAPNEL_LIB_TFDBG_AUTOGRAPH_SOURCE_H_
#define GRAPNEL_LIB_TFDBG_AUTOGRAPH_SOURCE_H_

#include "lib/tfdbg/debug_folder.h"

namespace grapnel {

bool IsAutographFile(llvm::StringRef path);

// Changes frames in generated code to refer to the recorded user file that defines the function, at
// the line whose identifiers are most like those of the generated line. A frame is left unchanged
// if its function is defined nowhere or more than once in the user's files, or its line is not
// recorded. Cost: linear in the lines of the user's files, and for each such frame in the lines of
// its function.
void MapAutographFrames(DebugRun* run);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_AUTOGRAPH_SOURCE_H_
