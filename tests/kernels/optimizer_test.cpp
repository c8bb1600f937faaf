// Optimizers: one step on resource and reference variables, by row, and errors.
#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using F = std::vector<float>;

Tensor Filled(const char* op, const char* name, Tensor value) {
  Tensor handle = OpRun(op)
                      .Attr("dtype", attr::Type(value.dtype()))
                      .Attr("shared_name", attr::String(name))
                      .Out({proto::DT_RESOURCE})
                      .One();
  EXPECT_EQ(OpRun("AssignVariableOp").In(handle).In(std::move(value)).Out({}).ErrorText(),
            "no error");
  return handle;
}
F ValuesIn(const Tensor& handle) {
  return Values<float>(OpRun("ReadVariableOp").In(handle).Out({proto::DT_FLOAT}).One());
}
OpRun Optimizer(const char* op) { return OpRun(op).Attr("T", attr::Type(proto::DT_FLOAT)).Out({}); }

TEST(KernelOptimizer, TakesAStep) {
  Tensor var = Filled("VarHandleOp", "w", Floats({2}, {1, 2}));
  Tensor accum = Filled("VarHandleOp", "a", Floats({2}, {10, 20}));
  auto step = Optimizer("ResourceApplyMomentum")
                  .In(var)
                  .In(accum)
                  .In(Scalar(0.5f))
                  .In(Floats({2}, {1, 1}))
                  .In(Scalar(0.1f));
  EXPECT_EQ(step.ErrorText(), "no error");
  EXPECT_EQ(ValuesIn(accum), (F{2, 3}));
  EXPECT_EQ(ValuesIn(var), (F{0, 0.5}));
}

// In the older ops, variables are references, and the first is also the output.
TEST(KernelOptimizer, StepsOnReferences) {
  Tensor var = Filled("VariableV2", "w", Floats({2}, {1, 2}));
  Tensor out = Optimizer("ApplyGradientDescent")
                   .In(var)
                   .In(Scalar(2.f))
                   .In(Floats({2}, {1, -1}))
                   .Out({proto::DT_RESOURCE})
                   .One();
  EXPECT_EQ(ValuesIn(out), (F{-1, 4}));
}

TEST(KernelOptimizer, StepsOnRowsOneAfterTheOther) {
  Tensor var = Filled("VarHandleOp", "w", Floats({3, 1}, {0, 0, 0}));
  Tensor accum = Filled("VarHandleOp", "a", Floats({3, 1}, {0, 0, 0}));
  auto step = [&](Tensor gradient, Tensor indices) {
    return Optimizer("ResourceSparseApplyAdagrad")
        .In(var)
        .In(accum)
        .In(Scalar(1.f))
        .In(std::move(gradient))
        .In(std::move(indices));
  };
  EXPECT_EQ(step(Floats({2, 1}, {3, 4}), Ints({2}, {2, 2})).ErrorText(), "no error");
  EXPECT_EQ(ValuesIn(accum), (F{0, 0, 25}));
  EXPECT_FLOAT_EQ(ValuesIn(var)[2], -1.8f);  // 3 / 3 and 4 / 5
  EXPECT_EQ(step(Floats({1, 1}, {3}), Ints({1}, {3})).ErrorText(),
            "indices[0] = 3 is not in [0, 3)");
  EXPECT_EQ(step(Floats({1, 2}, {3, 3}), Ints({1}, {0})).ErrorText(),
            "a gradient of shape [1,2] does not fit 1 rows of variable 'w' of shape [3,1]");
}

// As in TensorFlow: with a gradient of rows NaN propagates, with a full gradient it becomes 0.
TEST(KernelOptimizer, FtrlOfRowsKeepsNaN) {
  float nan = std::nanf("");
  for (bool of_rows : {false, true}) {
    Tensor var = Filled("VarHandleOp", of_rows ? "rw" : "w", Floats({3}, {1, 1, 1}));
    Tensor accum = Filled("VarHandleOp", of_rows ? "ra" : "a", Floats({3}, {1, nan, 1}));
    Tensor linear = Filled("VarHandleOp", of_rows ? "rl" : "l", Floats({3}, {5, 1, 0.1f}));
    OpRun step = Optimizer(of_rows ? "ResourceSparseApplyFtrl" : "ResourceApplyFtrl");
    step.In(var).In(accum).In(linear).In(Floats({3}, {0, 0, 0}));
    if (of_rows) step.In(Ints({3}, {0, 1, 2}));
    for (float scalar : {1.0f, 0.5f, 0.0f, -0.5f}) step.In(Scalar(scalar));
    EXPECT_EQ(step.ErrorText(), "no error");
    F values = ValuesIn(var);
    EXPECT_EQ(values[0], -4.5f);
    EXPECT_EQ(std::isnan(values[1]), of_rows);
    EXPECT_EQ(values[2], 0);
  }
}

TEST(KernelOptimizer, SaysWhatDoesNotFit) {
  Tensor var = Filled("VarHandleOp", "w", Floats({2}, {1, 2}));
  auto step = [&](Tensor second, Tensor rate, Tensor gradient) {
    return Optimizer("ResourceApplyAdagrad")
        .In(var)
        .In(std::move(second))
        .In(std::move(rate))
        .In(std::move(gradient))
        .ErrorText();
  };
  Tensor accum = Filled("VarHandleOp", "a", Floats({2}, {1, 1}));
  EXPECT_EQ(step(var, Scalar(1.f), Floats({2}, {1, 1})), "variable 'w' is given twice");
  EXPECT_EQ(step(accum, Floats({1}, {1}), Floats({2}, {1, 1})),
            "input 2 is of shape [1], a scalar was expected");
  EXPECT_EQ(step(accum, Scalar(1.f), Floats({1}, {1})),
            "a gradient of shape [1] does not fit variable 'w' of shape [2]");
  EXPECT_EQ(step(Filled("VarHandleOp", "b", Floats({1}, {1})), Scalar(1.f), Floats({2}, {1, 1})),
            "variables 'w' and 'b' are of different shapes, [2] and [1]");
  EXPECT_EQ(step(Filled("VarHandleOp", "c", Iota<int32_t>({2})), Scalar(1.f), Floats({2}, {1, 1})),
            "variable 'c' has dtype int32, float was expected");
}

}  // namespace
}  // namespace grapnel
