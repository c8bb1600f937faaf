// Zip archives, as far as Keras packs its models in them.
#ifndef GRAPNEL_LIB_IO_ZIP_H_
#define GRAPNEL_LIB_IO_ZIP_H_

#include <memory>
#include <string>

#include "lib/support/error.h"
#include "lib/support/file.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

bool IsZip(llvm::StringRef head);

// The file of this name in an archive: a slice of it where it is stored as it is, else expanded.
// Above 4 GiB too (zip64). Errors do not name the archive: it is damaged or has no such file, with
// the names that it has; or it is packed otherwise than by deflate.
struct ZipEntry {
  llvm::StringRef bytes;
  std::shared_ptr<const FileBytes> file;  // keeps them
};
Expected<ZipEntry> ReadZipEntry(const std::shared_ptr<const FileBytes>& archive,
                                llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_ZIP_H_
