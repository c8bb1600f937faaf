// Riegeli record files, which TensorFlow uses for protos that are too large for one message.
#ifndef GRAPNEL_LIB_IO_RIEGELI_H_
#define GRAPNEL_LIB_IO_RIEGELI_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lib/support/error.h"
#include "lib/support/file.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// True if `head`, the beginning of a file, is that of a Riegeli file.
bool IsRiegeli(llvm::StringRef head);

// Format: riegeli_records_file_format.md of github.com/google/riegeli. Groups of records ("chunks"
// there), each compressed as a whole, are interrupted every 64 KiB by a header that leads to the
// next group if one is damaged. The position of a record is the start of its group plus its index
// in it. Move-only. Not thread-safe.
class RiegeliFile {
 public:
  // Walks the headers of the groups; reads no record. Skips damaged parts and lists them in
  // problems(). Fails if there is no group at all.
  static Expected<RiegeliFile> Open(std::shared_ptr<const FileBytes> file);

  const std::vector<std::string>& problems() const { return problems_; }
  // Properties of the records, in order; those of damaged groups come from the group's header.
  bool HasRecords() const { return !groups_.empty(); }
  uint64_t FirstPosition() const { return groups_.front().begin; }
  uint64_t LastPosition() const { return groups_.back().begin + groups_.back().num_records - 1; }

  // Returns a record, valid as long as this object. Expands its group on first use and keeps it.
  // Errors give the position: no record there, a wrong hash, damaged data, or the expanded groups
  // would need more than half of the memory that was free.
  Expected<llvm::StringRef> Read(uint64_t position);

 private:
  struct Group {
    uint64_t begin = 0, end = 0;  // in the file
    uint64_t data_size = 0, data_hash = 0, num_records = 0, decoded_size = 0;
    char type = 0;
  };
  struct Expanded {
    std::string bytes;         // all records, concatenated
    size_t begin = 0;          // of the first record
    std::vector<size_t> ends;  // the ends of the records, counted from there
  };

  explicit RiegeliFile(std::shared_ptr<const FileBytes> file);
  Error ReadHeader(uint64_t begin, Group* group) const;
  uint64_t NextGroup(uint64_t damaged) const;
  bool Copy(uint64_t* position, uint64_t size, std::string* out) const;
  Expected<Expanded> Expand(const Group& group);
  Expected<Expanded> ExpandSimple(const Group& group, std::string data);

  std::shared_ptr<const FileBytes> file_;
  std::vector<Group> groups_;  // groups with records, by position
  std::map<uint64_t, Expanded> expanded_;
  std::vector<std::string> problems_;
  uint64_t room_;  // bytes that may still be expanded
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_RIEGELI_H_
