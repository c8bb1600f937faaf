// Words that somebody searches nodes by.
#ifndef GRAPNEL_LIB_RENDER_NODE_QUERY_H_
#define GRAPNEL_LIB_RENDER_NODE_QUERY_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/ir/node.h"
#include "lib/support/glob.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// Words between blanks, all of which must hold, capitals apart: a part of the name or the whole op;
// with * or ? a glob over the name from any component on; op:, device:, shape: (type:, dtype:) and
// attr: look for a part of these.
class NodeQuery {
 public:
  static NodeQuery Parse(llvm::StringRef text);
  bool empty() const { return words_.empty(); }

  // What is asked of a node only when a word is about it.
  struct Texts {
    llvm::function_ref<std::string()> device, types, attributes;
  };
  // How near a node is, 0 the nearest; nullopt: it does not fit. By the first word about names: the
  // name itself, its last component, the op, the beginning of the last component, any part.
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
