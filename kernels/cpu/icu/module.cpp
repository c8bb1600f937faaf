// grapnel_icu.so: decodes text of any encoding, changes its case and names the scripts of code
// points, through ICU as in TensorFlow.
#include <unicode/ucasemap.h>
#include <unicode/ucnv.h>
#include <unicode/ucnv_err.h>
#include <unicode/uscript.h>
#include <unicode/utf8.h>

#include <limits>
#include <string>

#include "kernels/cpu/text/icu_api.h"

namespace grapnel::icu {
namespace {

UConverter* Of(GrapnelConverter* converter) { return reinterpret_cast<UConverter*>(converter); }

// Records the error in the bool at `context` and substitutes the bytes, so that conversion
// continues.
void NoteError(const void* context, UConverterToUnicodeArgs* args, const char* units,
               int32_t length, UConverterCallbackReason reason, UErrorCode* status) {
  if (reason == UCNV_UNASSIGNED || reason == UCNV_ILLEGAL || reason == UCNV_IRREGULAR)
    *static_cast<bool*>(const_cast<void*>(context)) = true;
  UCNV_TO_U_CALLBACK_SUBSTITUTE(nullptr, args, units, length, reason, status);
}

GrapnelConverter* Open(const char* encoding) {
  UErrorCode status = U_ZERO_ERROR;
  UConverter* converter = ucnv_open(encoding, &status);
  return U_SUCCESS(status) ? reinterpret_cast<GrapnelConverter*>(converter) : nullptr;
}

// Text that ends in bytes that encode nothing, such as a shift sequence, yields a final U+FFFF
// without an error, as in TensorFlow; a character that is cut off is an error and yields U+FFFD.
void Decode(GrapnelConverter* opened, const char* text, size_t size, GrapnelFound found,
            void* arg) {
  UConverter* converter = Of(opened);
  bool is_error = false;
  UErrorCode status = U_ZERO_ERROR;
  ucnv_setToUCallBack(converter, NoteError, &is_error, nullptr, nullptr, &status);
  const char *at = text, *end = text + size;
  while (at < end) {
    const char* start = at;
    UChar32 code_point = ucnv_getNextUChar(converter, &at, end, &status);
    if (U_FAILURE(status)) at = end;
    found(arg, code_point, static_cast<size_t>(start - text), is_error);
    is_error = false;
  }
}

int32_t Script(int32_t code_point) {
  UErrorCode status = U_ZERO_ERROR;
  UScriptCode script = uscript_getScript(code_point, &status);
  return U_SUCCESS(status) ? script : -1;
}

// Replaces each ill-formed sequence of bytes with one U+FFFD.
std::string WellFormed(const char* text, int32_t size) {
  std::string result;
  for (int32_t at = 0; at < size;) {
    UChar32 letter = 0;
    U8_NEXT_OR_FFFD(text, at, size, letter);
    char bytes[U8_MAX_LENGTH];
    int32_t used = 0;
    U8_APPEND_UNSAFE(bytes, used, letter);
    result.append(bytes, used);
  }
  return result;
}

int32_t ChangeCase(const char* bytes, size_t byte_count, int32_t to_upper, GrapnelPut put,
                   void* arg) {
  if (byte_count > std::numeric_limits<int32_t>::max() / 16) return 0;
  std::string text = WellFormed(bytes, static_cast<int32_t>(byte_count));
  UErrorCode status = U_ZERO_ERROR;
  UCaseMap* map = ucasemap_open("", 0, &status);
  if (U_FAILURE(status)) return 0;
  auto change = to_upper ? ucasemap_utf8ToUpper : ucasemap_utf8ToLower;
  std::string changed(text.size(), 0);
  for (int turn = 0; turn < 2; ++turn) {  // second time: with enough space
    status = U_ZERO_ERROR;
    int32_t room = change(map, changed.data(), static_cast<int32_t>(changed.size()), text.data(),
                          static_cast<int32_t>(text.size()), &status);
    changed.resize(room);
    if (status != U_BUFFER_OVERFLOW_ERROR) break;
  }
  ucasemap_close(map);
  if (U_FAILURE(status)) return 0;
  put(arg, changed.data(), changed.size());
  return 1;
}

constexpr GrapnelIcuApi kApi = {
    GRAPNEL_ICU_API_VERSION,
    Open,
    [](GrapnelConverter* converter) { ucnv_close(Of(converter)); },
    [](GrapnelConverter* converter) { ucnv_reset(Of(converter)); },
    Decode,
    Script,
    ChangeCase,
};

}  // namespace
}  // namespace grapnel::icu

extern "C" __attribute__((visibility("default"))) const GrapnelIcuApi* GrapnelIcuEntry(
    uint32_t version) {
  return version == GRAPNEL_ICU_API_VERSION ? &grapnel::icu::kApi : nullptr;
}
