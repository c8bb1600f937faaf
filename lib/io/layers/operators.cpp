#include "lib/io/layers/operators.h"

#include <algorithm>
#include <set>

#include "lib/io/layers/draft.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

// Returns "conv_transpose" for "ConvTranspose_2", as Keras names an object after its class.
std::string SnakeCase(llvm::StringRef name) {
  name = WithoutNumber(name);
  std::string snake;
  for (size_t i = 0; i < name.size(); ++i) {
    bool begins_word = i > 0 && llvm::isUpper(name[i]) && !llvm::isUpper(name[i - 1]);
    if (begins_word && name[i - 1] != '_') snake += '_';
    snake += llvm::toLower(name[i]);
  }
  return snake;
}

// Returns Keras's name for the operator that a single op computes; empty: it computes no operator.
llvm::StringRef NameOfOp(llvm::StringRef op) {
  return llvm::StringSwitch<llvm::StringRef>(op)
      .Cases("Add", "AddV2", "add")
      .Case("Sub", "subtract")
      .Case("Mul", "multiply")
      .Cases("Div", "RealDiv", "true_divide")
      .Case("FloorDiv", "floor_divide")
      .Case("FloorMod", "mod")
      .Case("Neg", "negative")
      .Case("Abs", "absolute")
      .Case("Pow", "power")
      .Cases("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "matmul")
      .Case("StridedSlice", "get_item")
      .Case("ConcatV2", "concatenate")
      .Case("Pack", "stack")
      .Cases("Split", "SplitV", "split")
      .Cases("GatherV2", "ResourceGather", "take")
      .Cases("Select", "SelectV2", "where")
      .Cases("Pad", "PadV2", "MirrorPad", "pad")
      .Case("ReverseV2", "flip")
      .Cases("Round", "Rint", "round")
      .Case("Asin", "arcsin")
      .Case("Acos", "arccos")
      .Case("Atan", "arctan")
      .Case("Atan2", "arctan2")
      .Case("ArgMax", "argmax")
      .Case("ArgMin", "argmin")
      .Case("LogSoftmax", "log_softmax")
      .Case("LeakyRelu", "leaky_relu")
      .Case("ExpandDims", "expand_dims")
      .Case("BroadcastTo", "broadcast_to")
      .Case("OneHot", "one_hot")
      .Case("Equal", "equal")
      .Case("NotEqual", "not_equal")
      .Case("Any", "any")
      .Case("All", "all")
      .Case("LogicalAnd", "logical_and")
      .Case("LogicalOr", "logical_or")
      .Case("LogicalNot", "logical_not")
      .Case("LessEqual", "less_equal")
      .Case("GreaterEqual", "greater_equal")
      .Case("Tanh", "tanh")
      .Case("Sigmoid", "sigmoid")
      .Case("Relu", "relu")
      .Case("Relu6", "relu6")
      .Case("Elu", "elu")
      .Case("Selu", "selu")
      .Case("Softmax", "softmax")
      .Case("Softplus", "softplus")
      .Case("Softsign", "softsign")
      .Case("Exp", "exp")
      .Case("Expm1", "expm1")
      .Case("Log", "log")
      .Case("Log1p", "log1p")
      .Case("Sqrt", "sqrt")
      .Case("Rsqrt", "rsqrt")
      .Case("Square", "square")
      .Case("Reciprocal", "reciprocal")
      .Case("Sin", "sin")
      .Case("Cos", "cos")
      .Case("Tan", "tan")
      .Case("Sinh", "sinh")
      .Case("Cosh", "cosh")
      .Case("Erf", "erf")
      .Case("Floor", "floor")
      .Case("Ceil", "ceil")
      .Case("Sign", "sign")
      .Case("Maximum", "maximum")
      .Case("Minimum", "minimum")
      .Case("Less", "less")
      .Case("Greater", "greater")
      .Case("Mean", "mean")
      .Case("Sum", "sum")
      .Case("Max", "max")
      .Case("Min", "min")
      .Case("Prod", "prod")
      .Case("Cumsum", "cumsum")
      .Case("Cumprod", "cumprod")
      .Case("Reshape", "reshape")
      .Case("Transpose", "transpose")
      .Case("Squeeze", "squeeze")
      .Case("Einsum", "einsum")
      .Case("Tile", "tile")
      .Default("");
}

std::vector<NodeId> NodesIn(int scope, const NameScopes& scopes) {
  std::vector<NodeId> nodes = scopes[scope].nodes;
  for (int inner : scopes[scope].inner) llvm::append_range(nodes, NodesIn(inner, scopes));
  return nodes;
}

}  // namespace

std::vector<Operator> OperatorsIn(int scope, const NameScopes& scopes, const LayerBody& body,
                                  const std::function<bool(int)>& is_layer) {
  auto computes = [&](NodeId id) { return !IsHelper(body.graph->node(id).op()); };
  llvm::DenseMap<llvm::StringRef, int> helpers;  // the scopes of ops
  std::vector<Operator> operators;
  for (int inner : scopes[scope].inner) {
    if (is_layer(inner)) continue;
    if (scopes[inner].is_op) {
      helpers[scopes[inner].name] = inner;
      continue;
    }
    Operator one{SnakeCase(scopes[inner].name), NodesIn(inner, scopes)};
    if (llvm::any_of(one.nodes, computes)) operators.push_back(std::move(one));
  }
  for (NodeId id : scopes[scope].nodes) {
    if (!computes(id)) continue;
    Node node = body.graph->node(id);
    llvm::StringRef name = node.name().substr(node.name().rfind('/') + 1);
    Operator one{NameOfOp(node.op()).str(), {id}};
    if (auto found = helpers.find(name); found != helpers.end()) {
      std::vector<NodeId> inner = NodesIn(found->second, scopes);
      if (llvm::any_of(inner, computes)) one.name = SnakeCase(name);
      llvm::append_range(one.nodes, inner);
    }
    if (!one.name.empty()) operators.push_back(std::move(one));
  }
  auto first = [](const Operator& one) {
    return *std::min_element(one.nodes.begin(), one.nodes.end());
  };
  llvm::sort(operators, [&](const Operator& a, const Operator& b) { return first(a) < first(b); });
  // Keras computes a mask in the layer that makes it too.
  std::set<std::pair<llvm::StringRef, Port>> masked;
  llvm::erase_if(operators, [&](const Operator& one) {
    Node node = body.graph->node(one.nodes.front());
    bool is_mask = (node.op() == "NotEqual" || node.op() == "Any") && node.num_inputs() > 0;
    return is_mask && !masked.insert({node.op(), node.input(0)}).second;
  });
  return operators;
}

}  // namespace grapnel
