// Files in memory that have names, so that functions that take paths can read and write bytes in
// memory.
#ifndef GRAPNEL_LIB_SUPPORT_MEMORY_FILE_H_
#define GRAPNEL_LIB_SUPPORT_MEMORY_FILE_H_

#include <memory>
#include <optional>
#include <string>

#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// An in-memory file. While it exists, FileBytes::Open and AtomicFile use it instead of a file of
// that name on disk. A FileBytes that opened it may outlive it.
class MemoryFile {
 public:
  // Creates an empty file; `name`, like "<GraphDef 3>", must be unique in the process. Fails if the
  // system refuses, for example for lack of descriptors.
  static Expected<std::unique_ptr<MemoryFile>> Create(std::string name);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  const std::string& name() const { return name_; }
  int descriptor() const { return descriptor_; }
  Error Write(llvm::StringRef bytes);  // at the current position: appends to earlier writes
  bool empty() const;

 private:
  MemoryFile(std::string name, int descriptor);

  std::string name_;
  int descriptor_;
};

// Returns the descriptor of the in-memory file of that name, or nullopt.
std::optional<int> FindMemoryFile(llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_MEMORY_FILE_H_
