// Decompositions of matrices: checked by multiplying back; also NaN and infinity.
#include <cmath>

#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using D = std::vector<int64_t>;
using Fs = std::vector<float>;

void ExpectNear(const Tensor& got, const Fs& want, float tolerance = 1e-5f) {
  Fs values = Values<float>(got);
  ASSERT_EQ(values.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(values[i], want[i], tolerance) << i;
}

// --- ReverseSequence

// --- Diagonals

// --- Solvers

// --- Decompositions

Tensor Product(Tensor a, Tensor b, bool adjoint_b = false) {
  return OpRun("BatchMatMulV2")
      .In(std::move(a))
      .In(std::move(b))
      .Attr("adj_y", attr::Bool(adjoint_b))
      .One();
}

TEST(KernelCholesky, OrNotPositive) {
  ExpectNear(OpRun("Cholesky").In(Floats({2, 2}, {4, 0, 2, 5})).One(), {2, 0, 1, 2});
  EXPECT_TRUE(std::isnan(Values<float>(OpRun("Cholesky").In(Floats({1, 1}, {-1})).One())[0]));
  EXPECT_EQ(DimsOf(OpRun("Cholesky").In(Floats({0, 0}, {})).One()), (D{0, 0}));
}

TEST(KernelQr, MultipliesBack) {
  Tensor x = Floats({3, 2}, {1, 2, 3, 4, 5, 7});
  for (bool full : {false, true}) {
    auto qr = OpRun("Qr")
                  .In(x)
                  .Attr("full_matrices", attr::Bool(full))
                  .Out({proto::DT_FLOAT, proto::DT_FLOAT})
                  .All();
    EXPECT_EQ(DimsOf(qr[0]), (D{3, full ? 3 : 2}));
    ExpectNear(Product(qr[0], qr[1]), {1, 2, 3, 4, 5, 7});
    EXPECT_EQ(qr[1].data<float>()[2], 0);
  }
  auto none = OpRun("Qr").In(Floats({0, 2}, {})).Out({proto::DT_FLOAT, proto::DT_FLOAT}).All();
  EXPECT_EQ(DimsOf(none[1]), (D{0, 2}));
}

TEST(KernelSvd, MultipliesBack) {
  auto svd = OpRun("Svd")
                 .In(Floats({2, 3}, {3, 0, 0, 0, 0, 4}))
                 .Out({proto::DT_FLOAT, proto::DT_FLOAT, proto::DT_FLOAT})
                 .All();
  ExpectNear(svd[0], {4, 3});
  Tensor scaled = Product(svd[1], Floats({2, 2}, {4, 0, 0, 3}));
  ExpectNear(Product(scaled, svd[2], true), {3, 0, 0, 0, 0, 4});
  auto values = OpRun("Svd")
                    .In(Floats({1, 2}, {3, 4}))
                    .Attr("compute_uv", attr::Bool(false))
                    .Out({proto::DT_FLOAT, proto::DT_FLOAT, proto::DT_FLOAT})
                    .All();
  ExpectNear(values[0], {5});
  auto nan = OpRun("Svd")
                 .In(Floats({1, 1}, {NAN}))
                 .Out({proto::DT_FLOAT, proto::DT_FLOAT, proto::DT_FLOAT})
                 .All();
  EXPECT_TRUE(std::isnan(nan[0].data<float>()[0]));
}

TEST(KernelSelfAdjointEig, ValuesRise) {
  auto eig = OpRun("SelfAdjointEigV2")
                 .In(Floats({2, 2}, {2, 0, 0, 1}))
                 .Out({proto::DT_FLOAT, proto::DT_FLOAT})
                 .All();
  ExpectNear(eig[0], {1, 2});
  EXPECT_NEAR(std::abs(eig[1].data<float>()[2]), 1, 1e-6);
  EXPECT_EQ(OpRun("SelfAdjointEigV2")
                .In(Iota<float>({2, 3}))
                .Out({proto::DT_FLOAT, proto::DT_FLOAT})
                .ErrorText(),
            "input must be square matrices, not shape [2,3]");
}

TEST(KernelEig, RefusesNumbersThatAreNone) {
  auto eig = [](std::vector<float> values, DataType to) {
    return OpRun("Eig").In(Floats({1, 1}, std::move(values))).Out({to, to});
  };
  EXPECT_EQ(Values<Complex64>(eig({3}, proto::DT_COMPLEX64).One())[0], Complex64(3));
  EXPECT_EQ(eig({NAN}, proto::DT_COMPLEX64).ErrorText(),
            "the eigenvalues of the input were not found: it has NaN or infinity, or the iteration "
            "did not converge");
  EXPECT_EQ(eig({3}, proto::DT_COMPLEX128).ErrorText(),
            "Tout must be complex64 for an input of float, got complex128");
  Tensor root = OpRun("MatrixSquareRoot").In(Floats({1, 1}, {INFINITY})).One();
  EXPECT_TRUE(std::isnan(root.data<float>()[0]));
}

TEST(KernelMatrixSquareRoot, NoRealRootOfANegativeEigenvalue) {
  Tensor root = OpRun("MatrixSquareRoot").In(Floats({2, 2}, {1, 3, 3, 1})).One();  // 4 and -2
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(std::isnan(root.data<float>()[i]));
}

}  // namespace
}  // namespace grapnel
