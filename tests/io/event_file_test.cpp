#include "lib/io/event_file.h"

#include "google/protobuf/text_format.h"
#include "lib/io/record.h"
#include "lib/proto/debug_event.pb.h"
#include "lib/proto/dynamic_message.h"
#include "lib/proto/event.pb.h"
#include "lib/proto/meta_graph.pb.h"
#include "tests/io/testing.h"

namespace grapnel {
namespace {

// RFC 3720, B.4.
TEST(Crc32c, KnownValues) {
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(Crc32c("6789", Crc32c("12345")), 0xe3069283u);
}

std::string Records(const std::vector<std::string>& records) {
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  for (const std::string& record : records) WriteRecord(os, record);
  return os.str();
}

proto::Event Version() {
  proto::Event event;
  event.set_wall_time(1.5);
  event.set_file_version("brain.Event:2");
  return event;
}

std::string AllKinds() {
  proto::Event graph, meta, run, summary;
  for (proto::Event* event : {&graph, &meta, &run, &summary}) event->set_wall_time(2);
  graph.set_graph_def(SmallGraph().SerializeAsString());
  proto::MetaGraphDef meta_graph;
  *meta_graph.mutable_graph_def() = SmallGraph();
  meta_graph.mutable_meta_info_def()->add_tags("train");
  meta.set_step(7);
  meta.set_meta_graph_def(meta_graph.SerializeAsString());
  std::string text = "{" + SmallGraph().ShortDebugString() + "}";
  auto metadata = proto::MakeDynamicMessage("RunMetadata");
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "partition_graphs " + text + " function_graphs { partition_graphs " + text +
          " pre_optimization_graph " + text + " post_optimization_graph " + text + "}",
      metadata.get()));
  run.mutable_tagged_run_metadata()->set_tag("step_1");
  run.mutable_tagged_run_metadata()->set_run_metadata(metadata->SerializeAsString());
  summary.mutable_summary()->add_value()->set_tag("loss");
  return Records({Version().SerializeAsString(), summary.SerializeAsString(),
                  graph.SerializeAsString(), meta.SerializeAsString(), run.SerializeAsString(),
                  graph.SerializeAsString()});
}

TEST(EventFile, EveryGraphIsListed) {
  Model model = Get(OpenModelBytes(FileBytes::FromString(AllKinds(), "events")));
  EXPECT_EQ(model.kind, FileKind::kEventFile);
  EXPECT_TRUE(model.problems.empty());
  std::vector<std::string> titles;
  for (const GraphInFile& graph : model.graphs) {
    titles.push_back(graph.title);
    EXPECT_EQ(graph.module->main.num_nodes(), 4u);
  }
  EXPECT_EQ(titles,
            (std::vector<std::string>{"graph", "meta_graph train", "step_1/partition_0",
                                      "step_1/function_0/partition_0", "step_1/function_0/before",
                                      "step_1/function_0/after", "graph_2"}));
}

TEST(EventFile, DamageIsListed) {
  std::string whole = AllKinds();
  // An error in the last record's graph: it opens, and the wrong checksum is reported.
  std::string wrong = whole;
  wrong[whole.size() - 20] ^= 1;
  Model model = Get(OpenModelBytes(FileBytes::FromString(wrong, "events")));
  ASSERT_EQ(model.problems.size(), 1u);
  EXPECT_EQ(model.problems[0].text, "record 6 has a wrong checksum or is cut off");
  for (size_t size = 0; size < whole.size(); size += 7) {
    auto cut = OpenModelBytes(FileBytes::FromString(whole.substr(0, size), "events"));
    if (!cut) {
      EXPECT_EQ(TextOf(cut.takeError()).find("events: "), 0u);
    }
  }
  // An error in the length of the second record.
  wrong = whole;
  wrong[Version().ByteSizeLong() + 16 + 3] ^= 1;
  EXPECT_EQ(ErrorOf(OpenModelBytes(FileBytes::FromString(wrong, "events"))),
            "events: is an event file without a graph (1 record; a record's length has a wrong "
            "checksum: the rest is not read)");
}

TEST(EventFile, FilesWithoutGraphs) {
  EXPECT_EQ(
      ErrorOf(OpenModelBytes(FileBytes::FromString(Records({Version().SerializeAsString()}), "e"))),
      "e: is an event file without a graph (1 record)");
  EXPECT_EQ(ErrorOf(OpenModelBytes(FileBytes::FromString(Records({"jpeg"}), "e"))),
            "e: is a TFRecord file, but not an event file: its first record does not begin with "
            "the time of an event");
}

TEST(EventFile, DebugFileAndBareEvent) {
  proto::DebugEvent debug;
  debug.set_wall_time(1);
  debug.mutable_debugged_graph()->set_graph_id("id");
  debug.mutable_debugged_graph()->set_graph_name("loop");
  debug.mutable_debugged_graph()->set_original_graph_def(SmallGraph().SerializeAsString());
  Model model =
      Get(OpenModelBytes(FileBytes::FromString(Records({debug.SerializeAsString()}), "e")));
  ASSERT_EQ(model.graphs.size(), 1u);
  EXPECT_EQ(model.graphs[0].title, "loop");
  // tfdbg v1 writes an event without framing.
  proto::Event event = Version();
  event.set_graph_def(SmallGraph().SerializeAsString());
  model = Get(OpenModelBytes(FileBytes::FromString(event.SerializeAsString(), "_tfdbg_graph")));
  EXPECT_EQ(model.kind, FileKind::kEventFile);
  EXPECT_EQ(model.graphs.size(), 1u);
  EXPECT_EQ(ErrorOf(OpenModelBytes(FileBytes::FromString(Version().SerializeAsString(), "e"))),
            "e: is an event (a value that tfdbg dumped) without a graph");
}

}  // namespace
}  // namespace grapnel
