// Writes checkpoints that TensorFlow reads: see lib/io/bundle.h for the format.
#ifndef GRAPNEL_LIB_IO_BUNDLE_WRITER_H_
#define GRAPNEL_LIB_IO_BUNDLE_WRITER_H_

#include <map>
#include <memory>
#include <string>

#include "lib/ir/literal.h"
#include "lib/support/error.h"
#include "lib/support/file.h"

namespace grapnel {

// One data file and its index. Nothing is there before Finish(), and then all of it. A checkpoint
// that was there before can be read until the new one can, whenever the process is ended: two files
// cannot be replaced at once, so the new one has its values in a file of another name until the
// index is its own. Files that such an end leaves are removed when `prefix` is written again.
class BundleWriter {
 public:
  // The folder of `prefix` is made if there is none.
  static Expected<std::unique_ptr<BundleWriter>> Create(llvm::StringRef prefix);

  // Values are written at once, in this order. Errors: a name that was there before, a dtype that
  // has no bytes.
  Error Add(llvm::StringRef name, const Literal& value);
  Error Finish();

 private:
  BundleWriter() = default;
  Error WriteIndex(int num_shards);

  std::string prefix_;
  int older_shards_ = 0;  // data files of the checkpoint that is there; 0: there is none
  std::unique_ptr<AtomicFile> data_;
  uint64_t offset_ = 0;
  std::map<std::string, std::string> entries_;  // name to a serialized BundleEntryProto
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_BUNDLE_WRITER_H_
