// Arithmetic on quantized tensors: values by hand where they are simple, and each kind of error.
// TensorFlow's own numbers are in testdata/ops.
#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

Tensor Bytes(llvm::ArrayRef<int64_t> dims, std::vector<uint8_t> levels) {
  return Make<uint8_t>(dims, std::move(levels)).Bitcast(proto::DT_QUINT8);
}
Tensor SignedBytes(llvm::ArrayRef<int64_t> dims, std::vector<int8_t> levels) {
  return Make<int8_t>(dims, std::move(levels)).Bitcast(proto::DT_QINT8);
}
Tensor Sums(llvm::ArrayRef<int64_t> dims, std::vector<int32_t> levels) {
  return Ints(dims, std::move(levels)).Bitcast(proto::DT_QINT32);
}
template <typename T>
std::vector<int> Levels(const Tensor& tensor) {
  return std::vector<int>(tensor.data<T>(), tensor.data<T>() + tensor.num_elements());
}

OpRun Pair(const char* op, Tensor x, Tensor y) {
  OpRun run(op);
  run.In(std::move(x)).In(std::move(y));
  for (float end : {0.0f, 255.0f, 0.0f, 255.0f}) run.In(Scalar(end));
  for (const char* key : {"T1", "T2"}) run.Attr(key, attr::Type(proto::DT_QUINT8));
  return run.Out({proto::DT_QINT32, proto::DT_FLOAT, proto::DT_FLOAT});
}

TEST(KernelQuantized, LevelsOfIntegersMultiplyAsIntegers) {
  auto out = Pair("QuantizedMul", Bytes({2, 2}, {1, 2, 3, 255}), Bytes({2}, {10, 255})).All();
  EXPECT_EQ(Levels<int32_t>(out[0]), (std::vector<int>{10, 510, 30, 65025}));
  EXPECT_EQ(Values<float>(out[1])[0], -2147483648.0f);
  auto product = Pair("QuantizedMatMul", Bytes({1, 2}, {3, 4}), Bytes({2, 1}, {5, 6})).All();
  EXPECT_EQ(Levels<int32_t>(product[0]), std::vector<int>{39});
  EXPECT_EQ(DimsOf(Pair("QuantizedAdd", Bytes({0, 2}, {}), Bytes({2}, {1, 2})).One()),
            (std::vector<int64_t>{0, 2}));
}

TEST(KernelQuantized, ArithmeticSaysWhatIsWrong) {
  EXPECT_EQ(Pair("QuantizedMul", Bytes({2}, {1, 2}), Bytes({3}, {1, 2, 3})).ErrorText(),
            "incompatible shapes: [2] vs. [3]");
  EXPECT_EQ(Pair("QuantizedMatMul", Bytes({2}, {1, 2}), Bytes({1, 1}, {1})).ErrorText(),
            "two matrices were expected, got shapes [2] and [1,1]");
  EXPECT_EQ(Pair("QuantizedMatMul", Bytes({1, 2}, {1, 2}), Bytes({1, 1}, {1})).ErrorText(),
            "matrix size-incompatible: [1,2] and [1,1]");
  EXPECT_EQ(Pair("QuantizedBiasAdd", Bytes({1, 2}, {1, 2}), Bytes({3}, {1, 2, 3})).ErrorText(),
            "expected an input of rank 2 or more and as many biases as its last dimension, got "
            "shapes [1,2] and [3]");
  EXPECT_EQ(Pair("QuantizedAdd", Bytes({1}, {1}), SignedBytes({1}, {1})).ErrorText(),
            "input 1 is qint8, quint8 was expected");
  OpRun falling("QuantizedAdd");
  falling.In(Bytes({1}, {1})).In(Bytes({1}, {1}));
  for (float end : {2.0f, 1.0f, 0.0f, 255.0f}) falling.In(Scalar(end));
  falling.Attr("T1", attr::Type(proto::DT_QUINT8));
  falling.Out({proto::DT_QINT32, proto::DT_FLOAT, proto::DT_FLOAT});
  EXPECT_EQ(falling.ErrorText(), "the range of inputs 2 and 3 must rise, got 2.00 to 1.00");
}

TEST(KernelQuantized, RangesOfSums) {
  OpRun range("RequantizationRange");
  range.In(Sums({0}, {})).In(Scalar(-1.0f)).In(Scalar(1.0f));
  range.Attr("Tinput", attr::Type(proto::DT_QINT32)).Out({proto::DT_FLOAT, proto::DT_FLOAT});
  EXPECT_EQ(Values<float>(range.All()[0])[0], 0);
  OpRun to("Requantize");
  to.In(Sums({1}, {5})).In(Scalar(-1.0f)).In(Scalar(1.0f)).In(Scalar(1.0f)).In(Scalar(2.0f));
  to.Attr("Tinput", attr::Type(proto::DT_QINT32));
  to.Out({proto::DT_QUINT8, proto::DT_FLOAT, proto::DT_FLOAT});
  EXPECT_EQ(to.ErrorText(), "requested_output_min must be <= 0, but got 1.00");
  OpRun channels("RequantizationRangePerChannel");
  channels.In(Sums({1, 1, 1, 2}, {5, 6})).In(Vec<float>({1})).In(Vec<float>({1}));
  channels.Out({proto::DT_FLOAT, proto::DT_FLOAT});
  EXPECT_EQ(channels.ErrorText(),
            "expected an input of rank 4 or 5 and as many minima and maxima as its last dimension, "
            "got shapes [1,1,1,2], [1] and [1]");
}

TEST(KernelQuantized, PartsMustAgree) {
  OpRun join("QuantizedConcat");
  join.In(Scalar<int32_t>(0)).In(Bytes({1, 2}, {1, 2})).In(Bytes({1, 3}, {1, 2, 3}));
  for (float end : {0.0f, 0.0f, 1.0f, 1.0f}) join.In(Scalar(end));
  join.Attr("T", attr::Type(proto::DT_QUINT8));
  join.Out({proto::DT_QUINT8, proto::DT_FLOAT, proto::DT_FLOAT});
  EXPECT_EQ(join.ErrorText(),
            "all inputs must agree except along axis 0: input 0 has shape [1,2], input 1 has shape "
            "[1,3]");
}

OpRun Uniform(const char* op, Tensor x, Tensor scales, Tensor zeros, DataType out) {
  OpRun run(op);
  run.In(std::move(x)).In(std::move(scales)).In(std::move(zeros));
  for (const char* end : {"quantization_min_val", "quantization_max_val"})
    run.Attr(end, attr::Int(end[14] == 'i' ? -128 : 127));
  run.Attr("Tin", attr::Type(out == proto::DT_FLOAT ? proto::DT_QINT8 : proto::DT_FLOAT));
  return run.Out({out});
}

TEST(KernelUniformQuantized, RoundsHalvesUpAndCutsOff) {
  Tensor out = Uniform("UniformQuantize", Vec<float>({-1000, -0.25f, 0.25f, 1000}), Scalar(0.5f),
                       Scalar<int32_t>(3), proto::DT_QINT8)
                   .One();
  EXPECT_EQ(Levels<int8_t>(out), (std::vector<int>{-128, 3, 4, 127}));
  Tensor back = Uniform("UniformDequantize", SignedBytes({2}, {3, 5}), Scalar(0.5f),
                        Scalar<int32_t>(3), proto::DT_FLOAT)
                    .One();
  EXPECT_EQ(Values<float>(back), (std::vector<float>{0, 1}));
}

TEST(KernelUniformQuantized, ScalesMustFit) {
  Tensor x = SignedBytes({2}, {3, 5});
  auto error = [&](Tensor scales, Tensor zeros, int64_t axis) {
    return Uniform("UniformDequantize", x, std::move(scales), std::move(zeros), proto::DT_FLOAT)
        .Attr("quantization_axis", attr::Int(axis))
        .ErrorText();
  };
  EXPECT_EQ(error(Scalar(0.0f), Scalar<int32_t>(3), -1), "scales must be all positive, got 0.00");
  EXPECT_EQ(error(Scalar(1.0f), Vec<int32_t>({3}), -1),
            "scales and zero_points shape must be same, got [] and [1]");
  EXPECT_EQ(error(Vec<float>({1}), Vec<int32_t>({3}), 0),
            "scales and zero_points must be vectors of 2, got shape [1]");
  EXPECT_EQ(error(Scalar(1.0f), Scalar<int32_t>(3), 1),
            "quantization_axis must be -1 or in range [0, 1), got 1");
  EXPECT_EQ(error(Scalar(1.0f), Scalar<int32_t>(3), -2), "quantization_axis must be >= -1, got -2");
}

OpRun Rounded(const char* op, Tensor x, float low, float high) {
  OpRun run(op);
  run.In(std::move(x)).In(Scalar(low)).In(Scalar(high)).Attr("range_given", attr::Bool(true));
  return run;
}

TEST(KernelQuantizeAndDequantize, SaysWhatIsWrong) {
  const char* op = "QuantizeAndDequantizeV4";
  EXPECT_EQ(Values<float>(
                Rounded(op, Vec<float>({-9, 0.3f, 9}), -4, 3).Attr("num_bits", attr::Int(3)).One()),
            (std::vector<float>{-4, 0, 3}));
  EXPECT_EQ(Rounded(op, Vec<float>({1}), 4, 3).ErrorText(),
            "input_min 4.00 is above input_max 3.00");
  EXPECT_EQ(Rounded(op, Vec<float>({1}), 1, 3).Attr("axis", attr::Int(1)).ErrorText(),
            "axis must be in [-1, 1), got 1");
  EXPECT_EQ(Rounded(op, Vec<float>({1, 2}), 1, 3).Attr("axis", attr::Int(0)).ErrorText(),
            "input_min and input_max must have 2 elements, got shapes [] and []");
  EXPECT_EQ(Rounded(op, Vec<float>({1}), 1, 3).Attr("num_bits", attr::Int(63)).ErrorText(),
            "num_bits must be in [1, 62], got 63");
  EXPECT_EQ(Rounded("QuantizeAndDequantizeV3", Vec<float>({1}), 1, 3)
                .In(Vec<int32_t>({3, 4}))
                .ErrorText(),
            "num_bits must be a scalar, got shape [2]");
}

}  // namespace
}  // namespace grapnel
