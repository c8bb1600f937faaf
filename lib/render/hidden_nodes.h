// Nodes that the user hides, by op or by name, and the edges through them.
#ifndef GRAPNEL_LIB_RENDER_HIDDEN_NODES_H_
#define GRAPNEL_LIB_RENDER_HIDDEN_NODES_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/ir/graph.h"
#include "lib/support/error.h"
#include "lib/support/glob.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Regex.h"

namespace grapnel {

// "op:GLOB" matches ops, "name:GLOB" names, "/REGEX/" a part of a name (POSIX extended). The page
// parses the same words (lib/serve/web/filter_words.js).
class HiddenNodes {
 public:
  // True if `word` has this syntax, even if it is invalid.
  static bool IsWord(llvm::StringRef word);
  // Errors quote the word and say what is wrong with it.
  Error Add(llvm::StringRef word);

  bool empty() const { return ops_.empty() && names_.empty() && regexes_.empty(); }
  bool Hides(const Node& node) const;

 private:
  struct NameRegex {
    std::shared_ptr<const llvm::Regex> regex;
    std::vector<std::string> literals;  // contained in each name that matches; faster to search for
  };
  std::vector<Glob> ops_, names_;
  std::vector<NameRegex> regexes_;
};

// Returns pairs of boxes connected by hidden nodes alone, from the box that is read to its reader,
// sorted. `box_of` and `hidden` have an entry for each id. Linear in edges times the boxes that
// reach each hidden node.
std::vector<std::pair<uint32_t, uint32_t>> EdgesThrough(const Graph& graph,
                                                        llvm::ArrayRef<uint32_t> box_of,
                                                        const std::vector<bool>& hidden);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_HIDDEN_NODES_H_
