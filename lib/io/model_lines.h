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

// Returns the source locations of the graph's nodes: those in the graph (GraphDef.debug_info), and
// those that TensorFlow wrote into the SavedModel's folder (debug/saved_model_debug_info.pb, with
// save_debug_info=True). Ignores a file that cannot be read. Costs as much as building a LineTable.
GRAPNEL_PUBLIC LineTable LinesOf(const Model& model, const Module& module);
// Like LinesOf above, for a caller that has no Model; `saved_model` is the path of the SavedModel
// from which the module comes, or empty.
GRAPNEL_PUBLIC LineTable LinesOf(const Module& module, llvm::StringRef saved_model);

// Source text around a line.
struct GRAPNEL_PUBLIC SourceText {
  int first = 1;                   // line number of the first line
  std::vector<std::string> lines;  // the first 200 bytes of each, made printable
};

// The source files on this machine that grapnel may read to show the lines of a node.
enum class SourceReach {
  kAnywhere,  // all: for a user at the terminal, with the user's own rights
  kBelow,     // files below the model's or the working directory: for a page that others may see
};

// Returns the frame's line with `around` lines before and after it, from the source file on this
// machine; resolves a relative path against the model's folder, or the working directory. Reads
// only files with the name of a source file (.py, .cpp, .cc, .cxx, .c, .h, .hpp, .inc) that are
// regular files of text, at most 4 MiB long, because a graph must not be able to make grapnel read
// arbitrary files. Returns nullopt if there is no such file that it may read, or if the file has no
// such line.
GRAPNEL_PUBLIC std::optional<SourceText> ReadSourceText(llvm::StringRef model_path,
                                                        const SourceFrame& frame, int around,
                                                        SourceReach reach);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_MODEL_LINES_H_
