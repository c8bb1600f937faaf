// Files that datasets read, possibly compressed.
#ifndef GRAPNEL_KERNELS_CPU_DATA_PACKED_FILE_H_
#define GRAPNEL_KERNELS_CPU_DATA_PACKED_FILE_H_

#include <memory>
#include <string>

#include "lib/support/file.h"

namespace grapnel {

enum class FilePacking { kNone, kGzip, kZlib };
// Parses input compression_type: "", "GZIP" or "ZLIB".
Expected<FilePacking> PackingOf(llvm::StringRef kind);

// The contents of a file, kept alive while a dataset iterates over it.
struct OpenFile {
  std::shared_ptr<const FileBytes> file;
  std::string inflated;
  bool is_packed = false;
  llvm::StringRef bytes() const { return is_packed ? llvm::StringRef(inflated) : file->bytes(); }
};
// Errors name the path.
Expected<std::shared_ptr<OpenFile>> OpenPacked(const std::string& path, FilePacking packing);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_DATA_PACKED_FILE_H_
