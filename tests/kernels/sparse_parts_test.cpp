// Slices of sparse tensors, and CSR matrices: errors for bad input.
#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using D = std::vector<int64_t>;
using Fs = std::vector<float>;

Tensor Indices(int64_t depth, D values) {
  int64_t rows = static_cast<int64_t>(values.size()) / depth;
  return Make<int64_t>({rows, depth}, std::move(values));
}

TEST(KernelSparseSplit, Errors) {
  auto run = [](int64_t axis, int n) {
    OpRun run("SparseSplit");
    run.In(Scalar(axis)).In(Indices(2, {0, 1})).In(Vec<float>({1})).In(Vec<int64_t>({2, 2}));
    std::vector<DataType> types(3 * n, proto::DT_INT64);
    for (int i = 0; i < n; ++i) types[n + i] = proto::DT_FLOAT;
    return run.Out(types).ErrorText();
  };
  EXPECT_EQ(run(1, 2), "no error");
  EXPECT_EQ(run(2, 2), "split_dim must be in [-2, 2), got 2");
  EXPECT_EQ(run(0, 3), "num_split must be in [1, 2], got 3");
}

TEST(KernelCsrMatrix, Errors) {
  auto make = [](D indices, D shape) {
    int64_t n = static_cast<int64_t>(indices.size()) / 2;
    OpRun run("SparseTensorToCSRSparseMatrix");
    run.In(Indices(2, std::move(indices)))
        .In(Vec<float>(Fs(n, 2)))
        .In(Vec<int64_t>(std::move(shape)));
    return run.Attr("T", attr::Type(proto::DT_FLOAT)).Out({proto::DT_VARIANT});
  };
  EXPECT_EQ(make({0, 2}, {2, 2}).ErrorText(),
            "indices[0] = [0,2] is out of bounds: need 0 <= index < [2,2]");
  EXPECT_EQ(
      make({0, 1}, {int64_t{1} << 40, 2}).ErrorText(),
      "a sparse matrix of shape [1099511627776,2] with 1 elements is too large: at most 2147483647 "
      "columns, 2147483647 elements and 268435456 row starts (one per row and one per matrix) "
      "are supported");
  // Rows out of order, and a duplicate index, in a product.
  Tensor matrix = make({1, 0, 0, 1, 1, 0}, {2, 2}).One();
  auto product = [&](Tensor b) {
    OpRun run("SparseMatrixMatMul");
    run.In(matrix).In(std::move(b)).Attr("T", attr::Type(proto::DT_FLOAT));
    return run.Out({proto::DT_FLOAT});
  };
  EXPECT_EQ(Values<float>(product(Floats({2, 1}, {1, 10})).One()), (Fs{20, 4}));
  EXPECT_EQ(product(Floats({3, 1}, {1, 10, 5})).ErrorText(),
            "the inner dimensions of shapes [2,2] and [3,1] differ");
  EXPECT_EQ(OpRun("CSRSparseMatrixComponents")
                .In(matrix)
                .In(Scalar(1))
                .Attr("type", attr::Type(proto::DT_FLOAT))
                .Out({proto::DT_INT32, proto::DT_INT32, proto::DT_FLOAT})
                .ErrorText(),
            "index (1) not in [0, 1)");
}

}  // namespace
}  // namespace grapnel
