// Event files for TensorBoard's Graphs page.
#ifndef GRAPNEL_LIB_IO_EVENT_WRITER_H_
#define GRAPNEL_LIB_IO_EVENT_WRITER_H_

#include "lib/ir/module.h"
#include "lib/support/error.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Writes the version record and a graph_def record, both with time 0, so that the same graph gives
// the same bytes. Fails for a graph of 2 GiB or more, which event readers do not accept. Holds the
// serialized graph in memory.
Error WriteEvents(const Module& module, llvm::raw_ostream& os);

// Returns the path of the event file that stands for the output path `path`. For a directory (an
// existing one, or a path that ends in '/', which is created), this is the file
// events.out.tfevents.0000000000.grapnel in it. A file name must contain "tfevents", otherwise it
// is an error: TensorBoard ignores all other files. "-" stays unchanged.
Expected<std::string> EventFilePath(llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_EVENT_WRITER_H_
