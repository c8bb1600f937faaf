#include "kernels/cpu/text/icu_loader.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "lib/support/program_file.h"

namespace grapnel {
namespace {

struct Opened {
  const GrapnelIcuApi* api = nullptr;
  std::string problem;
};

Opened Open() {
  const char* wish = std::getenv("GRAPNEL_ICU");
  std::string path = wish && *wish ? wish : ModulePath("grapnel_icu.so");
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed
  if (!module) return {nullptr, dlerror()};
  auto entry = reinterpret_cast<GrapnelIcuEntryFn>(dlsym(module, GRAPNEL_ICU_ENTRY));
  if (!entry) return {nullptr, path + ": not grapnel's ICU module"};
  const GrapnelIcuApi* api = entry();
  if (api->version != GRAPNEL_ICU_API_VERSION)
    return {nullptr, path + ": of another version of grapnel"};
  return {api, ""};
}

}  // namespace

Expected<const GrapnelIcuApi*> Icu() {
  static const Opened opened = Open();
  if (opened.api) return opened.api;
  return MakeError("ICU is not available: {0}", opened.problem);
}

}  // namespace grapnel
