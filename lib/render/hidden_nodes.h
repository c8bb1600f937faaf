// Nodes that a reader does not want to see: by op and by name, and what is read through them.
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

// "op:GLOB" fits ops, "name:GLOB" names, "/REGEX/" a part of a name (POSIX extended). The page
// reads the same words (lib/serve/web/filter_words.js).
class HiddenNodes {
 public:
  // Whether `word` is written as one, be it a good one or not.
  static bool IsWord(llvm::StringRef word);
  // Errors quote the word and say what is wrong with it.
  Error Add(llvm::StringRef word);

  bool empty() const { return ops_.empty() && names_.empty() && regexes_.empty(); }
  bool Hides(const Node& node) const;

 private:
  struct NameRegex {
    std::shared_ptr<const llvm::Regex> regex;
    std::vector<std::string> literals;  // are in each name that fits; these are found faster
  };
  std::vector<Glob> ops_, names_;
  std::vector<NameRegex> regexes_;
};

// Pairs of boxes that hidden nodes alone lie between, from the one that is read to the reader,
// sorted. `box_of`, `hidden` have an entry for each id. Linear in edges times the boxes that a
// hidden node stands behind.
std::vector<std::pair<uint32_t, uint32_t>> EdgesThrough(const Graph& graph,
                                                        llvm::ArrayRef<uint32_t> box_of,
                                                        const std::vector<bool>& hidden);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_HIDDEN_NODES_H_
