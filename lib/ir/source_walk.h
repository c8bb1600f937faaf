// Bounds the memory of a walk over a large file. Private to lib/ir.
#ifndef GRAPNEL_LIB_IR_SOURCE_WALK_H_
#define GRAPNEL_LIB_IR_SOURCE_WALK_H_

#include "lib/support/file.h"

namespace grapnel {

// Releases the pages of a file that a walk has already read. Otherwise a walk over all nodes would
// leave the whole file in this process's memory, beside the graph, for attributes that are rarely
// read again.
class SourceWalk {
 public:
  // `file` is the file that the walk covers, or null.
  explicit SourceWalk(const FileBytes* file) : file_(file) {
    if (file_) kept_from_ = file_->bytes().begin();
  }

  // Tells the class that the walk has read everything before `at`; ignores pointers outside of the
  // file.
  void ReadUntil(const char* at) {
    if (!file_ || at < kept_from_ + kStep || at > file_->bytes().end()) return;
    // Releases all pages from the beginning of the file: comparing names has loaded earlier pages
    // again.
    file_->ReleasePages({file_->bytes().begin(), static_cast<size_t>(at - file_->bytes().begin())});
    kept_from_ = at;
  }
  void End() {
    if (file_) ReadUntil(file_->bytes().end());
  }

 private:
  static constexpr size_t kStep = size_t{4} << 20;  // smaller files keep their pages
  const FileBytes* file_;
  const char* kept_from_ = nullptr;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_SOURCE_WALK_H_
