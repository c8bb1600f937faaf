#include "lib/support/program_file.h"

#include <limits.h>
#include <unistd.h>

#include "llvm/ADT/Twine.h"

namespace grapnel {

std::string BesideTheProgram(llvm::StringRef file) {
  char path[PATH_MAX];
  ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  llvm::StringRef program(path, size > 0 ? size : 0);
  return (program.take_front(program.rfind('/') + 1) + file).str();
}

}  // namespace grapnel
