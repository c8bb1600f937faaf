#include "lib/watch/expression_blocks.h"

#include "lib/watch/array_reductions.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

using Part = TensorExpression::Node;

constexpr int64_t kBlockElements = 2048;
constexpr int64_t kWorthIt = 4 * kBlockElements;

// The tensors of an expression with their names, which are references into the expression.
using Tensors = std::vector<std::pair<llvm::StringRef, Tensor>>;

// True if the whole expression is elementwise over real tensors of one shape; adds these tensors to
// `tensors`.
bool Collect(const Part& part, const TensorExpression::Lookup& lookup, Tensors* tensors) {
  if (part.kind == Part::Kind::kNumber) return true;
  if (part.kind == Part::Kind::kTensor) {
    for (const auto& [name, tensor] : *tensors) {
      if (name == part.name) return true;
    }
    auto tensor = lookup(part.name);
    if (!tensor) return llvm::consumeError(tensor.takeError()), false;
    bool is_real = *tensor && (IsFloating(tensor->dtype()) || IsInteger(tensor->dtype()) ||
                               tensor->dtype() == proto::DT_BOOL);
    if (!is_real) return false;
    if (!tensors->empty() && tensors->front().second.dims() != tensor->dims()) return false;
    tensors->emplace_back(part.name, std::move(*tensor));
    return true;
  }
  if (part.kind != Part::Kind::kCall || !IsElementwise(part.name)) return false;
  return llvm::all_of(part.operands,
                      [&](const Part& operand) { return Collect(operand, lookup, tensors); });
}

Expected<NumberArray> BlockOf(const Part& part, const Tensors& tensors, int64_t begin,
                              int64_t end) {
  if (part.kind == Part::Kind::kNumber) return NumbersOf(ConstantOf(part));
  if (part.kind == Part::Kind::kTensor) {
    for (const auto& [name, tensor] : tensors) {
      if (name == part.name)
        return NumbersOf(tensor.Reshaped({tensor.num_elements()}).Slice(begin, end));
    }
  }
  std::vector<NumberArray> operands;
  for (const Part& operand : part.operands) {
    ASSIGN_OR_RETURN(NumberArray numbers, BlockOf(operand, tensors, begin, end));
    operands.push_back(std::move(numbers));
  }
  return CallFunction(part, std::move(operands));
}

}  // namespace

std::optional<NumberArray> ReducedInBlocks(llvm::StringRef name, const Part& part,
                                           const TensorExpression::Lookup& lookup) {
  Tensors tensors;
  if (!BlockReduction::Has(name) || !Collect(part, lookup, &tensors) || tensors.empty())
    return std::nullopt;
  int64_t size = tensors.front().second.num_elements();
  if (size < kWorthIt) return std::nullopt;
  BlockReduction reduction(name);
  DataType dtype = proto::DT_INVALID;
  for (int64_t begin = 0; begin < size && !reduction.IsDecided(); begin += kBlockElements) {
    auto block = BlockOf(part, tensors, begin, std::min(begin + kBlockElements, size));
    if (!block) return llvm::consumeError(block.takeError()), std::nullopt;
    dtype = block->dtype;
    reduction.Add(block->values);
  }
  return reduction.Result(dtype);
}

}  // namespace grapnel
