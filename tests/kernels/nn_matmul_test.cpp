// MatMul, BatchMatMul and Einsum, plain and fused, with and without oneDNN.
#include <array>
#include <map>

#include "gtest/gtest.h"
#include "tests/kernels/nn_values.h"

namespace grapnel {
namespace {

using namespace nn_test;  // NOLINT: the words of these tests

Values ReferenceMatMul(const Values& a, const Values& b, bool ta, bool tb) {
  int64_t m = a.dims[ta ? 1 : 0], k = a.dims[ta ? 0 : 1], n = b.dims[tb ? 0 : 1];
  Values c = Zeros({m, n});
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t p = 0; p < k; ++p)
        c[i * n + j] += a[ta ? p * m + i : i * k + p] * b[tb ? j * k + p : p * n + j];
    }
  }
  return c;
}

TEST(MatMul, EqualsThePlainLoopsInEveryDtypeAndPath) {
  const std::vector<Dims> sizes = {{1, 1, 1},      {2, 3, 4},     {7, 9, 5},    {13, 17, 33},
                                   {32, 64, 64},   {1, 300, 257}, {300, 1, 30}, {65, 70, 130},
                                   {128, 96, 80},  {3, 2048, 40}, {4, 0, 5},    {0, 3, 4},
                                   {100, 300, 260}};
  for (const Dims& s : sizes) {
    for (bool ta : {false, true}) {
      for (bool tb : {false, true}) {
        Values a = Random(ta ? Dims{s[1], s[0]} : Dims{s[0], s[1]}, true);
        Values b = Random(tb ? Dims{s[2], s[1]} : Dims{s[1], s[2]}, true);
        for (double& x : a.v) x = static_cast<int>(x) % 3;
        for (double& x : b.v) x = static_cast<int>(x) % 3;
        Values want = ReferenceMatMul(a, b, ta, tb);
        for (DataType dtype : DataTypesOf(NumberTypes())) {
          for (int variant = 0; variant < 4; ++variant) {
            bool plain = variant & 1, constant = variant & 2;
            OneNode node("MatMul");
            node.Type("T", dtype)
                .Attr("transpose_a", attr::Bool(ta))
                .Attr("transpose_b", attr::Bool(tb));
            node.Input(ToTensor(a, dtype)).Input(ToTensor(b, dtype), constant);
            Values expected = FromTensor(ToTensor(want, dtype));  // wrapped or rounded
            ExpectNear(FromTensor(RunNode(node, plain)[0]), expected,
                       dtype == DT_BFLOAT16 ? 1e-2 : 1e-3, DataTypeName(dtype).str() + DimsText(s));
          }
        }
      }
    }
  }
}

TEST(MatMul, FusedEqualsTheOpsOneByOne) {
  for (const Dims& s : {Dims{6, 20, 24}, Dims{90, 80, 100}}) {
    Values a = Random({s[0], s[1]}), b = Random({s[1], s[2]}), bias = Random({s[2]});
    Values product = ReferenceMatMul(a, b, false, false), rows{{1, s[2]}, bias.v};
    for (const char* activation : {"", "Relu", "Relu6", "Elu", "LeakyRelu", "Tanh", "Sigmoid",
                                   "GeluExact", "GeluApproximate", "_MklSwish", "Mish"}) {
      for (DataType dtype : {DT_FLOAT, DT_HALF, DT_BFLOAT16}) {
        for (int variant = 0; variant < 4; ++variant) {
          bool plain = variant & 1, constant = variant & 2;
          std::vector<std::string> ops = {"BiasAdd"};
          if (*activation) ops.push_back(activation);
          OneNode node("_FusedMatMul");
          node.Type("T", dtype)
              .Attr("fused_ops", FusedOpsAttr(ops))
              .Attr("leakyrelu_alpha", attr::Float(0.3f));
          node.Input(ToTensor(a, dtype))
              .Input(ToTensor(b, dtype), constant)
              .Input(ToTensor(variant == 0 ? rows : bias, dtype));
          Values want = product;
          for (int64_t i = 0; i < want.size(); ++i)
            want[i] = Activated(activation, want[i] + bias[i % s[2]]);
          ExpectNear(FromTensor(RunNode(node, plain)[0]), want, dtype == DT_FLOAT ? 3e-4 : 1e-2,
                     activation);
        }
      }
    }
  }
}

TEST(MatMul, ErrorsSayWhatDoesNotFit) {
  auto run = [](const Dims& a, const Dims& b) {
    OneNode node("MatMul");
    node.Type("T", DT_FLOAT).Input(ToTensor(Zeros(a))).Input(ToTensor(Zeros(b)));
    return ErrorOf(node);
  };
  EXPECT_EQ(run({2, 3}, {4, 5}), "the inner dimensions of shapes [2,3] and [4,5] differ");
  EXPECT_EQ(run({2, 3, 1}, {4, 5}),
            "a matrix product needs two matrices, got shapes [2,3,1] and [4,5]");
  auto fused = [](const std::vector<std::string>& ops, int args, const Dims& bias) {
    OneNode node("_FusedMatMul");
    node.Type("T", DT_FLOAT).Attr("fused_ops", FusedOpsAttr(ops));
    node.Input(ToTensor(Zeros({2, 3}))).Input(ToTensor(Zeros({3, 4})));
    for (int i = 0; i < args; ++i) node.Input(ToTensor(Zeros(bias)));
    return ErrorOf(node);
  };
  EXPECT_EQ(fused({"BiasAdd", "Swish"}, 1, {4}),
            "there is no kernel for the combination of fused_ops [BiasAdd, Swish]");
  EXPECT_EQ(fused({"BiasAdd"}, 2, {4}), "fused_ops [BiasAdd] needs 1 arguments, the node has 2");
  EXPECT_EQ(fused({"BiasAdd"}, 1, {3}), "the bias must be a vector of 4 elements, got shape [3]");
  EXPECT_EQ(fused({"FusedBatchNorm"}, 4, {4}),
            "there is no matrix product fused with FusedBatchNorm");
}

TEST(BatchMatMul, BroadcastsBatchDimensions) {
  struct Case {
    Dims a, b, out;
  };
  // The last two dimensions are 4 x 6 and 6 x 5, or large enough for oneDNN.
  const std::vector<Case> cases = {{{3}, {3}, {3}},          {{2, 3}, {2, 3}, {2, 3}},
                                   {{2, 3}, {}, {2, 3}},     {{}, {2, 3}, {2, 3}},
                                   {{2, 1}, {3}, {2, 3}},    {{2, 1, 3}, {1, 4, 1}, {2, 4, 3}},
                                   {{0, 3}, {1, 3}, {0, 3}}, {{1, 3}, {2, 1}, {2, 3}}};
  for (const Case& c : cases) {
    for (const auto& size : {std::array<int64_t, 3>{4, 6, 5}, std::array<int64_t, 3>{70, 80, 75}}) {
      int64_t m = size[0], k = size[1], n = size[2];
      for (int variant = 0; variant < 8; ++variant) {
        bool adj_x = variant & 1, adj_y = variant & 2, plain = variant & 4;
        Dims a_dims = c.a, b_dims = c.b;
        a_dims.append({adj_x ? k : m, adj_x ? m : k});
        b_dims.append({adj_y ? n : k, adj_y ? k : n});
        Values a = Random(a_dims), b = Random(b_dims);
        Dims out = c.out;
        out.append({m, n});
        Values want = Zeros(out);
        int64_t product = 0;
        ForAll(c.out, [&](llvm::ArrayRef<int64_t> at) {
          auto slice = [&](const Values& x, const Dims& batch) {
            int64_t index = 0;
            for (size_t i = 0; i < batch.size(); ++i) {
              index = index * batch[i] + (batch[i] == 1 ? 0 : at[at.size() - batch.size() + i]);
            }
            Values matrix = Zeros({x.dims[batch.size()], x.dims[batch.size() + 1]});
            std::copy_n(x.v.begin() + index * matrix.size(), matrix.size(), matrix.v.begin());
            return matrix;
          };
          Values one = ReferenceMatMul(slice(a, c.a), slice(b, c.b), adj_x, adj_y);
          std::copy(one.v.begin(), one.v.end(), want.v.begin() + product++ * m * n);
        });
        for (bool constant : {false, true}) {
          OneNode node("BatchMatMulV2");
          node.Type("T", DT_FLOAT)
              .Attr("adj_x", attr::Bool(adj_x))
              .Attr("adj_y", attr::Bool(adj_y));
          node.Input(ToTensor(a)).Input(ToTensor(b), constant);
          ExpectNear(FromTensor(RunNode(node, plain)[0]), want, 3e-5,
                     DimsText(a_dims) + DimsText(b_dims));
        }
      }
    }
  }
}

TEST(BatchMatMul, FusedMultipliesByAFactorAndAddsAMask) {
  Dims a_dims{2, 3, 4, 6}, b_dims{2, 3, 6, 5}, out{2, 3, 4, 5};
  Values a = Random(a_dims), b = Random(b_dims);
  OneNode plain("BatchMatMulV2");
  plain.Type("T", DT_FLOAT).Input(ToTensor(a)).Input(ToTensor(b));
  Values products = FromTensor(RunNode(plain)[0]);
  for (const Dims& mask_dims : {Dims{2, 1, 1, 5}, Dims{1, 1, 4, 5}, Dims{1, 1, 4, 1}, out}) {
    for (DataType dtype : {DT_FLOAT, DT_HALF, DT_BFLOAT16}) {
      Values mask = Random(mask_dims), want = Zeros(out);
      ForAll(out, [&](llvm::ArrayRef<int64_t> at) {
        Dims from(at.begin(), at.end());
        for (int i = 0; i < 4; ++i) from[i] = mask_dims[i] == 1 ? 0 : from[i];
        want[At(out, at)] = products[At(out, at)] * 0.25 + mask[At(mask_dims, from)];
      });
      Values factor = Zeros({1});
      factor[0] = 0.25;
      OneNode node("_MklFusedBatchMatMulV2");
      node.Type("T", dtype).Attr("fused_ops", FusedOpsAttr({"Mul", "Add"}));
      node.Input(ToTensor(a, dtype)).Input(ToTensor(b, dtype));
      node.Input(ToTensor(factor, dtype)).Input(ToTensor(mask, dtype));
      ExpectNear(FromTensor(RunNode(node)[0]), want, dtype == DT_FLOAT ? 3e-5 : 1e-2,
                 DimsText(mask_dims));
    }
  }
}

TEST(BatchMatMul, FusedGrowsWithItsMaskAndSaysWhatDoesNotFit) {
  auto set = [](OneNode& node, const Dims& factor, const Dims& mask,
                const std::vector<std::string>& ops) {
    node.Type("T", DT_FLOAT).Attr("fused_ops", FusedOpsAttr(ops));
    node.Input(ToTensor(Random({1, 2, 3, 4}))).Input(ToTensor(Random({1, 2, 4, 5})));
    node.Input(ToTensor(Random(factor))).Input(ToTensor(Zeros(mask)));
  };
  OneNode grows("_MklFusedBatchMatMulV2");
  set(grows, {}, {3, 1, 1, 5}, {"Mul", "Add"});
  Values got = FromTensor(RunNode(grows)[0]);
  ASSERT_EQ(got.dims, Dims({3, 2, 3, 5}));
  for (int64_t i = 0; i < 30; ++i) EXPECT_EQ(got[i], got[60 + i]);
  auto error = [&](const Dims& factor, const Dims& mask, const std::vector<std::string>& ops) {
    OneNode node("_MklFusedBatchMatMulV2");
    set(node, factor, mask, ops);
    return ErrorOf(node);
  };
  EXPECT_EQ(error({2}, {1, 1, 1, 5}, {"Mul", "Add"}),
            "the factor must have one element, got shape [2]");
  EXPECT_EQ(error({}, {1, 1, 2, 5}, {"Mul", "Add"}),
            "incompatible shapes: [1,2,3,5] vs. [1,1,2,5]");
  EXPECT_EQ(error({}, {1, 1, 1, 5}, {"Mul"}), "expected fused_ops [Mul, Add] and 4 inputs");
}

TEST(BatchMatMul, ConjugatesComplexOperands) {
  OneNode node("BatchMatMulV2");
  Tensor a = llvm::cantFail(Tensor::Allocate(proto::DT_COMPLEX64, {2, 1})),
         b = llvm::cantFail(Tensor::Allocate(proto::DT_COMPLEX64, {2, 1}));
  a.data<Complex64>()[0] = {1, 2};
  a.data<Complex64>()[1] = {0, 1};
  b.data<Complex64>()[0] = {3, 0};
  b.data<Complex64>()[1] = {0, 1};
  node.Type("T", proto::DT_COMPLEX64).Attr("adj_x", attr::Bool(true)).Input(a).Input(b);
  EXPECT_EQ(RunNode(node)[0].data<Complex64>()[0], Complex64(3 + 1, -6));
}

TEST(BatchMatMul, V3MultipliesIntoTheResultsType) {
  OneNode node("BatchMatMulV3");
  node.Type("Ta", proto::DT_INT8)
      .Type("Tb", proto::DT_UINT8)
      .Type("Tout", DT_INT32)
      .Outputs({DT_INT32});
  Values a = Zeros({1, 2}), b = Zeros({2, 1});
  a.v = {-100, 100};
  b.v = {200, 250};
  node.Input(ToTensor(a, proto::DT_INT8)).Input(ToTensor(b, proto::DT_UINT8));
  EXPECT_EQ(FromTensor(RunNode(node)[0])[0], 5000);
}

TEST(BatchMatMul, ErrorsSayWhatDoesNotFit) {
  auto run = [](llvm::StringRef op, const Dims& a, const Dims& b) {
    OneNode node(op);
    node.Type("T", DT_FLOAT).Input(ToTensor(Zeros(a))).Input(ToTensor(Zeros(b)));
    return ErrorOf(node);
  };
  EXPECT_EQ(run("BatchMatMulV2", {2, 3, 4}, {3, 4, 5}),
            "the batch dimensions of shapes [2,3,4] and [3,4,5] do not broadcast");
  EXPECT_EQ(run("BatchMatMul", {1, 3, 4}, {3, 4, 5}),
            "the batch dimensions of shapes [1,3,4] and [3,4,5] differ");
  EXPECT_EQ(run("BatchMatMulV2", {2, 3, 4}, {2, 3, 4}),
            "the inner dimensions of shapes [2,3,4] and [2,3,4] differ");
  EXPECT_EQ(run("BatchMatMulV2", {4}, {4, 5}),
            "a batch of matrix products needs rank 2 or more, got shapes [4] and [4,5]");
}

// --- Einsum, against a loop over every label

Values ReferenceEinsum(const std::vector<std::string>& terms, const std::string& output,
                       const std::vector<Values>& inputs) {
  std::map<char, int64_t> sizes;
  for (size_t i = 0; i < terms.size(); ++i) {
    for (size_t d = 0; d < terms[i].size(); ++d) sizes[terms[i][d]] = inputs[i].dims[d];
  }
  std::string labels;
  Dims all;
  for (auto [label, size] : sizes) {
    labels += label;
    all.push_back(size);
  }
  Dims dims;
  for (char label : output) dims.push_back(sizes[label]);
  Values result = Zeros(dims);
  ForAll(all, [&](llvm::ArrayRef<int64_t> at) {
    auto index = [&](const std::string& term) {
      Dims place;
      for (char label : term) place.push_back(at[labels.find(label)]);
      return place;
    };
    double product = 1;
    for (size_t i = 0; i < terms.size(); ++i)
      product *= inputs[i][At(inputs[i].dims, index(terms[i]))];
    result[At(dims, index(output))] += product;
  });
  return result;
}

TEST(Einsum, EqualsALoopOverEveryLabel) {
  struct Case {
    std::vector<std::string> terms;
    std::string output;
  };
  const std::map<char, int64_t> sizes = {{'a', 2}, {'b', 3}, {'c', 4},
                                         {'d', 5}, {'e', 1}, {'z', 0}};
  const std::vector<Case> cases = {
      {{"ab"}, "ba"},
      {{"ab"}, "a"},
      {{"ab"}, ""},
      {{"aa"}, "a"},
      {{"aa"}, ""},
      {{"a"}, "aa"},
      {{"aba"}, "ba"},
      {{"abc"}, "cab"},
      {{"ab", "bc"}, "ac"},
      {{"ab", "bc"}, "ca"},
      {{"ab", "ab"}, ""},
      {{"ab", "ab"}, "ab"},
      {{"a", "b"}, "ab"},
      {{"a", "b"}, "ba"},
      {{"abc", "adc"}, "abd"},
      {{"abcd", "aecd"}, "acbe"},
      {{"bacd", "baed"}, "bace"},
      {{"abc", "cd"}, "abd"},
      {{"abc", "dc"}, "abd"},
      {{"cab", "cbd"}, "cad"},
      {{"aab", "bc"}, "ac"},
      {{"abd", "bc"}, "ac"},
      {{"ab", "cd"}, "a"},
      {{"ab", "b"}, "aab"},
      {{"az", "zb"}, "ab"},
      {{"abe", "eb"}, "ab"},
      {{"ac", "bc"}, "abc"},
      {{"", "ab"}, "ba"},
  };
  for (const Case& c : cases) {
    std::vector<Values> inputs;
    std::string equation;
    for (const std::string& term : c.terms) {
      Dims dims;
      for (char label : term) dims.push_back(sizes.at(label));
      inputs.push_back(Random(dims));
      equation += (equation.empty() && inputs.size() == 1 ? "" : ",") + term;
    }
    equation += "->" + c.output;
    Values want = ReferenceEinsum(c.terms, c.output, inputs);
    for (DataType dtype : {DT_FLOAT, DT_DOUBLE, DT_HALF, proto::DT_COMPLEX128}) {
      OneNode node("Einsum");
      node.Type("T", dtype).Text("equation", equation).Attr("N", attr::Int(inputs.size()));
      for (const Values& input : inputs) node.Input(ToTensor(input, dtype));
      ExpectNear(FromTensor(RunNode(node)[0]), want, Tolerance(dtype) * 3, equation);
    }
  }
}

TEST(Einsum, BroadcastsUnderAnEllipsis) {
  Values a = Random({2, 1, 3, 4}), b = Random({5, 4, 3});
  OneNode node("Einsum");
  node.Type("T", DT_FLOAT)
      .Text("equation", "...ij,...jk->...ik")
      .Input(ToTensor(a))
      .Input(ToTensor(b));
  Values got = FromTensor(RunNode(node)[0]);
  ASSERT_EQ(DimsText(got.dims), "[2,5,3,3]");
  for (int64_t x = 0; x < 2; ++x) {
    for (int64_t y = 0; y < 5; ++y) {
      Values left = Zeros({3, 4}), right = Zeros({4, 3});
      std::copy_n(a.v.begin() + x * 12, 12, left.v.begin());
      std::copy_n(b.v.begin() + y * 12, 12, right.v.begin());
      Values want = ReferenceMatMul(left, right, false, false), part = Zeros({3, 3});
      std::copy_n(got.v.begin() + (x * 5 + y) * 9, 9, part.v.begin());
      ExpectNear(part, want, 1e-5, "ellipsis");
    }
  }
}

TEST(Einsum, ErrorsSayWhatIsWrong) {
  auto run = [](llvm::StringRef equation, const std::vector<Dims>& inputs) {
    OneNode node("Einsum");
    node.Type("T", DT_FLOAT).Text("equation", equation);
    for (const Dims& dims : inputs) node.Input(ToTensor(Zeros(dims)));
    return ErrorOf(node);
  };
  EXPECT_EQ(run("ab,bc", {{2, 3}, {3, 4}}), "equation 'ab,bc' needs one '->'");
  EXPECT_EQ(run("ab->ac", {{2, 3}}), "equation 'ab->ac': output label 'c' is in no input");
  EXPECT_EQ(run("a1->a", {{2, 3}}), "'1' is not a label: labels are letters");
  EXPECT_EQ(run("ab,bc->ac", {{2, 3}}),
            "equation 'ab,bc->ac' has 2 inputs, and the node has 1; both must have 1, or both 2");
  EXPECT_EQ(run("ab,bc->ac", {{2, 3}, {4, 5}}), "label 'b' has both size 3 and size 4");
  EXPECT_EQ(run("abc->a", {{2, 3}}),
            "the number of dimensions of an operand of shape [2,3] does not fit its labels");
}

}  // namespace
}  // namespace grapnel
