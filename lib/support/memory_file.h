// Files that lie in memory and have a name, so that what takes paths takes bytes, and gives them.
#ifndef GRAPNEL_LIB_SUPPORT_MEMORY_FILE_H_
#define GRAPNEL_LIB_SUPPORT_MEMORY_FILE_H_

#include <memory>
#include <optional>
#include <string>

#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// As long as it lives, FileBytes::Open and AtomicFile find it by its name, before they ask the
// disk. What was opened may outlive it.
class MemoryFile {
 public:
  // Empty, of a name that no other of the process has: "<GraphDef 3>". Errors: no memory.
  static Expected<std::unique_ptr<MemoryFile>> Create(std::string name);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  const std::string& name() const { return name_; }
  int descriptor() const { return descriptor_; }
  Error Write(llvm::StringRef bytes);  // at the end
  bool empty() const;

 private:
  MemoryFile(std::string name, int descriptor);

  std::string name_;
  int descriptor_;
};

// The open file of that name; nothing where there is none.
std::optional<int> FindMemoryFile(llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_MEMORY_FILE_H_
