// What jobs say of the lines of a program that nodes were made in.
#ifndef GRAPNEL_LIB_JOB_SOURCE_H_
#define GRAPNEL_LIB_JOB_SOURCE_H_

#include <string>
#include <vector>

#include "lib/io/model_lines.h"
#include "lib/job/opened_graph.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// The lines that the program's nodes of this graph were made in.
LineTable LinesOf(const OpenedGraph& opened);

// "\n  at file.py:12 in f" for each call, innermost first, of the node that a text names last; "":
// the graph does not say, or the text names none.
std::string StackOfMessage(const OpenedGraph& opened, llvm::StringRef message);
// The same at the end of an error's text.
Error WithStack(const OpenedGraph& opened, Error error);

// The nodes of a line. Errors: no node is made there, with the lines of that file that are near, or
// the files that there are.
Expected<std::vector<Node>> NodesOfLine(const LineTable& lines, const Module& module,
                                        llvm::StringRef place);

// The program's text of a line, without blanks before and after; "": it cannot be read.
std::string TextOfLine(llvm::StringRef model_path, const SourceFrame& frame);

// Each frame of a stack as a line, innermost first, with the program's text around it where it can
// be read (ReadSourceText).
void WriteStack(const LineTable::Stack& stack, llvm::StringRef model_path, llvm::raw_ostream& os);
// [{"file", "line", "column", "function", "code", "is_users"}], outermost first.
void WriteStackJson(const LineTable::Stack& stack, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_SOURCE_H_
