#include "lib/tfdbg/debug_graph.h"

#include "gtest/gtest.h"
#include "lib/check/first_cause.h"
#include "lib/tfdbg/debug_index.h"
#include "tests/tfdbg/debug_writer.h"

namespace grapnel {
namespace {

// Every op is a node, and every input is an edge from the recorded source.
void ExpectAsRecorded(const DebugRun& run, const DebugModule& made) {
  std::vector<Body> bodies = Bodies(*made.module);
  ASSERT_EQ(bodies.size(), made.graph_of.size());
  EXPECT_EQ(bodies[0].graph->num_nodes(), run.executions.size());
  for (size_t body = 1; body < bodies.size(); ++body) {
    const DebugGraph& graph = run.graphs[made.graph_of[body]];
    for (size_t i = 0; i < graph.ops.size(); ++i) {
      Node node = bodies[body].graph->node(static_cast<NodeId>(i));
      EXPECT_EQ(node.name(), graph.ops[i].name);
      EXPECT_EQ(node.op(), graph.ops[i].type);
      ASSERT_EQ(node.num_inputs(), static_cast<int>(graph.ops[i].inputs.size()));
      for (int slot = 0; slot < node.num_inputs(); ++slot) {
        const DebugInput& input = graph.ops[i].inputs[slot];
        ASSERT_TRUE(node.input_node(slot)) << node.DanglingText(slot).str();
        EXPECT_EQ(node.input_node(slot).name(), input.op_name);
        EXPECT_EQ(node.input(slot).index, input.slot);
      }
    }
  }
}

std::string Callee(const Node& node, llvm::StringRef key) {
  auto attr = node.FindAttr(key);
  return attr && attr->FuncNames().size() == 1 ? attr->FuncNames()[0].str() : "";
}

TEST(DebugGraph, OpsAndEdgesAreTheRecords) {
  for (const char* name : {"mnist_nan_FULL_HEALTH", "control_flow_FULL_HEALTH"}) {
    DebugFolder folder = Read(std::string("testdata/tfdbg/") + name);
    ExpectAsRecorded(folder.runs[0], MakeDebugModule(folder.runs[0]));
  }
}

TEST(DebugGraph, MainIsWhatPythonRan) {
  DebugFolder folder = Read("testdata/tfdbg/mnist_nan_FULL_HEALTH");
  DebugModule made = MakeDebugModule(folder.runs[0]);
  const Graph& main = made.module->main;
  EXPECT_EQ(made.module->functions.size(), 4u);
  Node loss = main.node(22);
  EXPECT_EQ(loss.name(), "train_step/loss_fn_22");
  EXPECT_EQ(loss.op(), "loss_fn");
  EXPECT_EQ(loss.device(), "/job:localhost/replica:0/task:0/device:CPU:0");
  EXPECT_EQ(loss.input(0), (Port{21, 0})) << "what the model put out";
  EXPECT_EQ(loss.input(1), (Port{0, 0})) << "the labels";
  EXPECT_FALSE(main.node(21).input_node(0)) << "tf.constant leaves no record";
  EXPECT_EQ(main.node(21).DanglingText(0), "eager tensor 0");
}

TEST(DebugGraph, ControlFlowNamesItsBodies) {
  DebugFolder folder = Read("testdata/tfdbg/control_flow_FULL_HEALTH");
  DebugModule made = MakeDebugModule(folder.runs[0]);
  const Graph& collatz = made.module->FindFunction("collatz")->body;
  EXPECT_EQ(Callee(collatz.Find("while"), "body"), "while_body_10");
  EXPECT_EQ(Callee(collatz.Find("while"), "cond"), "while_cond_9");
  const Graph& body = made.module->FindFunction("while_body_10")->body;
  EXPECT_EQ(Callee(body.Find("while/cond"), "then_branch"), "while_cond_true_30");
  EXPECT_EQ(Callee(body.Find("while/cond"), "else_branch"), "while_cond_false_31");
}

TEST(DebugGraph, CallsThatWereNotRecordedAreThereForTheirReaders) {
  DebugFolder folder = Read("testdata/tfdbg/control_flow_FULL_HEALTH");
  DebugModule made = MakeDebugModule(folder.runs[0]);
  const Graph& body = made.module->FindFunction("while_body_99")->body;
  EXPECT_EQ(body.num_nodes(), 16u);
  Node call = body.Find("while/add_1").input_node(1);
  EXPECT_EQ(call.name(), "while/StatefulPartitionedCall");
  EXPECT_EQ(Callee(call, "f"), "inner");
}

TEST(DebugGraph, BrokenRecordsBecomeAGraphToo) {
  TestDebugWriter writer("debug_graph_broken");
  writer.Graph("a", "f", "");
  writer.Graph("b", "f", "");
  writer.Graph("c", "", "c");
  writer.Op("a", "Add", "x", {"y:0", "nowhere:3"});
  writer.Op("a", "Neg", "y", {"x:0"});
  writer.Op("b", "Neg", "y", {"y:0"});
  writer.Op("c", "", "", {});
  writer.Execution("Mul", 1, {7, 7}, 7, proto::CURT_HEALTH, {-1, 0});
  writer.Execution("Mul", 2, {7, INT64_MAX}, INT64_MIN, proto::CURT_HEALTH, {-1, 0});
  writer.Write();
  DebugFolder folder = Read(writer.path());
  DebugModule made = MakeDebugModule(folder.runs[0]);
  ASSERT_EQ(made.module->functions.size(), 3u);
  EXPECT_EQ(made.module->functions[1]->name(), "f (2)");
  const Graph& graph = made.module->functions[0]->body;
  EXPECT_EQ(graph.Find("x").input_node(0).name(), "y");
  EXPECT_EQ(graph.Find("y").input_node(0).name(), "x") << "a ring stays a ring";
  EXPECT_EQ(graph.Find("x").DanglingText(1), "nowhere:3");
  EXPECT_FALSE(made.module->main.node(0).input_node(0)) << "not of what it put out itself";
  EXPECT_EQ(made.module->main.node(1).input(0), (Port{0, 0}));
}

TEST(DebugGraph, FoldersThatTensorBoardDiesOfHaveOne) {
  for (const char* name : {"bad_file_index", "corrupt_crc", "dup_op", "full_health_len10", "ok",
                           "trace_unknown_graph", "truncated_tail", "two_sets_same_run"}) {
    DebugFolder folder = Read(std::string("testdata/tfdbg/") + name);
    DebugModule made = MakeDebugModule(folder.runs[0]);
    ASSERT_EQ(made.module->functions.size(), 1u) << name;
    EXPECT_TRUE(made.module->functions[0]->body.Find("Log")) << name;
  }
}

TEST(DebugIndex, FindsRecordsAndReaders) {
  DebugFolder folder = Read("testdata/tfdbg/mnist_nan_FULL_HEALTH");
  const DebugRun& run = folder.runs[0];
  DebugIndex index(run);
  int log = run.graphs[3].Find("Log"), mul = run.graphs[3].Find("mul");
  EXPECT_EQ(index.Traces(3, log).vec(), (std::vector<int>{11, 25, 39}));
  EXPECT_EQ(index.Readers({3, log, 0}), (std::vector<int>{mul}));
  EXPECT_TRUE(index.Readers({3, log, 1}).empty());
  EXPECT_EQ(index.TraceNear(3, mul, 0, 25, true), 26);
  EXPECT_EQ(index.TraceNear(3, log, 0, 26, false), 25);
  EXPECT_EQ(index.TraceNear(3, log, 0, 26, true), -1) << "the next is another call's";
  EXPECT_EQ(index.TraceIn({3, log, 0}, 39), 25);
  EXPECT_EQ(index.InsideOf(22).traces, 4);
  EXPECT_EQ(index.InsideOf(22).first_bad, 11);
  EXPECT_FALSE(index.IsBad(21));
  EXPECT_TRUE(index.IsBad(22));
  EXPECT_EQ(index.EagerReaders(165).vec(), (std::vector<int>{22, 33}));
}

TEST(DebugIndex, LinesKnowWhatTheyMade) {
  DebugFolder folder = Read("testdata/tfdbg/mnist_nan_FULL_HEALTH");
  const DebugRun& run = folder.runs[0];
  int frame = UserFrame(run, run.graphs[3].ops[run.graphs[3].Find("Log")].stack);
  auto lines = DebugIndex(run).LinesOf(run.frames[frame].source);
  ASSERT_EQ(lines.count(21), 1u);
  std::vector<std::string> names;
  for (const DebugTensor& op : lines[21].ops)
    names.push_back(run.graphs[op.graph].ops[op.op].name.str());
  EXPECT_EQ(names, (std::vector<std::string>{"Neg", "Log", "mul"}));
  EXPECT_EQ(lines[10].executions, (std::vector<int>{0}));
}

TEST(DebugIndex, ResultsAreFollowedIntoTheOuterBody) {
  DebugFolder folder = Read("testdata/tfdbg/control_flow_FULL_HEALTH");
  const DebugRun& run = folder.runs[0];
  DebugIndex index(run);
  auto graph = [&](llvm::StringRef name) {
    return static_cast<int>(
        llvm::find_if(run.graphs, [&](const DebugGraph& g) { return g.name == name; }) -
        run.graphs.begin());
  };
  int inner = graph("inner"), body = graph("while_body_99");
  auto readers = index.ReadersOutside({inner, run.graphs[inner].Find("Identity"), 0});
  ASSERT_EQ(readers.size(), 1u);
  EXPECT_EQ(run.graphs[body].ops[readers[0].op].name, "while/add_1");
  readers = index.ReadersOutside({body, run.graphs[body].Find("while/Identity_3"), 0});
  EXPECT_EQ(readers.size(), 2u) << "StringFormat and the function's result";
}

// One pass explains the same as many.
TEST(ExplainTensors, IsExplainTensorOfEach) {
  DebugFolder folder = Read("testdata/tfdbg/control_flow_FULL_HEALTH");
  const DebugRun& run = folder.runs[0];
  std::vector<DebugAlert> tensors;
  for (size_t i = 0; i < run.traces.size(); ++i) {
    tensors.emplace_back();
    tensors.back().trace = static_cast<int>(i);
  }
  for (size_t i = 0; i < run.executions.size(); ++i) {
    tensors.emplace_back();
    tensors.back().execution = static_cast<int>(i);
  }
  std::vector<Cause> together = ExplainTensors(run, tensors);
  ASSERT_EQ(together.size(), tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    Cause alone = ExplainTensor(run, tensors[i]);
    EXPECT_EQ(CauseSentence(together[i]), CauseSentence(alone));
    ASSERT_EQ(together[i].inputs.size(), alone.inputs.size());
    for (size_t k = 0; k < alone.inputs.size(); ++k)
      EXPECT_EQ(together[i].inputs[k].made_by, alone.inputs[k].made_by);
  }
}

}  // namespace
}  // namespace grapnel
