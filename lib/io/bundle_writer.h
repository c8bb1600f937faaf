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

// Writes one data file and its index. The checkpoint appears as a whole in Finish(). Even if the
// process is killed, either the previous checkpoint or the new one can be read: as two files cannot
// be replaced at once, the new data file has a different name until the new index is in place. The
// next write to the same prefix removes files that a killed process left.
class BundleWriter {
 public:
  // Creates the directory of `prefix` if it does not exist.
  static Expected<std::unique_ptr<BundleWriter>> Create(llvm::StringRef prefix);

  // Writes a value at once, after those of earlier calls. Fails for a duplicate or empty name, and
  // for a value that has no bytes, such as a resource.
  Error Add(llvm::StringRef name, const Literal& value);
  Error Finish();

 private:
  BundleWriter() = default;
  Error WriteIndex(int num_shards);

  std::string prefix_;
  int older_shards_ = 0;  // data files of the existing checkpoint, see ShardsOf; 0: there is none
  std::unique_ptr<AtomicFile> data_;
  uint64_t offset_ = 0;
  std::map<std::string, std::string> entries_;  // tensor name to a serialized BundleEntryProto
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_BUNDLE_WRITER_H_
