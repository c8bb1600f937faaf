#include "lib/support/json.h"

#include <cmath>

#include "lib/support/text.h"

namespace grapnel {
namespace {

constexpr int kDeepest = 256;

// Linear; looks only at brackets and quotes.
Error CheckJsonDepth(llvm::StringRef text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '"':
        for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\';
        break;
      case '[':
      case '{':
        if (++depth <= kDeepest) break;
        return MakeError("[{0}:{1}, byte={2}]: nested more than {3} deep",
                         text.take_front(i).count('\n') + 1, i - (text.rfind('\n', i) + 1) + 1, i,
                         kDeepest);
      case ']':
      case '}':
        --depth;
        break;
    }
  }
  return Error::success();
}

}  // namespace

Expected<llvm::json::Value> ParseJson(llvm::StringRef text) {
  RETURN_IF_ERROR(CheckJsonDepth(text));
  return llvm::json::parse(text);
}

llvm::json::Value NumberOrText(double number) {
  if (std::isfinite(number)) return number;
  return NumberText(number);
}

}  // namespace grapnel
