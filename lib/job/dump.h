// Sets up the dumps of a run of passes.
#ifndef GRAPNEL_LIB_JOB_DUMP_H_
#define GRAPNEL_LIB_JOB_DUMP_H_

#include <string>

#include "lib/pass/pass_manager.h"

namespace grapnel {

// Dumps each stage that changes the graph to `folder`, or to TF_DUMP_GRAPH_PREFIX if `folder` is
// empty; if neither is set, there are no dumps. TF_DUMP_GRAPH_FMT is respected too, and
// TF_DUMP_GRAPH_NAME_FILTER if `folder` is empty. The graphs that the pass `partition` makes also
// go to the folder, one per device.
struct DumpRequest {
  std::string folder, graph_name;
  MessageSink sink;
  bool stages_alone = false;  // see DumpOptions
};
// `module`, on which the passes will run, outlives the run. Errors: TF_DUMP_GRAPH_FMT is neither
// TXT nor BIN.
Error AddDump(const DumpRequest& request, Module& module, const OptimizeOptions& optimize,
              PassManager* manager);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_DUMP_H_
