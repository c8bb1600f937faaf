// Event files for TensorBoard's Graphs page.
#ifndef GRAPNEL_LIB_IO_EVENT_WRITER_H_
#define GRAPNEL_LIB_IO_EVENT_WRITER_H_

#include "lib/ir/module.h"
#include "lib/support/error.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// The version record and a graph_def record, both at time 0, so that the same graph gives the same
// bytes. An error for a graph of 2 GiB, which no reader of events takes. Holds the graph's bytes in
// memory.
Error WriteEvents(const Module& module, llvm::raw_ostream& os);

// Where TensorBoard finds what is written to `path`: in a folder (one that is there, or a path that
// ends in '/', which is made) a file events.out.tfevents.0000000000.grapnel. A file needs
// "tfevents" in its name, else an error: TensorBoard passes all others over. "-" stays.
Expected<std::string> EventFilePath(llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_EVENT_WRITER_H_
