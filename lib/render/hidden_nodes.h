// Nodes that the user hides, by op or by name, and the edges through hidden nodes.
#ifndef GRAPNEL_LIB_RENDER_HIDDEN_NODES_H_
#define GRAPNEL_LIB_RENDER_HIDDEN_NODES_H_

#include <string>
#include <utility>
#include <vector>

#include "lib/ir/graph.h"
#include "lib/render/name_regex.h"
#include "lib/support/error.h"
#include "lib/support/glob.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// A list of words that hide nodes: "op:GLOB" matches ops, "name:GLOB" names, "/REGEX/" a part of a
// name (POSIX extended, with \d, \w and \s). The page parses the same words
// (lib/serve/web/filter_words.js).
class HiddenNodes {
 public:
  // True if `word` has one of these forms, even if its glob or regular expression is invalid.
  static bool IsWord(llvm::StringRef word);
  // Adds a word. Errors quote the word and say why it is invalid.
  Error Add(llvm::StringRef word);

  bool empty() const { return ops_.empty() && names_.empty() && regexes_.empty(); }
  bool Hides(const Node& node) const;

 private:
  std::vector<Glob> ops_, names_;
  std::vector<NameRegex> regexes_;
};

// Returns the pairs of boxes that are connected through hidden nodes only, sorted: first the box
// that is read, then the box that reads it. `box_of` and `hidden` have an entry for each node id.
// Takes time linear in edges times the number of boxes that a hidden node reads, directly or
// through hidden nodes.
std::vector<std::pair<uint32_t, uint32_t>> EdgesThrough(const Graph& graph,
                                                        llvm::ArrayRef<uint32_t> box_of,
                                                        const std::vector<bool>& hidden);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_HIDDEN_NODES_H_
