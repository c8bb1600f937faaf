// Names of nodes as text output prints them: short, and such that a user can pass them on.
#ifndef GRAPNEL_LIB_IR_SHORT_NAMES_H_
#define GRAPNEL_LIB_IR_SHORT_NAMES_H_

#include <string>
#include <vector>

#include "lib/ir/module.h"

namespace grapnel {

// Shortens names by these rules, of which docs/guide/seeing.md tells users:
//
// - If no name of the output is longer than kLongest, all are printed in full.
// - Otherwise the scope that all share is left out of them (left_out()). Names without a scope do not
//   count.
// - Of a name that is still longer than kLongest, the output has the end: as many whole parts as fit.
// - If a node of another name has this end too, it has a pattern that only this name matches: a part
//   of the name, "*" and the end, or letters of the name between "*".
//
// A short name means what the name means, for all flags that take names (lib/job/name_resolver.h):
// the node alone, unless nodes of several functions have the whole name.
// Documents (JSON) and graphs that are written have full names.
class ShortNames {
 public:
  static constexpr size_t kLongest = 60;

  // Shortens nothing.
  ShortNames() = default;
  // `known`: the names of all nodes that a short name must not mean besides its own, NODE or
  // FUNCTION/NODE. `printed`: the names of the output; nodes of a function may come without it.
  // Sorts `known` if a name must be shortened.
  ShortNames(std::vector<std::string> known, llvm::ArrayRef<std::string> printed);
  // For output that may have any of the names and shows their scopes otherwise: leaves out none.
  static ShortNames WithScopes(std::vector<std::string> known);

  // The scope that is left out, with a slash at its end; "" if there is none.
  const std::string& left_out() const { return left_out_; }
  // Returns the line that says which scope is left out: "names are without ..."; "" if none is.
  std::string Note() const;

  std::string Of(llvm::StringRef name) const;
  // Returns the end of a name, which has no path of calls in front, if only this name has the end;
  // otherwise returns Of(name). For names of WithScopes().
  std::string EndOf(llvm::StringRef name, llvm::StringRef end) const;
  // Shortens the names of known nodes in a text. An output or a mark of a control edge stays: "^x",
  // "x:1".
  std::string InText(llvm::StringRef text) const;

 private:
  bool IsKnown(llvm::StringRef name) const;
  // True if each known name that ends with these letters, and for which `fits`, is `name` or ends
  // with it, as that of a node in a function does.
  bool MeansOnly(llvm::StringRef name, llvm::StringRef letters,
                 llvm::function_ref<bool(llvm::StringRef)> fits) const;
  // True if each known name that is `end` or ends with its whole parts is `name`, or ends with
  // `name`, as that of a node in a function does.
  bool IsEndOf(llvm::StringRef name, llvm::StringRef end) const;
  void Keep(std::vector<std::string> known);
  std::string PatternOf(llvm::StringRef name) const;

  std::string left_out_;
  std::vector<std::string> reversed_;  // the known names from their last letter, sorted
};

// Returns the names of all nodes of a module: NODE, FUNCTION/NODE.
std::vector<std::string> AllNodeNames(const Module& module);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_SHORT_NAMES_H_
