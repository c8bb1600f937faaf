// Reads a graph's name on a command line: a path, and optionally one of the graphs in it.
#ifndef GRAPNEL_LIB_JOB_GRAPH_PATH_H_
#define GRAPNEL_LIB_JOB_GRAPH_PATH_H_

#include <string>

#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

struct GraphPath {
  std::string path;
  std::string title;  // empty: none is named
};

// Splits "PATH:NAME" if PATH exists and no file has the whole text as its name; takes the longest
// such PATH. Any other text is a path as a whole.
GraphPath ReadGraphPath(llvm::StringRef text);

// Like ReadGraphPath(text), but `title`, the value of the flag `by`, may name the graph too.
// Errors: the text and the flag name different graphs.
Expected<GraphPath> ReadGraphPath(llvm::StringRef text, llvm::StringRef title, llvm::StringRef by);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_GRAPH_PATH_H_
