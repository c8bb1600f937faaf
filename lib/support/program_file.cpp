#include "lib/support/program_file.h"

#include <limits.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>

#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"

namespace grapnel {
namespace {

struct LibraryAtAddress {
  uintptr_t address;
  std::string path;  // of the library that contains the address; empty: it is in the program
};

int Look(dl_phdr_info* info, size_t, void* data) {
  auto* loaded = static_cast<LibraryAtAddress*>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    if (part.p_type != PT_LOAD || loaded->address < begin ||
        loaded->address - begin >= part.p_memsz)
      continue;
    loaded->path = info->dlpi_name;
    return 1;
  }
  return 0;
}

}  // namespace

std::string ProgramFile() {
  LibraryAtAddress loaded = {reinterpret_cast<uintptr_t>(&BesideTheProgram), ""};
  dl_iterate_phdr(Look, &loaded);
  char path[PATH_MAX];
  if (!loaded.path.empty() && realpath(loaded.path.c_str(), path)) return path;
  ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  return std::string(path, size > 0 ? size : 0);
}

std::string BesideTheProgram(llvm::StringRef file) {
  std::string code = ProgramFile();
  llvm::StringRef path = code;
  return (path.take_front(path.rfind('/') + 1) + file).str();
}

std::string ModulePath(llvm::StringRef module) {
  std::string beside = BesideTheProgram(module);
  if (llvm::sys::fs::exists(beside)) return beside;
  for (llvm::StringRef folder : {"../lib/grapnel/", "grapnel/"}) {
    std::string installed = BesideTheProgram((folder + module).str());
    if (llvm::sys::fs::exists(installed)) return installed;
  }
  return beside;
}

}  // namespace grapnel
