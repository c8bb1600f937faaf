#include "lib/watch/tensor_expression.h"

#include "lib/support/suggest.h"
#include "lib/watch/expression_node.h"
#include "lib/watch/expression_parser.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

using Node = TensorExpression::Node;
using Lookup = TensorExpression::Lookup;

// A tensor as it is, or numbers that were computed.
struct Value {
  Tensor tensor;
  NumberArray numbers;
  bool is_tensor = false;
};

Expected<NumberArray> NumbersOf(Value value) {
  if (value.is_tensor) return NumbersOf(value.tensor);
  return std::move(value.numbers);
}

Expected<Tensor> TensorOf(Value value) {
  if (value.is_tensor) return std::move(value.tensor);
  return TensorOf(value.numbers);
}

Expected<Value> Evaluated(const Node& node, const Lookup& lookup) {
  Value value;
  switch (node.kind) {
    case Node::Kind::kNumber:
      value.numbers.values = {node.number};
      value.numbers.dtype = node.is_truth   ? proto::DT_BOOL
                            : node.is_whole ? proto::DT_INT64
                                            : proto::DT_DOUBLE;
      value.numbers.is_weak = !node.is_truth;
      return value;
    case Node::Kind::kTensor: {
      ASSIGN_OR_RETURN(value.tensor, lookup(node.name));
      value.is_tensor = true;
      return value;
    }
    case Node::Kind::kSlice: {
      ASSIGN_OR_RETURN(Value whole, Evaluated(node.operands[0], lookup));
      ASSIGN_OR_RETURN(Tensor tensor, TensorOf(std::move(whole)));
      ASSIGN_OR_RETURN(value.tensor, SliceTensor(tensor, node.slice));
      value.is_tensor = true;
      return value;
    }
    case Node::Kind::kCall: {
      std::vector<NumberArray> arguments;
      for (const Node& operand : node.operands) {
        ASSIGN_OR_RETURN(Value argument, Evaluated(operand, lookup));
        auto numbers = NumbersOf(std::move(argument));
        if (!numbers) return Annotate(node.name, numbers.takeError());
        arguments.push_back(std::move(*numbers));
      }
      ASSIGN_OR_RETURN(value.numbers, CallFunction(node, std::move(arguments)));
      return value;
    }
  }
  return value;
}

void AddTensors(const Node& node, std::vector<std::string>* names) {
  if (node.kind == Node::Kind::kTensor && !llvm::is_contained(*names, node.name))
    names->push_back(node.name);
  for (const Node& operand : node.operands) AddTensors(operand, names);
}

}  // namespace

Expected<TensorExpression> TensorExpression::Parse(llvm::StringRef text) {
  TensorExpression expression;
  expression.text_ = text.trim().str();
  ASSIGN_OR_RETURN(Node root, ParseExpression(expression.text_));
  expression.root_ = std::make_shared<const Node>(std::move(root));
  return expression;
}

Expected<Tensor> TensorExpression::Evaluate(const Lookup& lookup) const {
  ASSIGN_OR_RETURN(Value value, Evaluated(*root_, lookup));
  return TensorOf(std::move(value));
}

Expected<bool> TensorExpression::IsTrue(const Lookup& lookup) const {
  ASSIGN_OR_RETURN(Value value, Evaluated(*root_, lookup));
  ASSIGN_OR_RETURN(NumberArray numbers, NumbersOf(std::move(value)));
  if (numbers.size() != 1) {
    return MakeError("'{0}' has {1} elements of shape {2}, one was expected: any(...) or all(...)",
                     text_, numbers.size(), DimsText(numbers.dims));
  }
  return numbers.values[0] != 0 || (numbers.IsComplex() && numbers.imaginary[0] != 0);
}

std::vector<std::string> TensorExpression::Tensors() const {
  std::vector<std::string> names;
  AddTensors(*root_, &names);
  return names;
}

}  // namespace grapnel
