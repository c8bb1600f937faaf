// Where in a program the nodes of an opened graph were made.
#ifndef GRAPNEL_LIB_IO_MODEL_LINES_H_
#define GRAPNEL_LIB_IO_MODEL_LINES_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/io/open.h"
#include "lib/ir/line_table.h"

namespace grapnel {

// What the graph itself says (GraphDef.debug_info), then what TensorFlow wrote beside a SavedModel
// (debug/saved_model_debug_info.pb, of save_debug_info=True). A file that cannot be read says
// nothing. Cost: as LineTable has it.
GRAPNEL_PUBLIC LineTable LinesOf(const Model& model, const Module& module);

// The program's text around a line.
struct GRAPNEL_PUBLIC SourceText {
  int first = 1;                   // number of the first line
  std::vector<std::string> lines;  // printable, each at most 200 characters
};

// Lines from `line` - `around` on, of the file of that frame as it is on this machine: where its
// path is absolute, or beside the model or in the working folder. Only files that are source text
// by name (.py, .cpp, .cc, .cxx, .h, .hpp, .ipynb is none) and by content, regular, below 4 MB:
// what a graph names must not make a reader of any file. Nothing: it cannot be read so.
GRAPNEL_PUBLIC std::optional<SourceText> ReadSourceText(llvm::StringRef model_path,
                                                        const SourceFrame& frame, int around);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_MODEL_LINES_H_
