// Writes a run as TensorFlow's debugger does (tfdbg v2): six files that TensorBoard's Debugger V2
// shows, and that ReadDebugFolder reads.
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
  // The number of executions, and of traces, to keep, the last ones; 0 or less: all.
  int64_t circular_buffer_size = 1000;
  uint64_t most_bytes = 0;  // limit on traces; those beyond are counted, not written; 0: no limit
  std::string source;       // the path of the model's text for readers; stacks point to it
  std::string graph_name;   // of the main graph
  // The program's stacks: a node without one points to the model's text. Includes the text of each
  // file that this machine has, as TensorFlow writes it.
  std::function<LineTable::Stack(const Node&)> stack_of;                    // null: no node has one
  std::function<std::vector<std::string>(const SourceFrame&)> read_source;  // null: no text
  // The main graph belongs to a program in eager mode and grows: AddOp() adds its ops, its
  // functions are written when they are first called, and there is no model text.
  bool is_eager = false;
};

// True if TensorFlow's debugger records the outputs of an op of that type: calls, Identity and
// control flow only pass values on.
bool IsDebugged(llvm::StringRef op_type);
// True if the mode records tensors of that dtype: health is for floats, shapes are for numbers, all
// else is for dtypes that NumPy can hold.
bool IsDebugged(proto::TensorDebugMode mode, DataType dtype);

// Thread-safe, except for Create() and Close(). The parts that are written once (the graphs, their
// text) are on disk when Create() returns; executions and traces are written when a buffer is full,
// or at Flush(), each record whole in one write. With a circular buffer they are kept until
// Close().
class DebugWriter {
 public:
  // `module` must outlive it. Errors: the folder cannot be created or written; it holds the files
  // of another run, which readers could not distinguish.
  static Expected<std::unique_ptr<DebugWriter>> Create(const Module& module,
                                                       DebugWriterOptions options);
  ~DebugWriter();  // closes, and ignores errors

  // Adds one output of a node of the main graph or of a function that it calls, directly or not;
  // ignores others.
  void AddTrace(const TapEvent& event);
  // Adds an op of the main graph of a program in eager mode after it has run. Outputs that do not
  // match `values` are recorded without a value; ops that TensorFlow's debugger skips are not
  // recorded.
  void AddOp(const Node& node, llvm::ArrayRef<Tensor> outputs, const TapFilter& values);
  // Adds an execution: a run of the main graph that has ended with these values.
  void AddExecution(llvm::ArrayRef<Tensor> feeds, llvm::ArrayRef<Tensor> fetches);
  Error Flush();
  Error Close();
  int64_t left_out() const { return left_out_; }  // traces beyond `most_bytes`

 private:
  // The body of main, or of a function that it calls.
  struct Body {
    const Graph* graph;
    std::string name;                                    // for readers
    std::vector<std::string> callers;                    // frames, outermost first
    llvm::DenseMap<NodeId, std::vector<size_t>> called;  // bodies that a node is the first to call
  };
  // The bytes of a trace, except for its time and its counts.
  struct Trace {
    std::string record;  // empty: not recorded
    size_t content = 0;  // where the counts begin
    int64_t tensor_id = 0;
  };
  // A file that records are appended to.
  class Stream {
   public:
    Error Open(const std::string& path) { return file_.Open(path); }
    void Keep(int64_t limit) { limit_ = limit; }
    void Add(llvm::StringRef event);
    Error Flush() { return file_.Flush(); }  // of records that are not kept
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
  std::map<std::string, int> program_files_;     // by path: their numbers
  llvm::StringMap<std::string> program_frames_;  // ids, by text
  llvm::DenseMap<const Graph*, std::string> graph_ids_;
  llvm::DenseMap<std::pair<const Graph*, NodeId>, std::vector<Trace>> trace_of_;
  llvm::DenseMap<std::pair<NodeId, int>, int64_t> eager_ids_;  // from AddOp()
  int64_t next_tensor_id_ = 0, next_eager_id_ = 0;
  uint64_t trace_bytes_ = 0;
  int64_t left_out_ = 0;
  bool is_closed_ = false;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_DEBUG_WRITER_H_
