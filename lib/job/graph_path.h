// A graph as people name it on a command line: a path, and which of the graphs there.
#ifndef GRAPNEL_LIB_JOB_GRAPH_PATH_H_
#define GRAPNEL_LIB_JOB_GRAPH_PATH_H_

#include <string>

#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

struct GraphPath {
  std::string path;
  std::string title;  // empty: the only graph of the path
};

// "PATH:NAME" in its parts, where no file is called so but one is called PATH: the longest such
// PATH. Any other text is a path.
GraphPath ReadGraphPath(llvm::StringRef text);

// The same beside a `title` that is given as well, with `by`. Errors: the two differ.
Expected<GraphPath> ReadGraphPath(llvm::StringRef text, llvm::StringRef title, llvm::StringRef by);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_GRAPH_PATH_H_
