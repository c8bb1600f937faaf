// Makes a GraphDebugInfo: stacks of nodes, each frame and each stack once.
#ifndef GRAPNEL_LIB_IR_DEBUG_INFO_WRITER_H_
#define GRAPNEL_LIB_IR_DEBUG_INFO_WRITER_H_

#include <string>

#include "lib/ir/line_table.h"
#include "lib/ir/module.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

// In the form that TensorFlow 2.21 writes: frames_by_id, traces_by_id, name_to_trace_id. By hand,
// as a message with a million entries in its maps takes more time than all that is said in it.
class DebugInfoWriter {
 public:
  // Goes on with a serialized GraphDebugInfo, none of whose ids is used again.
  explicit DebugInfoWriter(std::string begun = {});

  // Numbers of frames and stacks; equal ones have one number. A stack is outermost first.
  uint64_t Frame(const SourceFrame& frame);
  uint64_t Trace(llvm::ArrayRef<uint64_t> frames);
  // `function`: empty for the main graph.
  void Add(llvm::StringRef node, llvm::StringRef function, uint64_t trace);

  // The message, serialized; nothing may be added afterwards.
  std::string Take();

 private:
  std::string head_, names_;  // what is begun, then files, frames and traces; names come last
  llvm::StringMap<uint32_t> files_;
  llvm::StringMap<uint64_t> frames_, traces_;  // by their bytes
  uint32_t num_files_ = 0;
  uint64_t next_frame_ = 0, next_trace_ = 0;
  std::string frame_, trace_, entry_;  // used again
};

// GraphDef.debug_info of the module is `info` from now on; empty: none.
void SetDebugInfo(Module* module, llvm::StringRef info);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_DEBUG_INFO_WRITER_H_
