// Event files for TensorBoard's Graphs page.
#ifndef GRAPNEL_LIB_IO_EVENT_WRITER_H_
#define GRAPNEL_LIB_IO_EVENT_WRITER_H_

#include "lib/ir/module.h"
#include "lib/support/error.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Writes the version record and a graph_def record, both at time 0, so that the same graph gives
// the same bytes. Fails for a graph of 2 GiB, which event readers do not accept. Holds the graph's
// bytes in memory.
Error WriteEvents(const Module& module, llvm::raw_ostream& os);

// Returns the path under which TensorBoard finds what is written to `path`: for a directory (an
// existing one, or a path that ends in '/', which is created) its file
// events.out.tfevents.0000000000.grapnel. A file name must contain "tfevents", otherwise an error:
// TensorBoard ignores all others. "-" stays unchanged.
Expected<std::string> EventFilePath(llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_EVENT_WRITER_H_
