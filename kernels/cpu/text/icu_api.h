// The C ABI between the program and grapnel_icu.so. The module is loaded when first needed: linking
// ICU, with its 30 MB of tables, would cost every start of the program.
#ifndef GRAPNEL_KERNELS_CPU_TEXT_ICU_API_H_
#define GRAPNEL_KERNELS_CPU_TEXT_ICU_API_H_

#include <stddef.h>
#include <stdint.h>

// Changes with the struct below.
#define GRAPNEL_ICU_API_VERSION 2
#define GRAPNEL_ICU_ENTRY "GrapnelIcuEntry"

extern "C" {

typedef struct GrapnelConverter GrapnelConverter;

// A code point and the byte it starts at; `is_error` when these bytes stand for none.
typedef void (*GrapnelFound)(void* arg, int32_t code_point, size_t start, int32_t is_error);

typedef void (*GrapnelPut)(void* arg, const char* text, size_t size);

typedef struct GrapnelIcuApi {
  uint32_t version;
  // From an encoding by any name that ICU knows; null for others.
  GrapnelConverter* (*open)(const char* encoding);
  void (*close)(GrapnelConverter* converter);
  // Forgets what text before has left: shifts, half a character.
  void (*reset)(GrapnelConverter* converter);
  // Calls found(arg, ...) for each code point of the text.
  void (*decode)(GrapnelConverter* converter, const char* text, size_t size, GrapnelFound found,
                 void* arg);
  // ICU's number of a code point's script, -1 for what is no code point.
  int32_t (*script)(int32_t code_point);
  // Calls put(arg, ...) with the UTF-8 text in upper or lower case, of no language; bytes that
  // stand for nothing become U+FFFD. 0 where there is too much of it.
  int32_t (*change_case)(const char* text, size_t size, int32_t to_upper, GrapnelPut put,
                         void* arg);
} GrapnelIcuApi;

// The one exported function, by the name GRAPNEL_ICU_ENTRY.
typedef const GrapnelIcuApi* (*GrapnelIcuEntryFn)(void);

}  // extern "C"

#endif  // GRAPNEL_KERNELS_CPU_TEXT_ICU_API_H_
