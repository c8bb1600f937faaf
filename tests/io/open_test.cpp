#include "lib/io/open.h"

#include "lib/proto/saved_model.pb.h"
#include "tests/fuzz/walk.h"
#include "tests/io/model_files.h"

namespace grapnel {
namespace {

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
  // The content decides, not the name.
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
  for (const std::string& path : {folder / "m", folder / "m/saved_model.pb", folder / "t"}) {
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
  // Without meta_info_def it starts with its graph.
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

// --- Real models

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
