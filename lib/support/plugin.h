// Plugins: shared objects whose passes, rules, kernels and functions to trace join those of the
// program that loads them.
//
//   GRAPNEL_PLUGIN("reverse_remover");
//
// stands in one file of a plugin, outside of unnamed namespaces, beside GRAPNEL_RULE, GRAPNEL_PASS,
// GRAPNEL_CPU_KERNEL or GRAPNEL_TRACE. A plugin links nothing of grapnel, LLVM or protobuf: the
// process that loads it has them, once. docs/library.md is the guide.
#ifndef GRAPNEL_LIB_SUPPORT_PLUGIN_H_
#define GRAPNEL_LIB_SUPPORT_PLUGIN_H_

#include <string>

#include "lib/support/error.h"
#include "lib/support/public.h"
#include "lib/support/version.h"
#include "llvm/Config/llvm-config.h"

namespace grapnel {

// What a plugin says of itself. Plain bytes in a section of its file, so that they are read before
// anything of it runs.
struct GRAPNEL_PUBLIC PluginRecord {
  char mark[16];
  char version[32];
  char abi[144];
  char name[64];
};

inline constexpr const char* kPluginSection = ".grapnel_plugin";
inline constexpr const char* kPluginMark = "grapnel plugin";
inline constexpr const char* kPluginStart = "grapnel_start_plugin";

// What else has to be equal: the headers, and what makes std's and LLVM's types.
#if defined(_GLIBCXX_DEBUG)
#define GRAPNEL_STANDARD_LIBRARY "libstdc++ with _GLIBCXX_DEBUG"
#elif defined(_GLIBCXX_USE_CXX11_ABI) && !_GLIBCXX_USE_CXX11_ABI
#define GRAPNEL_STANDARD_LIBRARY "libstdc++ with its strings of before C++11"
#elif defined(__GLIBCXX__)
#define GRAPNEL_STANDARD_LIBRARY "libstdc++"
#else
#define GRAPNEL_STANDARD_LIBRARY "another standard library than libstdc++"
#endif
#define GRAPNEL_ABI \
  "headers " GRAPNEL_HEADERS ", LLVM " LLVM_VERSION_STRING ", " GRAPNEL_STANDARD_LIBRARY

// What runs when a plugin is loaded, after its registrations: an `Error Start()`, or nothing.
inline Error CallStart() { return Error::success(); }
template <typename Start>
Error CallStart(Start start) {
  return start();
}

// The one entry of a plugin, in C: GRAPNEL_PLUGIN("NAME") or GRAPNEL_PLUGIN("NAME", Start).
#define GRAPNEL_PLUGIN(name, ...)                                                                 \
  extern "C" {                                                                                    \
  GRAPNEL_PUBLIC extern const ::grapnel::PluginRecord grapnel_plugin;                             \
  __attribute__((section(".grapnel_plugin"), used))                                               \
  const ::grapnel::PluginRecord grapnel_plugin = {"grapnel plugin", GRAPNEL_VERSION, GRAPNEL_ABI, \
                                                  name};                                          \
  GRAPNEL_PUBLIC void grapnel_start_plugin(::llvm::Error* error) {                                \
    *error = ::grapnel::CallStart(__VA_ARGS__);                                                   \
  }                                                                                               \
  }                                                                                               \
  static_assert(true, "a semicolon follows")

// Loads a plugin for the rest of the process; once, however often it is asked for. Before other
// threads look at the registries. `compiled_from`: the source that it was compiled from just now;
// it then goes by that name, and needs no GRAPNEL_PLUGIN. Errors name the file: not there; no
// plugin; built against another version, with both; what its code needs and this process has not;
// what its registrations say, or what it throws.
GRAPNEL_PUBLIC Error OpenPlugin(llvm::StringRef path, llvm::StringRef compiled_from = {});

// Called where a constructor of a plugin throws while it is loaded: the dynamic linker lets no
// exception through, so the process ends after it. `why` is what it threw, in words. Null, as it
// begins: std::terminate says what it says.
GRAPNEL_PUBLIC void OnThrowingConstructor(void (*told)(const char* path, const char* why));

// --- For registries.
// The path of the plugin that is being loaded, kept for good; "" where none is.
GRAPNEL_PUBLIC const char* PluginBeingLoaded();
// What is wrong with a registration. Of the plugin that is being loaded: OpenPlugin gives it as an
// error. Of the program itself: a bug of ours.
GRAPNEL_PUBLIC void ReportBadRegistration(const std::string& text);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_PLUGIN_H_
