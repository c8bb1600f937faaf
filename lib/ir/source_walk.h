// Memory of a large file that is read from end to end. Private to lib/ir.
#ifndef GRAPNEL_LIB_IR_SOURCE_WALK_H_
#define GRAPNEL_LIB_IR_SOURCE_WALK_H_

#include "lib/support/file.h"

namespace grapnel {

// Lets go of a file's pages behind a walk over it. Without it a walk over all nodes leaves the
// whole file in this process's memory, beside the graph, for attributes that few ask for again.
class SourceWalk {
 public:
  // `file`: null, or what is walked over.
  explicit SourceWalk(const FileBytes* file) : file_(file) {
    if (file_) kept_from_ = file_->bytes().begin();
  }

  // All before `at` has been read; what is no place in the file says nothing.
  void ReadUntil(const char* at) {
    if (!file_ || at < kept_from_ + kStep || at > file_->bytes().end()) return;
    // From the beginning on: names that were compared since have brought pages back.
    file_->ReleasePages({file_->bytes().begin(), static_cast<size_t>(at - file_->bytes().begin())});
    kept_from_ = at;
  }
  void End() {
    if (file_) ReadUntil(file_->bytes().end());
  }

 private:
  static constexpr size_t kStep = size_t{4} << 20;  // of smaller files nothing is let go
  const FileBytes* file_;
  const char* kept_from_ = nullptr;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_SOURCE_WALK_H_
