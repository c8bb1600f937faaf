// A human-readable text format for graphs: one node per line; inferable facts are left out.
//
//   %x = Placeholder {dtype=float, shape=[2,3]}
//   %t = Transpose(%x, [1,0])            # the constant is a node of its own, t/perm
//   %y = Identity(%t, ^init) @cpu:0 : float[3,2]
//
// docs/text.md has the grammar. Every command reads it; `convert` and `--print` write it.
#ifndef GRAPNEL_LIB_IR_TEXT_H_
#define GRAPNEL_LIB_IR_TEXT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/support/public.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// A type that a graph's text states after a node's colon, to be compared with the inferred shape.
struct GRAPNEL_PUBLIC ShapeClaim {
  std::string function;  // empty: the main graph
  std::string node;
  int port = 0;
  Shape shape;
  std::string place;  // "12:30", line and column
};

struct GRAPNEL_PUBLIC TextGraph {
  // The title in the line of dashes before the graph. Without a title, the number of the graph if
  // the file has several graphs, otherwise empty.
  std::string title;
  std::unique_ptr<Module> module;
  std::vector<std::string> feeds, fetches;  // tensors that the text declares as such
  std::vector<ShapeClaim> claims;
};

// True if a file that begins with `head` looks like a graph's text.
GRAPNEL_PUBLIC bool LooksLikeGraphText(llvm::StringRef head);

// Reads the graphs of a text, which lines of dashes separate. A mistake in the text becomes a
// problem of the module with line and column, and reading continues with the next statement. Infers
// omitted attributes from the inputs, but does not fill in defaults. Checks the stated dtypes, and
// leaves the stated shapes in `claims` to callers with shape inference. Needs some ten times the
// text's size in memory.
GRAPNEL_PUBLIC std::vector<TextGraph> ReadGraphText(const FileBytes& file);

// Returns the type of a port as the printer shows it: "float[2,3]"; empty if unknown.
using PortDescriber = std::function<std::string(Port)>;

struct GRAPNEL_PUBLIC TextOptions {
  // If true, reading the text gives the same GraphDef, field by field, in the file's order, with
  // complete constants. Otherwise the text is for human readers: inputs before readers, no
  // defaults, no `_output_shapes`, short devices, truncated constants (which reading reports).
  bool exact = false;
  PortDescriber describe;  // describes ports of the main graph; not used if exact
  std::vector<std::string> feeds, fetches;
};

GRAPNEL_PUBLIC void WriteGraphAsText(const Module& module, const TextOptions& options,
                                     llvm::raw_ostream& os);

// Prints one node in the human-readable form, as a single line, with all attributes except those
// that equal the default.
GRAPNEL_PUBLIC std::string NodeText(const Node& node, const PortDescriber& describe = {});

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_TEXT_H_
