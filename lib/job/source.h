// Looks up the source lines that created nodes, and formats them.
#ifndef GRAPNEL_LIB_JOB_SOURCE_H_
#define GRAPNEL_LIB_JOB_SOURCE_H_

#include <string>
#include <vector>

#include "lib/io/model_lines.h"
#include "lib/job/opened_graph.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Returns the source lines that created the nodes of this graph.
LineTable LinesOf(const OpenedGraph& opened);

// Returns "\n  at file.py:12 in f" for each frame, innermost first, of the stack that created the
// last node that `message` names; "" if `message` names no node or the stack is unknown.
std::string StackOfMessage(const OpenedGraph& opened, llvm::StringRef message);
// Appends StackOfMessage() of an error's text to the text.
Error WithStack(const OpenedGraph& opened, Error error);

// Returns the nodes that a source line created. Errors: the line created no node (the message lists
// nearby lines of that file, or the known files).
Expected<std::vector<Node>> NodesOfLine(const LineTable& lines, const Module& module,
                                        llvm::StringRef place);

// Returns the source text of a line, trimmed; "" if it cannot be read.
std::string TextOfLine(llvm::StringRef model_path, const SourceFrame& frame);

// Writes each frame of a stack as a line, innermost first. Below a frame outside of frameworks
// writes the surrounding source text, if it can be read (ReadSourceText), else the line that the
// stack recorded, if any.
void WriteStack(const LineTable::Stack& stack, llvm::StringRef model_path, llvm::raw_ostream& os);
// Writes [{"file", "line", "column"?, "function", "code"?, "is_users"}], the frames of a stack,
// outermost first.
void WriteStackJson(const LineTable::Stack& stack, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_SOURCE_H_
