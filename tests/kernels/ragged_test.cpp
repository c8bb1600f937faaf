// Ragged tensors.
#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using V = std::vector<int32_t>;
using D = std::vector<int64_t>;

OpRun Ranges(V starts, V limits, V deltas) {
  OpRun run("RaggedRange");
  for (V* v : {&starts, &limits, &deltas})
    run.In(v->size() == 1 ? Scalar((*v)[0]) : Vec<int32_t>(*v));
  run.Out({proto::DT_INT64, proto::DT_INT32});
  return run;
}

TEST(KernelRaggedRange, CountsUpAndDown) {
  auto out = Ranges({0, 5, 8}, {3, 3, 8}, {1, -1, 1}).All();
  EXPECT_EQ(Values<int64_t>(out[0]), (D{0, 3, 5, 5}));
  EXPECT_EQ(Values<int32_t>(out[1]), (V{0, 1, 2, 5, 4}));
  out = Ranges({0}, {3, 5}, {2}).All();
  EXPECT_EQ(Values<int32_t>(out[1]), (V{0, 2, 0, 2, 4}));
  out = Ranges({}, {}, {1}).All();
  EXPECT_EQ(Values<int64_t>(out[0]), D{0});
  EXPECT_EQ(Ranges({0}, {3}, {0}).ErrorText(), "deltas must not be 0");
  EXPECT_EQ(Ranges({0, 1}, {3, 4, 5}, {1}).ErrorText(),
            "starts, limits and deltas must have the same length, not 2 and 3");
}

OpRun Gather(std::vector<D> splits, Tensor indices, int outputs) {
  OpRun run("RaggedGather");
  int ragged = static_cast<int>(splits.size());
  for (D& split : splits) run.In(Vec<int64_t>(std::move(split)));
  run.In(Vec<int32_t>({10, 11, 12, 13, 14})).In(std::move(indices));
  run.Attr("PARAMS_RAGGED_RANK", attr::Int(ragged)).Attr("OUTPUT_RAGGED_RANK", attr::Int(outputs));
  std::vector<DataType> types(outputs, proto::DT_INT64);
  types.push_back(proto::DT_INT32);
  run.Out(types);
  return run;
}

TEST(KernelRaggedGather, TakesRows) {
  auto out = Gather({{0, 2, 2, 5}}, Vec<int32_t>({2, 0, 1}), 1).All();
  EXPECT_EQ(Values<int64_t>(out[0]), (D{0, 3, 5, 5}));
  EXPECT_EQ(Values<int32_t>(out[1]), (V{12, 13, 14, 10, 11}));
  out = Gather({{0, 2, 3}, {0, 1, 3, 5}}, Vec<int32_t>({1, 0}), 2).All();
  EXPECT_EQ(Values<int64_t>(out[0]), (D{0, 1, 3}));
  EXPECT_EQ(Values<int64_t>(out[1]), (D{0, 2, 3, 5}));
  EXPECT_EQ(Values<int32_t>(out[2]), (V{13, 14, 10, 11, 12}));
  out = Gather({{0, 2, 2, 5}}, Ints({1, 2}, {1, 0}), 2).All();
  EXPECT_EQ(Values<int64_t>(out[0]), (D{0, 2}));
  EXPECT_EQ(Values<int64_t>(out[1]), (D{0, 0, 2}));
  EXPECT_EQ(Values<int32_t>(Gather({{0, 2, 2, 5}}, Scalar(0), 0).All()[0]), (V{10, 11}));
}

TEST(KernelRaggedGather, Errors) {
  EXPECT_EQ(Gather({{0, 2, 2, 5}}, Vec<int32_t>({3}), 1).ErrorText(),
            "indices[0] = 3 is not in [0, 3)");
  EXPECT_EQ(Gather({{0, 3, 2, 5}}, Vec<int32_t>({0}), 1).ErrorText(),
            "splits must not fall: 2 follows 3");
  EXPECT_EQ(Gather({{0, 9}}, Vec<int32_t>({0}), 1).ErrorText(),
            "splits must end with the 5 rows below, not 9");
  EXPECT_EQ(Gather({{0, 5}}, Vec<int32_t>({0}), 2).ErrorText(),
            "OUTPUT_RAGGED_RANK must be 1 for indices of shape [1], not 2");
}

OpRun ToSparse(std::vector<D> splits, Tensor values) {
  OpRun run("RaggedTensorToSparse");
  for (D& split : splits) run.In(Vec<int64_t>(std::move(split)));
  run.In(std::move(values)).Out({proto::DT_INT64, proto::DT_INT32, proto::DT_INT64});
  return run;
}

TEST(KernelRaggedToSparse, NamesEveryElement) {
  auto out = ToSparse({{0, 2, 3}, {0, 1, 3, 3}}, Iota<int32_t>({3})).All();
  EXPECT_EQ(Values<int64_t>(out[0]), (D{0, 0, 0, 0, 1, 0, 0, 1, 1}));
  EXPECT_EQ(Values<int64_t>(out[2]), (D{2, 2, 2}));
  out = ToSparse({{0, 0, 1}}, Iota<int32_t>({1, 2})).All();
  EXPECT_EQ(Values<int64_t>(out[0]), (D{1, 0, 0, 1, 0, 1}));
  EXPECT_EQ(Values<int64_t>(ToSparse({{0, 0}}, Ints({0}, {})).All()[2]), (D{1, 0}));
  EXPECT_EQ(ToSparse({{0, 2}}, Iota<int32_t>({3})).ErrorText(),
            "splits must end with the 3 rows below, not 2");
  EXPECT_EQ(ToSparse({{1, 3}}, Iota<int32_t>({3})).ErrorText(), "splits must start with 0, not 1");
}

OpRun ToDense(D shape, Tensor values, Tensor fill, std::vector<Tensor> partitions,
              std::vector<llvm::StringRef> types) {
  OpRun run("RaggedTensorToTensor");
  run.In(Vec<int64_t>(std::move(shape))).In(std::move(values)).In(std::move(fill));
  for (Tensor& partition : partitions) run.In(std::move(partition));
  run.Attr("row_partition_types", attr::Strings(types)).Out({proto::DT_INT32});
  return run;
}

TEST(KernelRaggedToDense, CutsOffAndFillsUp) {
  Tensor values = Iota<int32_t>({5}), fill = Scalar(9);
  Tensor splits = Vec<int64_t>({0, 2, 2, 5});
  Tensor out = ToDense({-1, -1}, values, fill, {splits}, {"ROW_SPLITS"}).One();
  EXPECT_EQ(DimsOf(out), (D{3, 3}));
  EXPECT_EQ(Values<int32_t>(out), (V{0, 1, 9, 9, 9, 9, 2, 3, 4}));
  EXPECT_EQ(Values<int32_t>(ToDense({4, 1}, values, fill, {splits}, {"ROW_SPLITS"}).One()),
            (V{0, 9, 2, 9}));
  Tensor ids = ToDense({-1, -1}, values, fill, {Scalar<int64_t>(4), Vec<int64_t>({0, 0, 2, 2, 2})},
                       {"FIRST_DIM_SIZE", "VALUE_ROWIDS"})
                   .One();
  EXPECT_EQ(Values<int32_t>(ids), (V{0, 1, 9, 9, 9, 9, 2, 3, 4, 9, 9, 9}));
  Tensor rows = ToDense({-1, -1, 2}, Iota<int32_t>({1, 2}), Vec<int32_t>({7, 8}),
                        {Vec<int64_t>({0, 0, 1})}, {"ROW_SPLITS"})
                    .One();
  EXPECT_EQ(Values<int32_t>(rows), (V{7, 8, 0, 1}));
  EXPECT_EQ(
      DimsOf(ToDense({-1, -1}, Ints({0}, {}), fill, {Vec<int64_t>({0})}, {"ROW_SPLITS"}).One()),
      (D{0, 0}));
}

TEST(KernelRaggedToDense, Errors) {
  Tensor values = Iota<int32_t>({3}), fill = Scalar(9);
  auto text = [&](D shape, Tensor partition, llvm::StringRef type) {
    return ToDense(std::move(shape), values, fill, {std::move(partition)}, {type}).ErrorText();
  };
  EXPECT_EQ(text({-1}, Vec<int64_t>({0, 3}), "ROW_SPLITS"), "shape [-1] must have 2 numbers");
  EXPECT_EQ(text({-1, -1}, Vec<int64_t>({0, 2, 1}), "ROW_SPLITS"),
            "row splits must not fall: 1 follows 2");
  EXPECT_EQ(text({-1, -1}, Vec<int64_t>({0, 4}), "ROW_SPLITS"),
            "the row partitions are for 4 values, there are 3");
  EXPECT_EQ(text({-1, -1}, Vec<int64_t>({0, 3}), "ROWS"),
            "row partition type 'ROWS' is not FIRST_DIM_SIZE, VALUE_ROWIDS or ROW_SPLITS");
  EXPECT_EQ(ToDense({-1, -1}, values, fill, {Scalar<int64_t>(1), Vec<int64_t>({0, 1})},
                    {"FIRST_DIM_SIZE", "VALUE_ROWIDS"})
                .ErrorText(),
            "row 1 of ragged dimension 0 is not among the 1 rows above it");
}

}  // namespace
}  // namespace grapnel
