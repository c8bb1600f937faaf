// Opens the modules of grapnel, shared objects that are loaded on first use, such as
// grapnel_icu.so: they would slow down each start of the program, or each build.
#ifndef GRAPNEL_LIB_SUPPORT_LOADABLE_MODULE_H_
#define GRAPNEL_LIB_SUPPORT_LOADABLE_MODULE_H_

#include <string>
#include <utility>

namespace grapnel {

// A module's functions, or the reason why it could not be opened.
template <typename Api>
struct OpenedModule {
  const Api* api = nullptr;
  std::string problem;  // one line; empty if `api` is set
};

// A module's one exported function, or the reason why it could not be found.
struct ModuleEntry {
  void* function = nullptr;
  std::string path, problem;
};

struct ModuleFile {
  const char* name;   // "grapnel_icu.so", for ModulePath()
  const char* entry;  // the exported function
  // The environment variable that names another file, or is "off"; null if there is none.
  const char* variable;
};

// Opens the file, which is never closed: its code and its threads live until the process ends.
ModuleEntry FindModuleEntry(const ModuleFile& file);

// Opens a module and calls its entry, an Entry, with the arguments. The entry returns null if
// the module was built for another version of grapnel.
template <typename Api, typename Entry, typename... Arguments>
OpenedModule<Api> OpenModule(const ModuleFile& file, Arguments... arguments) {
  ModuleEntry found = FindModuleEntry(file);
  if (!found.function) return {nullptr, std::move(found.problem)};
  const Api* api = reinterpret_cast<Entry>(found.function)(arguments...);
  if (api) return {api, ""};
  return {nullptr, found.path + " was built for another version of grapnel; './x build' builds it"};
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_LOADABLE_MODULE_H_
