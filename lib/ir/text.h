// A graph as text that people write and read: a node a line, what follows from the rest left out.
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

// What a text says of a tensor after the node's colon: for a check once shapes are inferred.
struct GRAPNEL_PUBLIC ShapeClaim {
  std::string function;  // empty: of the main graph
  std::string node;
  int port = 0;
  Shape shape;
  std::string place;  // "12:30", line and column
};

struct GRAPNEL_PUBLIC TextGraph {
  std::string title;  // of its line of dashes; its number if there is none and the file has several
  std::unique_ptr<Module> module;
  std::vector<std::string> feeds, fetches;  // tensors that the text names so
  std::vector<ShapeClaim> claims;
};

// Whether `head`, the beginning of a file, begins as a graph's text does.
GRAPNEL_PUBLIC bool LooksLikeGraphText(llvm::StringRef head);

// The graphs of a text, one for each line of dashes and one more, at least one. What is wrong
// becomes a problem of the module with line and column, and reading goes on with the next
// statement. Attributes that follow from inputs are filled in, defaults are not. Dtypes that the
// text claims are checked here, shapes are left to who can infer them (`claims`). Needs some ten
// times the text in memory.
GRAPNEL_PUBLIC std::vector<TextGraph> ReadGraphText(const FileBytes& file);

// What a port holds, as the printer shows it: "float[2,3]"; empty when nothing is known.
using PortDescriber = std::function<std::string(Port)>;

struct GRAPNEL_PUBLIC TextOptions {
  // Exact: reading gives the same GraphDef, field by field, in the file's order; constants in full.
  // Else for people: inputs before readers, defaults and `_output_shapes` left out, devices short,
  // constants cut short (reading then says so).
  bool exact = false;
  PortDescriber describe;  // of the main graph's ports; only when not exact
  std::vector<std::string> feeds, fetches;
};

GRAPNEL_PUBLIC void WriteGraphAsText(const Module& module, const TextOptions& options,
                                     llvm::raw_ostream& os);

// One node as for people, without what surrounds it: all its attributes but defaults are there.
GRAPNEL_PUBLIC std::string NodeText(const Node& node, const PortDescriber& describe = {});

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_TEXT_H_
