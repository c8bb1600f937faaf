// Decodes text of any encoding to code points, and encodes code points as UTF-8, UTF-16 or UTF-32.
#ifndef GRAPNEL_KERNELS_CPU_TEXT_UNICODE_TEXT_H_
#define GRAPNEL_KERNELS_CPU_TEXT_UNICODE_TEXT_H_

#include <memory>
#include <string>
#include <utility>

#include "kernels/cpu/text/icu_api.h"
#include "lib/support/error.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// ICU's converter from one encoding. Not thread-safe.
class TextDecoder {
 public:
  using Found = llvm::function_ref<void(int32_t code_point, size_t start, bool is_error)>;

  static Expected<TextDecoder> Make(const std::string& encoding);
  const std::string& encoding() const { return encoding_; }

  void Reset() { icu_->reset(converter_.get()); }
  // Calls `found` for each code point with the position of its first byte. Reports each invalid
  // sequence of bytes as an error with one U+FFFD. Bytes at the end that encode nothing, such as
  // a shift sequence, yield a U+FFFF that is not an error.
  void Decode(llvm::StringRef text, Found found);

 private:
  struct Close {
    const GrapnelIcuApi* icu;
    void operator()(GrapnelConverter* converter) const { icu->close(converter); }
  };
  TextDecoder(const GrapnelIcuApi* icu, GrapnelConverter* converter, std::string encoding)
      : icu_(icu), converter_(converter, Close{icu}), encoding_(std::move(encoding)) {}

  const GrapnelIcuApi* icu_;
  std::unique_ptr<GrapnelConverter, Close> converter_;
  std::string encoding_;
};

enum class UnicodeForm { kUtf8, kUtf16, kUtf32 };  // the latter two are big-endian

// Parses "UTF-8", "UTF-16-BE" or "UTF-32-BE".
Expected<UnicodeForm> UnicodeFormOf(llvm::StringRef name);

// False for surrogates and values past U+10FFFF.
bool IsCharacter(int32_t code_point);
void AppendCharacter(int32_t code_point, UnicodeForm form, std::string* text);

// The error handling of the ops: attributes `errors`, `replacement_char` and
// `replace_control_characters`.
struct UnicodeErrors {
  enum class Policy { kStrict, kReplace, kIgnore } policy = Policy::kReplace;
  int32_t replacement = 0xfffd;
  bool controls = false;  // C0 control characters are also replaced or ignored
};

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_TEXT_UNICODE_TEXT_H_
