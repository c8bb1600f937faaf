// Shape inference's order, by which memory is counted, is the executor's.
#include "lib/shape/body_costs.h"
#include "lib/trace/ops.h"
#include "lib/trace/trace.h"
#include "tests/exec/loop_graph.h"

namespace grapnel {
namespace {

class RecordingHook : public RunHook {
 public:
  bool Wants(const Node&) override { return true; }
  Error BeforeNode(const Node& node, llvm::ArrayRef<Tensor>) override {
    ran.push_back(node.name().str());
    return Error::success();
  }
  std::vector<std::string> ran;
};

// Two branches, one read late: breadth first and depth first differ.
std::unique_ptr<Module> Branches() {
  return llvm::cantFail(Trace("f", {{"x", proto::DT_FLOAT, {3}}}, [](Tracer&, Value x) {
    Value a = Square(x), b = Exp(x);
    Value c = Tanh(Square(a)) + Exp(Tanh(b));
    return Square(c) * a + Tanh(b);
  }));
}

TEST(RunOrder, IsTheExecutors) {
  auto module = Branches();
  ThreadPool pool(1);
  RecordingHook hook;
  ExecutorOptions options;
  options.feeds = {"x"};
  options.fetches = {"Identity"};
  options.pool = &pool;
  options.hook = &hook;
  auto executor = llvm::cantFail(Executor::Compile(module->main, options));
  llvm::cantFail(executor->Run({FloatTensor({3}, {1, 2, 3})}).takeError());
  std::vector<std::string> order;
  for (NodeId id : RunOrder(module->main)) {
    std::string name = module->main.node(id).name().str();
    if (llvm::is_contained(hook.ran, name)) order.push_back(name);
  }
  EXPECT_GE(order.size(), 10u);
  EXPECT_EQ(order, hook.ran);
}

}  // namespace
}  // namespace grapnel
