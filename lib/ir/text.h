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

// A type that a text states after a node's colon, to be checked once shapes are inferred.
struct GRAPNEL_PUBLIC ShapeClaim {
  std::string function;  // empty: the main graph
  std::string node;
  int port = 0;
  Shape shape;
  std::string place;  // "12:30", line and column
};

struct GRAPNEL_PUBLIC TextGraph {
  std::string title;  // from its line of dashes; its number if it has no title and the file has
                      // several graphs
  std::unique_ptr<Module> module;
  std::vector<std::string> feeds, fetches;  // tensors that the text marks as such
  std::vector<ShapeClaim> claims;
};

// True if `head`, the beginning of a file, starts like a graph's text.
GRAPNEL_PUBLIC bool LooksLikeGraphText(llvm::StringRef head);

// Reads the graphs of a text, one more than it has lines of dashes. A mistake becomes a problem of
// the module with line and column, and reading continues with the next statement. Fills in the
// attributes that follow from inputs, but not defaults. Checks claimed dtypes here, and leaves
// claimed shapes to callers with shape inference (`claims`). Needs some ten times the text's size
// in memory.
GRAPNEL_PUBLIC std::vector<TextGraph> ReadGraphText(const FileBytes& file);

// Returns the type of a port as the printer shows it: "float[2,3]"; empty if unknown.
using PortDescriber = std::function<std::string(Port)>;

struct GRAPNEL_PUBLIC TextOptions {
  // Exact: reading gives the same GraphDef, field by field, in the file's order, with complete
  // constants. Otherwise for human readers: inputs before readers, no defaults, no
  // `_output_shapes`, short devices, truncated constants (which reading reports).
  bool exact = false;
  PortDescriber describe;  // for the main graph's ports; only if not exact
  std::vector<std::string> feeds, fetches;
};

GRAPNEL_PUBLIC void WriteGraphAsText(const Module& module, const TextOptions& options,
                                     llvm::raw_ostream& os);

// Prints one node in the human-readable form, without its surroundings, with all attributes except
// defaults.
GRAPNEL_PUBLIC std::string NodeText(const Node& node, const PortDescriber& describe = {});

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_TEXT_H_
