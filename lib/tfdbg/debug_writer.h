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
  std::string folder;  // made where it is not there
  proto::TensorDebugMode mode = proto::FULL_HEALTH;
  // The most executions, and the most traces, that are kept, the last ones; 0 or less: all.
  int64_t circular_buffer_size = 1000;
  uint64_t most_bytes = 0;  // of traces; those beyond are counted and not written; 0: no limit
  std::string source;       // the path by which readers call the model's text, that stacks point to
  std::string graph_name;   // of the main graph
  // The program's lines: a node that has some has them for its stack, and the model's text stands
  // for the others. With the text of each file that this machine has, as TensorFlow writes it.
  std::function<LineTable::Stack(const Node&)> stack_of;                    // none: no node has any
  std::function<std::vector<std::string>(const SourceFrame&)> read_source;  // none: no text
  // The main graph is a program's in eager mode, which grows: AddOp() tells of its ops, its
  // functions are written when they are first called, and there is no text of a model.
  bool is_eager = false;
};

// Whether TensorFlow's debugger records what an op of that type puts out: calls, Identity and
// control flow only hand values on.
bool IsDebugged(llvm::StringRef op_type);
// Whether a tensor of that dtype is recorded in that mode: health is of floats, shapes are of
// numbers, all else of what NumPy can hold.
bool IsDebugged(proto::TensorDebugMode mode, DataType dtype);

// Thread-safe, but for Create() and Close(). What is written once (the graphs, their text) is on
// disk when Create() returns; executions and traces are when a buffer is full, or at Flush(), each
// record whole in one write. With a circular buffer they are kept until Close().
class DebugWriter {
 public:
  // `module` must outlive it. Errors: the folder cannot be made or written; it holds the files of
  // another run, which readers could not tell apart.
  static Expected<std::unique_ptr<DebugWriter>> Create(const Module& module,
                                                       DebugWriterOptions options);
  ~DebugWriter();  // closes, and forgets errors

  // One output of a node of the main graph or of a function that it calls, however deep; others are
  // passed over.
  void AddTrace(const TapEvent& event);
  // An op of the main graph of a program in eager mode has run. Of outputs that `values` does not
  // fit no more is recorded than that they are there; of ops that TensorFlow's debugger passes over
  // nothing is.
  void AddOp(const Node& node, llvm::ArrayRef<Tensor> outputs, const TapFilter& values);
  // A run of the main graph has ended with these values.
  void AddExecution(llvm::ArrayRef<Tensor> feeds, llvm::ArrayRef<Tensor> fetches);
  Error Flush();
  Error Close();
  int64_t left_out() const { return left_out_; }  // traces beyond `most_bytes`

 private:
  // Of main, or of a function that it calls.
  struct Body {
    const Graph* graph;
    std::string name;                                    // as readers see it
    std::vector<std::string> callers;                    // frames, outermost first
    llvm::DenseMap<NodeId, std::vector<size_t>> called;  // bodies that a node is the first to call
  };
  // The bytes of a trace, but for its time and what is counted.
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
    Error Flush() { return file_.Flush(); }  // of what is not kept
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
  std::map<std::string, int> program_files_;     // their numbers
  llvm::StringMap<std::string> program_frames_;  // ids, by text
  llvm::DenseMap<const Graph*, std::string> graph_ids_;
  llvm::DenseMap<std::pair<const Graph*, NodeId>, std::vector<Trace>> trace_of_;
  llvm::DenseMap<std::pair<NodeId, int>, int64_t> eager_ids_;  // of AddOp()
  int64_t next_tensor_id_ = 0, next_eager_id_ = 0;
  uint64_t trace_bytes_ = 0;
  int64_t left_out_ = 0;
  bool is_closed_ = false;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_DEBUG_WRITER_H_
