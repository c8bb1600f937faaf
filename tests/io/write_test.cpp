#include "lib/io/write.h"

#include <sys/resource.h>

#include <csignal>

#include "google/protobuf/text_format.h"
#include "google/protobuf/util/message_differencer.h"
#include "lib/io/open.h"
#include "lib/io/saved_model_writer.h"
#include "lib/ir/import.h"
#include "lib/proto/saved_model.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "tests/io/model_files.h"
#include "tests/io/testing.h"

namespace grapnel {
namespace {

using google::protobuf::util::MessageDifferencer;

std::string ReadAll(const std::string& path) { return Get(FileBytes::Open(path))->bytes().str(); }

std::string Exported(const Module& module) {
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  ExportGraphDef(module, os);
  return os.str();
}

std::unique_ptr<Module> Import(const std::string& bytes) {
  auto file = FileBytes::FromString(bytes, "x.pb");
  return Get(ImportGraphDef(file, file->bytes()));
}

// A graph with unknown fields at each level.
std::string GraphWithUnknownFields() {
  proto::GraphDef graph = SmallGraph();
  auto add = [](google::protobuf::Message* message) {
    auto* unknown = message->GetReflection()->MutableUnknownFields(message);
    unknown->AddVarint(1000, 7);
    unknown->AddLengthDelimited(1001, "hello");
    unknown->AddFixed32(1002, 1);
    unknown->AddFixed64(1003, 2);
  };
  add(&graph);
  add(graph.mutable_library());
  add(graph.mutable_versions());
  add(graph.mutable_node(0));
  add(graph.mutable_node(1)->mutable_experimental_type());
  add(&(*graph.mutable_node(2)->mutable_attr())["T"]);
  add(graph.mutable_library()->mutable_function(0));
  add(graph.mutable_library()->mutable_function(0)->mutable_node_def(0));
  graph.mutable_debug_info()->add_files("a.py");
  // By reflection, because the compiler warns of the deprecated setter.
  graph.GetReflection()->SetInt32(&graph, graph.GetDescriptor()->FindFieldByName("version"), 21);
  graph.mutable_library()->add_gradient()->set_function_name("f");
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    graph.SerializeToCodedStream(&coded);
  }
  return bytes;
}

void ExpectSameGraph(const std::string& got, const std::string& expected, const std::string& what) {
  if (got == expected) return;
  proto::GraphDef a, b;
  ASSERT_TRUE(a.ParseFromString(expected)) << what;
  ASSERT_TRUE(b.ParseFromString(got)) << what;
  MessageDifferencer differencer;
  std::string report;
  differencer.ReportDifferencesToString(&report);
  EXPECT_TRUE(differencer.Compare(a, b)) << what << "\n" << report.substr(0, 1000);
}

TEST(WriteGraph, KeepsUnknownFields) {
  TempFolder folder;
  std::string bytes = GraphWithUnknownFields();
  for (const char* name : {"x.pb", "x.pb.gz"}) {
    EXPECT_FALSE(Failed(WriteGraph(*Import(bytes), folder / name)));
    ExpectSameGraph(Exported(*Get(OpenGraph(folder / name))), bytes, name);
  }
  // A changed node keeps its other fields.
  auto module = Import(bytes);
  module->main.SetDevice(module->main.Find("x").id(), "/gpu:0");
  proto::GraphDef expected, got;
  expected.ParseFromString(bytes);
  expected.mutable_node(0)->set_device("/gpu:0");
  ExpectSameGraph(Exported(*module), expected.SerializeAsString(), "device");
}

TEST(WriteGraph, KeepsEmptyFields) {
  std::string bytes = std::string("\x0a\x05\x0a\x01x\x12\0", 7) + std::string("\x12\0\x22\0", 4);
  EXPECT_EQ(Exported(*Import(bytes)), bytes);
}

TEST(WriteGraph, TextIsWhatProtobufPrints) {
  TempFolder folder;
  for (const std::string& bytes : {GraphWithUnknownFields(), SmallGraph().SerializeAsString(),
                                   ReadAll("testdata/harmonic_mean_print/graph.pb")}) {
    proto::GraphDef graph;
    ASSERT_TRUE(graph.ParseFromString(bytes));
    std::string expected;
    google::protobuf::TextFormat::PrintToString(graph, &expected);
    auto module = Import(bytes);
    EXPECT_EQ(GraphText(*module), expected);
    EXPECT_FALSE(Failed(WriteGraph(*module, folder / "x.pbtxt")));
    EXPECT_EQ(ReadAll(folder / "x.pbtxt"), expected);
    EXPECT_FALSE(Failed(WriteGraph(*module, folder / "x.pbtxt.gz")));
    EXPECT_EQ(Get(OpenModel(folder / "x.pbtxt.gz")).kind, FileKind::kGraphText);
  }
}

TEST(WriteGraph, TextToWireToTextIsStable) {
  TempFolder folder;
  std::string text = GraphText(*Import(SmallGraph().SerializeAsString()));
  folder.Write("a.pbtxt", text);
  EXPECT_FALSE(Failed(WriteGraph(*Get(OpenGraph(folder / "a.pbtxt")), folder / "b.pb")));
  EXPECT_FALSE(Failed(WriteGraph(*Get(OpenGraph(folder / "b.pb")), folder / "c.pbtxt")));
  EXPECT_EQ(ReadAll(folder / "c.pbtxt"), text);
}

TEST(WriteGraph, OrderOfNodes) {
  auto module = Import(SmallGraph().SerializeAsString());
  std::string text = GraphText(*module, {3, 1, 77, 0});
  EXPECT_LT(text.find("name: \"call\""), text.find("name: \"c\""));
  EXPECT_EQ(text.find("name: \"y\""), std::string::npos);
}

// A cycle that is not a loop has no topological order.
TEST(WriteSavedModel, KeepsNodesOnACycle) {
  Model model = Get(OpenModel("testdata/libraries"));
  Graph& graph = model.graphs.front().module->main;
  size_t before = graph.num_nodes();
  NodeId a = graph.AddNode("cycle_a", "Identity"), b = graph.AddNode("cycle_b", "Identity");
  for (NodeId id : {a, b}) graph.SetAttr(id, "T", attr::Type(proto::DT_FLOAT));
  graph.AddInput(a, {b, 0});
  graph.AddInput(b, {a, 0});
  std::string folder = testing::TempDir() + "/cycle_model";
  ASSERT_FALSE(WriteSavedModel(model, folder));
  Model again = Get(OpenModel(folder));
  EXPECT_EQ(again.graphs.front().module->main.num_nodes(), before + 2);
}

// The contexts of TensorFlow 1's loops name nodes, which may be those that were removed.
TEST(WriteSavedModel, DropsContextsOfControlFlowIfANodeWasRemoved) {
  TempFolder folder;
  proto::SavedModel saved;
  proto::MetaGraphDef& meta = *saved.add_meta_graphs();
  meta = SmallMetaGraph({"serve"});
  proto::NodeDef* unread = meta.mutable_graph_def()->add_node();
  unread->set_name("unread");
  unread->set_op("NoOp");
  (*meta.mutable_collection_def())["while_context"].mutable_bytes_list()->add_value("unread");
  folder.Write("model/saved_model.pb", saved.SerializeAsString());
  Model model = Get(OpenModel(folder / "model/saved_model.pb"));
  auto collections = [&](const char* name) {
    EXPECT_FALSE(Failed(WriteSavedModel(model, folder / name)));
    proto::SavedModel written;
    EXPECT_TRUE(written.ParseFromString(ReadAll(folder / (std::string(name) + "/saved_model.pb"))));
    std::vector<std::string> names;
    for (const auto& [key, value] : written.meta_graphs(0).collection_def()) names.push_back(key);
    llvm::sort(names);
    return names;
  };
  EXPECT_EQ(collections("same"),
            (std::vector<std::string>{"train_op", "variables", "while_context"}));
  Graph& graph = model.graphs.front().module->main;
  graph.RemoveNode(graph.Find("unread").id());
  EXPECT_EQ(collections("removed"), (std::vector<std::string>{"train_op", "variables"}));
}

TEST(WriteGraph, TargetsThatCannotBeWritten) {
  TempFolder folder;
  auto module = Import(SmallGraph().SerializeAsString());
  auto error = [&](const std::string& path) { return TextOf(WriteGraph(*module, path)); };
  EXPECT_EQ(error(folder / "no/x.pb"), folder / "no/x.pb: cannot write: No such file or directory");
  EXPECT_EQ(error(folder.path()), folder.path() + ": is a folder, cannot write a file there");
  EXPECT_EQ(error("/dev/full"), "/dev/full: cannot write: No space left on device");
  EXPECT_FALSE(Failed(WriteGraph(*module, "/dev/null")));
}

// A limit on file sizes simulates a full disk: writing starts, and fails.
TEST(WriteGraph, AFullDiskLeavesTheOlderFileAndNoOther) {
  TempFolder folder;
  folder.Write("x.pb", "old");
  auto module = Import(SmallGraph().SerializeAsString());
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit = {100, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limit);
  std::string error = TextOf(WriteGraph(*module, folder / "x.pb"));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(error, folder / "x.pb: cannot write: File too large");
  EXPECT_EQ(ReadAll(folder / "x.pb"), "old");
  EXPECT_EQ(Get(ListDirectory(folder.path())), std::vector<std::string>{"x.pb"});
}

TEST(WriteGraph, AFileThatIsReadCanBeOverwritten) {
  TempFolder folder;
  std::string bytes = SmallGraph().SerializeAsString();
  folder.Write("x.pb", bytes);
  auto module = Get(OpenGraph(folder / "x.pb"));
  EXPECT_FALSE(Failed(WriteGraph(*module, folder / "x.pb")));
  EXPECT_EQ(ReadAll(folder / "x.pb"), bytes);
  EXPECT_EQ(Exported(*module), bytes);
}

// Reading and writing preserves every graph file.
void RoundTripFolder(const std::string& root) {
  size_t graphs = 0, identical = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    std::string path = entry.path().string();
    if (!entry.is_regular_file() || entry.file_size() > 20'000'000) continue;
    bool text = entry.path().extension() == ".pbtxt";
    if (!text && entry.path().extension() != ".pb") continue;
    if (entry.path().filename() == "saved_model.pb" || entry.path().filename() == "fingerprint.pb")
      continue;
    auto opened = OpenGraph(path);
    ASSERT_TRUE(static_cast<bool>(opened)) << TextOf(opened.takeError());
    Module& module = **opened;
    ++graphs;
    std::string bytes = ReadAll(path);
    if (!text) {
      std::string exported = Exported(module);
      identical += exported == bytes;
      ExpectSameGraph(exported, bytes, path);
    } else if (entry.file_size() < 1'000'000) {
      std::string once = GraphText(module), twice = GraphText(*Import(Exported(module)));
      EXPECT_EQ(once, twice) << path;
      proto::GraphDef a, b;
      EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(bytes, &a)) << path;
      EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(once, &b)) << path;
      EXPECT_TRUE(MessageDifferencer::Equals(a, b)) << path;
    }
  }
  EXPECT_GT(graphs, 0u);
  std::printf("%s: %zu graphs, %zu of them byte for byte\n", root.c_str(), graphs, identical);
}

TEST(RoundTrip, Testdata) { RoundTripFolder("testdata/models"); }
TEST(RoundTrip, Corpus) {
  NEED_SHARED("corpus/cases");
  RoundTripFolder(SharedPath("corpus/cases"));
}
TEST(RoundTrip, Ops) {
  NEED_SHARED("ops");
  RoundTripFolder(SharedPath("ops"));
}
TEST(RoundTrip, Dumps) {
  NEED_SHARED("dumps");
  RoundTripFolder(SharedPath("dumps"));
}

}  // namespace
}  // namespace grapnel
