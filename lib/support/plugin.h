// Plugins: shared objects whose passes, rules, kernels and traced functions join those of the
// program that loads them. One source file of a plugin contains, outside of unnamed namespaces,
//
//   GRAPNEL_PLUGIN("reverse_remover");
//
// beside GRAPNEL_RULE, GRAPNEL_PASS, GRAPNEL_CPU_KERNEL or GRAPNEL_TRACE. A plugin does not link
// grapnel, LLVM or protobuf: it uses the copies in the process that loads it.
// docs/reference/library.md is the guide.
#ifndef GRAPNEL_LIB_SUPPORT_PLUGIN_H_
#define GRAPNEL_LIB_SUPPORT_PLUGIN_H_

#include <string>

#include "lib/support/error.h"
#include "lib/support/public.h"
#include "lib/support/version.h"
#include "llvm/Config/llvm-config.h"

namespace grapnel {

// The data by which the loader recognizes a plugin. It lies in a section of the plugin's file, so
// it can be read before any code of the plugin runs.
struct GRAPNEL_PUBLIC PluginRecord {
  char mark[16];
  char version[32];
  char abi[144];
  char name[64];
};

inline constexpr const char* kPluginSection = ".grapnel_plugin";
inline constexpr const char* kPluginMark = "grapnel plugin";
inline constexpr const char* kPluginStart = "grapnel_start_plugin";

// The part of the ABI besides the version that must match between plugin and program: the headers,
// and what affects the layout of types in std and LLVM.
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

// Calls the start function of a plugin, an `Error Start()`, if it has one. The plugin has made its
// registrations by then.
inline Error CallStart() { return Error::success(); }
template <typename Start>
Error CallStart(Start start) {
  return start();
}

// Defines the record and the entry point of a plugin: GRAPNEL_PLUGIN("NAME"), or
// GRAPNEL_PLUGIN("NAME", Start) to have Start called.
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

// Loads a plugin for the rest of the process; once it has tried to load a file, later calls for
// that file load nothing and return the same result. Call it before other threads read the
// registries. `compiled_from`: the source file from which the caller just compiled the plugin;
// errors and PluginBeingLoaded() then name that file, and the plugin needs no GRAPNEL_PLUGIN.
// Errors name the file and say, for example, that it is not a plugin, that it was built against
// another version (the error names both), that it needs symbols that this process lacks, or that a
// registration or the start function failed.
GRAPNEL_PUBLIC Error OpenPlugin(llvm::StringRef path, llvm::StringRef compiled_from = {});

// Sets a callback that is called when a constructor of a plugin throws while the plugin is loaded.
// Exceptions cannot pass through the dynamic linker, so the process ends after the callback. `why`
// describes the exception. With null, the default, std::terminate prints its own message.
GRAPNEL_PUBLIC void OnThrowingConstructor(void (*told)(const char* path, const char* why));

// For registries: returns the path of the plugin that is being loaded, or of the source file that
// it was compiled from (see OpenPlugin), valid for the rest of the process; "" if no plugin is
// being loaded.
GRAPNEL_PUBLIC const char* PluginBeingLoaded();
// Reports a registration that is not valid. While a plugin is loaded, OpenPlugin returns the report
// as an error; at other times the registration is a bug in grapnel, and an assert fails.
GRAPNEL_PUBLIC void ReportBadRegistration(const std::string& text);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_PLUGIN_H_
