// A folder of TensorFlow's debugger (tfdbg v2, enable_dump_debug_info; for v1 see v1_dump.h), as
// tables whose rows refer to each other by index; -1 means no row. TensorBoard's Debugger V2 reads
// the same v2 folders.
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
  // True for files of TensorFlow, Keras (in an installed package) or Python's standard library, and
  // for code that AutoGraph generated.
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
  int op = -1;  // in DebugGraph::ops; -1: no record describes the op (such as a function call)
};

// A node of a graph, as recorded when Python created it.
struct GRAPNEL_PUBLIC DebugOp {
  llvm::StringRef name, type;
  std::vector<DebugInput> inputs;  // without control inputs
  int outputs = 0;
  std::vector<int> tensor_ids;  // by output
  int stack = -1;               // in DebugRun::stacks
  int64_t order = 0;            // counts the ops of the run as they were created
  double wall_time = 0;
};

// A function's body, or the root graph, which has no name and no ops.
struct GRAPNEL_PUBLIC DebugGraph {
  llvm::StringRef id,
      name;  // Python's name; each retracing makes a graph of this name
  int outer = -1;
  std::vector<int> inner;
  std::vector<DebugOp> ops;
  bool described = false;           // false: records use the id, but no DebuggedGraph has it
  llvm::StringMap<int> op_by_name;  // the first op of each name
  int Find(llvm::StringRef op_name) const;
};

// One eager op or one call of a function.
struct GRAPNEL_PUBLIC DebugExecution {
  double wall_time = 0;      // when the op or call ended
  llvm::StringRef op_type;   // for a call: "__inference_f_12", "__forward_f_12"
  llvm::StringRef graph_id;  // as recorded: empty for ops, and for calls under a GradientTape
  int graph = -1;            // the called function's graph, found by name if the id is empty
  int call = -1;             // number of earlier executions of the run with the same op_type
  std::vector<int64_t> input_ids, output_ids;  // of eager tensors
  std::vector<int> device_ids;                 // by output
  TensorDebugMode mode = proto::UNSPECIFIED;
  // The recorded outputs; outputs that were not recorded leave no gap.
  std::vector<RecordedTensor> outputs;
  std::vector<llvm::StringRef> tensors;  // their serialized TensorProtos, in the mapped file
  int stack = -1;
};

// One tensor that was computed inside a function.
struct GRAPNEL_PUBLIC DebugTrace {
  double wall_time = 0;
  int graph = -1;
  int op = -1;  // in DebugGraph::ops; -1: no record describes an op named op_name
  llvm::StringRef op_name;
  int slot = 0;
  TensorDebugMode mode = proto::UNSPECIFIED;
  RecordedTensor value;
  llvm::StringRef tensor;  // the serialized TensorProto, in the mapped file
  llvm::StringRef device;
  // The execution (a call of a function from Python) in which the tensor was computed. TensorFlow
  // does not record this, so it is the first call of the outermost function that ended after the
  // tensor was computed; -1 if there is no such call.
  int execution = -1;
  int iteration = 0;  // number of earlier traces of this output in the same call
};

// The records of one process, or of several processes that share a run id. Executions and traces
// are in the order of their files; several sets of files are merged by wall time.
struct GRAPNEL_PUBLIC DebugRun {
  std::string id;
  llvm::StringRef tensorflow_version, file_version;
  double start_time = 0;                      // of the earliest set, in seconds since 1970
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
  // Returns the outermost function that contains `graph`, directly or indirectly; `graph` itself if
  // none does.
  int OutermostFunction(int graph) const;
};

// The contents of a debug folder. Names and tensors point into the mapped files, which live as long
// as this object: memory grows with the number of records, not with the size of tensors.
struct GRAPNEL_PUBLIC DebugFolder {
  std::string path;
  std::vector<DebugRun> runs;         // by start time; at least one
  std::vector<std::string> problems;  // such as "FILE: record 12: ..."
  std::vector<std::shared_ptr<const FileBytes>> files;
};

// True if a folder contains files of tfdbg v2 (recognized by their contents, or by their names if
// all files of a set are empty) or dumps of v1. Reads the first record of each file.
GRAPNEL_PUBLIC bool IsDebugFolder(llvm::StringRef path);

// Reads all runs. A truncated or damaged record, or a record with dangling references, is reported
// in DebugFolder::problems (the first ones of each file); the rest is read. Errors, which name the
// path: it is not a folder, or the folder has no debug file. Cost: linear in the bytes of the
// files.
GRAPNEL_PUBLIC Expected<DebugFolder> ReadDebugFolder(llvm::StringRef path);

// Returns the lines of a source file without line ends; empty if they are not recorded.
GRAPNEL_PUBLIC std::vector<llvm::StringRef> SourceLines(const DebugSource& source);

// Returns the innermost frame of a stack that is in the user's code, not in a framework; -1 if
// there is none.
GRAPNEL_PUBLIC int UserFrame(const DebugRun& run, int stack);
// True if a frame is not in the user's code: its file is a framework's (DebugSource::is_framework)
// or not recorded.
GRAPNEL_PUBLIC bool IsFrameworkFrame(const DebugRun& run, int frame);
// Returns the names of the user's functions in a stack, outermost first, without "<module>". A
// function that calls itself directly is listed once.
GRAPNEL_PUBLIC std::vector<llvm::StringRef> UserFunctions(const DebugRun& run, int stack);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_DEBUG_FOLDER_H_
