// Writes a run like TensorFlow's debugger (tfdbg v2): as six files that TensorBoard's Debugger V2
// and ReadDebugFolder read.
#ifndef GRAPNEL_LIB_TFDBG_DEBUG_WRITER_H_
#define GRAPNEL_LIB_TFDBG_DEBUG_WRITER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/exec/tensor.h"
#include "lib/io/record_file.h"
#include "lib/ir/line_table.h"
#include "lib/ir/module.h"
#include "lib/proto/debug_event.pb.h"
#include "lib/watch/tap_event.h"
#include "lib/watch/tap_filter.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

struct DebugWriterOptions {
  std::string folder;  // created if it does not exist
  proto::TensorDebugMode mode = proto::FULL_HEALTH;
  // How many of the last executions, and of the last traces, are written; 0 or less: all.
  int64_t circular_buffer_size = 1000;
  // The limit of the bytes of traces if there is no circular buffer; traces beyond it are only
  // counted. 0: no limit.
  uint64_t most_bytes = 0;
  std::string source;      // path under which the model's text is recorded; stacks refer to it
  std::string graph_name;  // name of the main graph
  // `stack_of` returns the stack of source lines that created a node; the stack of a node without
  // one is its line in the model's text. `read_source` returns the lines of a frame's file, which
  // are recorded as TensorFlow does.
  std::function<LineTable::Stack(const Node&)> stack_of;  // null: nodes have no stacks
  std::function<std::vector<std::string>(const SourceFrame&)> read_source;  // null: no lines
  // True if the main graph consists of the ops of a program in eager mode, and grows: AddOp() adds
  // ops, functions are written when they are first called, and there is no model text.
  bool is_eager = false;
};

// True if TensorFlow's debugger records the outputs of ops of this type. It skips mostly ops that
// only forward values: calls, Identity and control flow (see lib/watch/debugger_skips.h).
bool IsDebugged(llvm::StringRef op_type);
// True if the mode records tensors of this dtype: the health modes and REDUCE_INF_NAN_THREE_SLOTS
// record floats, SHAPE records floats, integers and bool, other modes record all dtypes except
// resource and variant.
bool IsDebugged(proto::TensorDebugMode mode, DataType dtype);

// Writes a debug folder. Thread-safe, except for Create() and Close(). The graphs and their text
// are on disk when Create() returns. Executions and traces are written when a buffer is full, or at
// Flush(), each record whole in one write; with a circular buffer, they are written at Close().
class DebugWriter {
 public:
  // `module` must outlive the writer. Errors: the folder cannot be created or written, or has the
  // files of another run, from which readers could not distinguish this one.
  static Expected<std::unique_ptr<DebugWriter>> Create(const Module& module,
                                                       DebugWriterOptions options);
  ~DebugWriter();  // calls Close(), and ignores errors

  // Adds a trace: one output of a node. Ignores nodes that are neither in the main graph nor in a
  // function that it calls, directly or indirectly, and tensors of dtypes that the mode does not
  // record.
  void AddTrace(const TapEvent& event);
  // Adds an execution: an op of a program in eager mode (a node of the main graph) that has run.
  // Outputs that do not match `values` are recorded without a value; ops that TensorFlow's debugger
  // skips are not recorded, except calls of functions of the module.
  void AddOp(const Node& node, llvm::ArrayRef<Tensor> outputs, const TapFilter& values);
  // Adds an execution: a run of the main graph with these feeds and fetches.
  void AddExecution(llvm::ArrayRef<Tensor> feeds, llvm::ArrayRef<Tensor> fetches);
  Error Flush();
  Error Close();
  int64_t left_out() const { return left_out_; }  // traces beyond `most_bytes`

 private:
  // The main graph, or the body of a function that it calls.
  struct Body {
    const Graph* graph;
    std::string name;                                    // as recorded
    std::vector<std::string> callers;                    // ids of stack frames, outermost first
    llvm::DenseMap<NodeId, std::vector<size_t>> called;  // bodies that no earlier node calls
  };
  // The bytes of an output's trace, in which only the time and the counts differ between events.
  struct Trace {
    std::string record;  // empty: no event yet
    size_t content = 0;  // position of the counts in `record`
    int64_t tensor_id = 0;
  };
  // A file to which records are appended.
  class Stream {
   public:
    Error Open(const std::string& path) { return file_.Open(path); }
    void Keep(int64_t limit) { limit_ = limit; }
    void Add(llvm::StringRef event);
    Error Flush() { return file_.Flush(); }  // does not write the kept records
    Error Close();

   private:
    RecordFile file_;
    int64_t limit_ = 0;
    std::deque<std::string> kept_;
  };

  DebugWriter(const Module& module, DebugWriterOptions options)
      : module_(module), options_(std::move(options)) {}
  Error Open();
  void WriteGraphs();
  void AddFunction(const Function& function);
  void FindBodies(size_t first, proto::SourceFile* file);
  void AddValues(llvm::ArrayRef<Tensor> values, const TapFilter& filter,
                 proto::Execution* execution) const;
  std::vector<std::string> ProgramStack(const Node& node);
  std::string ProgramFrame(const SourceFrame& frame);
  int ProgramFile(const SourceFrame& frame);
  void WriteBody(size_t number, const std::string& outer, llvm::ArrayRef<int> first_lines);
  void WriteOp(const Node& node, const Body& body, int line);
  void DescribeTrace(const TapEvent& seen, llvm::StringRef summary, Trace* trace) const;
  std::string TensorProtoOf(const Tensor& tensor) const;

  const Module& module_;
  DebugWriterOptions options_;
  std::string prefix_, run_id_, host_;
  Stream metadata_, source_files_, stack_frames_, graphs_, execution_, traces_;
  std::mutex mutex_;
  std::vector<Body> bodies_;
  std::map<std::string, int> program_files_;     // by path: index of the file
  llvm::StringMap<std::string> program_frames_;  // by text: id of the frame
  llvm::DenseMap<const Graph*, std::string> graph_ids_;
  llvm::DenseMap<std::pair<const Graph*, NodeId>, std::vector<Trace>> trace_of_;
  llvm::DenseMap<std::pair<NodeId, int>, int64_t> eager_ids_;  // by output: its tensor id
  int64_t next_tensor_id_ = 0, next_eager_id_ = 0;
  uint64_t trace_bytes_ = 0;
  int64_t left_out_ = 0;
  bool is_closed_ = false;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_DEBUG_WRITER_H_
