// The checks before and after each call of a kernel: inputs match the node and the registration,
// outputs match the node, and no exception escapes.
#include "lib/exec/bound_kernel.h"

#include <stdexcept>

#include "gtest/gtest.h"
#include "lib/ir/module.h"
#include "lib/support/thread_pool.h"

namespace grapnel {
namespace {

KernelFn body;  // of the kernel under test

Expected<KernelFn> MakeBody(const KernelSetup&) { return std::move(body); }

Tensor Floats(llvm::ArrayRef<int64_t> dims) {
  return llvm::cantFail(Tensor::Allocate(proto::DT_FLOAT, dims));
}

class BoundKernelTest : public testing::Test {
 protected:
  BoundKernelTest() {
    NodeId id = module_.main.AddNode("y", "AddV2");
    module_.main.SetAttr(id, "T", attr::Type(proto::DT_FLOAT));
    node_ = module_.main.node(id);
  }

  // Returns the error text of a call; empty if it succeeded.
  template <typename... Said>
  std::string Call(Tensor a, Tensor b, KernelFn run, Said... said) {
    body = std::move(run);
    KernelDef def = MakeKernelDef("AddV2", "CPU", MakeBody, said...);
    DataType types[2] = {proto::DT_FLOAT, proto::DT_FLOAT};
    const Tensor* constants[2] = {nullptr, nullptr};
    KernelSetup setup(node_, types, llvm::ArrayRef(types).take_front(1), constants);
    auto kernel = BoundKernel::Make(def, setup);
    if (!kernel) return TextOf(kernel.takeError());
    Tensor inputs[2] = {std::move(a), std::move(b)}, outputs[1];
    MessageSink silent;
    RunServices services{HeapAllocator(), pool_, silent};
    services.cancel = &cancel_;
    KernelContext context(inputs, outputs, llvm::ArrayRef(types).take_front(1), services);
    Error error = kernel->Call(context);
    return error ? TextOf(std::move(error)) : "";
  }

  static Error PassOn(KernelContext& context) {
    context.SetOutput(0, context.input(0));
    return Error::success();
  }

  Module module_;
  Node node_;
  ThreadPool pool_{1};
  CancelFlag cancel_;
};

TEST_F(BoundKernelTest, DtypesAreTheNodes) {
  EXPECT_EQ(Call(Floats({2}), Floats({}), PassOn), "");
  Tensor text = llvm::cantFail(Tensor::Allocate(proto::DT_STRING, {2}));
  EXPECT_EQ(Call(Floats({2}), text, PassOn), "input 1 ('y') is string[2], float was expected");
  EXPECT_EQ(Call(Tensor(), Floats({}), PassOn), "input 0 ('x') has no value");
  EXPECT_EQ(Call(Floats({2}), Floats({}),
                 [&](KernelContext& context) {
                   context.SetOutput(0, text);
                   return Error::success();
                 }),
            "output 0 is string[2], but the node's dtype is float");
  EXPECT_EQ(Call(Floats({2}), Floats({}), [](KernelContext&) { return Error::success(); }),
            "output 0 was not made");
}

TEST_F(BoundKernelTest, RanksAreTheRegistrations) {
  EXPECT_EQ(Call(Floats({2}), Floats({1}), PassOn, Scalar(1)),
            "input 1 ('y') is float[1], a scalar was expected");
  EXPECT_EQ(Call(Floats({2}), Floats({1}), PassOn, Scalar(-2)),
            "input 0 ('x') is float[2], a scalar was expected");
  EXPECT_EQ(Call(Floats({}), Floats({2}), PassOn, Vector(InputRule::kAll)),
            "input 0 ('x') is float[], a vector was expected");
  EXPECT_EQ(Call(Floats({2, 3}), Floats({2}), PassOn, Matrix(0), AtLeastRank(2, 1)),
            "input 1 ('y') is float[2], a tensor of rank 2 or more was expected");
  EXPECT_EQ(Call(Floats({2, 1}), Floats({0}), PassOn, OneElement(1)),
            "input 1 ('y') is float[0], one element was expected");
  EXPECT_EQ(Call(Floats({2, 0}), Floats({0}), PassOn, NotEmpty(0)),
            "input 0 ('x') is float[2,0], at least one element was expected");
  EXPECT_EQ(Call(Floats({2}), Floats({1}), PassOn, Vector(0, 1), NotEmpty(0, 1)), "");
}

TEST_F(BoundKernelTest, IsNotMadeOfNothing) {
  EXPECT_EQ(Call(Floats({2}), Floats({}), KernelFn()), "no kernel for the node's dtypes");
}

TEST_F(BoundKernelTest, AttributesAreTheOps) {
  module_.main.SetAttr(node_.id(), "T", attr::Type(proto::DT_BOOL));
  std::string text = Call(Floats({2}), Floats({}), PassOn);
  EXPECT_TRUE(llvm::StringRef(text).starts_with("attribute 'T' is bool, one of")) << text;
}

TEST_F(BoundKernelTest, EndsWithAnError) {
  EXPECT_EQ(Call(Floats({2}), Floats({}),
                 [](KernelContext&) -> Error { throw std::runtime_error("nothing left"); }),
            "failed: nothing left");
  EXPECT_EQ(Call(Floats({2}), Floats({}),
                 [](KernelContext&) -> Error {
                   std::vector<char>().reserve(SIZE_MAX);
                   return Error::success();
                 }),
            "a list does not fit into memory");
  cancel_.Cancel();
  EXPECT_EQ(Call(Floats({2}), Floats({}), PassOn), "cancelled");
}

}  // namespace
}  // namespace grapnel
