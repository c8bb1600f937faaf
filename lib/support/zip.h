// A reader for zip archives: test cases in one file, and the models that Keras writes.
#ifndef GRAPNEL_LIB_SUPPORT_ZIP_H_
#define GRAPNEL_LIB_SUPPORT_ZIP_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/support/error.h"
#include "lib/support/file.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

bool IsZip(llvm::StringRef head);

// Returns the names of an archive's files, sorted: "feed_0.npy", "assets/words.txt". Reads the
// directory only. Fails if it is damaged; the error does not name the archive.
Expected<std::vector<std::string>> ListZip(llvm::StringRef bytes);

// A file from an archive: a slice of the archive if it is stored uncompressed, otherwise expanded.
struct ZipEntry {
  llvm::StringRef bytes;
  std::shared_ptr<const FileBytes> file;  // owns the bytes
};

// The directory of an archive. Read it once for all files: reading takes time linear in its length,
// finding a file takes constant time. Reads archives above 4 GiB too (zip64). If the directory is
// damaged, has the files before the damage.
class ZipDirectory {
 public:
  explicit ZipDirectory(llvm::StringRef bytes);

  bool Has(llvm::StringRef name) const;
  // Reads a file of `archive`, whose directory this is. Compares the bytes with their checksum, so
  // it reads the whole file. Expanding takes at most half of the free memory, as Inflate does.
  // Errors do not name the archive: it is damaged, has no such file (suggests names that it has),
  // is encrypted, or uses another compression than deflate.
  Expected<ZipEntry> Read(const std::shared_ptr<const FileBytes>& archive,
                          llvm::StringRef name) const;

 private:
  struct Member {
    uint16_t flags = 0, method = 0;
    uint32_t checksum = 0;  // CRC-32 of the expanded bytes
    uint64_t packed = 0, size = 0, offset = 0;
  };
  friend struct ZipReader;  // in zip.cpp

  llvm::StringMap<Member> members_;  // by name; of several with one name, the first
  std::string damage_;               // the error of the directory; empty: undamaged
};

// Reads one file of an archive, as ZipDirectory does.
Expected<ZipEntry> ReadZipEntry(const std::shared_ptr<const FileBytes>& archive,
                                llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_ZIP_H_
