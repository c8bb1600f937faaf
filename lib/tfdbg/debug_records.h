// Converts records of tfdbg v2 files to rows of a DebugRun. For lib/tfdbg/debug_folder.cpp.
#ifndef GRAPNEL_LIB_TFDBG_DEBUG_RECORDS_H_
#define GRAPNEL_LIB_TFDBG_DEBUG_RECORDS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lib/ir/wire.h"
#include "lib/tfdbg/debug_folder.h"

namespace grapnel {

// The fields of a DebugEvent; each kind of file holds some of them.
enum DebugEventField : uint32_t {
  kWallTime = 1,
  kMetadata = 3,
  kSourceFile = 4,
  kStackFrame = 6,
  kGraphOp = 7,
  kDebuggedGraph = 8,
  kExecution = 9,
  kTrace = 10,
  kGraphId = 11,
  kDevice = 12,
};

// Reads sets of files one after the other. The files of a set come in the order of the fields
// above: source files before the frames in them, frames before stacks.
class DebugRecords {
 public:
  // Both must outlive it. Problems go to `folder`.
  DebugRecords(DebugFolder* folder, DebugRun* run) : folder_(*folder), run_(*run) {}
  // Starts a set: indices of source files, names of graphs and ops are per set.
  void BeginSet();
  // `bytes`: all records of a file, which the folder owns.
  void ReadFile(llvm::StringRef name, llvm::StringRef bytes);
  // Resolves the names that need all records.
  void Finish();

 private:
  void ReadEvent(llvm::StringRef event);
  void ReadSourceFile(llvm::StringRef record);
  void ReadStackFrame(llvm::StringRef record);
  void ReadFileLine(llvm::StringRef record, DebugFrame* frame);
  void ReadDevice(llvm::StringRef record);
  void ReadDebuggedGraph(llvm::StringRef record);
  void ReadGraphOp(llvm::StringRef record);
  void ReadExecution(llvm::StringRef record);
  void ReadTrace(llvm::StringRef record);
  int ReadStack(llvm::StringRef code_location);
  RecordedTensor ReadTensor(TensorDebugMode mode, llvm::StringRef tensor);
  int GraphOf(llvm::StringRef id);  // adds an undescribed graph if needed
  DebugInput ParseInput(llvm::StringRef text);
  void ResolveInputs(DebugGraph* graph);
  void ResolveTraces();
  void BreakCycles();
  void Report(std::string text);

  DebugFolder& folder_;
  DebugRun& run_;
  std::string file_;  // the current file
  size_t record_ = 0;
  size_t problems_in_file_ = 0;
  double wall_time_ = 0;
  int64_t ops_ = 0;
  int set_ = -1;
  std::vector<int> set_sources_;  // file_index of the set -> DebugRun::sources
  std::map<std::pair<llvm::StringRef, llvm::StringRef>, int> source_by_path_;
  llvm::StringMap<int> frame_by_id_, graph_by_id_;
  std::vector<llvm::StringRef> outer_ids_;  // by graph
  std::vector<int> graph_sets_;             // the set that described a graph
  std::map<std::vector<int>, int> stack_index_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_DEBUG_RECORDS_H_
