// Source locations for the nodes of an opened graph.
#ifndef GRAPNEL_LIB_IO_MODEL_LINES_H_
#define GRAPNEL_LIB_IO_MODEL_LINES_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/io/open.h"
#include "lib/ir/line_table.h"
#include "lib/support/public.h"

namespace grapnel {

// Returns the graph's own locations (GraphDef.debug_info), plus those that TensorFlow wrote next to
// a SavedModel (debug/saved_model_debug_info.pb, with save_debug_info=True). Ignores a file that
// cannot be read. Costs as much as LineTable.
GRAPNEL_PUBLIC LineTable LinesOf(const Model& model, const Module& module);
// The same for a graph without its model; `saved_model` is the path of its SavedModel, or empty.
GRAPNEL_PUBLIC LineTable LinesOf(const Module& module, llvm::StringRef saved_model);

// Source text around a line.
struct GRAPNEL_PUBLIC SourceText {
  int first = 1;                   // number of the first line
  std::vector<std::string> lines;  // printable, each at most 200 characters
};

// Where on this machine source text may be read from.
enum class SourceReach {
  kAnywhere,  // for the user of this terminal, with the user's own rights
  kBelow,     // for a page, which others may see: below the model's or the working folder
};

// Returns the frame's line with this many lines before and after it, from its file on this machine;
// resolves a relative path against the model's folder, or the working folder. Reads only source
// files by name (.py, .cpp, .cc, .cxx, .c, .h, .hpp, .inc) that are regular, text, and at most 4
// MB: a graph must not be able to name arbitrary files. Returns nullopt if there is no such file.
GRAPNEL_PUBLIC std::optional<SourceText> ReadSourceText(llvm::StringRef model_path,
                                                        const SourceFrame& frame, int around,
                                                        SourceReach reach);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_MODEL_LINES_H_
