// Bounds the memory of a walk over a large file. Private to lib/ir.
#ifndef GRAPNEL_LIB_IR_SOURCE_WALK_H_
#define GRAPNEL_LIB_IR_SOURCE_WALK_H_

#include "lib/support/file.h"

namespace grapnel {

// Used by a walk over all nodes of a file. Releases the pages that the walk has read: otherwise the
// whole file would stay in this process's memory, beside the graph, for attributes that are rarely
// read again.
class SourceWalk {
 public:
  // `file` is the file whose nodes the walk reads; null: releases nothing.
  explicit SourceWalk(const FileBytes* file) : file_(file) {
    if (file_) kept_from_ = file_->bytes().begin();
  }

  // Releases the pages before `at` each time the walk has read kStep more bytes; the walk must have
  // read everything before `at`. Ignores pointers outside of the file.
  void ReadUntil(const char* at) {
    if (!file_ || at < kept_from_ + kStep || at > file_->bytes().end()) return;
    // Releases all pages from the beginning of the file, not only those since the last call:
    // comparing names may have loaded earlier ones again.
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
