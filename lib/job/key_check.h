// Checks that a key of a signature is not the name of another tensor as well.
#ifndef GRAPNEL_LIB_JOB_KEY_CHECK_H_
#define GRAPNEL_LIB_JOB_KEY_CHECK_H_

#include "lib/job/opened_graph.h"

namespace grapnel {

// Errors: no such signature; `name` is a key of the signature, and also the name of a node in the
// network that the signature runs, which computes something else; the error names both. Nodes that
// compute nothing do not count: arguments of the network, which a call passes under their keys,
// constants, and handles of variables. `wants_node`: a node is meant, so any other node of the
// network or of the main graph counts. Does nothing for other names.
Error CheckMeansOne(const OpenedGraph& opened, llvm::StringRef signature, llvm::StringRef name,
                    bool wants_node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_KEY_CHECK_H_
