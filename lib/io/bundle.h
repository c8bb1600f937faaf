// Reads checkpoints in TensorFlow's tensor bundle format: the variables of a SavedModel, or what a
// training run saves.
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

// A checkpoint, in the format of tensorflow/core/util/tensor_bundle/tensor_bundle.h: PREFIX.index
// is a leveldb table that maps tensor names to BundleEntryProtos, with a header under the empty
// key; values lie in PREFIX.data-00000-of-00001 and so on. Reads the whole index at once (some 100
// bytes a tensor) and values on demand. Not thread-safe.
class Bundle {
 public:
  // Opens the checkpoint with the index PREFIX.index. Errors name the file.
  static Expected<Bundle> Open(llvm::StringRef prefix);
  // For tests: reads a checkpoint from files in memory.
  static Expected<Bundle> FromFiles(std::shared_ptr<const FileBytes> index,
                                    std::vector<std::shared_ptr<const FileBytes>> data);

  struct Entry {
    DataType dtype = proto::DT_INVALID;
    Shape shape;
    int64_t size = 0;       // bytes in the data file
    uint32_t checksum = 0;  // of these bytes; of a tensor in slices, of the slices' checksums
  };

  int num_shards() const { return num_shards_; }  // data files
  // The names of the tensors, sorted. Omits the entries of slices (the pieces in which a large
  // tensor may be saved).
  std::vector<llvm::StringRef> names() const;
  bool Has(llvm::StringRef name) const { return entries_.count(name.str()) != 0; }
  Expected<Entry> Describe(llvm::StringRef name) const;

  // Returns the value of a tensor. It points into the mapped data file; only strings and sliced
  // tensors are copied. `check` reads the whole value and compares its checksum. Errors name file
  // and tensor.
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
  std::map<std::string, std::string> entries_;  // tensor name to a serialized BundleEntryProto
  int num_shards_ = 0;
  std::map<int, std::shared_ptr<const FileBytes>> data_;
};

// Returns the object graph of a TF2 checkpoint as a serialized proto::TrackableObjectGraph; empty
// for a checkpoint without one, as TF1 writes it.
Expected<std::string> ObjectGraphOf(Bundle* bundle);

// Maps each variable in a TF2 checkpoint to its key: from the shared_name of the graph's
// VarHandleOp ("dense/kernel") to the key in the bundle
// ("model/layer-1/kernel/.ATTRIBUTES/VARIABLE_VALUE"). Reads the checkpoint's object graph. The
// result is empty for a TF1 checkpoint, whose keys are the names of the variables.
Expected<std::map<std::string, std::string>> VariableKeys(Bundle* bundle);

// Returns the path of a data file of a checkpoint: PREFIX.data-00000-of-00001.
std::string DataFileOf(llvm::StringRef prefix, int shard, int num_shards);
// Deletes the checkpoint's data files 0, 1, 2, ..., and stops at the first that it cannot delete,
// for example because there is none.
void RemoveDataFiles(llvm::StringRef prefix, int num_shards);

// Returns the key of one slice of a tensor: the tensor's name and, for each dimension, the slice's
// start and length (length -1: the whole dimension). See EncodeTensorNameSlice in
// tensorflow/core/util/saved_tensor_slice_util.h.
std::string SliceKey(llvm::StringRef name, llvm::ArrayRef<std::pair<int64_t, int64_t>> extents);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_BUNDLE_H_
