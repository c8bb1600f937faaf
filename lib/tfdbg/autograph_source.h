// Frames in code that AutoGraph made of the user's, which TensorFlow maps back itself but on
// threads of its own (MirroredStrategy).
#ifndef GRAPNEL_LIB_TFDBG_AUTOGRAPH_SOURCE_H_
#define GRAPNEL_LIB_TFDBG_AUTOGRAPH_SOURCE_H_

#include "lib/tfdbg/debug_folder.h"

namespace grapnel {

bool IsAutographFile(llvm::StringRef path);

// Points such frames to the line of a recorded file of the user's that has the function, the line
// of it that has most names in common with the one that was made of it. A frame stays where no
// file, or several, define a function of that name. Cost: linear in the lines of the user's files.
void MapAutographFrames(DebugRun* run);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_AUTOGRAPH_SOURCE_H_
