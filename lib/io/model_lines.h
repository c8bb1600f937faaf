// Where in a program the nodes of an opened graph were made.
#ifndef GRAPNEL_LIB_IO_MODEL_LINES_H_
#define GRAPNEL_LIB_IO_MODEL_LINES_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/io/open.h"
#include "lib/ir/line_table.h"
#include "lib/support/public.h"

namespace grapnel {

// What the graph itself says (GraphDef.debug_info), then what TensorFlow wrote beside a SavedModel
// (debug/saved_model_debug_info.pb, of save_debug_info=True). A file that cannot be read says
// nothing. Cost: as LineTable has it.
GRAPNEL_PUBLIC LineTable LinesOf(const Model& model, const Module& module);
// The same of a graph that is not open any more; `saved_model`: the path of the one that it is of,
// empty: of none.
GRAPNEL_PUBLIC LineTable LinesOf(const Module& module, llvm::StringRef saved_model);

// The program's text around a line.
struct GRAPNEL_PUBLIC SourceText {
  int first = 1;                   // number of the first line
  std::vector<std::string> lines;  // printable, each at most 200 characters
};

// From where on this machine a program's text may be read.
enum class SourceReach {
  kAnywhere,  // for the person at this terminal, who may read what is theirs
  kBelow,     // for a page, which others may see: below the model's folder or the working folder
};

// The line of the frame with so many lines before and after it, of its file as it is on this
// machine; a relative path begins beside the model, or in the working folder. Only files that are
// source by name (.py, .cpp, .cc, .cxx, .c, .h, .hpp, .inc) and text, regular, at most 4 MB: what a
// graph names must not make a reader of any file. Nothing: there is none to be read so.
GRAPNEL_PUBLIC std::optional<SourceText> ReadSourceText(llvm::StringRef model_path,
                                                        const SourceFrame& frame, int around,
                                                        SourceReach reach);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_MODEL_LINES_H_
