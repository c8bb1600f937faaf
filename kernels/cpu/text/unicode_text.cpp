#include "kernels/cpu/text/unicode_text.h"

#include <unicode/utf.h>  // macros only, nothing is linked

#include "kernels/cpu/text/icu_loader.h"

namespace grapnel {

Expected<TextDecoder> TextDecoder::Make(const std::string& encoding) {
  ASSIGN_OR_RETURN(const GrapnelIcuApi* icu, Icu());
  if (GrapnelConverter* converter = icu->open(encoding.c_str()))
    return TextDecoder(icu, converter, encoding);
  return MakeError("could not create converter for input encoding: {0}", encoding);
}

void TextDecoder::Decode(llvm::StringRef text, Found found) {
  auto pass_on = [](void* arg, int32_t code_point, size_t start, int32_t is_error) {
    (*static_cast<Found*>(arg))(code_point, start, is_error != 0);
  };
  icu_->decode(converter_.get(), text.data(), text.size(), pass_on, &found);
}

Expected<UnicodeForm> UnicodeFormOf(llvm::StringRef name) {
  if (name == "UTF-8") return UnicodeForm::kUtf8;
  if (name == "UTF-16-BE") return UnicodeForm::kUtf16;
  if (name == "UTF-32-BE") return UnicodeForm::kUtf32;
  return MakeError("output_encoding '{0}' is not UTF-8, UTF-16-BE or UTF-32-BE", name);
}

bool IsCharacter(int32_t code_point) {
  return code_point >= 0 && code_point <= 0x10ffff && !U_IS_SURROGATE(code_point);
}

void AppendCharacter(int32_t code_point, UnicodeForm form, std::string* text) {
  auto append_unit = [&](int32_t unit) {
    text->push_back(static_cast<char>(unit >> 8 & 0xff));
    text->push_back(static_cast<char>(unit & 0xff));
  };
  if (form == UnicodeForm::kUtf8) {
    uint8_t bytes[U8_MAX_LENGTH];
    int size = 0;
    U8_APPEND_UNSAFE(bytes, size, code_point);
    text->append(reinterpret_cast<char*>(bytes), static_cast<size_t>(size));
  } else if (form == UnicodeForm::kUtf32) {
    append_unit(code_point >> 16);
    append_unit(code_point);
  } else if (U_IS_BMP(code_point)) {
    append_unit(code_point);
  } else {
    append_unit(U16_LEAD(code_point));
    append_unit(U16_TRAIL(code_point));
  }
}

}  // namespace grapnel
