// Source locations of a graph's nodes, from GraphDef.debug_info.
#ifndef GRAPNEL_LIB_IR_LINE_TABLE_H_
#define GRAPNEL_LIB_IR_LINE_TABLE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/ir/module.h"
#include "lib/support/public.h"
#include "llvm/ADT/DenseMap.h"

namespace grapnel {

// A stack frame: a source line and its function. The texts live as long as the LineTable.
struct GRAPNEL_PUBLIC SourceFrame {
  llvm::StringRef file;
  int line = 0, column = 0;        // from 1; 0: unknown
  llvm::StringRef function, code;  // empty: unknown
  bool operator==(const SourceFrame& other) const {
    return file == other.file && line == other.line && column == other.column &&
           function == other.function && code == other.code;
  }
};

// Returns "file.py:12 in f", without the function if its name is unknown or is that of a C++ lambda
// ("operator()"), or if not `with_function`; without the line if it is unknown.
GRAPNEL_PUBLIC std::string FrameText(const SourceFrame& frame, bool with_function = true);

// A source location that a user typed: "file.py:12" or "dir/file.py:12". `line` is 0 for a file
// alone, "file.py", which means all of its lines.
struct GRAPNEL_PUBLIC SourcePlace {
  static SourcePlace Parse(llvm::StringRef text);
  // True if the frame is at this line, in a file whose path ends in `file` (whole path components).
  bool Has(const SourceFrame& frame) const;
  std::string file;
  int line = 0;
};

// True if the path belongs to an installed TensorFlow, Keras or Abseil package or to Python's
// library, not to the user's code.
GRAPNEL_PUBLIC bool IsFrameworkFile(llvm::StringRef path);

// Stack traces of a module's nodes, by the name of the node. Building one takes time linear in the
// bytes of the debug info, and nothing for a graph without it. Skips malformed parts: truncated
// bytes, missing files and frames.
class GRAPNEL_PUBLIC LineTable {
 public:
  // How many frames of a stack are kept; of a deeper stack, the innermost ones.
  static constexpr size_t kMostFrames = 64;
  using TraceId = uint32_t;  // the id of a stack, which nodes may share; 0: no stack
  using Stack = std::vector<SourceFrame>;

  LineTable() = default;
  explicit LineTable(const Module& module);
  // Adds another serialized GraphDebugInfo; nodes that already have a stack keep it.
  void Add(std::string debug_info);
  // For a module whose main graph was the body of `function`: its nodes have the stacks of that
  // function's nodes.
  void SetMainFunction(std::string function) { main_function_ = std::move(function); }

  bool empty() const { return trace_of_.empty(); }
  // Returns the id of a node's stack, 0 if there is none. `function`: the function whose body
  // contains the node; empty for the main graph.
  TraceId Find(llvm::StringRef function, llvm::StringRef node) const;
  // Looks up the stack by the node's name. If there is none, tries the names that the node had
  // before TensorFlow rewrote it (NodeDef.experimental_debug_info), in order.
  TraceId Of(const Node& node) const;

  // Returns the frames, outermost first: the last frame is the line that created the op.
  Stack StackOf(TraceId trace) const;
  Stack StackOf(const Node& node) const { return StackOf(Of(node)); }
  // Returns the innermost frame in user code; if no frame is in user code, the innermost frame;
  // nullopt without a stack.
  std::optional<SourceFrame> LineOf(TraceId trace) const;
  std::optional<SourceFrame> LineOf(const Node& node) const { return LineOf(Of(node)); }

  // Returns the nodes whose stack has a frame at `place`, in the module's order, those of the main
  // graph first. Linear in nodes.
  std::vector<Node> NodesAt(const SourcePlace& place, const Module& module) const;
  // The files that occur in any frame, sorted.
  std::vector<llvm::StringRef> Files() const;

 private:
  class Reader;
  std::vector<std::shared_ptr<const std::string>> bytes_;
  std::vector<SourceFrame> frames_;
  std::vector<uint32_t> frames_of_traces_;  // indices into frames_
  // Stack i + 1 is the part of frames_of_traces_ from begin to end.
  std::vector<std::pair<uint32_t, uint32_t>> traces_;
  llvm::DenseMap<llvm::StringRef, TraceId> trace_of_;  // by "node" and "node@function"
  std::string main_function_;                          // see SetMainFunction
};

// Returns the innermost frame in user code; if no frame is in user code, the innermost frame;
// nullopt for an empty stack.
GRAPNEL_PUBLIC std::optional<SourceFrame> LineOf(const LineTable::Stack& stack);

// Returns "\n  at file.py:12 in f" for each frame in user code, innermost first, at most `most`, to
// append to an error message. If no frame is in user code, shows the innermost frame. Empty for an
// empty stack.
GRAPNEL_PUBLIC std::string StackText(const LineTable::Stack& stack, size_t most = 4);

// Returns StackText for the last node with a stack that an error message names: "node 'x'" (after
// "function 'f'", a node of that function), "node 'f/x'", or a node x that is in only one function.
// Empty if no node in the message has a stack.
GRAPNEL_PUBLIC std::string StackOfMessage(llvm::StringRef message, const LineTable& lines,
                                          const Module& module);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_LINE_TABLE_H_
