// Arrays of tensors and stacks: what their ops write, read, add up and refuse.
#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using D = std::vector<int64_t>;
using F = std::vector<float>;

Tensor Flow() { return Scalar(0.f); }
OpRun Array(int size) {
  return OpRun("TensorArrayV3")
      .Attr("dtype", attr::Type(proto::DT_FLOAT))
      .In(Ints({}, {size}))
      .Out({proto::DT_RESOURCE, proto::DT_FLOAT});
}
OpRun Write(Tensor array, int index, Tensor value) {
  return OpRun("TensorArrayWriteV3")
      .In(std::move(array))
      .In(Ints({}, {index}))
      .In(std::move(value))
      .In(Flow())
      .Out({proto::DT_FLOAT});
}
OpRun Read(Tensor array, int index) {
  return OpRun("TensorArrayReadV3")
      .In(std::move(array))
      .In(Ints({}, {index}))
      .In(Flow())
      .Out({proto::DT_FLOAT});
}
OpRun Gather(Tensor array, std::vector<int32_t> indices) {
  return OpRun("TensorArrayGatherV3")
      .In(std::move(array))
      .In(Vec<int32_t>(std::move(indices)))
      .In(Flow())
      .Out({proto::DT_FLOAT});
}
Tensor GradientOf(Tensor array) {
  return OpRun("TensorArrayGradV3")
      .Attr("source", attr::String("g"))
      .In(std::move(array))
      .In(Flow())
      .Out({proto::DT_RESOURCE, proto::DT_FLOAT})
      .One();
}

TEST(KernelTensorArray, IsWrittenAndReadOnce) {
  Tensor array = Array(2).One();
  EXPECT_EQ(Write(array, 0, Iota<float>({2})).ErrorText(), "no error");
  EXPECT_EQ(Write(array, 0, Iota<float>({2})).ErrorText(), "element 0 was written already");
  EXPECT_EQ(Values<float>(Read(array, 0).One()), (F{0, 1}));
  EXPECT_EQ(Read(array, 0).ErrorText(),
            "element 0 was read already and cleared then (clear_after_read is true)");
  EXPECT_EQ(Write(array, 0, Iota<float>({2})).ErrorText(),
            "element 0 was read already: it cannot be written");
  EXPECT_EQ(Read(array, 1).ErrorText(),
            "element 1 was never written, and its shape ? is not known in full");
  EXPECT_EQ(Write(array, 2, Iota<float>({2})).ErrorText(),
            "element 2 of an array of 2 that does not grow");
  EXPECT_EQ(Write(array, 1, Iota<int32_t>({2})).ErrorText(),
            "int32 for element 1 of an array of float");
}

TEST(KernelTensorArray, GrowsAndIsJoined) {
  Tensor array = Array(0).Attr("dynamic_size", attr::Bool(true)).One();
  EXPECT_EQ(Write(array, 1, Floats({1, 2}, {1, 2})).ErrorText(), "no error");
  EXPECT_EQ(Write(array, 0, Floats({2, 2}, {3, 4, 5, 6})).ErrorText(), "no error");
  EXPECT_EQ(Gather(array, {0, 1}).ErrorText(),
            "elements 0 and 1 are of different shapes, [2,2] and [1,2]");
  array = Array(2).One();
  EXPECT_EQ(Write(array, 1, Floats({1, 2}, {1, 2})).ErrorText(), "no error");
  EXPECT_EQ(Write(array, 0, Floats({2, 2}, {3, 4, 5, 6})).ErrorText(), "no error");
  auto joined = OpRun("TensorArrayConcatV3")
                    .In(array)
                    .In(Flow())
                    .Out({proto::DT_FLOAT, proto::DT_INT64})
                    .All();
  EXPECT_EQ(Values<float>(joined[0]), (F{3, 4, 5, 6, 1, 2}));
  EXPECT_EQ(Values<int64_t>(joined[1]), (D{2, 1}));
}

// A gradient has the shapes of what it is of, adds up, and is zeros where nothing came.
TEST(KernelTensorArray, AddsUpItsGradient) {
  Tensor array = Array(2).One();
  EXPECT_EQ(Write(array, 0, Iota<float>({2})).ErrorText(), "no error");
  EXPECT_EQ(Write(array, 1, Iota<float>({2})).ErrorText(), "no error");
  EXPECT_EQ(Write(GradientOf(array), 0, Floats({2}, {1, 2})).ErrorText(), "no error");
  EXPECT_EQ(Write(GradientOf(array), 0, Floats({2}, {10, 20})).ErrorText(), "no error");
  EXPECT_EQ(Write(GradientOf(array), 0, Floats({1}, {1})).ErrorText(),
            "[1] cannot be added to element 0 of shape [2]");
  EXPECT_EQ(Values<float>(Gather(GradientOf(array), {0, 1}).One()), (F{11, 22, 0, 0}));
}

TEST(KernelTensorArray, IsClosed) {
  Tensor array = Array(1).One();
  EXPECT_EQ(OpRun("TensorArrayCloseV3").In(array).Out({}).ErrorText(), "no error");
  EXPECT_EQ(Read(array, 0).ErrorText(), "the tensor array is closed");
  EXPECT_EQ(Read(Scalar(1.f), 0).ErrorText(), "input 0 is float[] 1, a tensor array was expected");
}

TEST(KernelStack, GivesTheLastFirst) {
  Tensor stack = OpRun("StackV2")
                     .Attr("elem_type", attr::Type(proto::DT_FLOAT))
                     .Attr("stack_name", attr::String("s"))
                     .In(Ints({}, {2}))
                     .Out({proto::DT_RESOURCE})
                     .One();
  auto push = [&](Tensor value) {
    return OpRun("StackPushV2").In(stack).In(std::move(value)).Out({proto::DT_FLOAT});
  };
  auto pop = [&] { return OpRun("StackPopV2").In(stack).Out({proto::DT_FLOAT}); };
  EXPECT_EQ(pop().ErrorText(), "stack 's' is empty");
  EXPECT_EQ(Values<float>(push(Scalar(1.f)).One()), (F{1}));
  EXPECT_EQ(push(Scalar(2.f)).ErrorText(), "no error");
  EXPECT_EQ(push(Scalar(3.f)).ErrorText(), "stack 's' is full: it holds 2 tensors at most");
  EXPECT_EQ(Values<float>(pop().One()), (F{2}));
  EXPECT_EQ(push(Scalar<int32_t>(1)).ErrorText(), "int32 for stack 's' of float");
}

}  // namespace
}  // namespace grapnel
