// A folder that TensorFlow's debugger wrote (tfdbg v2, enable_dump_debug_info; of v1 see
// v1_dump.h), as tables whose rows name each other by index; -1 is none. TensorBoard's Debugger V2
// reads the same folders of v2.
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
  // TensorFlow's or Keras's own, below an installed package of theirs, or Python's library.
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
  int id = 0;  // as DebugExecution::device_ids call it
};

struct GRAPNEL_PUBLIC DebugInput {
  llvm::StringRef op_name;
  int slot = 0;
  int op = -1;  // in the graph's ops; -1: the op was never described (calls of functions are not)
};

// A node, as it was when Python made it.
struct GRAPNEL_PUBLIC DebugOp {
  llvm::StringRef name, type;
  std::vector<DebugInput> inputs;  // data only
  int outputs = 0;
  std::vector<int> tensor_ids;  // by output
  int stack = -1;               // in DebugRun::stacks
  int64_t order = 0;            // of all ops of the run: the order in which they were made
  double wall_time = 0;
};

// A function's body, or the root graph, which has no name and no ops.
struct GRAPNEL_PUBLIC DebugGraph {
  llvm::StringRef id,
      name;  // the name is Python's: several graphs have it when it was traced again
  int outer = -1;
  std::vector<int> inner;
  std::vector<DebugOp> ops;
  bool described = false;           // false: other records use the id, none describes it
  llvm::StringMap<int> op_by_name;  // the first of that name
  int Find(llvm::StringRef op_name) const;
};

// One eager op or one call of a function.
struct GRAPNEL_PUBLIC DebugExecution {
  double wall_time = 0;      // when it ended
  llvm::StringRef op_type;   // of a call: "__inference_f_12", "__forward_f_12"
  llvm::StringRef graph_id;  // as recorded: empty for ops, and for calls under a tape
  int graph = -1;            // the function's body, found by its name where the id is empty
  int call = -1;             // how many executions had that op_type before (those that were kept)
  std::vector<int64_t> input_ids, output_ids;  // of eager tensors
  std::vector<int> device_ids;                 // by output
  TensorDebugMode mode = proto::UNSPECIFIED;
  std::vector<RecordedTensor> outputs;   // may be fewer than outputs: filtered ones leave no place
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
  // The call within which it was computed: TensorFlow records no link, so it is the first call of
  // the outermost function that ended after this. -1: there is none.
  int execution = -1;
  int iteration = 0;  // how often this output came before within that call: a loop's iteration
};

// What one process wrote, or several that share a run id. Executions and traces are in the order of
// their files; several sets of files are merged by wall time.
struct GRAPNEL_PUBLIC DebugRun {
  std::string id;
  llvm::StringRef tensorflow_version, file_version;
  double start_time = 0;                      // seconds since 1970; the earliest set's
  TensorDebugMode mode = proto::UNSPECIFIED;  // the one that most records have
  std::vector<std::string> sets;              // paths without their suffixes
  std::vector<DebugDevice> devices;
  std::vector<DebugSource> sources;
  std::vector<DebugFrame> frames;
  std::vector<std::vector<int>> stacks;  // frames, outermost first; -1: a frame that is not there
  std::vector<DebugGraph> graphs;
  std::vector<DebugExecution> executions;
  std::vector<DebugTrace> traces;

  llvm::ArrayRef<int> StackAt(int stack) const {
    return stack < 0 ? llvm::ArrayRef<int>() : llvm::ArrayRef<int>(stacks[stack]);
  }
  // The graph below the root that holds `graph`, or `graph` itself.
  int OutermostFunction(int graph) const;
};

// Move-only. Texts and tensors point into the mapped files, which it keeps: memory grows with the
// number of records, not with what tensors hold.
struct GRAPNEL_PUBLIC DebugFolder {
  std::string path;
  std::vector<DebugRun> runs;         // by start time; at least one
  std::vector<std::string> problems;  // "FILE: record 12: ...", of what was skipped
  std::vector<std::shared_ptr<const FileBytes>> files;
};

// Whether a folder holds files of tfdbg v2, by their contents, or by their names while all are
// empty; or dumps of v1. Reads the first record of each file.
GRAPNEL_PUBLIC bool IsDebugFolder(llvm::StringRef path);

// Reads all runs. A record that is cut off, damaged, or speaks of things that are not there is a
// problem and no error; the rest is read. Errors name the path: no folder, no debug file in it.
// Cost: linear in the bytes of the files.
GRAPNEL_PUBLIC Expected<DebugFolder> ReadDebugFolder(llvm::StringRef path);

// The lines of a source file, without their ends; none when TensorFlow could not read the file.
GRAPNEL_PUBLIC std::vector<llvm::StringRef> SourceLines(const DebugSource& source);

// The frame in which the user's own code is deepest: no framework's. -1: none.
GRAPNEL_PUBLIC int UserFrame(const DebugRun& run, int stack);
// Whether a frame is not the user's: TensorFlow's, Keras's, or of a file that is not recorded.
GRAPNEL_PUBLIC bool IsFrameworkFrame(const DebugRun& run, int frame);
// Names of the user's functions, outermost first, each once where it calls itself through lines of
// its own; without the module itself.
GRAPNEL_PUBLIC std::vector<llvm::StringRef> UserFunctions(const DebugRun& run, int stack);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_DEBUG_FOLDER_H_
