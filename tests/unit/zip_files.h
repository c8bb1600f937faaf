// Makes zip archives for tests.
#ifndef GRAPNEL_TESTS_UNIT_ZIP_FILES_H_
#define GRAPNEL_TESTS_UNIT_ZIP_FILES_H_

#include <zlib.h>

#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Endian.h"

namespace grapnel {

struct ZipFile {
  std::string name, bytes;
  bool is_deflated = false;
};

// Offsets of fields in a directory entry, after kEntryMark, for tests that damage archives.
inline constexpr llvm::StringLiteral kEntryMark = "PK\x01\x02";
inline constexpr size_t kFlagsAt = 8, kMethodAt = 10, kSizeAt = 24;

inline std::string Deflated(const std::string& bytes) {
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

inline std::string MakeZip(llvm::ArrayRef<ZipFile> files) {
  std::string archive, directory;
  auto number = [](uint64_t value, size_t size) {
    std::string bytes(8, '\0');
    llvm::support::endian::write64le(bytes.data(), value);
    return bytes.substr(0, size);
  };
  for (const ZipFile& file : files) {
    std::string packed = file.is_deflated ? Deflated(file.bytes) : file.bytes;
    uint32_t checksum =
        crc32_z(0, reinterpret_cast<const Bytef*>(file.bytes.data()), file.bytes.size());
    // The fields that the header before a file and its entry in the directory have in common.
    std::string both = number(20, 2) + number(0, 2) + number(file.is_deflated ? 8 : 0, 2) +
                       number(0, 4) + number(checksum, 4) + number(packed.size(), 4) +
                       number(file.bytes.size(), 4) + number(file.name.size(), 2) + number(0, 2);
    directory += kEntryMark.str() + number(20, 2) + both + number(0, 6) + number(0, 4) +
                 number(archive.size(), 4) + file.name;
    archive += "PK\x03\x04";
    archive += both;
    archive += file.name;
    archive += packed;
  }
  std::string end = "PK\x05\x06" + number(0, 4) + number(files.size(), 2) +
                    number(files.size(), 2) + number(directory.size(), 4) +
                    number(archive.size(), 4) + number(0, 2);
  return archive + directory + end;
}

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_UNIT_ZIP_FILES_H_
