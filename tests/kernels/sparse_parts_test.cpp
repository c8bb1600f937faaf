// Sparse tensors put together, cut, counted, crossed and serialized: what bad input says.
#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using D = std::vector<int64_t>;
using Fs = std::vector<float>;
using S = std::vector<std::string>;

Tensor Indices(int64_t depth, D values) {
  int64_t rows = static_cast<int64_t>(values.size()) / depth;
  return Make<int64_t>({rows, depth}, std::move(values));
}

TEST(KernelSparseAdd, Errors) {
  auto run = [](D a_shape, D b_shape, Tensor thresh) {
    OpRun run("SparseAdd");
    run.In(Indices(2, {0, 1})).In(Vec<float>({1})).In(Vec<int64_t>(std::move(a_shape)));
    run.In(Indices(2, {0, 0})).In(Vec<float>({2})).In(Vec<int64_t>(std::move(b_shape)));
    run.In(std::move(thresh)).Attr("T", attr::Type(proto::DT_FLOAT));
    return run.Out({proto::DT_INT64, proto::DT_FLOAT, proto::DT_INT64}).ErrorText();
  };
  EXPECT_EQ(run({2, 2}, {2, 2}, Scalar(0.f)), "no error");
  EXPECT_EQ(run({2, 2}, {2, 3}, Scalar(0.f)), "operands' shapes do not match: [2,2] and [2,3]");
  EXPECT_EQ(run({2, 2}, {2}, Scalar(0.f)), "b: the shape must be a vector of 2, not [1]");
  EXPECT_EQ(run({2, 2}, {2, 2}, Scalar(0)), "thresh must be a scalar of float, not int32[] 0");
}

TEST(KernelSparseDenseCwise, Errors) {
  auto run = [](Tensor indices, Tensor dense) {
    OpRun run("SparseDenseCwiseDiv");
    run.In(std::move(indices)).In(Vec<int32_t>({7})).In(Vec<int64_t>({2, 2})).In(std::move(dense));
    return run.Attr("T", attr::Type(proto::DT_INT32)).Out({proto::DT_INT32}).ErrorText();
  };
  EXPECT_EQ(run(Indices(2, {0, 1}), Ints({2}, {1, 0})), "integer division by zero at value 0");
  EXPECT_EQ(run(Indices(2, {0, 2}), Ints({2}, {1, 0})),
            "indices[0] = [0,2] is out of bounds: need 0 <= index < [2,2]");
  EXPECT_EQ(run(Indices(2, {0, 1}), Ints({3}, {1, 0, 1})),
            "the dense side is broadcast to the sparse one only: [3] is not to [2,2]");
}

TEST(KernelSparseReduce, Errors) {
  auto run = [](D indices, int32_t axis) {
    OpRun run("SparseReduceSum");
    run.In(Indices(2, std::move(indices))).In(Vec<float>({1})).In(Vec<int64_t>({2, 2}));
    run.In(Scalar(axis)).Attr("T", attr::Type(proto::DT_FLOAT));
    return run.Out({proto::DT_FLOAT}).ErrorText();
  };
  EXPECT_EQ(run({0, 1}, -3), "invalid reduction dimension -3, for input with 2 dimensions");
  EXPECT_EQ(run({0, -1}, 1), "indices[0] = [0,-1] is out of bounds: need 0 <= index < [2,2]");
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

TEST(KernelSparseSlice, FarPastTheEnd) {
  OpRun run("SparseSlice");
  run.In(Indices(1, {1, 3})).In(Vec<float>({1, 2})).In(Vec<int64_t>({4}));
  run.In(Vec<int64_t>({2})).In(Vec<int64_t>({INT64_MAX}));
  auto out = run.Out({proto::DT_INT64, proto::DT_FLOAT, proto::DT_INT64}).All();
  EXPECT_EQ(Values<int64_t>(out[0]), (D{1}));
  EXPECT_EQ(Values<float>(out[1]), (Fs{2}));
  EXPECT_EQ(Values<int64_t>(out[2]), (D{2}));
}

TEST(KernelSparseSerialize, Errors) {
  auto run = [](S parts) {
    int64_t n = static_cast<int64_t>(parts.size());
    return OpRun("DeserializeSparse")
        .In(Make<std::string>({n}, std::move(parts)))
        .Out({proto::DT_INT64, proto::DT_FLOAT, proto::DT_INT64})
        .ErrorText();
  };
  std::string number = Literal::Scalar(proto::DT_INT64, 1).ToTensorProto();
  EXPECT_EQ(run({"", ""}), "serialized_sparse must have 3 columns, not [2]");
  EXPECT_NE(run({"abc", number, number}), "no error");
  EXPECT_EQ(run({number, number, number}),
            "sparse tensor 0: requested type float, but the values are int64");
  EXPECT_EQ(OpRun("SerializeManySparse")
                .In(Indices(2, {0, 1}))
                .In(Vec<float>({1}))
                .In(Vec<int64_t>({int64_t{1} << 40, 2}))
                .Out({proto::DT_STRING})
                .ErrorText(),
            "1099511627776 rows are too many");
}

TEST(KernelSparseMap, ForgetsWhatIsTaken) {
  auto out = OpRun("TakeManySparseFromTensorsMap")
                 .In(Vec<int64_t>({5}))
                 .Out({proto::DT_INT64, proto::DT_FLOAT, proto::DT_INT64})
                 .ErrorText();
  EXPECT_EQ(out, "unable to find SparseTensor: 5 in map");
}

TEST(KernelSparseCount, Errors) {
  auto run = [](D splits, D values) {
    OpRun run("RaggedCountSparseOutput");
    run.In(Vec<int64_t>(std::move(splits))).In(Vec<int64_t>(std::move(values)));
    run.In(Vec<float>({})).Attr("output_type", attr::Type(proto::DT_FLOAT));
    return run.Out({proto::DT_INT64, proto::DT_FLOAT, proto::DT_INT64}).ErrorText();
  };
  EXPECT_EQ(run({0, 2}, {1, 2}), "no error");
  EXPECT_EQ(run({0, 2}, {1, -2}), "values must not be negative: element 1 is -2");
  EXPECT_EQ(run({0, 3}, {1, 2}), "splits int64[2] [0,3] fall, or go past the 2 values");
  EXPECT_EQ(run({0, 1}, {1, 2}), "splits must end with the number of values, 2, not 1");
  EXPECT_EQ(run({0, 1}, {INT64_MAX}), "value 9223372036854775807 is too large");
}

TEST(KernelRaggedFill, Errors) {
  auto run = [](D rows, int64_t count) {
    OpRun run("RaggedFillEmptyRows");
    run.In(Vec<int64_t>(std::move(rows))).In(Vec<float>({1})).In(Scalar(count)).In(Scalar(0.f));
    return run.Out({proto::DT_INT64, proto::DT_FLOAT, proto::DT_BOOL, proto::DT_INT64}).ErrorText();
  };
  EXPECT_EQ(run({1}, 2), "no error");
  EXPECT_EQ(run({2}, 2), "value_rowids[0] = 2 is not in [0, 2)");
  EXPECT_EQ(run({1}, -2), "nrows must not be negative, got -2");
}

TEST(KernelSparseCross, Errors) {
  auto run = [](D indices, int64_t rows) {
    OpRun run("SparseCrossV2");
    int64_t n = static_cast<int64_t>(indices.size()) / 2;
    run.In(Indices(2, std::move(indices))).In(Vec<std::string>(S(n, "a")));
    run.In(Vec<int64_t>({rows, 2})).In(Scalar<std::string>("_"));
    run.Attr("N", attr::Int(1)).Attr("dense_types", attr::Types({}));
    return run.Out({proto::DT_INT64, proto::DT_STRING, proto::DT_INT64}).ErrorText();
  };
  EXPECT_EQ(run({0, 0, 1, 0}, 2), "no error");
  EXPECT_EQ(run({1, 0, 0, 0}, 2),
            "feature 0: indices[1] is of row 0: rows must rise and be below 2");
  EXPECT_EQ(run({0, 0}, int64_t{1} << 60), "there cannot be 1152921504606846976 rows");
}

TEST(KernelEditDistance, Errors) {
  auto run = [](D guess, D truth) {
    OpRun run("EditDistance");
    run.In(Indices(2, {0, 1})).In(Vec<int64_t>({1})).In(Vec<int64_t>(std::move(guess)));
    run.In(Indices(2, {1, 1})).In(Vec<int64_t>({1})).In(Vec<int64_t>(std::move(truth)));
    return run.Out({proto::DT_FLOAT}).ErrorText();
  };
  EXPECT_EQ(run({2, 2}, {2, 2}), "no error");
  EXPECT_EQ(run({2, 2}, {1, 2}), "indices[0] = [1,1] is out of bounds: need 0 <= index < [1,2]");
}

TEST(KernelStringNGrams, Errors) {
  auto run = [](int64_t width, D splits) {
    OpRun run("StringNGrams");
    run.In(Vec<std::string>({"a", "b"})).In(Vec<int64_t>(std::move(splits)));
    run.Attr("ngram_widths", attr::Ints({width})).Attr("pad_width", attr::Int(-1));
    return run.Out({proto::DT_STRING, proto::DT_INT64}).ErrorText();
  };
  EXPECT_EQ(run(2, {0, 2}), "no error");
  EXPECT_EQ(run(0, {0, 2}), "ngram_widths must be positive, up to 268435456: 0");
  EXPECT_EQ(run(100000, {0, 2}), "n-grams of width 100000 come to more than 268435456 pieces");
  EXPECT_EQ(run(2, {0, 3}), "data_splits must start with 0 and end with 2, not 0 and 3");
  EXPECT_EQ(run(2, {0, 5, 2}), "data_splits must not fall or pass 2: 5 follows 0");
}

TEST(KernelUnicode, Errors) {
  auto run = [](const char* encoding, const char* errors) {
    OpRun run("UnicodeDecode");
    run.In(Vec<std::string>({"a\xff"})).Attr("input_encoding", attr::String(encoding));
    run.Attr("errors", attr::String(errors));
    return run.Out({proto::DT_INT64, proto::DT_INT32}).ErrorText();
  };
  EXPECT_EQ(run("UTF-8", "replace"), "no error");
  EXPECT_EQ(run("UTF-8", "strict"), "element 0: invalid formatting on input string");
  EXPECT_EQ(run("UTF-8", "guess"), "errors 'guess' is not strict, replace or ignore");
  EXPECT_EQ(run("no-such", "replace"), "could not create converter for input encoding: no-such");
  OpRun encode("UnicodeEncode");
  encode.In(Vec<int32_t>({97, 98})).In(Vec<int64_t>({0, 3, 2}));
  encode.Attr("output_encoding", attr::String("UTF-8")).Out({proto::DT_STRING});
  EXPECT_EQ(encode.ErrorText(), "splits must not fall or pass 2: 3 follows 0");
}

TEST(KernelCsrMatrix, Errors) {
  auto make = [](D indices, D shape) {
    int64_t n = static_cast<int64_t>(indices.size()) / 2;
    OpRun run("SparseTensorToCSRSparseMatrix");
    run.In(Indices(2, std::move(indices))).In(Vec<float>(Fs(n, 2))).In(Vec<int64_t>(shape));
    return run.Attr("T", attr::Type(proto::DT_FLOAT)).Out({proto::DT_VARIANT});
  };
  EXPECT_EQ(make({0, 2}, {2, 2}).ErrorText(),
            "indices[0] = [0,2] is out of bounds: need 0 <= index < [2,2]");
  EXPECT_EQ(make({0, 1}, {int64_t{1} << 40, 2}).ErrorText(),
            "a sparse matrix of shape [1099511627776,2] is too large");
  // Rows out of order, and a place that comes twice in a product.
  Tensor matrix = make({1, 0, 0, 1, 1, 0}, {2, 2}).One();
  auto product = [&](Tensor b) {
    OpRun run("SparseMatrixMatMul");
    run.In(matrix).In(std::move(b)).Attr("T", attr::Type(proto::DT_FLOAT));
    return run.Out({proto::DT_FLOAT});
  };
  EXPECT_EQ(Values<float>(product(Floats({2, 1}, {1, 10})).One()), (Fs{20, 4}));
  EXPECT_EQ(product(Floats({3, 1}, {1, 10, 5})).ErrorText(),
            "matrix sizes do not fit: [2,2] x [3,1]");
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
