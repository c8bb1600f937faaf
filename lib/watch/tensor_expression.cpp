#include "lib/watch/tensor_expression.h"

#include "lib/support/suggest.h"
#include "lib/watch/expression_blocks.h"
#include "lib/watch/expression_parser.h"
#include "lib/watch/expression_value.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

using ExpressionNode = TensorExpression::Node;
using Lookup = TensorExpression::Lookup;

Expected<ExpressionValue> Evaluated(const ExpressionNode& node, const Lookup& lookup) {
  if (IsConstant(node)) return ConstantOf(node);
  ExpressionValue value;
  if (node.kind == ExpressionNode::Kind::kTensor) {
    ASSIGN_OR_RETURN(value.tensor, lookup(node.name));
    if (!value.tensor) return MakeError("'{0}' has no value", node.name);
    return value;
  }
  if (node.kind == ExpressionNode::Kind::kCall && node.operands.size() == 1 && !node.axis &&
      !node.keeps_dims) {
    if (auto reduced = ReducedInBlocks(node.name, node.operands[0], lookup)) {
      value.numbers = std::move(*reduced);
      return value;
    }
  }
  std::vector<ExpressionValue> operands;
  for (const ExpressionNode& operand : node.operands) {
    ASSIGN_OR_RETURN(ExpressionValue made, Evaluated(operand, lookup));
    operands.push_back(std::move(made));
  }
  if (node.kind == ExpressionNode::Kind::kCall) return CallOn(node, std::move(operands));
  ASSIGN_OR_RETURN(Tensor whole, TensorOf(std::move(operands[0])));
  ASSIGN_OR_RETURN(value.tensor, SliceTensor(whole, node.slice));
  return value;
}

void AddTensors(const ExpressionNode& node, std::vector<std::string>* names) {
  if (node.kind == ExpressionNode::Kind::kTensor && !llvm::is_contained(*names, node.name))
    names->push_back(node.name);
  for (const ExpressionNode& operand : node.operands) AddTensors(operand, names);
}

bool IsTrueAt(const NumberArray& numbers, size_t i) {
  return numbers.values[i] != 0 || (numbers.IsComplex() && numbers.imaginary[i] != 0);
}

bool IsComparison(const ExpressionNode& node) {
  return node.kind == ExpressionNode::Kind::kCall &&
         llvm::is_contained({"==", "!=", "<", "<=", ">", ">=", "same", "within"}, node.name);
}

}  // namespace

Expected<TensorExpression> TensorExpression::Parse(llvm::StringRef text) {
  llvm::StringRef rest = text;
  ASSIGN_OR_RETURN(TensorExpression expression, ParseFirst(&rest));
  if (rest.empty()) return expression;
  return MakeError("column {0}: an operator or the end was expected, not '{1}'",
                   rest.data() - text.ltrim().data() + 1, rest.take_front(12));
}

Expected<TensorExpression> TensorExpression::ParseFirst(llvm::StringRef* text) {
  TensorExpression expression;
  llvm::StringRef all = text->ltrim();
  size_t end = 0;
  auto root = ParseExpression(all, &end);
  *text = all.drop_front(std::min(end, all.size()));
  if (!root) return root.takeError();
  expression.text_ = all.drop_back(text->size()).rtrim().str();
  expression.root_ = std::make_shared<const ExpressionNode>(std::move(*root));
  return expression;
}

Expected<Tensor> TensorExpression::Evaluate(const Lookup& lookup) const {
  ASSIGN_OR_RETURN(ExpressionValue value, Evaluated(*root_, lookup));
  return TensorOf(std::move(value));
}

Expected<bool> TensorExpression::IsTrue(const Lookup& lookup) const {
  ASSIGN_OR_RETURN(ExpressionValue value, Evaluated(*root_, lookup));
  ASSIGN_OR_RETURN(NumberArray numbers, NumbersOf(std::move(value)));
  if (numbers.size() != 1) {
    return MakeError(
        "'{0}' has {1} elements of shape {2}, one was expected: use any(...) or all(...)", text_,
        numbers.size(), DimsText(numbers.dims));
  }
  return IsTrueAt(numbers, 0);
}

Expected<bool> TensorExpression::AreTrue(const Lookup& lookup) const {
  if (auto all = ReducedInBlocks("all", *root_, lookup)) return IsTrueAt(*all, 0);
  ASSIGN_OR_RETURN(ExpressionValue value, Evaluated(*root_, lookup));
  ASSIGN_OR_RETURN(NumberArray numbers, NumbersOf(std::move(value)));
  for (size_t i = 0; i < numbers.values.size(); ++i) {
    if (!IsTrueAt(numbers, i)) return false;
  }
  return true;
}

// Omits sides without tensors: their text in the expression shows their value.
std::vector<std::pair<std::string, Tensor>> TensorExpression::Sides(const Lookup& lookup) const {
  std::vector<std::pair<std::string, Tensor>> sides;
  auto add = [&](const ExpressionNode& node) {
    std::vector<std::string> names;
    AddTensors(node, &names);
    if (names.empty() || node.text.empty()) return;
    auto value = Evaluated(node, lookup);
    auto tensor = value ? TensorOf(std::move(*value)) : value.takeError();
    if (tensor)
      sides.emplace_back(node.text, std::move(*tensor));
    else
      llvm::consumeError(tensor.takeError());
  };
  if (IsComparison(*root_)) {
    for (const ExpressionNode& operand : root_->operands) add(operand);
  }
  return sides;
}

std::vector<std::string> TensorExpression::Tensors() const {
  std::vector<std::string> names;
  AddTensors(*root_, &names);
  return names;
}

}  // namespace grapnel
