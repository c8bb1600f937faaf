// Arithmetic on quantized tensors: simple hand-computed values, and each kind of error.
// TensorFlow's own numbers are in testdata/ops.
#include "lib/exec/evaluator.h"
#include "lib/ir/module.h"
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

TEST(KernelQuantized, ArithmeticSaysWhatIsWrong) {
  EXPECT_EQ(Pair("QuantizedMul", Bytes({2}, {1, 2}), Bytes({3}, {1, 2, 3})).ErrorText(),
            "incompatible shapes: [2] vs. [3]");
  EXPECT_EQ(Pair("QuantizedMatMul", Bytes({2}, {1, 2}), Bytes({1, 1}, {1})).ErrorText(),
            "two matrices were expected, got shapes [2] and [1,1]");
  EXPECT_EQ(Pair("QuantizedMatMul", Bytes({1, 2}, {1, 2}), Bytes({1, 1}, {1})).ErrorText(),
            "the inner dimensions of the product differ, 2 and 1: got shapes [1,2] and [1,1]");
  EXPECT_EQ(Pair("QuantizedBiasAdd", Bytes({1, 2}, {1, 2}), Bytes({3}, {1, 2, 3})).ErrorText(),
            "expected an input of rank 2 or more and a vector of as many biases as its last "
            "dimension, got shapes [1,2] and [3]");
  EXPECT_EQ(Pair("QuantizedAdd", Bytes({1}, {1}), SignedBytes({1}, {1})).ErrorText(),
            "input 1 has dtype qint8, quint8 was expected");
  OpRun falling("QuantizedAdd");
  falling.In(Bytes({1}, {1})).In(Bytes({1}, {1}));
  for (float end : {2.0f, 1.0f, 0.0f, 255.0f}) falling.In(Scalar(end));
  falling.Attr("T1", attr::Type(proto::DT_QUINT8));
  falling.Out({proto::DT_QINT32, proto::DT_FLOAT, proto::DT_FLOAT});
  EXPECT_EQ(falling.ErrorText(),
            "the minimum, input 2, must be less than the maximum, input 3, got 2.00 and 1.00");
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
  OpRun below("Requantize");  // a range below 0 is an error
  below.In(Sums({1}, {5})).In(Scalar(-1.0f)).In(Scalar(1.0f)).In(Scalar(-3.0f)).In(Scalar(-1.0f));
  below.Attr("Tinput", attr::Type(proto::DT_QINT32));
  below.Out({proto::DT_QUINT8, proto::DT_FLOAT, proto::DT_FLOAT});
  EXPECT_EQ(Values<float>(below.All()[2])[0], -1);
  OpRun channels("RequantizationRangePerChannel");
  channels.In(Sums({1, 1, 1, 2}, {5, 6})).In(Vec<float>({1})).In(Vec<float>({1}));
  channels.Out({proto::DT_FLOAT, proto::DT_FLOAT});
  EXPECT_EQ(channels.ErrorText(),
            "expected an input of rank 4 and as many minima and maxima as its last dimension, "
            "got shapes [1,1,1,2], [1] and [1]");
}

// TensorFlow folds constants before it rewrites nodes for oneDNN, which would round the mean 1.5.
TEST(KernelQuantized, ConstantsAreFoldedByTensorFlowsOwnKernel) {
  Module module;
  NodeId id = module.main.AddNode("pool", "QuantizedAvgPool");
  module.main.SetAttr(id, "T", attr::Type(proto::DT_QUINT8));
  module.main.SetAttr(id, "ksize", attr::Ints({1, 1, 2, 1}));
  module.main.SetAttr(id, "strides", attr::Ints({1, 1, 2, 1}));
  module.main.SetAttr(id, "padding", attr::String("VALID"));
  ThreadPool pool(1);
  std::unique_ptr<Evaluator> evaluator = MakeCpuEvaluator(pool);
  Literal inputs[] = {Literal::Make(proto::DT_QUINT8, {1, 1, 2, 1}, llvm::StringRef("\1\2", 2)),
                      Literal::Scalar(proto::DT_FLOAT, 0), Literal::Scalar(proto::DT_FLOAT, 255)};
  std::vector<Literal> values = llvm::cantFail(evaluator->Evaluate(module.main.node(id), inputs));
  EXPECT_EQ(values[0].AsInts(), std::vector<int64_t>{1});
}

}  // namespace
}  // namespace grapnel
