#include "lib/tfdbg/v1_dump.h"

#include <cmath>
#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"
#include "lib/check/first_cause.h"
#include "lib/ir/literal.h"
#include "lib/ir/wire.h"
#include "lib/proto/event.pb.h"
#include "lib/proto/graph.pb.h"
#include "tests/tfdbg/debug_writer.h"

namespace grapnel {
namespace {

// Writes the dump of a session under DumpingDebugWrapperSession.
class V1Dump {
 public:
  explicit V1Dump(const std::string& name)
      : path_((std::filesystem::path(testing::TempDir()) / name).string()) {
    std::filesystem::remove_all(path_);
  }
  const std::string& path() const { return path_; }
  void BeginRun(const std::string& folder, const std::string& fetched) {
    run_ = path_ + "/" + folder;
    std::string message, event;
    AppendBytesField(&message, 2, R"({"output_names":[")" + fetched + R"("],"target_nodes":[]})");
    AppendBytesField(&event, 6, message);
    Write(run_ + "/_tfdbg_core_metadata_sessionrun00000000000000_1", event);
  }
  void Node(const std::string& name, const std::string& op, const std::vector<std::string>& inputs,
            const std::string& transfer = "") {
    proto::NodeDef* node = graph_.add_node();
    node->set_name(name);
    node->set_op(op);
    for (const std::string& input : inputs) node->add_input(input);
    if (!transfer.empty()) (*node->mutable_attr())["tensor_name"].set_s(transfer);
  }
  // The nodes since the last graph belong to a device.
  void Graph(int device) {
    proto::Event event;
    event.set_graph_def(graph_.SerializeAsString());
    Write(Folder(device) + "/_tfdbg_graph_hash" + std::to_string(++graphs_) + "_1",
          event.SerializeAsString());
    graph_.Clear();
  }
  void Tensor(int device, const std::string& watched, const std::string& file, double time,
              llvm::ArrayRef<float> values) {
    proto::Event event;
    event.set_wall_time(time);
    auto* value = event.mutable_summary()->add_value();
    value->set_node_name(watched);
    Literal literal = Literal::Make(
        proto::DT_FLOAT, {static_cast<int64_t>(values.size())},
        llvm::StringRef(reinterpret_cast<const char*>(values.data()), 4 * values.size()));
    value->mutable_tensor()->ParseFromString(literal.ToTensorProto());
    Write(Folder(device) + "/" + file, event.SerializeAsString());
  }
  void Bytes(int device, const std::string& file, const std::string& bytes) {
    std::ofstream(Folder(device) + "/" + file) << bytes;
  }

  std::string Folder(int device) const {
    return run_ + "/_tfdbg_device_,job_localhost,replica_0,task_0,device_CPU_" +
           std::to_string(device);
  }

 private:
  static void Write(const std::string& path, const std::string& event) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << event;
  }

  std::string path_, run_;
  proto::GraphDef graph_;
  int graphs_ = 0;
};

// y = log(x) on one device, its square on another; the square is assigned to w.
void WriteNodes(V1Dump& dump, const std::string& where) {
  dump.Node("x", "_Arg", {});
  dump.Node("__copy_x_0", "Copy", {"x"});
  dump.Node("__dbg_x:0_0_DebugIdentity", "DebugIdentity", {"__copy_x_0"}, where);
  dump.Node("scope/y", "Log", {"__copy_x_0"});
  dump.Node("__copy_scope/y_0", "Copy", {"scope/y"});
  dump.Node("send", "_Send", {"__copy_scope/y_0"}, "edge_1_y");
  dump.Node("w", "VariableV2", {});
  dump.Node("update", "Assign", {"w", "scope/y"});
  dump.Graph(0);
  dump.Node("recv", "_Recv", {}, "edge_1_y");
  dump.Node("z", "Square", {"recv", "^recv"});
  dump.Graph(1);
}

TEST(V1Dump, IsOneStoryOfAllRunsAndDevices) {
  V1Dump dump("v1_story");
  dump.BeginRun("run_100_0", "z:0");
  WriteNodes(dump, "file:///a");
  dump.Tensor(0, "x:0:DebugIdentity", "x_0_DebugIdentity_110", 110, {0, 1});
  dump.Tensor(0, "scope/y:0:DebugIdentity", "scope/y_0_DebugIdentity_120", 120, {-INFINITY, 0});
  dump.Tensor(1, "z:0:DebugIdentity", "z_0_DebugIdentity_130", 130, {INFINITY, 0});
  dump.Tensor(0, "update:0:DebugIdentity", "update_0_DebugIdentity_140", 140, {-INFINITY, 0});
  dump.BeginRun("run_90_1", "z:0");
  WriteNodes(dump, "file:///b");
  dump.Tensor(0, "w:0:DebugIdentity", "w_0_DebugIdentity_210", 210, {-INFINITY, 0});

  ASSERT_TRUE(IsDebugFolder(dump.path()));
  DebugFolder folder = Read(dump.path());
  EXPECT_TRUE(folder.problems.empty());
  const DebugRun& run = folder.runs.at(0);
  ASSERT_EQ(run.executions.size(), 2U);
  EXPECT_EQ(run.executions[0].op_type, "session.run(z:0)");
  EXPECT_EQ(run.executions[1].call, 1);
  EXPECT_EQ(run.graphs.size(), 2U);  // the root, and the graph of both runs
  ASSERT_EQ(run.devices.size(), 2U);
  EXPECT_EQ(run.devices[1].name, "/job:localhost/replica:0/task:0/device:CPU:1");
  const DebugGraph& graph = run.graphs[1];
  EXPECT_EQ(graph.Find("__copy_x_0"), -1);
  EXPECT_EQ(graph.ops[graph.Find("scope/y")].inputs[0].op_name, "x");
  EXPECT_EQ(graph.ops[graph.Find("recv")].inputs[0].op_name, "scope/y");
  ASSERT_EQ(run.traces.size(), 5U);
  EXPECT_EQ(run.traces[4].execution, 1);

  BlameReport report = FindCauses(run);
  ASSERT_EQ(report.causes.size(), 1U);
  EXPECT_EQ(report.causes[0].node, "scope/y");
  EXPECT_EQ(report.consequences, 3U);  // w in the second run has the value from the first
}

TEST(V1Dump, OrdersWhatLoopsAndMicrosecondsRepeat) {
  V1Dump dump("v1_loop");
  dump.BeginRun("run_100_0", "i:0");
  dump.Node("i", "NextIteration", {});
  dump.Graph(0);
  dump.Tensor(0, "i:0:DebugIdentity", "i_0_DebugIdentity_110", 110, {1});
  dump.Tensor(0, "i:0:DebugIdentity", "i_0_DebugIdentity_110-1", 110, {2});
  dump.Tensor(0, "i:0:DebugIdentity", "i_0_DebugIdentity_110-10", 110, {4});
  dump.Tensor(0, "i:0:DebugIdentity", "i_0_DebugIdentity_110-2", 110, {3});
  dump.Tensor(0, "i:0:DebugNanCount", "i_0_DebugNanCount_111", 111, {0});  // less detailed
  DebugFolder folder = Read(dump.path() + "/run_100_0");
  const DebugRun& run = folder.runs.at(0);
  ASSERT_EQ(run.traces.size(), 4U);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(run.traces[i].iteration, i);
    auto literal = llvm::cantFail(Literal::FromTensorProto(run.traces[i].tensor));
    EXPECT_EQ(literal.AsDouble(0), i + 1);
  }
}

TEST(V1Dump, ReadsSummaries) {
  V1Dump dump("v1_summaries");
  dump.BeginRun("run_100_0", "y:0");
  dump.Node("y", "Log", {});
  dump.Node("z", "Log", {});
  dump.Graph(0);
  dump.Tensor(0, "y:0:DebugNanCount", "y_0_DebugNanCount_110", 110, {3});
  dump.Tensor(0, "z:0:DebugNumericSummary", "z_0_DebugNumericSummary_120", 120,
              {1, 6, 1, 2, 0, 1, 1, 1, 0, 0, 0, 0, 1, 2, 2, 3});
  DebugFolder folder = Read(dump.path());
  const DebugRun& run = folder.runs.at(0);
  ASSERT_EQ(run.traces.size(), 2U);
  EXPECT_EQ(BadText(run.traces[0].value), "NaN");
  EXPECT_EQ(RecordedTensorText(run.traces[1].value),
            "float[2,3], 6 elements: NaN x1, +inf x1, -inf x2, zero x1, positive x1");
}

TEST(V1Dump, WhatIsDamagedIsAProblem) {
  V1Dump dump("v1_damaged");
  dump.BeginRun("run_100_0", "y:0");
  dump.Node("y", "Log", {"gone:70000", "y"});
  dump.Graph(0);
  dump.Bytes(0, "y_0_DebugIdentity_110", "\x09no event");
  dump.Tensor(0, "y:4000000000:DebugIdentity", "y_4000000000_DebugIdentity_120", 120, {1});
  dump.Bytes(0, "_tfdbg_graph_hash7_1", "");
  std::filesystem::create_directory_symlink(dump.path(), dump.Folder(0) + "/around");
  DebugFolder folder = Read(dump.path());
  EXPECT_EQ(folder.problems.size(), 4U);
  EXPECT_EQ(folder.runs.at(0).traces.size(), 0U);
  EXPECT_EQ(folder.runs.at(0).executions.size(), 1U);
}

}  // namespace
}  // namespace grapnel
