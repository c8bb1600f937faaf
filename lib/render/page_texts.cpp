#include "lib/render/page_texts.h"

namespace grapnel {

llvm::StringRef TextKindName(size_t kind) {
  static constexpr llvm::StringLiteral kNames[kNumTextKinds] = {
      "traits", "panel", "box", "details", "stack", "about", "contents"};
  return kNames[kind];
}

uint32_t PageTexts::Number(PageTextKind kind, llvm::StringRef text) {
  if (text.empty()) return 0;
  Kind& of_kind = kinds_[static_cast<size_t>(kind)];
  auto [it, is_new] = of_kind.numbers.try_emplace(text, of_kind.texts.size() + 1);
  if (is_new) of_kind.texts.push_back(it->getKey());
  return it->second;
}

}  // namespace grapnel
