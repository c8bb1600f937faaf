// The layers of a graph, as far as names tell them. Private to lib/policy.
#ifndef GRAPNEL_LIB_POLICY_LAYER_NAMES_H_
#define GRAPNEL_LIB_POLICY_LAYER_NAMES_H_

#include <map>
#include <string>

#include "lib/ir/module.h"

namespace grapnel {

// Names the layer of a node or variable. A layer with variables has the name that these have before
// the last '/': "dense" for "dense/kernel". The scopes of its nodes may be called otherwise
// ("functional_1/dense_1/MatMul", as each call of a layer opens a scope of its own), so a scope
// belongs to the layer whose variables its nodes read. Other nodes are named by their scope.
class LayerNames {
 public:
  // Linear in the main graph.
  explicit LayerNames(const Module& module);

  // Returns "" for a node outside of all layers.
  std::string Of(const Node& node) const;
  std::string OfVariable(llvm::StringRef name) const;

 private:
  std::string OfScope(llvm::StringRef scope, bool is_known_only) const;
  std::string WithoutModel(llvm::StringRef owner) const;
  void FindOuterScope(const Graph& main);
  void ReadVariables(const Graph& main);
  void FindCallers(const Module& module);

  std::string model_;                // the first part of all variables' names, if they share one
  std::string outer_;                // the scope that all nodes share, if there is one
  bool are_calls_numbered_ = false;  // a scope has a number behind the layer's name
  std::map<std::string, std::string> of_scope_;  // the owner of the variables read in a scope
  std::map<const Graph*, std::string> of_body_;  // the layer that calls a function
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_POLICY_LAYER_NAMES_H_
