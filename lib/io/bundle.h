// Checkpoints: the variables of a SavedModel or of training, in TensorFlow's tensor bundle format.
#ifndef GRAPNEL_LIB_IO_BUNDLE_H_
#define GRAPNEL_LIB_IO_BUNDLE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lib/ir/literal.h"
#include "lib/proto/tensor_bundle.pb.h"
#include "lib/support/error.h"
#include "lib/support/file.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Format: tensorflow/core/util/tensor_bundle/tensor_bundle.h. PREFIX.index is a leveldb table:
// tensor name to a BundleEntryProto, and a header under the empty key; values lie in
// PREFIX.data-00000-of-00001 and so on. The index is read whole (some 100 bytes a tensor), values
// when asked for. Move-only. Not thread-safe.
class Bundle {
 public:
  // Opens PREFIX.index. Errors name the file: not there, damaged, big-endian.
  static Expected<Bundle> Open(llvm::StringRef prefix);
  // For tests: the same with files at hand.
  static Expected<Bundle> FromFiles(std::shared_ptr<const FileBytes> index,
                                    std::vector<std::shared_ptr<const FileBytes>> data);

  struct Entry {
    DataType dtype = proto::DT_INVALID;
    Shape shape;
    int64_t size = 0;       // bytes in the data file
    uint32_t checksum = 0;  // of these
  };

  int num_shards() const { return num_shards_; }  // data files
  // Sorted. Parts of tensors that are stored in slices are not listed.
  std::vector<llvm::StringRef> names() const;
  bool Has(llvm::StringRef name) const { return entries_.count(name.str()) != 0; }
  Expected<Entry> Describe(llvm::StringRef name) const;

  // The value, borrowed from the mapped data file (copied only for strings and for tensors in
  // slices). `check` reads all of it and compares the checksum. Errors name file and tensor.
  Expected<Literal> Read(llvm::StringRef name, bool check = true);

 private:
  Bundle() = default;
  Error ReadIndex();
  Expected<proto::BundleEntryProto> Find(llvm::StringRef name) const;
  Expected<std::shared_ptr<const FileBytes>> Data(int shard);
  Expected<Literal> ReadEntry(const proto::BundleEntryProto& entry, bool check);
  Expected<Literal> ReadSlices(llvm::StringRef name, const proto::BundleEntryProto& entry,
                               bool check);

  std::string prefix_;
  std::shared_ptr<const FileBytes> index_;
  std::map<std::string, std::string> entries_;  // name to a serialized BundleEntryProto
  int num_shards_ = 0;
  std::map<int, std::shared_ptr<const FileBytes>> data_;
};

// The objects that were saved, as a serialized proto::TrackableObjectGraph; empty in a checkpoint
// of TensorFlow 1.
Expected<std::string> ObjectGraphOf(Bundle* bundle);

// Where a TF2 checkpoint keeps a variable: by the name that the graph's VarHandleOp has as
// shared_name ("dense/kernel"), the key in the bundle
// ("model/layer-1/kernel/.ATTRIBUTES/VARIABLE_VALUE"). From the object graph that such a checkpoint
// holds; a TF1 checkpoint has none, its keys are the variables' names, and the result is empty.
Expected<std::map<std::string, std::string>> VariableKeys(Bundle* bundle);

// PREFIX.data-00000-of-00001: where values of a checkpoint lie.
std::string DataFileOf(llvm::StringRef prefix, int shard, int num_shards);
// Deletes them, from the first up to one that is not there.
void RemoveDataFiles(llvm::StringRef prefix, int num_shards);

// The key under which the part of a tensor is stored: its name and, for each dimension, start and
// length (-1: all). tensorflow/core/util/saved_tensor_slice_util.h: EncodeTensorNameSlice.
std::string SliceKey(llvm::StringRef name, llvm::ArrayRef<std::pair<int64_t, int64_t>> extents);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_BUNDLE_H_
