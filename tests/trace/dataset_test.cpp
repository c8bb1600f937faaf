// Datasets: functions, known shapes of elements, and errors. tests/python/programs_test.py runs
// them.
#include "lib/trace/dataset.h"

#include "lib/trace/array_ops.h"
#include "tests/trace/trace_util.h"

namespace grapnel {
namespace {

using data::Dataset;

std::string At(int line) { return llvm::formatv("{0}:{1}: ", __FILE__, line).str(); }

TEST(Datasets, KnowTheirElements) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {6, 2}, "x");
  Dataset rows = Dataset::FromTensorSlices(t, {x, Cast(x, proto::DT_INT32)});
  EXPECT_EQ(rows.dtypes(), (std::vector<DataType>{proto::DT_FLOAT, proto::DT_INT32}));
  EXPECT_EQ(rows.shapes()[0], Shape(Dims{2}));
  Dataset sums = rows.Map([](Values row) { return Values{ReduceSum(row[0])}; });
  EXPECT_EQ(sums.shapes(), std::vector<Shape>{Shape::Scalar()});
  EXPECT_EQ(sums.Batch(4).shapes()[0], Shape(Dims{kUnknownDim}));
  EXPECT_EQ(sums.Batch(4, true).shapes()[0], Shape(Dims{4}));
  Dataset joined = rows.Concatenate(Dataset::FromTensors(t, {x, Cast(x, proto::DT_INT32)}));
  EXPECT_FALSE(joined.shapes()[0].known_rank());
  Dataset pairs = Dataset::Zip({sums, Dataset::Range(t, 9)});
  EXPECT_EQ(pairs.dtypes()[1], proto::DT_INT64);
  Dataset inner = Dataset::Range(t, 3).Interleave(
      [&](Values i) { return Dataset::Range(t, i[0]).Repeat(2); }, 2);
  Value one = inner.Batch(6).GetSingleElement()[0];
  EXPECT_EQ(one.shape(), Shape(Dims{kUnknownDim}));
  auto module = Traced(t.Finish({one, joined.Batch(1).Skip(2).Take(1).variant()}));
  ASSERT_TRUE(module);
  EXPECT_TRUE(VerifyModule(*module).empty());
}

TEST(Datasets, LambdasTakeValuesFromOutside) {
  auto module =
      Traced(Trace("f", {{"x", proto::DT_FLOAT, {3}}, {"w", proto::DT_FLOAT, {}}},
                   [](Tracer& t, Value x, Value w) {
                     Dataset rows = Dataset::FromTensorSlices(t, {x});
                     Dataset scaled = rows.Map([&](Values row) { return Values{row[0] * w}; });
                     return scaled.Reduce({t.Constant(0.0f)}, [&](Values sum, Values row) {
                       return Values{sum[0] + row[0] * w};
                     });
                   }));
  ASSERT_TRUE(module);
  EXPECT_EQ(LineOf(module->main, "MapDataset"), "MapDataset = MapDataset(TensorSliceDataset, w)");
  EXPECT_EQ(LineOf(module->main, "ReduceDataset"),
            "ReduceDataset = ReduceDataset(MapDataset, Const, w, ^TensorSliceDataset)");
  ASSERT_EQ(module->functions.size(), 2u);
  EXPECT_EQ(module->functions[0]->info.inputs[1].name, "mul_w");
}

TEST(Datasets, WhatDoesNotFitIsAnErrorAtItsLine) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {3}, "x");
  Value s = t.Placeholder(proto::DT_FLOAT, {}, "s");
  Dataset rows = Dataset::FromTensorSlices(t, {x});
  auto as_int = [](const Values&, const Values& row) {
    return Values{Cast(row[0], proto::DT_INT32)};
  };
  int line = __LINE__;
  Dataset::FromTensorSlices(t, {s});
  rows.Filter([](Values row) { return row; });
  rows.Reduce({s}, as_int);
  rows.Concatenate(Dataset::Range(t, 3));
  rows.Take(1.5f);
  rows.Map([](Values row) { return Values{row[0] + Cast(row[0], proto::DT_INT32)}; });
  EXPECT_EQ(
      ErrorsOf(t.Finish()),
      At(line + 1) + "from_tensor_slices: 's:0' is a scalar and has no rows\n" + At(line + 2) +
          "filter: the function must return one bool scalar, but it returns (float) instead\n" +
          At(line + 3) +
          "reduce: the function must return the dtypes of the state, (float), but it returns "
          "(int32)\n" +
          At(line + 4) +
          "concatenate: both datasets must have the same dtypes, but the elements are "
          "(float) and (int64)\n" +
          At(line + 5) + "'count' is the float 1.5, int64 was expected\n" + At(line + 6) +
          "op 'AddV2': input 'y' is int32, float was expected as input 'x' is");
}

}  // namespace
}  // namespace grapnel
