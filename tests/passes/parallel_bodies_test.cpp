// Functions optimized in parallel have the same result as serially.
#include <string>

#include "gtest/gtest.h"
#include "lib/check/reproducer.h"
#include "lib/exec/evaluator.h"
#include "lib/ir/import.h"
#include "lib/pass/pass_manager.h"
#include "lib/proto/graph.pb.h"

namespace grapnel {
namespace {

proto::NodeDef* AddNode(proto::FunctionDef* function, const std::string& name, const char* op,
                        std::initializer_list<std::string> inputs) {
  proto::NodeDef* node = function->add_node_def();
  node->set_name(name);
  node->set_op(op);
  for (const std::string& input : inputs) node->add_input(input);
  (*node->mutable_attr())["T"].set_type(proto::DT_FLOAT);
  return node;
}

void AddConstant(proto::FunctionDef* function, const std::string& name, float value) {
  proto::NodeDef* node = AddNode(function, name, "Const", {});
  node->mutable_attr()->erase("T");
  (*node->mutable_attr())["dtype"].set_type(proto::DT_FLOAT);
  proto::TensorProto* tensor = (*node->mutable_attr())["value"].mutable_tensor();
  tensor->set_dtype(proto::DT_FLOAT);
  tensor->mutable_tensor_shape();
  tensor->add_float_val(value);
}

// f(x) = a chain of sums, products and transposed identities that many rules match.
void FillLeaf(proto::FunctionDef* function, int seed) {
  std::string value = "x";
  for (int i = 0; i < 20; ++i) {
    std::string n = std::to_string(i), a = "a" + n, b = "b" + n;
    // A number whose last bit a flushed denormal would lose.
    AddConstant(function, a, i % 5 == 0 ? 1e-41f : static_cast<float>(seed % 3));
    AddConstant(function, b, static_cast<float>(i % 2));
    AddNode(function, "c" + n, "Add", {a + ":output:0", b + ":output:0"});
    const char* op = (seed + i) % 3 == 0 ? "Mul" : (seed + i) % 3 == 1 ? "AddV2" : "Sub";
    AddNode(function, "d" + n, op, {value, "c" + n + ":z:0"});
    AddNode(function, "e" + n, "Neg", {"d" + n + ":z:0"});
    AddNode(function, "f" + n, "Neg", {"e" + n + ":y:0"});
    value = "f" + n + ":y:0";
  }
  (*function->mutable_ret())["y"] = value;
}

proto::FunctionDef* AddFunction(proto::GraphDef* graph, const std::string& name, bool stays) {
  proto::FunctionDef* function = graph->mutable_library()->add_function();
  proto::OpDef* signature = function->mutable_signature();
  signature->set_name(name);
  signature->add_input_arg()->set_name("x");
  signature->add_output_arg()->set_name("y");
  signature->mutable_input_arg(0)->set_type(proto::DT_FLOAT);
  signature->mutable_output_arg(0)->set_type(proto::DT_FLOAT);
  if (stays) (*function->mutable_attr())["_noinline"].set_b(true);
  return function;
}

void SetCall(proto::NodeDef* node, const std::string& callee) {
  auto& attrs = *node->mutable_attr();
  attrs.erase("T");
  for (const char* key : {"Tin", "Tout"}) attrs[key].mutable_list()->add_type(proto::DT_FLOAT);
  attrs["f"].mutable_func()->set_name(callee);
}

// Leaves and functions that call the leaf before and the one after them; every third leaf may be
// inlined.
std::string GraphOf(int functions) {
  proto::GraphDef graph;
  auto name_of = [](int i) { return "f" + std::to_string(i); };
  for (int i = 0; i < functions; ++i) {
    proto::FunctionDef* function = AddFunction(&graph, name_of(i), i % 3 != 0);
    if (i % 4 != 3 || i + 2 >= functions) {
      FillLeaf(function, i);
      continue;
    }
    SetCall(AddNode(function, "first", "StatefulPartitionedCall", {"x"}), name_of(i - 3));
    SetCall(AddNode(function, "second", "StatefulPartitionedCall", {"first:output:0"}),
            name_of(i + 2));
    (*function->mutable_ret())["y"] = "second:output:0";
  }
  proto::NodeDef* x = graph.add_node();
  x->set_name("x");
  x->set_op("Placeholder");
  (*x->mutable_attr())["dtype"].set_type(proto::DT_FLOAT);
  for (int i = 0; i < functions; ++i) {
    proto::NodeDef* call = graph.add_node();
    call->set_name("call" + std::to_string(i));
    call->set_op("StatefulPartitionedCall");
    call->add_input(i == 0 ? "x" : "call" + std::to_string(i - 1));
    SetCall(call, name_of(i));
  }
  return graph.SerializeAsString();
}

struct Optimized {
  std::string graph;
  std::vector<std::string> stages;
  int rewrites;
};

Optimized Optimize(const std::string& bytes, int threads) {
  ThreadPool pool(threads);
  auto file = FileBytes::FromString(bytes, "graph");
  std::unique_ptr<Module> module = llvm::cantFail(ImportGraphDef(file, file->bytes()));
  std::unique_ptr<Evaluator> evaluator = MakeCpuEvaluator(pool);
  OptimizeOptions options;
  options.config.set_min_graph_nodes(-1);
  options.evaluator = evaluator.get();
  options.pool = &pool;
  PassManager manager;
  manager.Add(MakeVerifyInstrumentation());
  OptimizeResult result = llvm::cantFail(manager.Run(*module, options));
  Optimized optimized;
  llvm::raw_string_ostream os(optimized.graph);
  ExportGraphDef(*module, os);
  os.flush();
  for (const Stage& stage : result.stages) {
    optimized.stages.push_back(llvm::formatv("{0} {1} {2} {3} {4}", stage.pass, stage.function,
                                             stage.iteration, stage.changed, stage.rewrites));
  }
  optimized.rewrites = result.rewrites;
  return optimized;
}

TEST(ParallelBodiesTest, AnyNumberOfThreadsGivesTheSameGraph) {
  std::string bytes = GraphOf(60);
  Optimized one = Optimize(bytes, 1);
  EXPECT_GT(one.rewrites, 1000);
  for (int threads : {2, 4, 8}) {
    Optimized many = Optimize(bytes, threads);
    EXPECT_EQ(many.graph, one.graph) << threads << " threads";
    EXPECT_EQ(many.rewrites, one.rewrites);
    // Leaves may be optimized later than a function that does not reach them.
    llvm::sort(many.stages);
    std::vector<std::string> stages = one.stages;
    llvm::sort(stages);
    EXPECT_EQ(many.stages, stages);
  }
}

// Breaks the bodies of two leaves.
class BreakingTwo : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    llvm::StringRef name = edit.function() ? edit.function()->name() : "";
    if (name != "f1" && name != "f9") return Error::success();
    return MakeError("'{0}' was broken", name);
  }
};

GRAPNEL_PASS(BreakingTwo, (PassInfo{.name = "test_breaking_two", .help = "fails"}), );

TEST(ParallelBodiesTest, TheFirstFailureIsTold) {
  auto file = FileBytes::FromString(GraphOf(60), "graph");
  for (int threads : {1, 4}) {
    ThreadPool pool(threads);
    std::unique_ptr<Module> module = llvm::cantFail(ImportGraphDef(file, file->bytes()));
    OptimizeOptions options;
    options.passes = {"test_breaking_two"};
    options.pool = &pool;
    std::optional<Stage> failed;
    PassManager manager;
    manager.Add(MakeFailureInstrumentation(&failed));
    manager.Add(MakeVerifyInstrumentation());
    auto result = manager.Run(*module, options);
    ASSERT_FALSE(result);
    EXPECT_EQ(TextOf(result.takeError()),
              "pass 'test_breaking_two' in function 'f1': 'f1' was broken");
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->function, "f1");
  }
}

}  // namespace
}  // namespace grapnel
