#include "lib/io/open.h"

#include "google/protobuf/text_format.h"
#include "lib/io/gzip.h"
#include "lib/ir/literal.h"
#include "lib/ir/wire.h"
#include "lib/proto/meta_graph.pb.h"
#include "lib/proto/saved_model.pb.h"
#include "lib/proto/variable.pb.h"
#include "tests/fuzz/walk.h"
#include "tests/io/testing.h"

namespace grapnel {
namespace {

std::string Text(const google::protobuf::Message& message) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(message, &text);
  return text;
}

std::string Gzip(llvm::StringRef bytes) {
  std::string out;
  llvm::raw_string_ostream os(out);
  GzipStream gzip(&os);
  gzip << bytes;
  gzip.Finish();
  return os.str();
}

proto::MetaGraphDef SmallMetaGraph(std::initializer_list<const char*> tags) {
  proto::MetaGraphDef meta;
  meta.mutable_meta_info_def()->mutable_stripped_op_list()->add_op()->set_name("Relu");
  meta.mutable_meta_info_def()->set_tensorflow_version("2.21.0");
  for (const char* tag : tags) meta.mutable_meta_info_def()->add_tags(tag);
  *meta.mutable_graph_def() = SmallGraph();
  auto& signature = (*meta.mutable_signature_def())["serving_default"];
  signature.set_method_name("tensorflow/serving/predict");
  auto& input = (*signature.mutable_inputs())["x"];
  input.set_name("x:0");
  input.set_dtype(proto::DT_FLOAT);
  input.mutable_tensor_shape()->add_dim()->set_size(-1);
  (*signature.mutable_outputs())["y"].set_name("call:0");
  auto* sparse = (*signature.mutable_inputs())["ids"].mutable_coo_sparse();
  sparse->set_values_tensor_name("ids/values:0");
  sparse->set_indices_tensor_name("ids/indices:0");
  (*meta.mutable_collection_def())["train_op"].mutable_node_list()->add_value("GradientDescent");
  proto::VariableDef variable;
  variable.set_variable_name("w:0");
  (*meta.mutable_collection_def())["variables"].mutable_bytes_list()->add_value(
      variable.SerializeAsString());
  meta.mutable_saver_def()->set_restore_op_name("save/restore_all");
  meta.mutable_saver_def()->set_filename_tensor_name("save/Const:0");
  auto* asset = meta.add_asset_file_def();
  asset->set_filename("vocabulary.txt");
  asset->mutable_tensor_info()->set_name("asset:0");
  return meta;
}

void ExpectSmallGraph(const GraphInFile& graph) {
  ASSERT_TRUE(graph.module);
  EXPECT_EQ(graph.module->main.num_nodes(), 4u);
  EXPECT_EQ(graph.module->functions.size(), 1u);
  EXPECT_TRUE(graph.module->problems.empty());
}

// --- GraphDef

TEST(OpenModel, GraphDefBinaryTextAndCompressed) {
  TempFolder folder;
  proto::GraphDef graph = SmallGraph();
  // Names say nothing: the content decides.
  struct {
    std::string bytes;
    FileKind kind;
  } cases[] = {{graph.SerializeAsString(), FileKind::kGraphDef},
               {Text(graph), FileKind::kGraphText},
               {"# RUN: x\n\n  # y\n" + Text(graph), FileKind::kGraphText},
               {"\xEF\xBB\xBF" + Text(graph), FileKind::kGraphText},
               {Gzip(graph.SerializeAsString()), FileKind::kGraphDef},
               {Gzip(Text(graph)), FileKind::kGraphText}};
  for (const auto& [bytes, kind] : cases) {
    Model model = Get(OpenModel(folder.Write("file.bin", bytes)));
    EXPECT_EQ(model.kind, kind);
    ASSERT_EQ(model.graphs.size(), 1u);
    ExpectSmallGraph(model.graphs[0]);
    EXPECT_EQ(model.graphs[0].title, "");
  }
}

TEST(OpenModel, GraphThatStartsWithItsLibrary) {
  proto::GraphDef graph = SmallGraph(), library;
  library.mutable_library()->Swap(graph.mutable_library());
  graph.clear_library();
  std::string bytes = library.SerializeAsString() + graph.SerializeAsString();
  Model model = Get(OpenModelBytes(FileBytes::FromString(bytes, "x.pb")));
  EXPECT_EQ(model.kind, FileKind::kGraphDef);
  ExpectSmallGraph(model.graphs[0]);
}

// --- What is no graph

TEST(OpenModel, SaysWhatAFileIsNot) {
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
  EXPECT_NE(error("PK\x03\x04").find(".keras"), std::string::npos);
  EXPECT_NE(error(std::string("\x1c\0\0\0TFL3", 8)).find("TensorFlow Lite"), std::string::npos);
  EXPECT_NE(error("\x83\xaf\x70\xd1\x0d\x88\x4a\x3f").find("chunks"), std::string::npos);
  // ONNX starts as a SavedModel does: a number, then a message.
  EXPECT_NE(error("\x08\x07\x12\x07pytorch").find("is not a TensorFlow graph"), std::string::npos);
  EXPECT_NE(ErrorOf(OpenModel(folder / "missing")).find("missing: cannot open: No such file"),
            std::string::npos);
}

TEST(OpenModel, FoldersWithoutGraphs) {
  TempFolder folder;
  EXPECT_NE(ErrorOf(OpenModel(folder.path())).find("holds no TensorFlow graph"), std::string::npos);
  folder.Write("readme.txt", "hello");
  EXPECT_NE(ErrorOf(OpenModel(folder.path())).find("none of its 1 files"), std::string::npos);
  folder.Write("saved_model.cpb", "x");
  EXPECT_NE(ErrorOf(OpenModel(folder.path())).find("saved_model.cpb: is a SavedModel in chunks"),
            std::string::npos);
}

TEST(OpenModel, TextErrorsNameTheLine) {
  TempFolder folder;
  std::string path = folder.Write("x.pbtxt", "node {\n  name: 7\n}\n");
  std::string error = ErrorOf(OpenModel(path));
  EXPECT_EQ(error.find(path + ":2:9: expected string"), 0u) << error;
  // What stands before the error is kept.
  path = folder.Write("y.pbtxt", "node { name: \"a\" op: \"NoOp\" }\nnode { name: \"b\" op: }\n");
  Model model = Get(OpenModel(path));
  ASSERT_EQ(model.problems.size(), 1u);
  EXPECT_EQ(model.problems[0].text.find("2:22: "), 0u) << model.problems[0].text;
  EXPECT_TRUE(model.graphs[0].module->main.Find("a"));
  // A field of a newer TensorFlow is dropped, and said.
  path = folder.Write("z.pbtxt", "node { name: \"a\" op: \"NoOp\" brand_new { x: 1 } }\n");
  model = Get(OpenModel(path));
  ASSERT_EQ(model.problems.size(), 1u);
  EXPECT_EQ(model.problems[0].severity, Severity::kWarning);
  EXPECT_NE(model.problems[0].text.find("brand_new"), std::string::npos);
}

TEST(OpenModel, NestingBombs) {
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

TEST(OpenModel, TruncatedAtEveryByte) {
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
    // Cut between two fields a graph is complete, or misses what its nodes mention.
    Walk(module);
    EXPECT_LT(module.main.num_nodes() + module.functions.size() + module.versions.size(), 8u);
  }
  EXPECT_GT(opened, whole.size() / 2);
}

TEST(OpenModel, TruncatedContainersOpenAsFarAsTheyGo) {
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

std::string Problems(const Model& model) {
  std::string text;
  for (const Problem& problem : model.problems) text += problem.ToString() + "\n";
  for (const GraphInFile& graph : model.graphs) {
    for (const Problem& problem : graph.module->problems) text += problem.ToString() + "\n";
  }
  return text;
}

TEST(OpenModel, BrokenNodesAreListedAndTheRestOpens) {
  auto open = [](std::function<void(proto::GraphDef*)> change, std::string tail = "") {
    proto::GraphDef graph = SmallGraph();
    change(&graph);
    return Get(OpenModelBytes(FileBytes::FromString(graph.SerializeAsString() + tail, "x.pb")));
  };
  Model model = open([](proto::GraphDef* g) { g->mutable_node(1)->clear_op(); });
  EXPECT_EQ(Problems(model), "node 'c': has no op\n");
  model = open([](proto::GraphDef* g) { g->mutable_node(1)->set_name("x"); });
  EXPECT_NE(Problems(model).find("node 'x': is there twice"), std::string::npos);
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

TEST(OpenModel, AConstantThatClaimsGigabytes) {
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

TEST(OpenModel, DecompressionBombAndDamagedGzip) {
  std::string zeros(size_t{80} << 20, '\0'), bomb = Gzip(zeros);
  std::string error = ErrorOf(OpenModelBytes(FileBytes::FromString(bomb, "bomb.gz")));
  EXPECT_NE(error.find("bomb.gz: expands to more than 64 MiB"), std::string::npos) << error;
  EXPECT_NE(error.find("decompression bomb"), std::string::npos) << error;

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

// --- SavedModel and MetaGraph

TEST(OpenModel, SavedModelWithTwoMetaGraphs) {
  TempFolder folder;
  proto::SavedModel saved;
  saved.set_saved_model_schema_version(1);
  *saved.add_meta_graphs() = SmallMetaGraph({"serve"});
  *saved.add_meta_graphs() = SmallMetaGraph({"train", "serve"});
  saved.mutable_meta_graphs(1)->mutable_object_graph_def()->add_nodes();
  folder.Write("m/saved_model.pb", saved.SerializeAsString());
  folder.Write("m/fingerprint.pb", "\x08\x01\x10\x02");
  folder.Write("m/variables/variables.index", "");
  folder.Write("t/saved_model.pbtxt", Text(saved));
  for (std::string path : {folder / "m", folder / "m/saved_model.pb", folder / "t"}) {
    Model model = Get(OpenModel(path));
    EXPECT_EQ(model.kind, FileKind::kSavedModel);
    EXPECT_EQ(model.path, path);
    EXPECT_EQ(model.variables_prefix, path == folder / "t" ? "" : folder / "m/variables/variables");
    ASSERT_EQ(model.asset_files.size(), 1u);
    EXPECT_EQ(model.asset_files[0],
              folder / (path == folder / "t" ? "t" : "m") + "/assets/vocabulary.txt");
    ASSERT_EQ(model.graphs.size(), 2u);
    EXPECT_EQ(model.graphs[0].title, "serve");
    EXPECT_EQ(model.graphs[1].title, "train,serve");
    EXPECT_EQ(model.graphs[0].object_graph, "");
    EXPECT_NE(model.graphs[1].object_graph, "");
    for (const GraphInFile& graph : model.graphs) {
      ExpectSmallGraph(graph);
      EXPECT_EQ(graph.tensorflow_version, "2.21.0");
      ASSERT_EQ(graph.signatures.size(), 1u);
      const Signature& signature = graph.signatures[0];
      EXPECT_EQ(signature.name, "serving_default");
      EXPECT_EQ(signature.method, "tensorflow/serving/predict");
      ASSERT_EQ(signature.inputs.size(), 4u);
      EXPECT_EQ(signature.inputs[0].key, "ids:dense_shape");
      EXPECT_EQ(signature.inputs[3].key, "x");
      EXPECT_EQ(signature.inputs[3].tensor, "x:0");
      EXPECT_EQ(signature.inputs[3].dtype, proto::DT_FLOAT);
      EXPECT_EQ(signature.inputs[3].shape.ToString(), "[?]");
      ASSERT_EQ(graph.collections.size(), 2u);
      EXPECT_EQ(graph.collections[0].values, std::vector<std::string>{"GradientDescent"});
      EXPECT_EQ(graph.collections[1].values, std::vector<std::string>{"w:0"});
      ASSERT_TRUE(graph.saver);
      EXPECT_EQ(graph.saver->restore_op, "save/restore_all");
      ASSERT_EQ(graph.assets.size(), 1u);
      EXPECT_EQ(graph.assets[0].tensor, "asset:0");
    }
  }
}

TEST(OpenModel, MetaGraphBinaryAndText) {
  TempFolder folder;
  proto::MetaGraphDef meta = SmallMetaGraph({"serve"});
  for (const std::string& bytes : {meta.SerializeAsString(), Text(meta)}) {
    Model model = Get(OpenModel(folder.Write("model.meta", bytes)));
    EXPECT_EQ(model.kind, FileKind::kMetaGraph);
    ASSERT_EQ(model.graphs.size(), 1u);
    ExpectSmallGraph(model.graphs[0]);
    EXPECT_EQ(model.graphs[0].title, "serve");
  }
  // Without a description it starts with its graph.
  meta.clear_meta_info_def();
  EXPECT_EQ(Get(OpenModelBytes(FileBytes::FromString(meta.SerializeAsString(), "m"))).kind,
            FileKind::kMetaGraph);
  meta.clear_graph_def();
  *meta.mutable_meta_info_def() = SmallMetaGraph({"x"}).meta_info_def();
  EXPECT_EQ(ErrorOf(OpenModelBytes(FileBytes::FromString(meta.SerializeAsString(), "m"))),
            "m: meta graph 'x' holds no graph");
}

// --- Folders

TEST(OpenModel, CaseFolder) {
  TempFolder folder;
  folder.Write("graph.pb", SmallGraph().SerializeAsString());
  folder.Write(
      "case.json",
      R"({"nodes": 4, "feeds": {"x:0": "feed_0.npy"}, "fetches": {"y:0": "b.npy", "call:0": "a.npy"},
                   "rtol": 1e-4, "atol": {"y:0": 0.5}})");
  Model model = Get(OpenModel(folder.path()));
  EXPECT_EQ(model.kind, FileKind::kCaseFolder);
  EXPECT_EQ(model.path, folder.path());
  ExpectSmallGraph(model.graphs[0]);
  ASSERT_TRUE(model.case_info);
  const Case& values = *model.case_info;
  EXPECT_EQ(values.graph, folder / "graph.pb");
  EXPECT_EQ(values.rtol, 1e-4);
  ASSERT_EQ(values.feeds.size(), 1u);
  EXPECT_EQ(values.feeds[0].file, folder / "feed_0.npy");
  ASSERT_EQ(values.fetches.size(), 2u);
  EXPECT_EQ(values.fetches[0].tensor, "y:0");  // the file's order
  EXPECT_EQ(values.fetches[0].atol, 0.5);
  EXPECT_EQ(values.fetches[1].atol, 0);

  TempFolder again;
  EXPECT_FALSE(Failed(SaveCase(again.path(), values)));
  again.Write("graph.pb", SmallGraph().SerializeAsString());
  Case saved = Get(LoadCase(again.path()));
  EXPECT_EQ(saved.fetches[0].tensor, "y:0");
  EXPECT_EQ(saved.fetches[0].file, again / "b.npy");
  EXPECT_EQ(saved.fetches[0].atol, 0.5);
  EXPECT_EQ(saved.rtol, 1e-4);
}

TEST(OpenModel, BrokenCaseFolders) {
  TempFolder folder;
  const std::string json = folder / "case.json";
  auto error = [&](const char* text) {
    folder.Write("case.json", text);
    return ErrorOf(OpenModel(folder.path()));
  };
  EXPECT_EQ(error("{\n \"feeds\": oops}").find(json + ":2:11: syntax error"), 0u)
      << error("{\n \"feeds\": oops}");
  EXPECT_EQ(error(R"({"feeds": {}})"), json + ": 'fetches' must be an object: tensor to file");
  EXPECT_EQ(error(R"({"feeds": {"x": 3}, "fetches": {}})"),
            json + ": 'feeds': 'x' must name a .npy file");
  EXPECT_EQ(error(R"({"feeds": {}, "fetches": {}, "rtol": "a"})"),
            json + ": 'rtol' must be a number, or a number for each tensor");
  EXPECT_EQ(error(R"({"feeds": {}, "fetches": {}})"),
            folder.path() + ": has a case.json but no graph.pb");
  EXPECT_NE(error(std::string(100000, '[').c_str()).find("case.json:1:"), std::string::npos);
  // Another tool's case.json: the folder is taken for the graph in it.
  folder.Write("case.json", R"({"title": "x", "fetch": ["y"]})");
  folder.Write("in.pb", SmallGraph().SerializeAsString());
  Model model = Get(OpenModel(folder.path()));
  EXPECT_EQ(model.kind, FileKind::kGraphDef);
  EXPECT_EQ(model.path, folder / "in.pb");
}

TEST(OpenModel, DumpFolderIsListedInNaturalOrderAndOpenedLater) {
  TempFolder folder;
  proto::GraphDef graph = SmallGraph();
  folder.Write("f.0010.main.after_placer.pbtxt", Text(graph));
  folder.Write("f.0009.main.before_placer.pb", graph.SerializeAsString());
  folder.Write("pass_10.pbtxt", Text(graph));
  folder.Write("pass_9.pbtxt", "node { name: \"broken");
  folder.Write("pass_9.pbtxt.gz", Gzip(Text(graph)));
  folder.Write("log.txt", "hello");
  folder.Write("index.json", "{}");
  folder.Write("pass_11.pbtxt.tmp77", Text(graph));
  Model model = Get(OpenModel(folder.path()));
  EXPECT_EQ(model.kind, FileKind::kDumpFolder);
  std::vector<std::string> titles;
  for (const GraphInFile& file : model.graphs) {
    titles.push_back(file.title);
    EXPECT_FALSE(file.module);
  }
  EXPECT_EQ(titles, (std::vector<std::string>{"f.0009.main.before_placer.pb",
                                              "f.0010.main.after_placer.pbtxt", "pass_9.pbtxt",
                                              "pass_9.pbtxt.gz", "pass_10.pbtxt"}));
  EXPECT_EQ(Get(OpenGraph(model.graphs[0].path))->main.num_nodes(), 4u);
  EXPECT_NE(ErrorOf(OpenGraph(model.graphs[2].path)).find("pass_9.pbtxt:1:"), std::string::npos);
  EXPECT_NE(ErrorOf(OpenGraph(folder.path())).find("holds 5 graphs, one was expected"),
            std::string::npos);
}

// --- Real ones

TEST(OpenModel, Testdata) {
  Model model = Get(OpenModel("testdata/harmonic_mean"));
  EXPECT_EQ(model.kind, FileKind::kCaseFolder);
  EXPECT_TRUE(model.graphs[0].module->main.Find("Identity"));
  EXPECT_EQ(Problems(model), "");
}

TEST(OpenModel, RealSavedModels) {
  NEED_SHARED("saved_models");
  Model model = Get(OpenModel(SharedPath("saved_models/saved_model_half_plus_two_cpu")));
  EXPECT_EQ(model.kind, FileKind::kSavedModel);
  ASSERT_EQ(model.graphs.size(), 1u);
  EXPECT_EQ(model.graphs[0].tags, std::vector<std::string>{"serve"});
  EXPECT_EQ(model.graphs[0].signatures.size(), 5u);
  EXPECT_FALSE(model.variables_prefix.empty());
  ASSERT_EQ(model.asset_files.size(), 1u);
  EXPECT_TRUE(FileExists(model.asset_files[0]));
  EXPECT_EQ(Problems(model), "");
  model = Get(OpenModel(SharedPath("saved_models/saved_model_half_plus_two_tf2_cpu")));
  EXPECT_FALSE(model.graphs[0].object_graph.empty());
  EXPECT_EQ(Problems(model), "");
}

TEST(OpenModel, RealDumps) {
  NEED_SHARED("dumps/hm_printed_meta4");
  Model model = Get(OpenModel(SharedPath("dumps/hm_printed_meta4")));
  EXPECT_EQ(model.kind, FileKind::kDumpFolder);
  EXPECT_GT(model.graphs.size(), 20u);
  for (const GraphInFile& graph : model.graphs) Walk(*Get(OpenGraph(graph.path)));
}

TEST(OpenModel, RealDebugFiles) {
  NEED_SHARED("tfdbg_logdirs/v1_dump");
  size_t graphs = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(SharedPath("tfdbg_logdirs"))) {
    if (!entry.is_regular_file()) continue;
    auto model = OpenModel(entry.path().string());
    if (!model) {
      EXPECT_EQ(TextOf(model.takeError()).find(entry.path().string()), 0u);
      continue;
    }
    EXPECT_EQ(model->kind, FileKind::kEventFile) << entry.path();
    graphs += model->graphs.size();
    for (GraphInFile& graph : model->graphs) Walk(*graph.module);
  }
  EXPECT_GT(graphs, 0u);
}

}  // namespace
}  // namespace grapnel
