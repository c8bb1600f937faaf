// Sparse tensors and sets.
#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using V = std::vector<int32_t>;
using D = std::vector<int64_t>;
using Fs = std::vector<float>;

Tensor Indices(int64_t depth, D values) {
  int64_t rows = static_cast<int64_t>(values.size()) / depth;
  return Make<int64_t>({rows, depth}, std::move(values));
}

OpRun ToDense(Tensor indices, D shape, Tensor values, bool validate = true) {
  OpRun run("SparseToDense");
  Tensor fill = Scalar(9);
  run.In(std::move(indices)).In(Vec<int64_t>(std::move(shape))).In(std::move(values)).In(fill);
  run.Attr("validate_indices", attr::Bool(validate)).Out({proto::DT_INT32});
  return run;
}

TEST(KernelSparseToDense, WritesOverTheDefault) {
  EXPECT_EQ(Values<int32_t>(ToDense(Indices(2, {0, 1, 1, 0}), {2, 2}, Vec<int32_t>({5, 6})).One()),
            (V{9, 5, 6, 9}));
  EXPECT_EQ(Values<int32_t>(ToDense(Vec<int64_t>({0, 2}), {3}, Scalar(5)).One()), (V{5, 9, 5}));
  EXPECT_EQ(Values<int32_t>(ToDense(Scalar<int64_t>(1), {3}, Scalar(5)).One()), (V{9, 5, 9}));
  EXPECT_EQ(Values<int32_t>(ToDense(Vec<int64_t>({2, 0}), {3}, Scalar(5), false).One()),
            (V{5, 9, 5}));
  EXPECT_EQ(DimsOf(ToDense(Indices(2, {}), {0, 2}, Vec<int32_t>({})).One()), (D{0, 2}));
}

TEST(KernelSparseToDense, Errors) {
  EXPECT_EQ(ToDense(Vec<int64_t>({2, 0}), {3}, Scalar(5)).ErrorText(),
            "indices[1] = [0] is out of order");
  EXPECT_EQ(ToDense(Vec<int64_t>({2, 2}), {3}, Scalar(5)).ErrorText(),
            "indices[1] = [2] is repeated");
  EXPECT_EQ(ToDense(Vec<int64_t>({3}), {3}, Scalar(5), false).ErrorText(),
            "indices[0] = [3] is out of bounds: need 0 <= index < [3]");
  EXPECT_EQ(ToDense(Vec<int64_t>({1}), {3, 3}, Scalar(5)).ErrorText(),
            "output_shape must have 1 numbers for these indices, not 2");
  EXPECT_EQ(ToDense(Vec<int64_t>({1}), {3}, Vec<int32_t>({5, 6})).ErrorText(),
            "sparse_values must be a scalar or a vector of 1, not [2]");
}

TEST(KernelSparseReorder, KeepsTheOrderOfEquals) {
  auto out = OpRun("SparseReorder")
                 .In(Indices(2, {1, 0, 0, 1, 1, 0}))
                 .In(Vec<std::string>({"a", "b", "c"}))
                 .In(Vec<int64_t>({2, 2}))
                 .Out({proto::DT_INT64, proto::DT_STRING})
                 .All();
  EXPECT_EQ(Values<int64_t>(out[0]), (D{0, 1, 1, 0, 1, 0}));
  EXPECT_EQ(Values<std::string>(out[1]), (std::vector<std::string>{"b", "a", "c"}));
}

TEST(KernelSparseReshape, FindsOneSize) {
  auto run = [](D shape) {
    return OpRun("SparseReshape")
        .In(Indices(2, {0, 1, 2, 0}))
        .In(Vec<int64_t>({3, 4}))
        .In(Vec<int64_t>(std::move(shape)))
        .Out({proto::DT_INT64, proto::DT_INT64});
  };
  auto out = run({2, -1}).All();
  EXPECT_EQ(Values<int64_t>(out[0]), (D{0, 1, 1, 2}));
  EXPECT_EQ(Values<int64_t>(out[1]), (D{2, 6}));
  EXPECT_EQ(run({5, -1}).ErrorText(),
            "a sparse tensor of shape [3,4] has 12 places, the requested shape [5,-1] has 10");
  EXPECT_EQ(run({-1, -1}).ErrorText(), "only one size may be -1, not both 0 and 1");
}

TEST(KernelSparseFillEmptyRows, FillsAndMapsBack) {
  auto run = [](Tensor indices, D shape) {
    int64_t n = indices.dim(0);
    return OpRun("SparseFillEmptyRows")
        .In(std::move(indices))
        .In(Iota<int32_t>({n}))
        .In(Vec<int64_t>(std::move(shape)))
        .In(Scalar(9))
        .Out({proto::DT_INT64, proto::DT_INT32, proto::DT_BOOL, proto::DT_INT64});
  };
  auto out = run(Indices(2, {2, 1, 0, 3, 2, 0}), {3, 4}).All();
  EXPECT_EQ(Values<int64_t>(out[0]), (D{0, 3, 1, 0, 2, 1, 2, 0}));
  EXPECT_EQ(Values<int32_t>(out[1]), (V{1, 9, 0, 2}));
  EXPECT_EQ(Values<bool>(out[2]), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(Values<int64_t>(out[3]), (D{2, 0, 3}));
  EXPECT_EQ(DimsOf(run(Indices(2, {}), {0, 4}).All()[0]), (D{0, 2}));
  EXPECT_EQ(run(Indices(2, {3, 0}), {3, 4}).ErrorText(), "indices[0] = 3 is not in [0, 3)");
  auto grad = OpRun("SparseFillEmptyRowsGrad")
                  .In(Vec<int64_t>({2, 0}))
                  .In(Vec<float>({1, 2, 4}))
                  .Attr("T", attr::Type(proto::DT_FLOAT))
                  .Out({proto::DT_FLOAT, proto::DT_FLOAT})
                  .All();
  EXPECT_EQ(Values<float>(grad[0]), (Fs{4, 1}));
  EXPECT_EQ(Values<float>(grad[1]), Fs{2});
}

OpRun Times(Tensor indices, D shape, Tensor b, bool adjoint_a = false, bool adjoint_b = false) {
  OpRun run("SparseTensorDenseMatMul");
  int64_t n = indices.dim(0);
  run.In(std::move(indices)).In(Make<float>({n}, Fs(n, 2)));
  run.In(Vec<int64_t>(std::move(shape))).In(std::move(b));
  run.Attr("T", attr::Type(proto::DT_FLOAT)).Attr("adjoint_a", attr::Bool(adjoint_a));
  run.Attr("adjoint_b", attr::Bool(adjoint_b)).Out({proto::DT_FLOAT});
  return run;
}

TEST(KernelSparseMatMul, EitherSideTransposed) {
  Tensor at = Indices(2, {0, 1});
  EXPECT_EQ(Values<float>(Times(at, {2, 3}, Iota<float>({3, 2})).One()), (Fs{4, 6, 0, 0}));
  EXPECT_EQ(Values<float>(Times(at, {2, 3}, Iota<float>({2, 2}), true).One()),
            (Fs{0, 0, 0, 2, 0, 0}));
  EXPECT_EQ(Values<float>(Times(at, {2, 3}, Iota<float>({2, 3}), false, true).One()),
            (Fs{2, 8, 0, 0}));
  EXPECT_EQ(Times(at, {2, 3}, Iota<float>({2, 2})).ErrorText(),
            "the inner dimensions of [2,3] and [2,2] do not match: 3 and 2");
  EXPECT_EQ(Times(Indices(2, {0, 3}), {2, 3}, Iota<float>({3, 2})).ErrorText(),
            "indices[0] = [0,3] is out of bounds: need 0 <= index < [2,3]");
}

std::vector<Tensor> Sets(Tensor a, Tensor b, const char* operation) {
  return OpRun("DenseToDenseSetOperation")
      .In(std::move(a))
      .In(std::move(b))
      .Attr("set_operation", attr::String(operation))
      .Out({proto::DT_INT64, proto::DT_INT32, proto::DT_INT64})
      .All();
}

TEST(KernelSetOperation, SortsEachSet) {
  Tensor a = Ints({2, 3}, {3, 1, 3, 2, 2, 2}), b = Ints({2, 2}, {1, 9, 2, 5});
  EXPECT_EQ(Values<int32_t>(Sets(a, b, "union")[1]), (V{1, 3, 9, 2, 5}));
  EXPECT_EQ(Values<int32_t>(Sets(a, b, "intersection")[1]), (V{1, 2}));
  EXPECT_EQ(Values<int32_t>(Sets(a, b, "b-a")[1]), (V{9, 5}));
  auto out = Sets(a, b, "a-b");
  EXPECT_EQ(Values<int64_t>(out[0]), (D{0, 0}));
  EXPECT_EQ(Values<int32_t>(out[1]), V{3});
  EXPECT_EQ(Values<int64_t>(out[2]), (D{2, 1}));
}

TEST(KernelSetOperation, Errors) {
  auto text = [](Tensor a, Tensor b, const char* operation) {
    return OpRun("DenseToDenseSetOperation")
        .In(std::move(a))
        .In(std::move(b))
        .Attr("set_operation", attr::String(operation))
        .Out({proto::DT_INT64, proto::DT_INT32, proto::DT_INT64})
        .ErrorText();
  };
  Tensor a = Iota<int32_t>({2, 3});
  EXPECT_EQ(text(a, Iota<int32_t>({1, 3}), "union"),
            "both must have the same dimensions but the last, not [2] and [1]");
  EXPECT_EQ(text(Iota<int32_t>({3}), a, "union"), "sets must have rank 2 or more, not shape [3]");
  EXPECT_EQ(text(a, a, "xor"), "set_operation 'xor' is not a-b, b-a, intersection or union");
}

TEST(KernelSetSize, CountsDifferentElements) {
  Tensor out = OpRun("SetSize")
                   .In(Indices(2, {0, 0, 1, 0, 1, 1}))
                   .In(Vec<int32_t>({3, 7, 7}))
                   .In(Vec<int64_t>({3, 4}))
                   .Attr("T", attr::Type(proto::DT_INT32))
                   .Out({proto::DT_INT32})
                   .One();
  EXPECT_EQ(Values<int32_t>(out), (V{1, 1, 0}));
}

}  // namespace
}  // namespace grapnel
