#include "lib/io/bundle.h"

#include "leveldb/env.h"
#include "leveldb/options.h"
#include "leveldb/table_builder.h"
#include "lib/io/open.h"
#include "lib/io/record.h"
#include "lib/ir/wire.h"
#include "lib/proto/trackable_object_graph.pb.h"
#include "llvm/Support/Endian.h"
#include "tests/io/testing.h"

namespace grapnel {
namespace {

class MemoryFile : public leveldb::WritableFile {
 public:
  leveldb::Status Append(const leveldb::Slice& data) override {
    bytes.append(data.data(), data.size());
    return leveldb::Status::OK();
  }
  leveldb::Status Close() override { return leveldb::Status::OK(); }
  leveldb::Status Flush() override { return leveldb::Status::OK(); }
  leveldb::Status Sync() override { return leveldb::Status::OK(); }
  std::string bytes;
};

// Writes bundles like tensor_bundle.cc.
struct Writer {
  std::map<std::string, std::string> entries;
  std::string data;
  proto::BundleHeaderProto header;

  Writer() { header.set_num_shards(1); }

  proto::BundleEntryProto Entry(DataType dtype, llvm::ArrayRef<int64_t> dims, llvm::StringRef bytes,
                                uint32_t crc) {
    proto::BundleEntryProto entry;
    entry.set_dtype(dtype);
    for (int64_t dim : dims) entry.mutable_shape()->add_dim()->set_size(dim);
    entry.set_offset(data.size());
    entry.set_size(bytes.size());
    entry.set_crc32c(MaskCrc(crc));
    data += bytes;
    return entry;
  }
  void Add(const std::string& name, DataType dtype, llvm::ArrayRef<int64_t> dims,
           llvm::StringRef bytes) {
    entries[name] = Entry(dtype, dims, bytes, Crc32c(bytes)).SerializeAsString();
  }
  void AddStrings(const std::string& name, llvm::ArrayRef<int64_t> dims,
                  const std::vector<std::string>& strings) {
    std::string bytes;
    uint32_t crc = 0;
    for (const std::string& text : strings) {
      AppendVarint(&bytes, text.size());
      char number[4];
      llvm::support::endian::write32le(number, text.size());
      crc = Crc32c({number, 4}, crc);
    }
    char sum[4];
    llvm::support::endian::write32le(sum, MaskCrc(crc));
    bytes.append(sum, 4);
    crc = Crc32c({sum, 4}, crc);
    for (const std::string& text : strings) {
      bytes += text;
      crc = Crc32c(text, crc);
    }
    entries[name] = Entry(proto::DT_STRING, dims, bytes, crc).SerializeAsString();
  }
  std::string Index(leveldb::CompressionType compression = leveldb::kNoCompression) {
    MemoryFile file;
    leveldb::Options options;
    options.compression = compression;
    leveldb::TableBuilder builder(options, &file);
    entries[""] = header.SerializeAsString();
    for (const auto& [key, value] : entries) builder.Add(key, value);
    EXPECT_TRUE(builder.Finish().ok());
    return file.bytes;
  }
  Expected<Bundle> Open() {
    return Bundle::FromFiles(FileBytes::FromString(Index(), "v.index"),
                             {FileBytes::FromString(data, "v.data")});
  }
};

std::string Floats(std::initializer_list<float> values) {
  return std::string(reinterpret_cast<const char*>(values.begin()), values.size() * 4);
}

TEST(Bundle, NumbersAndStrings) {
  Writer writer;
  writer.Add("w", proto::DT_FLOAT, {2, 2}, Floats({1, 2, 3, 4}));
  writer.Add("half", proto::DT_BFLOAT16, {}, "\x80\x3f");
  writer.Add("empty", proto::DT_DOUBLE, {0, 3}, "");
  writer.AddStrings("words", {2}, {"hello", ""});
  Bundle bundle = Get(writer.Open());
  EXPECT_EQ(bundle.names(), (std::vector<llvm::StringRef>{"empty", "half", "w", "words"}));
  EXPECT_TRUE(bundle.Has("w"));
  EXPECT_EQ(Get(bundle.Describe("w")).shape.ToString(), "[2,2]");
  EXPECT_EQ(Get(bundle.Describe("w")).size, 16);
  Literal w = Get(bundle.Read("w"));
  EXPECT_EQ(w.ToString(), "[1,2,3,4]");
  EXPECT_EQ(Get(bundle.Read("half")).AsDouble(0), 1.0);
  EXPECT_EQ(Get(bundle.Read("empty")).num_elements(), 0);
  EXPECT_EQ(Get(bundle.Read("words")).strings(), (std::vector<std::string>{"hello", ""}));
  EXPECT_EQ(ErrorOf(bundle.Read("none")), "v.index: has no tensor 'none'");
}

TEST(Bundle, CompressedIndexAndShardsOnDisk) {
  TempFolder folder;
  Writer writer;
  writer.header.set_num_shards(2);
  for (int i = 0; i < 2000; ++i) {
    writer.Add("layer_" + std::to_string(i) + "/kernel", proto::DT_FLOAT, {1},
               Floats({static_cast<float>(i)}));
  }
  folder.Write("v.index", writer.Index(leveldb::kSnappyCompression));
  folder.Write("v.data-00000-of-00002", writer.data);
  Bundle bundle = Get(Bundle::Open(folder / "v"));
  EXPECT_EQ(bundle.names().size(), 2000u);
  EXPECT_EQ(Get(bundle.Read("layer_1234/kernel")).AsDouble(0), 1234);
  EXPECT_NE(ErrorOf(Bundle::Open(folder / "none")).find("none.index: cannot open"),
            std::string::npos);
}

TEST(Bundle, DamagedValues) {
  Writer writer;
  writer.Add("w", proto::DT_FLOAT, {2}, Floats({1, 2}));
  writer.AddStrings("s", {1}, {"hello"});
  writer.data[0] ^= 1;
  writer.data[9] ^= 1;  // in the checksum of the lengths
  Bundle bundle = Get(writer.Open());
  EXPECT_EQ(ErrorOf(bundle.Read("w")),
            "v.index: tensor 'w': v.data: the checksum of the tensor's data is wrong");
  EXPECT_TRUE(static_cast<bool>(Get(bundle.Read("w", /*check=*/false)).num_elements() == 2));
  EXPECT_NE(ErrorOf(bundle.Read("s")).find("wrong checksum"), std::string::npos);
  writer.data.resize(5);
  bundle = Get(writer.Open());
  EXPECT_NE(ErrorOf(bundle.Read("w"))
                .find("is cut off: bytes 0 to 8 were expected, the file has 5 bytes"),
            std::string::npos);
}

TEST(Bundle, EntriesThatLie) {
  Writer writer;
  proto::BundleEntryProto entry = writer.Entry(proto::DT_FLOAT, {1LL << 40}, "12345678", 0);
  writer.entries["big"] = entry.SerializeAsString();
  entry.set_dtype(proto::DT_STRING);
  writer.entries["many_strings"] = entry.SerializeAsString();
  entry.set_offset(-8);
  writer.entries["offset"] = entry.SerializeAsString();
  entry.set_shard_id(7);
  writer.entries["shard"] = entry.SerializeAsString();
  entry.Clear();
  entry.set_dtype(proto::DT_FLOAT);
  for (int i = 0; i < 3; ++i) entry.mutable_shape()->add_dim()->set_size(1 << 12);
  entry.add_slices();
  writer.entries["slices"] = entry.SerializeAsString();
  writer.entries["junk"] = "\xff\xff";
  Bundle bundle = Get(writer.Open());
  for (llvm::StringRef name : bundle.names()) {
    std::string error = ErrorOf(bundle.Read(name));
    EXPECT_NE(error.find("tensor '" + name.str() + "'"), std::string::npos) << error;
  }
}

TEST(Bundle, DamagedIndex) {
  Writer writer;
  writer.Add("w", proto::DT_FLOAT, {2}, Floats({1, 2}));
  std::string whole = writer.Index();
  EXPECT_EQ(
      ErrorOf(Bundle::FromFiles(FileBytes::FromString("", "v.index"), {})),
      "v.index: is not a checkpoint index, or is cut off: it is shorter than a table's footer");
  for (size_t i = 0; i < whole.size(); ++i) {
    auto cut = Bundle::FromFiles(FileBytes::FromString(whole.substr(0, i), "v.index"), {});
    EXPECT_FALSE(static_cast<bool>(cut)) << i;
    llvm::consumeError(cut.takeError());
    std::string flipped = whole;
    flipped[i] ^= 0x10;
    auto bundle = Bundle::FromFiles(FileBytes::FromString(flipped, "v.index"), {});
    if (!bundle)
      llvm::consumeError(bundle.takeError());  // changes in the footer's padding are
                                               // allowed
  }
  writer.header.set_endianness(proto::BundleHeaderProto::BIG);
  EXPECT_NE(ErrorOf(writer.Open()).find("big-endian"), std::string::npos);
}

TEST(Bundle, Slices) {
  // 4 x 3: rows 0-1, then the last two rows by column.
  Writer writer;
  proto::BundleEntryProto whole;
  whole.set_dtype(proto::DT_FLOAT);
  whole.mutable_shape()->add_dim()->set_size(4);
  whole.mutable_shape()->add_dim()->set_size(3);
  auto slice = [&](const std::vector<std::pair<int64_t, int64_t>>& extents,
                   llvm::ArrayRef<int64_t> dims, const std::string& bytes) {
    auto* proto = whole.add_slices();
    for (auto [start, length] : extents) {
      auto* extent = proto->add_extent();
      if (length < 0) continue;
      extent->set_start(start);
      extent->set_length(length);
    }
    writer.Add(SliceKey("table", extents), proto::DT_FLOAT, dims, bytes);
  };
  slice({{0, 2}, {0, -1}}, {2, 3}, Floats({1, 2, 3, 4, 5, 6}));
  slice({{2, 2}, {0, 1}}, {2, 1}, Floats({7, 10}));
  slice({{2, 2}, {1, 2}}, {2, 2}, Floats({8, 9, 11, 12}));
  writer.entries["table"] = whole.SerializeAsString();
  Bundle bundle = Get(writer.Open());
  EXPECT_EQ(bundle.names(), std::vector<llvm::StringRef>{"table"});
  EXPECT_EQ(Get(bundle.Read("table")).ToString(12), "[1,2,3,4,5,6,7,8,9,10,11,12]");
  const Bundle::Entry entry = Get(bundle.Describe("table"));
  EXPECT_EQ(entry.size, 48);
  Writer other = writer;
  other.Add(SliceKey("table", {{2, 2}, {0, 1}}), proto::DT_FLOAT, {2, 1}, Floats({7, 11}));
  Bundle of_other = Get(other.Open());
  EXPECT_NE(Get(of_other.Describe("table")).checksum, entry.checksum);
  whole.mutable_slices()->RemoveLast();
  writer.entries["table"] = whole.SerializeAsString();
  bundle = Get(writer.Open());
  EXPECT_NE(ErrorOf(bundle.Read("table")).find("hold 8 of the tensor's 12 elements"),
            std::string::npos);
  // The second slice again, in place of the last two columns: 12 elements, but two of them twice.
  *whole.add_slices() = whole.slices(1);
  *whole.add_slices() = whole.slices(1);
  writer.entries["table"] = whole.SerializeAsString();
  bundle = Get(writer.Open());
  EXPECT_NE(ErrorOf(bundle.Read("table")).find("hold 8 of the tensor's 12 elements"),
            std::string::npos);
}

// By the rules of ordered_code.cc: 0; the name and its end; the rank; start and length.
TEST(Bundle, SliceKeys) {
  EXPECT_EQ(SliceKey("ab", {}), std::string("\0ab\0\1\0", 6));
  EXPECT_EQ(SliceKey("a", {{0, -1}}), std::string("\0a\0\1\1\1\x80\x7f", 8));
  EXPECT_EQ(SliceKey("a", {{63, 64}}), std::string("\0a\0\1\1\1\xbf\xc0\x40", 9));
  EXPECT_EQ(SliceKey("a", {{8191, 8192}}), std::string("\0a\0\1\1\1\xdf\xff\xe0\x20\0", 11));
}

TEST(Bundle, VariableKeysOfAnObjectGraph) {
  proto::TrackableObjectGraph graph;
  auto* attribute = graph.add_nodes()->add_attributes();
  attribute->set_name("VARIABLE_VALUE");
  attribute->set_full_name("dense/kernel");
  attribute->set_checkpoint_key("kernel/.ATTRIBUTES/VARIABLE_VALUE");
  Writer writer;
  writer.AddStrings("_CHECKPOINTABLE_OBJECT_GRAPH", {}, {graph.SerializeAsString()});
  Bundle bundle = Get(writer.Open());
  EXPECT_EQ(
      Get(VariableKeys(&bundle)),
      (std::map<std::string, std::string>{{"dense/kernel", "kernel/.ATTRIBUTES/VARIABLE_VALUE"}}));
}

TEST(Bundle, RealVariables) {
  NEED_SHARED("saved_models");
  size_t read = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(SharedPath("."))) {
    if (entry.path().filename() != "variables.index") continue;
    Bundle bundle = Get(Bundle::Open((entry.path().parent_path() / "variables").string()));
    for (llvm::StringRef name : bundle.names()) {
      Literal literal = Get(bundle.Read(name));
      EXPECT_EQ(literal.num_elements(), *Get(bundle.Describe(name)).shape.NumElements());
      ++read;
    }
    for (const auto& [variable, key] : Get(VariableKeys(&bundle)))
      EXPECT_TRUE(bundle.Has(key)) << key;
  }
  EXPECT_GT(read, 10u);
}

}  // namespace
}  // namespace grapnel
