// Where in a program the nodes of a graph were made, as the graph says it (GraphDef.debug_info).
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

// A line of the program, in a function of it. The texts live as long as the LineTable.
struct GRAPNEL_PUBLIC SourceFrame {
  llvm::StringRef file;
  int line = 0, column = 0;        // from 1; 0: not said
  llvm::StringRef function, code;  // empty: not said
  bool operator==(const SourceFrame& other) const {
    return file == other.file && line == other.line && column == other.column &&
           function == other.function && code == other.code;
  }
};

// "file.py:12"; "file.py:12 in f" where the function is said and has a name, as a lambda has none.
GRAPNEL_PUBLIC std::string FrameText(const SourceFrame& frame, bool with_function = true);

// A place that a person names: "file.py:12", "dir/file.py:12", or a file with all its lines (0).
struct GRAPNEL_PUBLIC SourcePlace {
  static SourcePlace Parse(llvm::StringRef text);
  // The file's path ends in what was named, from a folder's name on.
  bool Has(const SourceFrame& frame) const;
  std::string file;
  int line = 0;
};

// Whether a file is TensorFlow's, Keras's or Python's own, and no user's: as its path says.
GRAPNEL_PUBLIC bool IsFrameworkFile(llvm::StringRef path);

// Stacks of the nodes of a module by their names in it. Made when somebody asks: linear in the
// bytes of the debug info; a graph without costs nothing. What is
// broken in it (cut bytes, files and frames that are not there) is left out.
class GRAPNEL_PUBLIC LineTable {
 public:
  // Of a stack the innermost so many frames are kept.
  static constexpr size_t kMostFrames = 64;
  using TraceId = uint32_t;  // a stack, which nodes share; 0: none
  using Stack = std::vector<SourceFrame>;

  LineTable() = default;
  explicit LineTable(const Module& module);
  // A serialized GraphDebugInfo beside: of names that are known already nothing changes.
  void Add(std::string debug_info);

  bool empty() const { return trace_of_.empty(); }
  // `function`: whose body the node is in; empty: the main graph.
  TraceId Find(llvm::StringRef function, llvm::StringRef node) const;
  // The same by the node's name; else by the first of the names that it had before TensorFlow
  // rewrote it (NodeDef.experimental_debug_info) of which there is a stack.
  TraceId Of(const Node& node) const;

  // Outermost first: the last frame is where the op was made.
  Stack StackOf(TraceId trace) const;
  Stack StackOf(const Node& node) const { return StackOf(Of(node)); }
  // The innermost frame that is the user's own, else the innermost; nothing of no stack.
  std::optional<SourceFrame> LineOf(TraceId trace) const;
  std::optional<SourceFrame> LineOf(const Node& node) const { return LineOf(Of(node)); }

  // The nodes whose stack has a frame there, in the module's order, main first. Cost: linear in
  // nodes.
  std::vector<Node> NodesAt(const SourcePlace& place, const Module& module) const;
  // Every file that a frame is of, sorted.
  std::vector<llvm::StringRef> Files() const;

 private:
  class Reader;
  std::vector<std::shared_ptr<const std::string>> bytes_;
  std::vector<SourceFrame> frames_;
  std::vector<uint32_t> frames_of_traces_;             // numbers of frames
  std::vector<std::pair<uint32_t, uint32_t>> traces_;  // begin and end there; of TraceId - 1
  llvm::DenseMap<llvm::StringRef, TraceId> trace_of_;  // by "node" and "node@function"
};

// The innermost frame that is the user's own, else the innermost; nothing of no stack.
GRAPNEL_PUBLIC std::optional<SourceFrame> LineOf(const LineTable::Stack& stack);

// "\n  at file.py:12 in f" for each frame that is the user's, innermost first, at most `most`; for
// the end of an error's text. Empty: there is no stack.
GRAPNEL_PUBLIC std::string StackText(const LineTable::Stack& stack, size_t most = 4);

// The same for the node that an error's text names last ("node 'x'", after "function 'f'", as
// "f/x", or of the only function that has an x). Empty: it names none that has a stack.
GRAPNEL_PUBLIC std::string StackOfMessage(llvm::StringRef message, const LineTable& lines,
                                          const Module& module);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_LINE_TABLE_H_
