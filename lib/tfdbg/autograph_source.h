// Maps frames in code that AutoGraph generated back to the user's code. TensorFlow does this
// itself, except on threads of its own (MirroredStrategy).
#ifndef GRAPNEL_LIB_TFDBG_AUTOGRAPH_SOURCE_H_
#define GRAPNEL_LIB_TFDBG_AUTOGRAPH_SOURCE_H_

#include "lib/tfdbg/debug_folder.h"

namespace grapnel {

bool IsAutographFile(llvm::StringRef path);

// Points such frames to the recorded user file that defines the function, at the line that has most
// names in common with the generated line. A frame stays as it is if no file, or several, define a
// function of that name. Cost: linear in the lines of the user's files.
void MapAutographFrames(DebugRun* run);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_AUTOGRAPH_SOURCE_H_
