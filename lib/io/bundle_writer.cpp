#include "lib/io/bundle_writer.h"

#include <algorithm>

#include "leveldb/env.h"
#include "leveldb/options.h"
#include "leveldb/table_builder.h"
#include "lib/io/bundle.h"
#include "lib/io/record.h"
#include "lib/proto/tensor_bundle.pb.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {
namespace {

class TableFile : public leveldb::WritableFile {
 public:
  explicit TableFile(llvm::raw_ostream& os) : os_(os) {}
  leveldb::Status Append(const leveldb::Slice& data) override {
    os_.write(data.data(), data.size());
    return leveldb::Status::OK();
  }
  leveldb::Status Close() override { return leveldb::Status::OK(); }
  leveldb::Status Flush() override { return leveldb::Status::OK(); }
  leveldb::Status Sync() override { return leveldb::Status::OK(); }

 private:
  llvm::raw_ostream& os_;
};

// Returns the bytes of a string tensor in the form that Bundle reads: lengths, their checksum,
// contents. `crc` becomes the checksum of all of this.
std::string StringsAsBytes(llvm::ArrayRef<std::string> strings, int64_t count, uint32_t* crc) {
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  auto at = [&](int64_t i) -> llvm::StringRef { return strings[strings.size() == 1 ? 0 : i]; };
  char number[8];
  for (int64_t i = 0; i < count; ++i) {
    uint64_t length = at(i).size();
    llvm::encodeULEB128(length, os);
    llvm::support::endian::write64le(number, length);
    *crc = Crc32c({number, length > UINT32_MAX ? size_t{8} : size_t{4}}, *crc);
  }
  llvm::support::endian::write32le(number, MaskCrc(*crc));
  os.write(number, 4);
  *crc = Crc32c({number, 4}, *crc);
  for (int64_t i = 0; i < count; ++i) {
    os << at(i);
    *crc = Crc32c(at(i), *crc);
  }
  return os.str();
}

// Returns the number of data files of the checkpoint at `prefix`, 0 if there is no checkpoint. If
// it cannot be read, assumes one data file, the usual number.
int ShardsOf(llvm::StringRef prefix) {
  if (!FileExists((prefix + ".index").str())) return 0;
  auto older = Bundle::Open(prefix);
  if (older) return older->num_shards();
  llvm::consumeError(older.takeError());
  return 1;
}

}  // namespace

Expected<std::unique_ptr<BundleWriter>> BundleWriter::Create(llvm::StringRef prefix) {
  std::unique_ptr<BundleWriter> writer(new BundleWriter);
  writer->prefix_ = prefix.str();
  llvm::StringRef folder = llvm::sys::path::parent_path(prefix);
  if (!folder.empty()) RETURN_IF_ERROR(CreateDirectories(folder));
  writer->older_shards_ = ShardsOf(prefix);
  int shards = writer->older_shards_ == 1 ? 2 : 1;  // a name that the older index does not use
  ASSIGN_OR_RETURN(writer->data_, AtomicFile::Create(DataFileOf(prefix, 0, shards)));
  return writer;
}

Error BundleWriter::Add(llvm::StringRef name, const Literal& value) {
  if (name.empty() || entries_.count(name.str()))
    return MakeError("{0}: tensor '{1}' is saved twice, or has no name", prefix_, name);
  Shape shape(value.dims());
  int64_t count = shape.NumElements().value_or(0);
  std::string owned;
  llvm::StringRef bytes = value.bytes();
  uint32_t crc = 0;
  if (value.dtype() == proto::DT_STRING) {
    owned = StringsAsBytes(value.strings(), count, &crc);
    bytes = owned;
  } else if (DataTypeSize(value.dtype()) == 0) {
    return MakeError("{0}: tensor '{1}': a {2} cannot be saved", prefix_, name,
                     DataTypeName(value.dtype()));
  } else {
    if (value.is_splat()) {
      for (int64_t i = 0; i < count; ++i) owned += value.bytes();
      bytes = owned;
    }
    crc = Crc32c(bytes);
  }
  data_->os() << bytes;
  proto::BundleEntryProto entry;
  entry.set_dtype(value.dtype());
  *entry.mutable_shape() = shape.ToProto();
  entry.set_offset(offset_);
  entry.set_size(bytes.size());
  entry.set_crc32c(MaskCrc(crc));
  offset_ += bytes.size();
  entries_[name.str()] = entry.SerializeAsString();
  return Error::success();
}

Error BundleWriter::WriteIndex(int num_shards) {
  proto::BundleHeaderProto header;
  header.set_num_shards(num_shards);
  header.mutable_version()->set_producer(1);
  entries_[""] = header.SerializeAsString();
  ASSIGN_OR_RETURN(auto index, AtomicFile::Create(prefix_ + ".index"));
  TableFile file(index->os());
  leveldb::Options options;
  options.compression = leveldb::kNoCompression;  // like TensorFlow
  leveldb::TableBuilder table(options, &file);
  for (const auto& [name, entry] : entries_) table.Add(name, entry);
  leveldb::Status status = table.Finish();
  if (!status.ok()) return MakeError("{0}.index: {1}", prefix_, status.ToString());
  return index->Commit();
}

Error BundleWriter::Finish() {
  RETURN_IF_ERROR(data_->Commit());
  if (older_shards_ == 1) {
    RETURN_IF_ERROR(WriteIndex(2));
    RETURN_IF_ERROR(LinkFile(DataFileOf(prefix_, 0, 2), DataFileOf(prefix_, 0, 1)));
  }
  RETURN_IF_ERROR(WriteIndex(1));
  RemoveDataFiles(prefix_, std::max(older_shards_, 2));
  return Error::success();
}

}  // namespace grapnel
