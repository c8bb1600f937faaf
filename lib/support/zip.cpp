#include "lib/support/zip.h"

#include <zlib.h>

#include "lib/support/gzip.h"
#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Endian.h"

namespace grapnel {

struct ZipReader {
  using Entry = ZipDirectory::Member;
};

namespace {

using Entry = ZipReader::Entry;
using llvm::support::endian::read16le;
using llvm::support::endian::read32le;
using llvm::support::endian::read64le;

// Sizes in bytes, from PKWARE's APPNOTE.TXT: of the record at the end of the directory, of a
// directory entry, of the header before each file, and of the two zip64 records at the end.
constexpr size_t kEndSize = 22, kEntrySize = 46, kLocalSize = 30, kEnd64Size = 56,
                 kLocator64Size = 20, kLongestComment = 65535;
constexpr llvm::StringRef kEnd("PK\x05\x06", 4), kEntry("PK\x01\x02", 4), kLocal("PK\x03\x04", 4),
    kEnd64("PK\x06\x06", 4), kLocator64("PK\x06\x07", 4);
enum Method : uint16_t { kStored = 0, kDeflated = 8 };

constexpr uint16_t kEncrypted = 1;  // a bit of an entry's flags

// Finds the archive's directory and sets the offset of its first entry and the number of entries;
// false if there is no directory.
bool FindDirectory(llvm::StringRef bytes, uint64_t* offset, uint64_t* count) {
  if (bytes.size() < kEndSize) return false;
  size_t from = bytes.size() - std::min(bytes.size(), kEndSize + kLongestComment);
  size_t end = bytes.drop_front(from).rfind(kEnd);
  if (end == llvm::StringRef::npos || bytes.size() - from - end < kEndSize) return false;
  end += from;
  *count = read16le(bytes.data() + end + 10);
  *offset = read32le(bytes.data() + end + 16);
  if (*offset != UINT32_MAX && *count != UINT16_MAX) return true;
  if (end < kLocator64Size || !HasPrefix(bytes.drop_front(end - kLocator64Size), kLocator64))
    return true;
  uint64_t end64 = read64le(bytes.data() + end - kLocator64Size + 8);
  if (end64 > bytes.size() || bytes.size() - end64 < kEnd64Size ||
      !HasPrefix(bytes.drop_front(end64), kEnd64))
    return false;
  *count = read64le(bytes.data() + end64 + 32);
  *offset = read64le(bytes.data() + end64 + 48);
  return true;
}

// Reads those of size, packed size and offset that need more than 32 bits from a zip64 extra field,
// which has them in this order.
void ReadExtra(llvm::StringRef extra, Entry* entry) {
  constexpr uint16_t kZip64 = 1;
  while (extra.size() >= 4) {
    uint16_t id = read16le(extra.data()), size = read16le(extra.data() + 2);
    llvm::StringRef data = extra.drop_front(4).take_front(size);
    extra = extra.drop_front(std::min<size_t>(4 + size, extra.size()));
    if (id != kZip64) continue;
    for (uint64_t* field : {&entry->size, &entry->packed, &entry->offset}) {
      if (*field != UINT32_MAX || data.size() < 8) continue;
      *field = read64le(data.data());
      data = data.drop_front(8);
    }
  }
}

// Calls `visit` with the name of each member and with its entry, in the order of the directory.
Error VisitMembers(llvm::StringRef bytes,
                   llvm::function_ref<void(llvm::StringRef name, const Entry& entry)> visit) {
  uint64_t at, count;
  if (!FindDirectory(bytes, &at, &count))
    return MakeError("the zip archive is cut off: it has no directory");
  for (uint64_t i = 0; i < count; ++i) {
    if (at > bytes.size() || bytes.size() - at < kEntrySize ||
        !HasPrefix(bytes.drop_front(at), kEntry))
      return MakeError("the directory of the zip archive is damaged");
    const char* head = bytes.data() + at;
    size_t name_size = read16le(head + 28), extra_size = read16le(head + 30),
           comment_size = read16le(head + 32);
    Entry entry = {read16le(head + 8),  read16le(head + 10), read32le(head + 16),
                   read32le(head + 20), read32le(head + 24), read32le(head + 42)};
    ReadExtra(bytes.substr(at + kEntrySize + name_size, extra_size), &entry);
    visit(bytes.substr(at + kEntrySize, name_size), entry);
    at += kEntrySize + name_size + extra_size + comment_size;
  }
  return Error::success();
}

Error CheckSum(llvm::StringRef bytes, const Entry& entry) {
  auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  if (crc32_z(0, data, bytes.size()) == entry.checksum) return Error::success();
  return MakeError("is damaged: its checksum differs from the one in the archive");
}

Expected<ZipEntry> Extract(const std::shared_ptr<const FileBytes>& archive, const Entry& entry,
                           llvm::StringRef name) {
  llvm::StringRef bytes = archive->bytes();
  if (entry.offset > bytes.size() || bytes.size() - entry.offset < kLocalSize ||
      !HasPrefix(bytes.drop_front(entry.offset), kLocal))
    return MakeError("does not begin where the archive's directory says");
  if (entry.flags & kEncrypted) return MakeError("is encrypted");
  const char* local = bytes.data() + entry.offset;
  uint64_t start = entry.offset + kLocalSize + read16le(local + 26) + read16le(local + 28);
  if (start > bytes.size() || entry.packed > bytes.size() - start)
    return MakeError("is cut off in the archive");
  llvm::StringRef packed = bytes.substr(start, entry.packed);
  if (entry.method == kStored) {
    RETURN_IF_ERROR(CheckSum(packed, entry));
    return ZipEntry{packed, archive};
  }
  if (entry.method != kDeflated)
    return MakeError("is compressed with zip method {0}; 0 (stored) or 8 (deflated) was expected",
                     entry.method);
  ASSIGN_OR_RETURN(Inflated inflated, Inflate(packed, entry.size, Framing::kNone));
  if (inflated.bytes.size() != entry.size)
    return MakeError("does not expand to the size that the archive states");
  RETURN_IF_ERROR(CheckSum(inflated.bytes, entry));
  auto file = FileBytes::FromString(std::move(inflated.bytes), JoinPath(archive->name(), name));
  return ZipEntry{file->bytes(), file};
}

}  // namespace

bool IsZip(llvm::StringRef head) { return HasPrefix(head, kLocal); }

Expected<std::vector<std::string>> ListZip(llvm::StringRef bytes) {
  std::vector<std::string> names;
  auto add = [&](llvm::StringRef name, const Entry&) {
    if (!name.ends_with("/")) names.push_back(name.str());
  };
  RETURN_IF_ERROR(VisitMembers(bytes, add));
  llvm::sort(names);
  return names;
}

ZipDirectory::ZipDirectory(llvm::StringRef bytes) {
  auto add = [&](llvm::StringRef name, const Entry& entry) {
    if (!name.ends_with("/")) members_.try_emplace(name, entry);
  };
  if (Error error = VisitMembers(bytes, add)) damage_ = TextOf(std::move(error));
}

bool ZipDirectory::Has(llvm::StringRef name) const { return members_.contains(name); }

Expected<ZipEntry> ZipDirectory::Read(const std::shared_ptr<const FileBytes>& archive,
                                      llvm::StringRef name) const {
  auto found = members_.find(name);
  if (found != members_.end()) {
    auto entry = Extract(archive, found->second, name);
    return entry ? std::move(entry) : Annotate("'" + name.str() + "'", entry.takeError());
  }
  if (!damage_.empty()) return MakeError("{0}", damage_);
  ASSIGN_OR_RETURN(std::vector<std::string> names, ListZip(archive->bytes()));
  return NotFound("file of the zip archive", name, names);
}

Expected<ZipEntry> ReadZipEntry(const std::shared_ptr<const FileBytes>& archive,
                                llvm::StringRef name) {
  return ZipDirectory(archive->bytes()).Read(archive, name);
}

}  // namespace grapnel
