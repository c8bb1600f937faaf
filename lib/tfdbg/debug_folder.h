// A folder of TensorFlow's debugger (tfdbg v2, enable_dump_debug_info; for v1 see v1_dump.h), as
// tables whose rows refer to each other by index, or -1. TensorBoard's Debugger V2 reads the same
// v2 folders.
#ifndef GRAPNEL_LIB_TFDBG_DEBUG_FOLDER_H_
#define GRAPNEL_LIB_TFDBG_DEBUG_FOLDER_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/support/file.h"
#include "lib/support/public.h"
#include "lib/watch/recorded_tensor.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

struct GRAPNEL_PUBLIC DebugSource {
  llvm::StringRef path, host;
  llvm::StringRef record;  // a serialized SourceFile, for SourceLines
  // In TensorFlow, Keras (below an installed package of theirs) or Python's library.
  bool is_framework = false;
};

struct GRAPNEL_PUBLIC DebugFrame {
  llvm::StringRef id;
  int source = -1;  // in DebugRun::sources
  int line = 0;     // from 1
  llvm::StringRef function;
};

struct GRAPNEL_PUBLIC DebugDevice {
  llvm::StringRef name;
  int id = 0;  // the value in DebugExecution::device_ids
};

struct GRAPNEL_PUBLIC DebugInput {
  llvm::StringRef op_name;
  int slot = 0;
  int op = -1;  // in the graph's ops; -1: no record describes the op (as for calls of functions)
};

// A node, as Python created it.
struct GRAPNEL_PUBLIC DebugOp {
  llvm::StringRef name, type;
  std::vector<DebugInput> inputs;  // data only
  int outputs = 0;
  std::vector<int> tensor_ids;  // by output
  int stack = -1;               // in DebugRun::stacks
  int64_t order = 0;            // the order of creation among all ops of the run
  double wall_time = 0;
};

// A function's body, or the root graph, which has no name and no ops.
struct GRAPNEL_PUBLIC DebugGraph {
  llvm::StringRef id,
      name;  // Python's name: a function that is traced again has several graphs of one name
  int outer = -1;
  std::vector<int> inner;
  std::vector<DebugOp> ops;
  bool described = false;           // false: records use the id, but none describes it
  llvm::StringMap<int> op_by_name;  // the first of that name
  int Find(llvm::StringRef op_name) const;
};

// One eager op or one call of a function.
struct GRAPNEL_PUBLIC DebugExecution {
  double wall_time = 0;      // when it ended
  llvm::StringRef op_type;   // for a call: "__inference_f_12", "__forward_f_12"
  llvm::StringRef graph_id;  // as recorded: empty for ops, and for calls under a tape
  int graph = -1;            // the function's body, found by its name if the id is empty
  int call = -1;             // how many kept executions had that op_type before
  std::vector<int64_t> input_ids, output_ids;  // of eager tensors
  std::vector<int> device_ids;                 // by output
  TensorDebugMode mode = proto::UNSPECIFIED;
  std::vector<RecordedTensor> outputs;   // may be fewer than the op has: filtered ones leave no gap
  std::vector<llvm::StringRef> tensors;  // their serialized TensorProtos, in the mapped file
  int stack = -1;
};

// One tensor that was computed inside a function.
struct GRAPNEL_PUBLIC DebugTrace {
  double wall_time = 0;
  int graph = -1;
  int op = -1;  // -1: the graph describes no op of that name
  llvm::StringRef op_name;
  int slot = 0;
  TensorDebugMode mode = proto::UNSPECIFIED;
  RecordedTensor value;
  llvm::StringRef tensor;  // the serialized TensorProto, in the mapped file
  llvm::StringRef device;
  // The call that computed it: TensorFlow records no link, so it is the first call of the outermost
  // function that ended after this. -1: there is no such call.
  int execution = -1;
  int iteration = 0;  // how often this output came before within that call: a loop's iteration
};

// The records of one process, or of several that share a run id. Executions and traces are in the
// order of their files; several sets of files are merged by wall time.
struct GRAPNEL_PUBLIC DebugRun {
  std::string id;
  llvm::StringRef tensorflow_version, file_version;
  double start_time = 0;                      // seconds since 1970; that of the earliest set
  TensorDebugMode mode = proto::UNSPECIFIED;  // the mode of most records
  std::vector<std::string> sets;              // paths without their suffixes
  std::vector<DebugDevice> devices;
  std::vector<DebugSource> sources;
  std::vector<DebugFrame> frames;
  std::vector<std::vector<int>> stacks;  // frames, outermost first; -1: a missing frame
  std::vector<DebugGraph> graphs;
  std::vector<DebugExecution> executions;
  std::vector<DebugTrace> traces;

  llvm::ArrayRef<int> StackAt(int stack) const {
    return stack < 0 ? llvm::ArrayRef<int>() : llvm::ArrayRef<int>(stacks[stack]);
  }
  // Returns the graph below the root that holds `graph`, or `graph` itself.
  int OutermostFunction(int graph) const;
};

// Move-only. Texts and tensors point into the mapped files, which it owns: memory grows with the
// number of records, not with the size of tensors.
struct GRAPNEL_PUBLIC DebugFolder {
  std::string path;
  std::vector<DebugRun> runs;         // by start time; at least one
  std::vector<std::string> problems;  // "FILE: record 12: ...", for skipped records
  std::vector<std::shared_ptr<const FileBytes>> files;
};

// True if a folder holds files of tfdbg v2, by their contents, or by their names if all are empty;
// or dumps of v1. Reads the first record of each file.
GRAPNEL_PUBLIC bool IsDebugFolder(llvm::StringRef path);

// Reads all runs. A truncated or damaged record, or one with dangling references, is a problem but
// not an error; the rest is read. Errors name the path: not a folder, or no debug file in it. Cost:
// linear in the bytes of the files.
GRAPNEL_PUBLIC Expected<DebugFolder> ReadDebugFolder(llvm::StringRef path);

// Returns the lines of a source file without line ends; empty if TensorFlow could not read the
// file.
GRAPNEL_PUBLIC std::vector<llvm::StringRef> SourceLines(const DebugSource& source);

// Returns the deepest frame of the user's code, outside of frameworks. -1: there is no such frame.
GRAPNEL_PUBLIC int UserFrame(const DebugRun& run, int stack);
// True if a frame is not the user's: it is TensorFlow's, Keras's, or in a file that is not
// recorded.
GRAPNEL_PUBLIC bool IsFrameworkFrame(const DebugRun& run, int frame);
// Returns the names of the user's functions, outermost first, without the module itself; direct
// recursion counts once.
GRAPNEL_PUBLIC std::vector<llvm::StringRef> UserFunctions(const DebugRun& run, int stack);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_DEBUG_FOLDER_H_
