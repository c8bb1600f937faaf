// Reads Riegeli record files, in which TensorFlow stores protos that are too large for one message.
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

// True if `head` is the beginning of a Riegeli file.
bool IsRiegeli(llvm::StringRef head);

// A file in the format of riegeli_records_file_format.md of github.com/google/riegeli: groups of
// records (the format calls them "chunks"), each compressed as a whole. Every 64 KiB, also within a
// group, a block header says where the next group begins, so that readers can skip a damaged one.
// The position of a record is the start of its group plus its index in the group. Not thread-safe.
class RiegeliFile {
 public:
  // Reads the headers of all groups, but no records. Skips damaged parts and lists them in
  // problems(). Fails if the file has no intact group.
  static Expected<RiegeliFile> Open(std::shared_ptr<const FileBytes> file);

  const std::vector<std::string>& problems() const { return problems_; }
  // True if an intact group header announces records. FirstPosition() and LastPosition() are those
  // of the first and last such record, whose data may still be damaged.
  bool HasRecords() const { return !groups_.empty(); }
  uint64_t FirstPosition() const { return groups_.front().begin; }
  uint64_t LastPosition() const { return groups_.back().begin + groups_.back().num_records - 1; }

  // Returns the record at a position; its bytes live as long as this object. Decompresses the
  // record's group on first use and keeps it. Errors give the position of the record or of its
  // group. Also fails if the decompressed groups would need more than half of the memory that was
  // free.
  Expected<llvm::StringRef> Read(uint64_t position);

 private:
  struct Group {
    uint64_t begin = 0, end = 0;  // positions in the file
    uint64_t data_size = 0, data_hash = 0, num_records = 0, decoded_size = 0;
    char type = 0;
  };
  struct Expanded {
    std::string bytes;         // from `begin`: the records of the group, one after another
    size_t begin = 0;          // above 0 in an uncompressed group: the records' sizes come first
    std::vector<size_t> ends;  // the ends of the records, counted from `begin`
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
  uint64_t room_;  // bytes that groups may still take when decompressed
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_RIEGELI_H_
