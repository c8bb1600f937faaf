// Files without a graph, or with a damaged one: opening gives an error, or the readable rest of the
// graph.
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "lib/io/open.h"
#include "lib/ir/literal.h"
#include "lib/ir/wire.h"
#include "lib/proto/saved_model.pb.h"
#include "tests/fuzz/walk.h"
#include "tests/io/model_files.h"
#include "tests/unit/zip_files.h"

namespace grapnel {
namespace {

// --- Files that are not graphs

TEST(OpenBroken, SaysWhatAFileIsNot) {
  TempFolder folder;
  auto error = [&](const std::string& bytes) {
    return ErrorOf(OpenModel(folder.Write("x.txt", bytes)));
  };
  const std::string name = folder / "x.txt";
  EXPECT_EQ(error(""), name + ": is empty");
  EXPECT_EQ(
      error("hello"),
      name +
          ": is not a TensorFlow graph: no GraphDef, SavedModel, MetaGraph or event file (starts "
          "with \"hello\")");
  EXPECT_NE(error("\x01\n\"").find("(starts with \"\\x01\\n\\\"\")"), std::string::npos)
      << error("\x01\n\"");
  EXPECT_NE(error("\x89HDF\r\n").find("HDF5"), std::string::npos);
  EXPECT_NE(error(MakeZip({{"config.json", "{}"}})).find(".keras"), std::string::npos);
  EXPECT_NE(error(std::string("\x1c\0\0\0TFL3", 8)).find("TensorFlow Lite"), std::string::npos);
  EXPECT_EQ(error("\x83\xaf\x70\xd1\x0d\x88\x4a\x3f"),
            name + ": no group of its records can be read");
  // ONNX starts like a SavedModel: a number, then a message.
  EXPECT_NE(error("\x08\x07\x12\x07pytorch").find("is not a TensorFlow graph"), std::string::npos);
  EXPECT_NE(ErrorOf(OpenModel(folder / "missing")).find("missing: cannot open: No such file"),
            std::string::npos);
}

TEST(OpenBroken, FoldersWithoutGraphs) {
  TempFolder folder;
  EXPECT_NE(ErrorOf(OpenModel(folder.path())).find("contains no TensorFlow graph"),
            std::string::npos);
  folder.Write("readme.txt", "hello");
  EXPECT_NE(ErrorOf(OpenModel(folder.path())).find("its only file is not a graph"),
            std::string::npos);
  folder.Write("saved_model.cpb", "x");
  EXPECT_NE(ErrorOf(OpenModel(folder.path())).find("saved_model.cpb: is not a TensorFlow graph"),
            std::string::npos);
}

TEST(OpenBroken, TextErrorsNameTheLine) {
  TempFolder folder;
  std::string path = folder.Write("x.pbtxt", "node {\n  name: 7\n}\n");
  std::string error = ErrorOf(OpenModel(path));
  EXPECT_EQ(error.find(path + ":2:9: expected string"), 0u) << error;
  // Keeps the part before the error.
  path = folder.Write("y.pbtxt", "node { name: \"a\" op: \"NoOp\" }\nnode { name: \"b\" op: }\n");
  Model model = Get(OpenModel(path));
  ASSERT_EQ(model.problems.size(), 1u);
  EXPECT_EQ(model.problems[0].text.find("2:22: "), 0u) << model.problems[0].text;
  EXPECT_TRUE(model.graphs[0].module->main.Find("a"));
  // A field of a newer TensorFlow is dropped with a warning.
  path = folder.Write("z.pbtxt", "node { name: \"a\" op: \"NoOp\" brand_new { x: 1 } }\n");
  model = Get(OpenModel(path));
  ASSERT_EQ(model.problems.size(), 1u);
  EXPECT_EQ(model.problems[0].severity, Severity::kWarning);
  EXPECT_NE(model.problems[0].text.find("brand_new"), std::string::npos);
}

TEST(OpenBroken, NestingBombs) {
  TempFolder folder;
  std::string attr = "node { name: \"a\" op: \"B\" attr { key: \"f\" value ", text = attr, close,
              unknown = "node ", end;
  for (int i = 0; i < 10000; ++i) {
    text += "{ func { name: \"g\" attr { key: \"f\" value ";
    close += "} } }";
    unknown += "{ unknown ";
    end += "}";
  }
  Model deep = Get(OpenModel(folder.Write("deep.pbtxt", text + "{ i: 1 }" + close + "} }")));
  ASSERT_EQ(deep.problems.size(), 1u);
  EXPECT_NE(deep.problems[0].text.find("too deep"), std::string::npos) << deep.problems[0].text;
  EXPECT_EQ(deep.problems[0].severity, Severity::kError);
  std::string error = ErrorOf(OpenModel(folder.Write("unknown.pbtxt", unknown + end)));
  EXPECT_NE(error.find("unknown.pbtxt:1:"), std::string::npos) << error;

  std::string value;
  for (int i = 0; i < 10000; ++i) {
    std::string entry, func;
    AppendBytesField(&entry, 1, "f");
    AppendBytesField(&entry, 2, value);
    AppendBytesField(&func, 1, "g");
    AppendBytesField(&func, 2, entry);
    value.clear();
    AppendBytesField(&value, 10, func);
  }
  proto::NodeDef plain;
  plain.set_name("a");
  plain.set_op("B");
  std::string entry, node = plain.SerializeAsString(), graph;
  AppendBytesField(&entry, 1, "f");
  AppendBytesField(&entry, 2, value);
  AppendBytesField(&node, 5, entry);
  AppendBytesField(&graph, 1, node);
  Model model = Get(OpenModelBytes(FileBytes::FromString(graph, "deep.pb")));
  Walk(*model.graphs[0].module);
}

// --- Damage

TEST(OpenBroken, TruncatedAtEveryByte) {
  std::string whole = SmallGraph().SerializeAsString();
  size_t opened = 0;
  for (size_t size = 0; size < whole.size(); ++size) {
    auto model = OpenModelBytes(FileBytes::FromString(whole.substr(0, size), "x.pb"));
    if (!model) {
      EXPECT_EQ(TextOf(model.takeError()).find("x.pb: "), 0u);
      continue;
    }
    ++opened;
    Module& module = *model->graphs[0].module;
    // If truncated between two fields, a graph is complete, or lacks nodes that others mention.
    Walk(module);
    EXPECT_LT(module.main.num_nodes() + module.functions.size() + module.versions.size(), 8u);
  }
  EXPECT_GT(opened, whole.size() / 2);
}

TEST(OpenBroken, TruncatedContainersOpenAsFarAsTheyGo) {
  proto::SavedModel saved;
  saved.set_saved_model_schema_version(1);
  *saved.add_meta_graphs() = SmallMetaGraph({"serve"});
  std::string whole = saved.SerializeAsString();
  size_t opened = 0;
  for (size_t size = 0; size < whole.size(); ++size) {
    auto model = OpenModelBytes(FileBytes::FromString(whole.substr(0, size), "x.pb"));
    if (!model) {
      llvm::consumeError(model.takeError());
      continue;
    }
    ++opened;
    EXPECT_FALSE(model->problems.empty() && model->graphs[0].module->problems.empty()) << size;
    Walk(*model->graphs[0].module);
  }
  EXPECT_GT(opened, whole.size() / 2);
}

TEST(OpenBroken, BrokenNodesAreListedAndTheRestOpens) {
  auto open = [](const std::function<void(proto::GraphDef*)>& change,
                 const std::string& tail = "") {
    proto::GraphDef graph = SmallGraph();
    change(&graph);
    return Get(OpenModelBytes(FileBytes::FromString(graph.SerializeAsString() + tail, "x.pb")));
  };
  Model model = open([](proto::GraphDef* g) { g->mutable_node(1)->clear_op(); });
  EXPECT_EQ(Problems(model), "node 'c': has no op\n");
  model = open([](proto::GraphDef* g) { g->mutable_node(1)->set_name("x"); });
  EXPECT_NE(Problems(model).find("node 'x': occurs twice"), std::string::npos);
  EXPECT_EQ(model.graphs[0].module->main.num_nodes(), 4u);
  model = open([](proto::GraphDef* g) { g->mutable_node(2)->set_input(0, "relu:0"); });
  EXPECT_EQ(Problems(model), "node 'y': input 0 ('relu:0') not found\n");
  // A length that points past the end, after four good nodes.
  model = open([](proto::GraphDef*) {},
               "\x0a\x7f"
               "abc");
  EXPECT_NE(Problems(model).find("cut off or damaged"), std::string::npos);
  EXPECT_EQ(model.graphs[0].module->main.num_nodes(), 4u);
  // A node whose name is written as a number.
  model = open([](proto::GraphDef*) {}, std::string("\x0a\x02\x08\x05", 4));
  EXPECT_NE(Problems(model).find("has no name"), std::string::npos);
}

TEST(OpenBroken, AConstantThatClaimsGigabytes) {
  proto::GraphDef graph;
  auto* c = graph.add_node();
  c->set_name("c");
  c->set_op("Const");
  auto* tensor = (*c->mutable_attr())["value"].mutable_tensor();
  tensor->set_dtype(proto::DT_FLOAT);
  tensor->mutable_tensor_shape()->add_dim()->set_size(1 << 30);
  tensor->set_tensor_content("12345678");
  std::string bytes = graph.SerializeAsString();
  EXPECT_LT(bytes.size(), 100u);
  Model model = Get(OpenModelBytes(FileBytes::FromString(bytes, "x.pb")));
  std::string error = ErrorOf(Literal::FromConst(model.graphs[0].module->main.Find("c")));
  EXPECT_NE(error.find("8 bytes"), std::string::npos) << error;
  Walk(*model.graphs[0].module);
}

// Zeros compress to a thousandth, and may be valid weights: only memory limits the ratio.
TEST(OpenBroken, GzipOfAnyRatio) {
  proto::GraphDef graph = SmallGraph();
  proto::NodeDef* node = graph.add_node();
  node->set_name("zeros");
  node->set_op("Const");
  (*node->mutable_attr())["dtype"].set_type(proto::DT_FLOAT);
  proto::TensorProto& zeros = *(*node->mutable_attr())["value"].mutable_tensor();
  zeros.set_dtype(proto::DT_FLOAT);
  zeros.mutable_tensor_shape()->add_dim()->set_size(25 << 20);
  zeros.set_tensor_content(std::string(size_t{100} << 20, '\0'));
  std::string bytes = graph.SerializeAsString(), compressed = Gzip(bytes);
  EXPECT_GT(bytes.size() / compressed.size(), 900u);
  Model model = Get(OpenModelBytes(FileBytes::FromString(compressed, "zeros.pb.gz")));
  Literal value = Get(Literal::FromConst(model.graphs[0].module->main.Find("zeros")));
  EXPECT_EQ(value.bytes().size(), size_t{100} << 20);
}

#if !__has_feature(address_sanitizer)
TEST(OpenBroken, GzipThatMemoryHasNoRoomFor) {
  std::string bomb = Gzip(std::string(size_t{300} << 20, '\0'));
  rlimit before;
  getrlimit(RLIMIT_AS, &before);
  std::ifstream statm("/proc/self/statm");
  size_t pages = 0;
  statm >> pages;
  rlimit limit = {pages * sysconf(_SC_PAGESIZE) + (size_t{500} << 20), before.rlim_max};
  setrlimit(RLIMIT_AS, &limit);
  std::string error = ErrorOf(OpenModelBytes(FileBytes::FromString(bomb, "bomb.gz")));
  setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(error.find("bomb.gz: expands to more than 2"), 0u) << error;
  EXPECT_NE(error.find(" MB, half of the memory that is free ("), std::string::npos) << error;
}
#endif

TEST(OpenBroken, DamagedGzip) {
  proto::GraphDef graph = SmallGraph();
  for (int i = 0; i < 2000; ++i) {
    auto* node = graph.add_node();
    node->set_name("n" + std::to_string(i * 7919 % 2003));
    node->set_op("NoOp");
  }
  std::string whole = Gzip(graph.SerializeAsString());
  Model model =
      Get(OpenModelBytes(FileBytes::FromString(whole.substr(0, whole.size() / 2), "x.gz")));
  EXPECT_NE(Problems(model).find("the gzip data is cut off"), std::string::npos);
  EXPECT_GT(model.graphs[0].module->main.num_nodes(), 100u);
  EXPECT_NE(ErrorOf(OpenModelBytes(FileBytes::FromString("\x1f\x8b", "x.gz")))
                .find("cut off at its start"),
            std::string::npos);
}

TEST(OpenBroken, BrokenCaseFolders) {
  TempFolder folder;
  const std::string json = folder / "case.json";
  auto error = [&](const char* text) {
    folder.Write("case.json", text);
    return ErrorOf(OpenModel(folder.path()));
  };
  EXPECT_EQ(error("{\n \"feeds\": oops}"), json + ":2:11: Invalid JSON value");
  EXPECT_EQ(error("{\n \"feeds\n\": 1}"), json + ":2:8: Control character in string");
  EXPECT_EQ(error("\n"), json + ":1:1: Unexpected EOF");
  EXPECT_EQ(error(R"({"feeds": {}})"), json + ": 'fetches' must be an object: tensor to file");
  EXPECT_EQ(error(R"({"feeds": {"x": 3}, "fetches": {}})"),
            json + ": 'feeds': 'x' must be a string, the name of a .npy file");
  EXPECT_EQ(error(R"({"feeds": {}, "fetches": {}, "rtol": "a"})"),
            json + ": 'rtol' must be a finite number");
  EXPECT_EQ(error(R"({"feeds": {}, "fetches": {}, "rtol": {"y": 1}})"),
            json + ": 'rtol' must be a finite number");
  EXPECT_EQ(error(R"({"feeds": {}, "fetches": {"y": "y.npy"}, "atol": {"y": "a"}})"),
            json + ": 'atol' must be a finite number, or an object: tensor to finite number");
  EXPECT_EQ(
      error(R"({"feeds": {}, "fetches": {}})"),
      folder.path() +
          ": has a case.json but none of graph.pb, graph.pbtxt, graph.pb.gz and graph.pbtxt.gz");
  EXPECT_EQ(error(std::string(100000, '[').c_str()), json + ":1:257: nested more than 256 deep");
  EXPECT_EQ(error(""), json + ": is empty");
  EXPECT_EQ(error(R"({"feeds": {}, "fetches": {}, "rtol": 1e999})"),
            json + ": 'rtol' must be a finite number");
  // Another tool's case.json: the folder opens as the graph in it.
  folder.Write("case.json", R"({"title": "x", "fetch": ["y"]})");
  folder.Write("in.pb", SmallGraph().SerializeAsString());
  Model model = Get(OpenModel(folder.path()));
  EXPECT_EQ(model.kind, FileKind::kGraphDef);
  EXPECT_EQ(model.path, folder / "in.pb");
}

TEST(OpenBroken, CasesInDamagedArchives) {
  TempFolder folder;
  const std::string path = folder / "case.zip";
  const std::string json = R"({"feeds": {"x:0": "x.npy"}, "fetches": {"y:0": "y.npy"}})";
  auto error = [&](std::string bytes) {
    folder.Write("case.zip", bytes);
    return ErrorOf(OpenModel(path));
  };
  std::string whole =
      MakeZip({{"case.json", json}, {"graph.pb", SmallGraph().SerializeAsString()}});
  EXPECT_EQ(error(whole), "no error");
  EXPECT_EQ(error(whole.substr(0, whole.size() / 2)),
            path + ": the zip archive is cut off: it has no directory");
  std::string spoilt = whole;
  spoilt[spoilt.find("x.npy")] = 'X';
  EXPECT_EQ(error(spoilt),
            path + ": 'case.json': is damaged: its checksum differs from the one in the archive");
  EXPECT_EQ(
      error(MakeZip({{"case.json", json}})),
      path + ": has a case.json but none of graph.pb, graph.pbtxt, graph.pb.gz and graph.pbtxt.gz");
  EXPECT_EQ(error(MakeZip({{"case.json", "{\"feeds\": 1"}})),
            path + "/case.json:1:11: Expected , or } after object property");
  EXPECT_NE(error(MakeZip({{"config.json", json}})).find("looks like a zip file, as Keras writes"),
            std::string::npos);
  // Each byte that changes is noticed, or does not matter.
  for (size_t i = 0; i < whole.size(); ++i) {
    spoilt = whole;
    spoilt[i] ^= '\xff';
    folder.Write("case.zip", spoilt);
    auto opened = OpenModel(path);
    if (opened)
      EXPECT_EQ(opened->graphs[0].module->main.num_nodes(), 4u) << i;
    else
      EXPECT_NE(TextOf(opened.takeError()), "") << i;
  }
}

}  // namespace
}  // namespace grapnel
