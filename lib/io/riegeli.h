// Riegeli's files of records, in which TensorFlow writes protos that are too large for one message.
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

// Whether `head`, the beginning of a file, is that of a file of records.
bool IsRiegeli(llvm::StringRef head);

// Format: riegeli_records_file_format.md of github.com/google/riegeli. Groups of records ("chunks"
// there), each packed as one, are interrupted at every 64 KiB by a header that leads to the next
// group where one is damaged. A record's position is where its group begins, plus its number in it.
// Move-only. Not thread-safe.
class RiegeliFile {
 public:
  // Walks the headers of the groups; no record is read. What is damaged is left out, and said in
  // problems(). An error when there is no group at all.
  static Expected<RiegeliFile> Open(std::shared_ptr<const FileBytes> file);

  const std::vector<std::string>& problems() const { return problems_; }
  // Of the records, in order; those of damaged groups are known by the group's header.
  bool HasRecords() const { return !groups_.empty(); }
  uint64_t FirstPosition() const { return groups_.front().begin; }
  uint64_t LastPosition() const { return groups_.back().begin + groups_.back().num_records - 1; }

  // The record; its bytes stay as long as this object. Its group is expanded when first asked for,
  // and kept. Errors say what is wrong at which position: no record is there, a hash differs, the
  // data is damaged, all that was expanded would be more than memory has room for (half of what was
  // free).
  Expected<llvm::StringRef> Read(uint64_t position);

 private:
  struct Group {
    uint64_t begin = 0, end = 0;  // in the file
    uint64_t data_size = 0, data_hash = 0, num_records = 0, decoded_size = 0;
    char type = 0;
  };
  struct Expanded {
    std::string bytes;         // with all records, one after another
    size_t begin = 0;          // of the first
    std::vector<size_t> ends;  // where each ends, counted from there
  };

  explicit RiegeliFile(std::shared_ptr<const FileBytes> file);
  Error ReadHeader(uint64_t begin, Group* group) const;
  uint64_t NextGroup(uint64_t damaged) const;
  bool Copy(uint64_t* position, uint64_t size, std::string* out) const;
  Expected<Expanded> Expand(const Group& group);
  Expected<Expanded> ExpandSimple(const Group& group, std::string data);

  std::shared_ptr<const FileBytes> file_;
  std::vector<Group> groups_;  // those with records, by position
  std::map<uint64_t, Expanded> expanded_;
  std::vector<std::string> problems_;
  uint64_t room_;  // bytes that may yet be expanded
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_RIEGELI_H_
