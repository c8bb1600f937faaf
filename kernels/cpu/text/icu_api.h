// The C ABI between the program and grapnel_icu.so. The module is loaded on demand: linking ICU,
// with its 30 MB of tables, would slow down every start of the program.
#ifndef GRAPNEL_KERNELS_CPU_TEXT_ICU_API_H_
#define GRAPNEL_KERNELS_CPU_TEXT_ICU_API_H_

#include <stddef.h>
#include <stdint.h>

// Increment when the struct or the entry below changes.
#define GRAPNEL_ICU_API_VERSION 3
#define GRAPNEL_ICU_ENTRY "GrapnelIcuEntry"

extern "C" {

typedef struct GrapnelConverter GrapnelConverter;

// Receives a code point and its byte offset; `is_error` when the bytes do not encode one.
typedef void (*GrapnelFound)(void* arg, int32_t code_point, size_t start, int32_t is_error);

typedef void (*GrapnelPut)(void* arg, const char* text, size_t size);

typedef struct GrapnelIcuApi {
  uint32_t version;
  // Opens a converter from an encoding, by any name that ICU knows; null for unknown names.
  GrapnelConverter* (*open)(const char* encoding);
  void (*close)(GrapnelConverter* converter);
  // Clears the state left by earlier text: shifts, a partial character.
  void (*reset)(GrapnelConverter* converter);
  // Calls found(arg, ...) for each code point of the text.
  void (*decode)(GrapnelConverter* converter, const char* text, size_t size, GrapnelFound found,
                 void* arg);
  // Returns ICU's script number of a code point, -1 for an invalid code point.
  int32_t (*script)(int32_t code_point);
  // Calls put(arg, ...) with the UTF-8 text in upper or lower case, with language-neutral rules;
  // invalid bytes become U+FFFD. Returns 0 when the text is too long or ICU fails.
  int32_t (*change_case)(const char* text, size_t size, int32_t to_upper, GrapnelPut put,
                         void* arg);
} GrapnelIcuApi;

// The one exported function, named GRAPNEL_ICU_ENTRY. Returns null if the program has another
// version.
typedef const GrapnelIcuApi* (*GrapnelIcuEntryFn)(uint32_t version);

}  // extern "C"

#endif  // GRAPNEL_KERNELS_CPU_TEXT_ICU_API_H_
