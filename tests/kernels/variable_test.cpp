// Variables, of both kinds: made, assigned, counted up, written in parts.
#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using F = std::vector<float>;

Tensor Handle(const char* op = "VarHandleOp", DataType dtype = proto::DT_FLOAT) {
  return OpRun(op)
      .Attr("dtype", attr::Type(dtype))
      .Attr("shape", attr::ShapeOf(Shape(llvm::ArrayRef<int64_t>({3}))))
      .Attr("shared_name", attr::String("w"))
      .Out({proto::DT_RESOURCE})
      .One();
}
OpRun Assign(Tensor handle, Tensor value) {
  return OpRun("AssignVariableOp").In(std::move(handle)).In(std::move(value)).Out({});
}
OpRun Read(Tensor handle) {
  return OpRun("ReadVariableOp").In(std::move(handle)).Out({proto::DT_FLOAT});
}

TEST(KernelVariable, ReadsWhatWasAssigned) {
  Tensor handle = Handle();
  EXPECT_EQ(Read(handle).ErrorText(), "variable 'w' has no value yet: nothing has initialised it");
  EXPECT_EQ(Assign(handle, Iota<float>({3})).ErrorText(), "no error");
  EXPECT_EQ(Values<float>(Read(handle).One()), (F{0, 1, 2}));
  EXPECT_EQ(Assign(handle, Iota<int32_t>({3})).ErrorText(),
            "int32 cannot be assigned to variable 'w' of float");
  EXPECT_EQ(Assign(handle, Iota<float>({2})).Attr("validate_shape", attr::Bool(true)).ErrorText(),
            "shape [2] cannot be assigned to variable 'w' of shape [3]");
}

// Who has read the value keeps it.
TEST(KernelVariable, CountsUpWithoutTouchingWhatWasRead) {
  Tensor handle = Handle();
  EXPECT_EQ(Assign(handle, Iota<float>({3})).ErrorText(), "no error");
  Tensor before = Read(handle).One();
  for (const char* op : {"AssignAddVariableOp", "AssignAddVariableOp", "AssignSubVariableOp"}) {
    EXPECT_EQ(OpRun(op).In(handle).In(Floats({3}, {1, 10, 100})).Out({}).ErrorText(), "no error");
  }
  EXPECT_EQ(Values<float>(before), (F{0, 1, 2}));
  EXPECT_EQ(Values<float>(Read(handle).One()), (F{1, 11, 102}));
  EXPECT_EQ(OpRun("AssignAddVariableOp").In(handle).In(Iota<float>({2})).Out({}).ErrorText(),
            "variable 'w' is float[3], what is added is float[2]");
}

TEST(KernelVariable, IsWrittenInParts) {
  Tensor handle = Handle();
  EXPECT_EQ(Assign(handle, Iota<float>({3})).ErrorText(), "no error");
  auto scatter = [&](const char* op, Tensor indices, Tensor updates) {
    return OpRun(op).In(handle).In(std::move(indices)).In(std::move(updates)).Out({}).ErrorText();
  };
  EXPECT_EQ(scatter("ResourceScatterAdd", Ints({2}, {2, 2}), Floats({2}, {5, 5})), "no error");
  EXPECT_EQ(Values<float>(Read(handle).One()), (F{0, 1, 12}));
  EXPECT_EQ(scatter("ResourceScatterMul", Ints({1}, {1}), Scalar(7.f)), "no error");
  EXPECT_EQ(scatter("ResourceScatterNdUpdate", Ints({1, 1}, {0}), Floats({1}, {9})), "no error");
  EXPECT_EQ(Values<float>(Read(handle).One()), (F{9, 7, 12}));
  EXPECT_NE(scatter("ResourceScatterUpdate", Ints({1}, {3}), Floats({1}, {9})), "no error");
  EXPECT_EQ(
      Values<float>(
          OpRun("ResourceGather").In(handle).In(Ints({2}, {2, 0})).Out({proto::DT_FLOAT}).One()),
      (F{12, 9}));
}

TEST(KernelVariable, OfTheOldKindPassesItsReferenceOn) {
  Tensor reference = Handle("VariableV2");
  reference = OpRun("Assign").In(reference).In(Iota<float>({3})).Out({proto::DT_RESOURCE}).One();
  reference =
      OpRun("AssignAdd").In(reference).In(Floats({3}, {1, 1, 1})).Out({proto::DT_RESOURCE}).One();
  EXPECT_EQ(Values<float>(Read(reference).One()), (F{1, 2, 3}));
  auto is_there = OpRun("IsVariableInitialized").In(reference).Out({proto::DT_BOOL}).One();
  EXPECT_TRUE(*is_there.data<bool>());
}

TEST(KernelVariable, SaysWhatIsNone) {
  EXPECT_EQ(Read(Iota<float>({1})).ErrorText(), "input 0 is float[1] [0], a variable was expected");
}

}  // namespace
}  // namespace grapnel
