// Checks that a key of a signature is not the name of another tensor as well.
#ifndef GRAPNEL_LIB_JOB_KEY_CHECK_H_
#define GRAPNEL_LIB_JOB_KEY_CHECK_H_

#include "lib/job/opened_graph.h"

namespace grapnel {

// Errors: `name` is a key of the signature, and also the name of a node of the main graph that
// computes something else; the error names both tensors. `also_inside`: nodes of the network that
// the signature runs count too. Does nothing for other names.
Error CheckMeansOne(const OpenedGraph& opened, llvm::StringRef signature, llvm::StringRef name,
                    bool also_inside);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_KEY_CHECK_H_
