#include "lib/ir/tensor_name.h"

#include "lib/ir/graph.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {

TensorName ReadTensorName(llvm::StringRef text) {
  TensorName name;
  name.control = text.consume_front("^");
  name.node = text;
  if (name.control) return name;
  size_t digits = text.size();
  while (digits > 0 && llvm::isDigit(text[digits - 1])) --digits;
  bool ends_in_number = digits < text.size() && digits > 1 && text[digits - 1] == ':';
  if (!ends_in_number) return name;
  if (text.drop_front(digits).getAsInteger(10, name.index)) {
    name.index = 0;
    return name;
  }
  name.node = text.take_front(digits - 1);
  name.has_index = true;
  return name;
}

TensorName ReadFunctionTensorName(llvm::StringRef text) {
  TensorName name = ReadTensorName(text);
  if (name.control || name.node.empty() || name.node.back() == ':') return name;
  // An output name without an index means the first tensor of that output.
  auto [node, output] = name.node.split(':');
  if (!output.empty()) {
    name.node = node;
    name.output = output;
  }
  return name;
}

std::optional<WatchedName> ReadWatchedName(llvm::StringRef text) {
  WatchedName name;
  llvm::StringRef tensor, slot;
  std::tie(tensor, name.debug_op) = text.rsplit(':');
  std::tie(name.node, slot) = tensor.rsplit(':');
  if (name.node.empty() || slot.getAsInteger(10, name.index) || name.index < 0) return std::nullopt;
  return name;
}

std::string OutputName(llvm::StringRef node, int32_t index) {
  return (node + ":" + llvm::Twine(index)).str();
}

std::string NodeDefInput(llvm::StringRef node, int32_t index) {
  if (index == kControlPort) return ("^" + node).str();
  return index == 0 ? node.str() : OutputName(node, index);
}

llvm::StringRef WithoutZeroIndex(llvm::StringRef tensor) {
  TensorName name = ReadTensorName(tensor);
  return name.has_index && name.index == 0 ? name.node : tensor;
}

}  // namespace grapnel
