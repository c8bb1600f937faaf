// A reader for the zip archives in which Keras packs its models.
#ifndef GRAPNEL_LIB_IO_ZIP_H_
#define GRAPNEL_LIB_IO_ZIP_H_

#include <memory>
#include <string>

#include "lib/support/error.h"
#include "lib/support/file.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

bool IsZip(llvm::StringRef head);

// A file from an archive. ReadZipEntry finds it by name: the bytes are a slice of the archive if it
// is stored uncompressed, otherwise expanded. Reads archives above 4 GiB too (zip64). Errors do not
// name the archive. The error for a missing file suggests names that the archive has.
struct ZipEntry {
  llvm::StringRef bytes;
  std::shared_ptr<const FileBytes> file;  // owns the bytes
};
Expected<ZipEntry> ReadZipEntry(const std::shared_ptr<const FileBytes>& archive,
                                llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_ZIP_H_
