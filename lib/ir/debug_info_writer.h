// Writes a GraphDebugInfo: the stack traces of nodes, with each new frame and stack stored once.
#ifndef GRAPNEL_LIB_IR_DEBUG_INFO_WRITER_H_
#define GRAPNEL_LIB_IR_DEBUG_INFO_WRITER_H_

#include <cstdint>
#include <string>

#include "lib/ir/line_table.h"
#include "lib/ir/module.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

// The field of a GraphDef that has its GraphDebugInfo.
constexpr uint32_t kDebugInfoOfGraph = 5;

// Writes the form of TensorFlow 2.21: frames_by_id, traces_by_id, name_to_trace_id. Writes the wire
// format directly, because a protobuf message with a million map entries would take longer than
// everything else that this class does.
class DebugInfoWriter {
 public:
  // Adds to a serialized GraphDebugInfo: its own entries keep their ids, and new entries get new
  // ones.
  explicit DebugInfoWriter(std::string begun = {});

  // Frame returns the id of a frame and Trace that of a stack, which it adds if it is new; frames
  // that are added again keep their id, and so do stacks. The frames of a stack come outermost
  // first.
  uint64_t Frame(const SourceFrame& frame);
  uint64_t Trace(llvm::ArrayRef<uint64_t> frames);
  // Adds the stack of a node. `function`: the function whose body contains the node; empty for the
  // main graph.
  void Add(llvm::StringRef node, llvm::StringRef function, uint64_t trace);

  // Returns the serialized message; nothing may be added afterwards.
  std::string Take();

 private:
  // head_: the existing message and the new files, frames and traces. names_: the entries of
  // name_to_trace_id, which are written last.
  std::string head_, names_;
  llvm::StringMap<uint32_t> files_;
  llvm::StringMap<uint64_t> frames_, traces_;  // id by serialized bytes
  uint32_t num_files_ = 0;
  uint64_t next_frame_ = 0, next_trace_ = 0;
  std::string frame_, trace_, entry_;  // reused buffers
};

// Sets the module's GraphDef.debug_info to the serialized `info`, or removes it if `info` is empty.
void SetDebugInfo(Module* module, llvm::StringRef info);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_DEBUG_INFO_WRITER_H_
