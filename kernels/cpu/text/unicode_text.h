// Code points out of text in any encoding, and text of Unicode's own encodings out of code points.
#ifndef GRAPNEL_KERNELS_CPU_TEXT_UNICODE_TEXT_H_
#define GRAPNEL_KERNELS_CPU_TEXT_UNICODE_TEXT_H_

#include <memory>
#include <string>

#include "lib/support/error.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

class TextDecoder {
 public:
  // A code point and the byte it starts at; -1 for bytes that stand for none. Of UTF-8 that is the
  // longest start of a character that cannot go on.
  using Found = llvm::function_ref<void(int32_t code_point, size_t start)>;

  virtual ~TextDecoder() = default;
  virtual void Decode(llvm::StringRef text, Found found) = 0;

  // UTF-8, UTF-16 and UTF-32 by their names, others as iconv knows them.
  static Expected<std::unique_ptr<TextDecoder>> Make(const std::string& encoding);
};

enum class UnicodeForm { kUtf8, kUtf16, kUtf32 };  // the latter two big-endian

// "UTF-8", "UTF-16-BE" or "UTF-32-BE".
Expected<UnicodeForm> UnicodeFormOf(llvm::StringRef name);

// Surrogates and what is past U+10FFFF are no characters.
bool IsCharacter(int32_t code_point);
void AppendCharacter(int32_t code_point, UnicodeForm form, std::string* text);

// What becomes of text that is none: attributes `errors`, `replacement_char` and
// `replace_control_characters` of the ops.
struct UnicodeErrors {
  enum class Policy { kStrict, kReplace, kIgnore } policy = Policy::kReplace;
  int32_t replacement = 0xfffd;
  bool controls = false;  // C0 control characters are errors too
};

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_TEXT_UNICODE_TEXT_H_
