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
  // job, task, cluster or function. Hides nodes that match a word of `hide`, and nodes that, for
  // some field with words in `only`, match none of these words.
  std::vector<std::string> hide, only;
  std::string around;    // "x", "function/x"; empty: no neighborhood
  int hops = 2;          // the number of edges, in either direction
  std::string from, to;  // nodes, as `around`; empty: no paths
};

// The words of NodeFilter::hide or NodeFilter::only, to test nodes of one module.
class FilterWords {
 public:
  // Errors: those of HiddenNodes::Add; a word of no known form.
  static Expected<FilterWords> Parse(llvm::ArrayRef<std::string> words);

  // Returns the node's text for a field: "device", "job", ...
  using TextOf = llvm::function_ref<std::string(llvm::StringRef field)>;
  bool FitsAny(const Node& node, TextOf text_of);
  // True if, for each field with words in the list, one of its words matches.
  bool FitsEachField(const Node& node, TextOf text_of);

 private:
  bool FitsOp(const Node& node);

  HiddenNodes ops_, names_;
  llvm::DenseMap<StringId, bool> known_ops_;            // whether ops_ matches the op
  std::map<std::string, std::set<std::string>> texts_;  // the words' texts, by field
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_NODE_FILTER_H_
