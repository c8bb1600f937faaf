// The page's filter for the nodes of a body: words, a neighborhood, paths.
#ifndef GRAPNEL_LIB_RENDER_NODE_FILTER_H_
#define GRAPNEL_LIB_RENDER_NODE_FILTER_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lib/render/hidden_nodes.h"
#include "lib/support/error.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

struct NodeFilter {
  // Words as in lib/serve/web/filter_words.js: those of HiddenNodes, and FIELD:TEXT for a device,
  // job, task, cluster or function. Hides nodes that match a word of `hide`, and nodes that match
  // none of the words for a field in `only`.
  std::vector<std::string> hide, only;
  std::string around;    // "x", "function/x"; empty: no neighborhood
  int hops = 2;          // edges either way
  std::string from, to;  // the same; empty: no paths
};

// Words of one list, for the nodes of one module.
class FilterWords {
 public:
  // Errors: as HiddenNodes::Add.
  static Expected<FilterWords> Parse(llvm::ArrayRef<std::string> words);

  // Returns the node's text for a field: "device", "job", ...
  using TextOf = llvm::function_ref<std::string(llvm::StringRef field)>;
  bool FitsAny(const Node& node, TextOf text_of);
  // True if each field in the list has a word that matches.
  bool FitsEachField(const Node& node, TextOf text_of);

 private:
  bool FitsOp(const Node& node);

  HiddenNodes ops_, names_;
  llvm::DenseMap<StringId, bool> known_ops_;            // whether ops_ matches
  std::map<std::string, std::set<std::string>> texts_;  // by field
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_NODE_FILTER_H_
