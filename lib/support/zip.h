// A reader for zip archives: test cases in one file, and the models that Keras writes.
#ifndef GRAPNEL_LIB_SUPPORT_ZIP_H_
#define GRAPNEL_LIB_SUPPORT_ZIP_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/support/error.h"
#include "lib/support/file.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

bool IsZip(llvm::StringRef head);

// Returns the names of an archive's files, sorted: "feed_0.npy", "assets/words.txt". Reads the
// directory only. Fails if it is damaged; the error does not name the archive.
Expected<std::vector<std::string>> ListZip(llvm::StringRef bytes);

// True if an archive with an undamaged directory has a file of that name.
bool HasZipEntry(llvm::StringRef bytes, llvm::StringRef name);

// A file from an archive. ReadZipEntry finds it by name: the bytes are a slice of the archive if it
// is stored uncompressed, otherwise expanded. Reads archives above 4 GiB too (zip64). Compares the
// bytes with their checksum, so it reads the whole file. Expanding takes at most half of the free
// memory, as Inflate does. Errors do not name the archive: it is damaged, has no such file (suggests
// names that it has), is encrypted, or uses another compression than deflate.
struct ZipEntry {
  llvm::StringRef bytes;
  std::shared_ptr<const FileBytes> file;  // owns the bytes
};
Expected<ZipEntry> ReadZipEntry(const std::shared_ptr<const FileBytes>& archive,
                                llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_ZIP_H_
