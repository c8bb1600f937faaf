// Search queries for nodes.
#ifndef GRAPNEL_LIB_RENDER_NODE_QUERY_H_
#define GRAPNEL_LIB_RENDER_NODE_QUERY_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/ir/node.h"
#include "lib/render/name_regex.h"
#include "lib/support/glob.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// A query is a list of words separated by blanks, all of which must match, ignoring case. A word
// matches a part of a node's name or its whole op; a word with * or ? is a glob over the name from
// any component on, and /REGEX/ matches a part of the name. After op:, a word is the whole op, or a
// glob of it; after device:, shape: (type:, dtype:) or attr:, a part of the node's device, output
// types or attributes.
class NodeQuery {
 public:
  static NodeQuery Parse(llvm::StringRef text);
  bool empty() const { return words_.empty(); }

  // Functions that return texts of a node; called only if a word of the query needs the text.
  struct Texts {
    llvm::function_ref<std::string()> device, types, attributes;
  };
  // Returns the rank of a node, where 0 is best; nullopt if the node does not match. The query's
  // first word about names decides the rank by what it matches: the whole name (best), the last
  // component, the op, the beginning of the last component, or any part of the name. Of equal ones,
  // arguments of functions come last: their names repeat those of what they are passed to.
  std::optional<int> RankOf(const Node& node, const Texts& texts) const;
  static constexpr int kRanks = 10;

 private:
  enum class Field { kName, kOp, kDevice, kTypes, kAttributes };
  struct Word {
    Field field;
    std::string text;  // lower case
    std::optional<Glob> glob;
    std::optional<NameRegex> regex;
  };
  static std::optional<int> RankOfName(const Word& word, const Node& node);

  std::vector<Word> words_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_NODE_QUERY_H_
