// Where the dumps of a run of passes go.
#ifndef GRAPNEL_LIB_JOB_DUMP_H_
#define GRAPNEL_LIB_JOB_DUMP_H_

#include <string>

#include "lib/pass/pass_manager.h"

namespace grapnel {

// Dumps of each stage to `folder`, else to where TF_DUMP_GRAPH_PREFIX says; TensorFlow's other
// variables (TF_DUMP_GRAPH_NAME_FILTER, TF_DUMP_GRAPH_FMT) count too. Neither given: none. What the
// pass `partition` splits goes there too, a graph a device.
struct DumpRequest {
  std::string folder, graph_name;
  MessageSink sink;
  bool stages_alone = false;  // see DumpOptions
};
// `module`, which the passes are to run on, outlives the run. Errors: TF_DUMP_GRAPH_FMT is neither
// TXT nor BIN.
Error AddDump(const DumpRequest& request, Module& module, const OptimizeOptions& optimize,
              PassManager* manager);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_DUMP_H_
