// Search queries for nodes.
#ifndef GRAPNEL_LIB_RENDER_NODE_QUERY_H_
#define GRAPNEL_LIB_RENDER_NODE_QUERY_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/ir/node.h"
#include "lib/support/glob.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// Words separated by blanks, all of which must match, ignoring case: a part of the name or the
// whole op; with * or ? a glob over the name from any component on; op:, device:, shape: (type:,
// dtype:) and attr: match a part of these.
class NodeQuery {
 public:
  static NodeQuery Parse(llvm::StringRef text);
  bool empty() const { return words_.empty(); }

  // Texts of a node that are computed only if a word needs them.
  struct Texts {
    llvm::function_ref<std::string()> device, types, attributes;
  };
  // Returns the rank of a node, 0 is best; nullopt: no match. The first word about names decides:
  // the whole name, its last component, the op, the beginning of the last component, any part.
  std::optional<int> RankOf(const Node& node, const Texts& texts) const;
  static constexpr int kRanks = 5;

 private:
  enum class Field { kName, kOp, kDevice, kTypes, kAttributes };
  struct Word {
    Field field;
    std::string text;  // lower case
    std::optional<Glob> glob;
  };
  static std::optional<int> RankOfName(const Word& word, const Node& node);

  std::vector<Word> words_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_NODE_QUERY_H_
