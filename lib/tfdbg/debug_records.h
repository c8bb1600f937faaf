// Converts records of tfdbg v2 files to rows of a DebugRun. Private to lib/tfdbg.
#ifndef GRAPNEL_LIB_TFDBG_DEBUG_RECORDS_H_
#define GRAPNEL_LIB_TFDBG_DEBUG_RECORDS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lib/ir/wire.h"
#include "lib/tfdbg/debug_folder.h"

namespace grapnel {

// The field numbers of a DebugEvent; the events in one kind of file have only some of these fields.
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

// Reads sets of files one after the other. Read the files of a set in this order: source files
// before the stack frames that refer to them, stack frames before the stacks that contain them.
class DebugRecords {
 public:
  // `folder`, which receives the problems, and `run` must outlive this object.
  DebugRecords(DebugFolder* folder, DebugRun* run) : folder_(*folder), run_(*run) {}
  // Starts a set. Indices of source files apply only within a set; a graph's ops are read only from
  // the set that describes the graph first.
  void BeginSet();
  // Reads a file. `bytes` are its contents, which the folder owns.
  void ReadFile(llvm::StringRef name, llvm::StringRef bytes);
  // Resolves references by name that may lead to any record. Call it after all files are read.
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
  int GraphOf(llvm::StringRef id);  // adds an undescribed graph if the id is new
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
  std::vector<int> set_sources_;  // by file_index in the set: index in DebugRun::sources
  std::map<std::pair<llvm::StringRef, llvm::StringRef>, int> source_by_path_;
  llvm::StringMap<int> frame_by_id_, graph_by_id_;
  std::vector<llvm::StringRef> outer_ids_;  // by graph: id of its outer graph
  std::vector<int> graph_sets_;             // by graph: the set that describes it
  std::map<std::vector<int>, int> stack_index_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_DEBUG_RECORDS_H_
