// The name scopes of a body's nodes, and the layers that they tell of.
// Private to lib/io.
#ifndef GRAPNEL_LIB_IO_LAYERS_SCOPES_H_
#define GRAPNEL_LIB_IO_LAYERS_SCOPES_H_

#include <string>
#include <vector>

#include "lib/io/layers/model_variables.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

struct NameScope {
  llvm::StringRef name;  // the last part: "conv" for the scope a/conv
  llvm::StringRef path;  // with the calls around it: "StatefulPartitionedCall/a/conv"
  int parent = -1;
  // True if a node has the name of the scope: the scope then has the helpers of this node, such as
  // its constants.
  bool is_op = false;
  NodeId first = kNoNode;     // the first node in it, at any depth
  std::vector<int> inner;     // in the order of their first nodes
  std::vector<NodeId> nodes;  // directly in it
};

// The tree of scopes; a scope comes after the one that contains it. The names are those of the
// graph, which must outlive the tree. The calls from which nodes were inlined are not scopes; the
// nodes that inlining adds around a call (AroundCall) belong to the scope of the call.
class NameScopes {
 public:
  explicit NameScopes(const LayerBody& body);

  const std::vector<NameScope>& all() const { return all_; }  // all()[0] is the body itself
  const NameScope& operator[](int scope) const { return all_[scope]; }
  int size() const { return static_cast<int>(all_.size()); }
  int Of(NodeId node) const { return of_node_[node]; }  // -1: not a node of the body
  // NameScope::path of the first node in it; "" for the body.
  std::string PathOf(int scope) const { return all_[scope].path.str(); }
  // Returns the scopes from the body to `scope`.
  std::vector<int> Chain(int scope) const;

 private:
  std::vector<NameScope> all_;
  std::vector<int> of_node_;
};

// True for "PartitionedCall", "StatefulPartitionedCall_1": the name that TensorFlow gives to a
// call.
bool IsCall(llvm::StringRef scope);

// Returns the name of the call around which inlining has added a node: "a/call" for
// "Func/a/call/input/_3"; the name itself of other nodes.
llvm::StringRef AroundCall(llvm::StringRef node);

// Returns "conv" for "conv_1"; the name itself without a number.
llvm::StringRef WithoutNumber(llvm::StringRef name);

// True if `name` is `base`, or `base` with the numbers that make a name unique: "conv_1",
// "conv_1_2".
bool IsNumbered(llvm::StringRef name, llvm::StringRef base);

// Returns for each scope the name of the layer of which it is a call, if Keras 3 made the scope;
// empty for other scopes, such as those of ops.
//
// Keras 3 enters the scope of a layer twice in each call, and only the second scope gets nodes. As
// TensorFlow makes scopes unique by numbers, the scope of the layer "conv" is "conv_1". To tell the
// layer "conv_1" from a second call of "conv", this function takes the same steps as TensorFlow, in
// the order of the nodes.
std::vector<std::string> NamesOfCalls(const NameScopes& scopes, const LayerBody& body);

// True if Keras 3 made the scopes: most of those where layers would be have a name in `calls`
// (NamesOfCalls), and the names of variables do not contradict that.
bool AreOfKeras3(const NameScopes& scopes, llvm::ArrayRef<std::string> calls, const LayerBody& body,
                 llvm::ArrayRef<ModelVariable> variables);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_LAYERS_SCOPES_H_
