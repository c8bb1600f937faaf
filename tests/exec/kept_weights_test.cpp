// Constants that kernels keep: packed once, and still available to their other readers.
#include <random>

#include "kernels/common/onednn_loader.h"
#include "lib/ir/attr.h"
#include "lib/ir/text.h"
#include "lib/trace/nn_ops.h"
#include "lib/trace/ops.h"
#include "lib/trace/trace.h"
#include "tests/exec/loop_graph.h"

namespace grapnel {
namespace {

Tensor Random(llvm::ArrayRef<int64_t> dims, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values(NumElements(dims).value());
  for (float& value : values) value = static_cast<float>(random() % 2001) / 1000 - 1;
  return FloatTensor(dims, values);
}

// A convolution and a product whose weights are large enough to be released.
std::unique_ptr<Module> Network() {
  return llvm::cantFail(
      Trace("f", {{"x", proto::DT_FLOAT, {-1, 8, 8, 16}}}, [](Tracer& t, Value x) {
        Value filter = t.Constant(Random({3, 3, 16, 64}, 1).ToLiteral());
        Value weights = t.Constant(Random({4096, 32}, 2).ToLiteral());
        Value image = Relu(Conv2D(x, filter, {1, 1}, "SAME"));
        return MatMul(Reshape(image, {-1, 4096}), weights);
      }));
}

std::unique_ptr<Executor> Compile(const Module& module, ThreadPool& pool,
                                  std::vector<std::string> more = {}) {
  ExecutorOptions options;
  options.feeds = {"x"};
  options.fetches = {"Identity"};
  options.fetches.insert(options.fetches.end(), more.begin(), more.end());
  options.pool = &pool;
  return llvm::cantFail(Executor::Compile(module.main, options));
}

std::vector<float> RunOf(Executor& executor, int64_t batch) {
  return FloatsOf(llvm::cantFail(executor.Run({Random({batch, 8, 8, 16}, 3)}))[0]);
}

TEST(KeptWeights, ServeOtherShapesToo) {
  auto module = Network();
  ThreadPool pool(2);
  auto executor = Compile(*module, pool);
  for (int64_t batch : {1, 5, 2, 32, 1}) {
    auto fresh = Compile(*module, pool);
    EXPECT_EQ(RunOf(*executor, batch), RunOf(*fresh, batch)) << batch;
  }
}

TEST(KeptWeights, AreUnpackedForPlainCode) {
  auto module = Network();
  ThreadPool pool(2);
  auto executor = Compile(*module, pool);
  RunOf(*executor, 3);
  WithoutOnednn plain;
  auto fresh = Compile(*module, pool);
  EXPECT_EQ(RunOf(*executor, 3), RunOf(*fresh, 3));
}

std::string NameOfFilter(const Module& module) {
  for (Node node : module.main.nodes()) {
    if (node.op() == "Const" && Literal::FromConst(node)->dims().size() == 4)
      return node.name().str();
  }
  return "";
}

TEST(KeptWeights, AreFetchedAsTheyAre) {
  auto module = Network();
  ThreadPool pool(1);
  auto executor = Compile(*module, pool, {NameOfFilter(*module)});
  for (int i = 0; i < 2; ++i) {
    auto values = llvm::cantFail(executor->Run({Random({2, 8, 8, 16}, 3)}));
    EXPECT_EQ(FloatsOf(values[1]), FloatsOf(Random({3, 3, 16, 64}, 1)));
  }
}

// The kernel takes over the graph's value: it packs it in place, and the graph no longer has it.
TEST(KeptWeights, LeaveTheGraphWhereTheyMay) {
  auto module = Network(), same = Network();
  ThreadPool pool(2);
  ExecutorOptions options;
  options.feeds = {"x"};
  options.fetches = {"Identity"};
  options.pool = &pool;
  int taken = 0;
  options.take_value = [&](const Node& node) {
    llvm::StringRef value = node.FindAttr("value")->bytes();
    std::shared_ptr<const void> owner = module->TakeLarge(value);
    if (owner) module->main.RemoveAttr(node.id(), "value");
    taken += owner != nullptr;
    return owner;
  };
  auto executor = llvm::cantFail(Executor::Compile(module->main, options));
  EXPECT_EQ(taken, 2);
  auto gone = Literal::FromConst(module->main.Find(NameOfFilter(*same)));
  EXPECT_FALSE(static_cast<bool>(gone));
  llvm::consumeError(gone.takeError());
  auto other = Compile(*same, pool);
  for (int64_t batch : {4, 1, 4}) EXPECT_EQ(RunOf(*executor, batch), RunOf(*other, batch)) << batch;
}

TEST(KeptWeights, StayWhereACopyOfTheModuleHasThem) {
  auto module = Network();
  auto copy = module->Copy();
  Node filter = module->main.Find(NameOfFilter(*module));
  EXPECT_EQ(module->TakeLarge(filter.FindAttr("value")->bytes()), nullptr);
  copy.reset();
  EXPECT_NE(module->TakeLarge(filter.FindAttr("value")->bytes()), nullptr);
}

}  // namespace
}  // namespace grapnel
