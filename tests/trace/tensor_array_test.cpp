// TensorArray: nodes as in tf.TensorArray, known shapes of elements, and errors.
#include "lib/trace/tensor_array.h"

#include "tests/trace/trace_util.h"

namespace grapnel {
namespace {

using Texts = std::vector<std::string>;

std::string At(int line) { return llvm::formatv("{0}:{1}: ", __FILE__, line).str(); }

Shape ShapeOfDims(llvm::ArrayRef<int64_t> dims) { return Shape(dims); }

TEST(TensorArray, WritesReadsAndStacksAsTensorFlow) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {2}, "x");
  TensorArray array(t, proto::DT_FLOAT, 3);
  TensorArray one = array.Write(0, x);
  TensorArray two = one.Write(1, x);
  EXPECT_EQ(array.element_shape(), ShapeOfDims({2}));  // copies share it
  EXPECT_EQ(two.Read(1).shape(), ShapeOfDims({2}));
  Value all = two.Stack();
  Value some = two.Gather({1, 0});
  two.Concat();
  two.Size();
  auto module = Traced(t.Finish({all, some}));
  ASSERT_TRUE(module);
  EXPECT_EQ(AttrText(module->main, "TensorArrayV2Stack/TensorListStack", "num_elements"), "3");
  Texts lines = Lines(module->main);
  EXPECT_EQ(Texts(lines.begin() + 1, lines.begin() + 8),
            (Texts{
                "TensorArrayV2/element_shape = Const()",
                "TensorArrayV2/num_elements = Const()",
                // No comma is missing. NOLINTNEXTLINE(bugprone-suspicious-missing-comma)
                "TensorArrayV2 = TensorListReserve(TensorArrayV2/element_shape, "
                "TensorArrayV2/num_elements)",
                "TensorArrayV2Write/TensorListSetItem/index = Const()",
                "TensorArrayV2Write/TensorListSetItem = TensorListSetItem(TensorArrayV2, "
                "TensorArrayV2Write/TensorListSetItem/index, x)",
                "TensorArrayV2Write_1/TensorListSetItem/index = Const()",
                "TensorArrayV2Write_1/TensorListSetItem = "
                "TensorListSetItem(TensorArrayV2Write/TensorListSetItem, "
                "TensorArrayV2Write_1/TensorListSetItem/index, x)",
            }));
}

TEST(TensorArray, RowsAndPartsBecomeElements) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {4, 2}, "x");
  TensorArray rows = TensorArray(t, proto::DT_FLOAT, 4).Unstack(x);
  EXPECT_EQ(rows.element_shape(), ShapeOfDims({2}));
  TensorArray moved = TensorArray(t, proto::DT_FLOAT, 4).Scatter({3, 2, 1, 0}, x);
  TensorArrayOptions any_length = {.element_shape = ShapeOfDims({kUnknownDim, 2})};
  TensorArray parts =
      TensorArray(t, proto::DT_FLOAT, 2, any_length).Split(x, std::vector<int>{1, 3});
  TensorArrayOptions dynamic = {.dynamic_size = true};
  Value size = TensorArray(t, proto::DT_FLOAT, 0, dynamic).Write(7, Relu(x)).Size();
  Value a = rows.Stack(), b = moved.Read(0), c = parts.Concat();
  EXPECT_EQ(c.shape(), ShapeOfDims({kUnknownDim, 2}));
  EXPECT_EQ(b.shape(), ShapeOfDims({2}));
  auto module = Traced(t.Finish({a, b, c, size}));
  ASSERT_TRUE(module);
  EXPECT_EQ(AttrText(module->main, "TensorArrayV2Write/TensorListSetItem",
                     "resize_if_index_out_of_bounds"),
            "true");
  EXPECT_TRUE(VerifyModule(*module).empty());
}

TEST(TensorArray, WhatDoesNotFitIsAnErrorAtItsLine) {
  Tracer t, other;
  Value x = t.Placeholder(proto::DT_FLOAT, {2}, "x");
  Value i = t.Placeholder(proto::DT_INT32, {2}, "i");
  Value y = t.Placeholder(proto::DT_FLOAT, {3}, "y");
  Value far = other.Placeholder(proto::DT_FLOAT, {2}, "far");
  TensorArray array = TensorArray(t, proto::DT_FLOAT, 3).Write(0, x);
  int line = __LINE__;
  array.Write(1, i);
  array.Write(1, y);
  array.Write(1, far);
  array.Write(0.5f, x).Stack();
  array.Unstack(x);
  EXPECT_EQ(ErrorsOf(t.Finish()),
            At(line + 1) + "TensorArray: the elements are float, 'i:0' is int32\n" + At(line + 2) +
                "TensorArray: the elements have shape [2], 'y:0' has shape [3]\n" + At(line + 3) +
                "op 'TensorListSetItem': input 2 ('far:0', made at " + __FILE__ + ":" +
                std::to_string(line - 2) + ") belongs to another Tracer\n" + At(line + 4) +
                "op 'TensorListSetItem': input 'index' is the float 0.5, int32 was expected\n" +
                At(line + 5) + "TensorArray: the elements have shape [2], 'x:0' has shape []");
}

}  // namespace
}  // namespace grapnel
