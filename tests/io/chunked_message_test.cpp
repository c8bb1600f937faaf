// Chunked protos: merged like TensorFlow's Merger does, and with invalid chunks.
#include "lib/io/chunked_message.h"

#include "lib/proto/saved_model.pb.h"
#include "tests/io/model_files.h"
#include "tests/io/riegeli_files.h"

namespace grapnel {
namespace {

enum ChunkType { kMessage = 1, kBytes = 2 };

// Steps of a path: fields by number, indices, keys.
std::string Field(uint32_t number) {
  std::string tag;
  AppendVarintField(&tag, 1, number);
  return tag;
}
std::string Index(uint64_t index) {
  std::string tag;
  AppendVarintField(&tag, 3, index);
  return tag;
}
std::string Key(llvm::StringRef text) {
  std::string key, tag;
  AppendBytesField(&key, 1, text);
  AppendBytesField(&tag, 2, key);
  return tag;
}
std::string Key(uint32_t number) {
  std::string key, tag;
  AppendVarintField(&key, 3, number);
  AppendBytesField(&tag, 2, key);
  return tag;
}

// A file of chunks; chunk 0 is the message without the parts in other chunks.
class ChunkedFile {
 public:
  explicit ChunkedFile(llvm::StringRef whole) { Chunk(kMessage, whole); }

  uint64_t Chunk(ChunkType type, llvm::StringRef bytes) {
    std::string chunk;
    positions_.push_back(writer_.Add({bytes.str()}, Compression::kZstd));
    AppendVarintField(&chunk, 1, type);
    AppendVarintField(&chunk, 2, bytes.size());
    AppendVarintField(&chunk, 3, positions_.back());
    AppendBytesField(&chunks_, 2, chunk);
    return positions_.size() - 1;
  }
  static std::string FieldOf(uint64_t chunk, std::initializer_list<std::string> path,
                             llvm::StringRef nested = "") {
    std::string field, message;
    for (const std::string& step : path) AppendBytesField(&field, 1, step);
    AppendVarintField(&message, 1, chunk);
    message += nested;
    AppendBytesField(&field, 3, message);
    std::string out;
    AppendBytesField(&out, 2, field);
    return out;
  }
  void Put(ChunkType type, llvm::StringRef bytes, std::initializer_list<std::string> path) {
    fields_ += FieldOf(Chunk(type, bytes), path);
  }
  void PutField(llvm::StringRef field) { fields_ += field; }
  uint64_t PositionOf(size_t chunk) const { return positions_[chunk]; }

  std::string Bytes() const {
    RiegeliWriter writer = writer_;
    std::string metadata = chunks_, message;
    AppendVarintField(&message, 1, 0);
    message += fields_;
    AppendBytesField(&metadata, 3, message);
    writer.Add({metadata});
    return writer.bytes();
  }
  std::string WithoutMetadata() const { return writer_.bytes(); }

 private:
  RiegeliWriter writer_;
  std::vector<uint64_t> positions_;
  std::string chunks_, fields_;
};

struct Merged {
  std::string bytes, problems;

  template <typename Message>
  Message As() const {
    Message message;
    EXPECT_TRUE(message.ParseFromString(bytes));
    return message;
  }
};

Merged Merge(const std::string& bytes) {
  std::vector<Problem> problems;
  Merged merged;
  auto file = MergeChunks(FileBytes::FromString(bytes, "x.cpb"), &problems);
  merged.bytes = Get(std::move(file))->bytes().str();
  for (const Problem& problem : problems) merged.problems += problem.text + "\n";
  return merged;
}

// Fields by their numbers: GraphDef.node 1, library 2; NodeDef.attr 5; AttrValue.tensor 8;
// TensorProto.tensor_content 4; FunctionDefLibrary.function 1; FunctionDef.arg_attr 7, ret 4.
TEST(ChunkedMessage, FieldsListsMapsAndStringsAreFilled) {
  proto::GraphDef whole = SmallGraph(), base = whole;
  auto* tensor = (*whole.mutable_node(1)->mutable_attr())["value"].mutable_tensor();
  tensor->set_tensor_content("12345678");
  auto* function = whole.mutable_library()->mutable_function(0);
  (*(*function->mutable_arg_attr())[0].mutable_attr())["a"].set_i(1);
  (*(*function->mutable_arg_attr())[300].mutable_attr())["b"].set_i(2);

  base = whole;
  base.clear_library();
  base.mutable_node()->DeleteSubrange(2, 2);
  (*base.mutable_node(1)->mutable_attr())["value"].mutable_tensor()->set_tensor_content("old");
  ChunkedFile file(base.SerializeAsString());
  proto::GraphDef rest;
  *rest.add_node() = whole.node(2);
  file.Put(kMessage, rest.SerializeAsString(), {});
  file.Put(kMessage, whole.node(3).SerializeAsString(), {Field(1), Index(3)});
  file.Put(kBytes, "12345678", {Field(1), Index(1), Field(5), Key("value"), Field(8), Field(4)});
  proto::FunctionDef without = whole.library().function(0);
  without.clear_arg_attr();
  without.clear_ret();
  std::string nested =
      ChunkedFile::FieldOf(
          file.Chunk(kMessage, whole.library().function(0).arg_attr().at(0).SerializeAsString()),
          {Field(7), Key(0)}) +
      ChunkedFile::FieldOf(
          file.Chunk(kMessage, whole.library().function(0).arg_attr().at(300).SerializeAsString()),
          {Field(7), Key(300)}) +
      ChunkedFile::FieldOf(file.Chunk(kBytes, "relu:activations:0"), {Field(4), Key("r")});
  file.PutField(ChunkedFile::FieldOf(file.Chunk(kMessage, without.SerializeAsString()),
                                     {Field(2), Field(1), Index(0)}, nested));
  Merged merged = Merge(file.Bytes());
  EXPECT_EQ(merged.problems, "");
  EXPECT_EQ(Text(merged.As<proto::GraphDef>()), Text(whole));
}

// Parts of a list as proto_splitter writes them: fields in any order, merged in the order of the
// chunks.
TEST(ChunkedMessage, PartsOfAListKeepTheOrderOfChunks) {
  proto::GraphDef whole = SmallGraph(), base = whole;
  base.clear_node();
  ChunkedFile file(base.SerializeAsString());
  std::vector<uint64_t> chunks;
  for (const auto& node : whole.node()) {
    proto::GraphDef part;
    *part.add_node() = node;
    chunks.push_back(file.Chunk(kMessage, part.SerializeAsString()));
  }
  for (size_t i = chunks.size(); i-- > 0;) file.PutField(ChunkedFile::FieldOf(chunks[i], {}));
  EXPECT_EQ(Text(Merge(file.Bytes()).As<proto::GraphDef>()), Text(whole));
}

TEST(ChunkedMessage, FieldsThatNobodyKnowsAreKept) {
  proto::GraphDef base = SmallGraph();
  ChunkedFile file(base.SerializeAsString());
  file.Put(kBytes, "hello", {Field(1000)});
  file.Put(kMessage, "\x08\x01", {Field(1001), Field(5)});
  Merged merged = Merge(file.Bytes());
  EXPECT_EQ(merged.problems, "");
  std::string more;
  AppendBytesField(&more, 1000, "hello");
  AppendBytesField(&more, 1001, "\x2a\x02\x08\x01");
  EXPECT_EQ(merged.bytes, base.SerializeAsString() + more);
}

TEST(ChunkedMessage, WhatFitsNowhereIsSaidAndLeftOut) {
  proto::GraphDef base = SmallGraph();
  auto problem = [&](ChunkType type, std::initializer_list<std::string> path) {
    ChunkedFile file(base.SerializeAsString());
    file.Put(type, "x", path);
    Merged merged = Merge(file.Bytes());
    EXPECT_EQ(merged.As<proto::GraphDef>().node_size(), 4);
    return merged.problems;
  };
  EXPECT_EQ(
      problem(kMessage, {Field(1), Index(uint64_t{1} << 60)}),
      "'node[1152921504606846976]' is past the end of its list; the message lacks this chunk\n");
  EXPECT_EQ(problem(kMessage, {Field(1)}),
            "'node' is a list, and the chunk gives no index; the message lacks this chunk\n");
  EXPECT_EQ(problem(kBytes, {Field(3)}),
            "'version' is a number: chunk 1 cannot be in it; the message lacks this chunk\n");
  EXPECT_EQ(
      problem(kBytes, {Field(1), Index(0), Field(1), Field(2)}),
      "'node[0].name' is not a message: chunk 1 cannot be in it; the message lacks this chunk\n");
  EXPECT_EQ(problem(kBytes, {Index(0)}),
            "the path to the field of chunk 1 cannot be read; the message lacks this chunk\n");

  ChunkedFile file(base.SerializeAsString());
  file.PutField(ChunkedFile::FieldOf(7, {Field(2)}));
  EXPECT_EQ(Merge(file.Bytes()).problems,
            "chunk 7, counted from 0, does not exist: the number of chunks is 1; 'library' lacks "
            "this chunk\n");
}

TEST(ChunkedMessage, NestingHasAnEnd) {
  ChunkedFile file(SmallGraph().SerializeAsString());
  std::string nested, path;
  for (int i = 0; i < 10000; ++i) nested = ChunkedFile::FieldOf(0, {}, nested);
  file.PutField(nested);
  EXPECT_NE(Merge(file.Bytes()).problems.find("chunks are nested more than 100 deep"),
            std::string::npos);
  ChunkedFile deep(SmallGraph().SerializeAsString());
  std::string field, message, steps;
  for (int i = 0; i < 10000; ++i) AppendBytesField(&field, 1, Field(1000));
  AppendVarintField(&message, 1, 0);
  AppendBytesField(&field, 3, message);
  AppendBytesField(&steps, 2, field);
  deep.PutField(steps);
  EXPECT_NE(Merge(deep.Bytes()).problems.find("a field is nested more than 100 deep"),
            std::string::npos);
}

// A chunk that is referenced repeatedly would fill all memory: parts that do not fit are left out.
TEST(ChunkedMessage, TheWholeHasToFitIntoMemory) {
  ChunkedFile file(SmallGraph().SerializeAsString());
  uint64_t chunk = file.Chunk(kBytes, std::string(1 << 20, 'x'));
  for (int i = 0; i < 1000; ++i) file.PutField(ChunkedFile::FieldOf(chunk, {Field(1000 + i)}));
  std::vector<Problem> problems;
  auto whole = Get(MergeChunks(FileBytes::FromString(file.Bytes(), "x.cpb"), &problems, 10 << 20));
  EXPECT_GT(whole->bytes().size(), 9u << 20);
  EXPECT_LT(whole->bytes().size(), 11u << 20);
  ASSERT_EQ(problems.size(), 21u);
  EXPECT_EQ(problems[0].text,
            "with chunk 1, the merged message exceeds its limit, at most half of the free memory; "
            "the message lacks this chunk");
  EXPECT_EQ(problems.back().text, "the chunks have more problems");
}

TEST(ChunkedMessage, DamagedChunksAreMissedAlone) {
  TempFolder folder;
  proto::SavedModel saved;
  saved.set_saved_model_schema_version(1);
  *saved.add_meta_graphs() = SmallMetaGraph({"serve"});
  proto::SavedModel base = saved;
  base.mutable_meta_graphs(0)->mutable_graph_def()->mutable_node()->DeleteSubrange(2, 2);
  ChunkedFile file(base.SerializeAsString());
  file.Put(kMessage, saved.meta_graphs(0).graph_def().node(2).SerializeAsString(),
           {Field(2), Index(0), Field(2), Field(1), Index(2)});
  file.Put(kMessage, saved.meta_graphs(0).graph_def().node(3).SerializeAsString(),
           {Field(2), Index(0), Field(2), Field(1), Index(3)});
  std::string bytes = file.Bytes();
  Model model = Get(OpenModel(folder.Write("m/saved_model.cpb", bytes)));
  EXPECT_EQ(model.kind, FileKind::kSavedModel);
  EXPECT_EQ(Problems(model), "");
  EXPECT_TRUE(model.graphs[0].module->main.Find("call"));

  bytes[file.PositionOf(1) + 45] ^= 1;
  model = Get(OpenModel(folder.Write("m/saved_model.cpb", bytes)));
  EXPECT_NE(Problems(model).find("chunk 1: the records at"), std::string::npos) << Problems(model);
  EXPECT_NE(Problems(model).find("'meta_graphs[0].graph_def.node[2]' lacks this chunk"),
            std::string::npos);
  EXPECT_TRUE(model.graphs[0].module->main.Find("call"));
  EXPECT_FALSE(model.graphs[0].module->main.Find("y"));

  // Without the last record only the first chunk is read.
  model = Get(OpenModel(folder.Write("m/saved_model.cpb", file.WithoutMetadata())));
  EXPECT_NE(Problems(model).find("only the first chunk is read"), std::string::npos);
  EXPECT_TRUE(model.graphs[0].module->main.Find("c"));
  // Without the first chunk lists lack their first elements.
  bytes[file.PositionOf(0) + 45] ^= 1;
  model = Get(OpenModel(folder.Write("m/saved_model.cpb", bytes)));
  EXPECT_NE(Problems(model).find("chunk 0: the records"), std::string::npos) << Problems(model);
  EXPECT_NE(Problems(model).find("1[2]' is past the end"), std::string::npos);
}

// Files of the real encoder (scripts/testdata_chunked.py): every compression, transposed, several
// records together.
TEST(ChunkedMessage, FilesOfRiegelisOwnWriter) {
  proto::SavedModel whole;
  std::string bytes = Get(FileBytes::Open("testdata/chunked/whole.pb"))->bytes().str();
  ASSERT_TRUE(whole.ParseFromString(bytes));
  std::string graph = Text(whole.meta_graphs(0).graph_def());
  for (const char* name : {"plain", "snappy", "zstd", "transposed"}) {
    std::string path = std::string("testdata/chunked/graph_") + name + ".cpb";
    Merged merged = Merge(Get(FileBytes::Open(path))->bytes().str());
    EXPECT_EQ(merged.problems, "") << name;
    EXPECT_EQ(Text(merged.As<proto::GraphDef>()), graph) << name;
  }
  Merged merged =
      Merge(Get(FileBytes::Open("testdata/chunked/model/saved_model.cpb"))->bytes().str());
  EXPECT_EQ(merged.problems, "");
  EXPECT_EQ(Text(merged.As<proto::SavedModel>()), Text(whole));
}

}  // namespace
}  // namespace grapnel
