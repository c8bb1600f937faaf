#include "lib/support/loadable_module.h"

#include <dlfcn.h>

#include <cstdlib>

#include "lib/support/program_file.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"

namespace grapnel {

ModuleEntry FindModuleEntry(const ModuleFile& file) {
  const char* wish = file.variable ? std::getenv(file.variable) : nullptr;
  bool is_named = wish && *wish;
  if (is_named && llvm::StringRef(wish) == "off")
    return {nullptr, "", std::string(file.variable) + " is 'off'"};
  std::string path = is_named ? wish : ModulePath(file.name);
  if (!llvm::sys::fs::exists(path))
    return {nullptr, "", path + " is missing" + (is_named ? "" : "; './x build' builds it")};
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!module) return {nullptr, "", "cannot open " + std::string(file.name) + ": " + dlerror()};
  void* entry = dlsym(module, file.entry);
  if (!entry) return {nullptr, "", path + " is not grapnel's module " + file.name};
  return {entry, std::move(path), ""};
}

}  // namespace grapnel
