// A human-readable text format for graphs: one node per line; inferable facts are left out.
//
//   %x = Placeholder {dtype=float, shape=[2,3]}
//   %t = Transpose(%x, [1,0])            # the constant is a node of its own, t/perm
//   %y = Identity(%t, ^init) @cpu:0 : float[3,2]
//
// docs/reference/text.md has the grammar. Every command that opens graphs reads the format;
// commands that write a graph write it to a file named *.gtxt, and `--print` and `trace` print it.
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

// The shape that a text states for an output, after the node's colon. CheckShapeClaims
// (lib/io/shape_claims.h) compares it with the inferred one.
struct GRAPNEL_PUBLIC ShapeClaim {
  std::string function;  // empty: the main graph
  std::string node;
  int port = 0;
  Shape shape;
  std::string place;  // "12:30", line and column
};

struct GRAPNEL_PUBLIC TextGraph {
  // The title in the line of dashes that begins the graph. For a graph without a title, its number
  // if the text has several graphs, otherwise empty.
  std::string title;
  std::unique_ptr<Module> module;
  std::vector<std::string> feeds, fetches;  // tensors that the text declares as such
  std::vector<ShapeClaim> claims;
};

// True if a file that begins with `head` looks like a graph's text.
GRAPNEL_PUBLIC bool LooksLikeGraphText(llvm::StringRef head);

// Reads the graphs of a text; lines of dashes separate them. A mistake becomes a problem of the
// module with line and column, and reading continues with the next statement. Infers omitted
// attributes from a node's inputs (lib/ir/text_inference.h), but does not fill in the defaults of
// others. Compares stated dtypes with inferred ones, and leaves the stated shapes in `claims`,
// because it cannot infer shapes. Needs some ten times the text's size in memory.
GRAPNEL_PUBLIC std::vector<TextGraph> ReadGraphText(const FileBytes& file);

// Returns the dtype and shape of a port for the text after a node's colon, "float[2,3]"; empty if
// they are unknown.
using PortDescriber = std::function<std::string(Port)>;

struct GRAPNEL_PUBLIC TextOptions {
  // True: reading the text gives the same GraphDef, field by field, with nodes in the file's order
  // and complete constants. False: the text is for human readers; it has inputs before their
  // readers, short devices, no default values, no `_output_shapes`, and truncated constants, of
  // which reading the text warns.
  bool exact = false;
  PortDescriber describe;  // describes ports of the main graph; not used if exact
  std::vector<std::string> feeds, fetches;
};

GRAPNEL_PUBLIC void WriteGraphAsText(const Module& module, const TextOptions& options,
                                     llvm::raw_ostream& os);

// Prints one node as a single line in the form for human readers, with all attributes that differ
// from their defaults, except `_output_shapes`.
GRAPNEL_PUBLIC std::string NodeText(const Node& node, const PortDescriber& describe = {});

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_TEXT_H_
