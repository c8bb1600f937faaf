// Event files: the graphs that TensorBoard shows, among other records. For lib/io/open.cpp.
#ifndef GRAPNEL_LIB_IO_EVENT_FILE_H_
#define GRAPNEL_LIB_IO_EVENT_FILE_H_

#include "lib/io/open.h"

namespace grapnel {

// The field of an Event that has the version of its file.
constexpr uint32_t kEventFileVersion = 3;

// Appends the graphs of an event file or a tfdbg v2 debug file to `model`: the fields graph_def and
// meta_graph_def, the graphs in tagged_run_metadata, and the graphs that tfdbg recorded. Fails if
// the file contains no graph.
Error ReadEventFile(const std::shared_ptr<const FileBytes>& file, Model* model);

// Appends the graphs of a single Event without record framing. Fails if it contains none.
Error ReadBareEvent(const std::shared_ptr<const FileBytes>& file, Model* model);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_EVENT_FILE_H_
