// Diagonals, solvers and decompositions of matrices; reversed sequences.
#include <cmath>

#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using V = std::vector<int32_t>;
using D = std::vector<int64_t>;
using Fs = std::vector<float>;

void ExpectNear(const Tensor& got, const Fs& want, float tolerance = 1e-5f) {
  Fs values = Values<float>(got);
  ASSERT_EQ(values.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(values[i], want[i], tolerance) << i;
}

// --- ReverseSequence

OpRun Reverse(Tensor x, std::vector<int64_t> lengths, int64_t seq, int64_t batch) {
  OpRun run("ReverseSequence");
  run.In(std::move(x)).In(Vec<int64_t>(std::move(lengths)));
  run.Attr("seq_dim", attr::Int(seq)).Attr("batch_dim", attr::Int(batch));
  return run;
}

TEST(KernelReverseSequence, TurnsTheStartOfEachRow) {
  EXPECT_EQ(Values<int32_t>(Reverse(Iota<int32_t>({2, 3}), {2, 3}, 1, 0).One()),
            (V{1, 0, 2, 5, 4, 3}));
  EXPECT_EQ(Values<int32_t>(Reverse(Iota<int32_t>({3, 2}), {0, 3}, 0, 1).One()),
            (V{0, 5, 2, 3, 4, 1}));
  EXPECT_EQ(Values<std::string>(Reverse(Make<std::string>({1, 2}, {"a", "b"}), {2}, 1, 0).One()),
            (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(DimsOf(Reverse(Floats({0, 3}, {}), {}, 1, 0).One()), (D{0, 3}));
}

TEST(KernelReverseSequence, Errors) {
  EXPECT_EQ(Reverse(Iota<float>({2, 3}), {1, 4}, 1, 0).ErrorText(),
            "seq_lengths[1] = 4 is not in [0, 3]");
  EXPECT_EQ(Reverse(Iota<float>({2, 3}), {1}, 1, 0).ErrorText(),
            "seq_lengths must be a vector of 2, not [1]");
  EXPECT_EQ(Reverse(Iota<float>({2, 3}), {1, 1}, 1, 1).ErrorText(),
            "seq_dim and batch_dim must differ, both are 1");
  EXPECT_EQ(Reverse(Iota<float>({2, 3}), {1, 1}, 2, 0).ErrorText(),
            "seq_dim and batch_dim must be in [0, 2), got 2");
}

// --- Diagonals

OpRun Diag(Tensor diagonal, V k, int rows = -1, int columns = -1) {
  OpRun run("MatrixDiagV3");
  run.In(std::move(diagonal)).In(Vec<int32_t>(std::move(k)));
  run.In(Scalar(rows)).In(Scalar(columns)).In(Scalar(9));
  return run;
}

TEST(KernelMatrixDiag, PlacesBands) {
  EXPECT_EQ(Values<int32_t>(Diag(Ints({2}, {1, 2}), {1}).One()), (V{9, 1, 9, 9, 9, 2, 9, 9, 9}));
  Tensor band = Diag(Ints({2, 2}, {0, 1, 2, 3}), {0, 1}, 2, 2).One();
  EXPECT_EQ(Values<int32_t>(band), (V{2, 1, 9, 3}));
  EXPECT_EQ(DimsOf(Diag(Ints({2, 0}, {}), {0}).One()), (D{2, 0, 0}));
}

TEST(KernelMatrixDiag, Errors) {
  EXPECT_EQ(Diag(Ints({2}, {1, 2}), {1, 0}).ErrorText(),
            "k's first diagonal 1 is above its last 0");
  EXPECT_EQ(Diag(Ints({1, 2}, {1, 2}), {0, 1}).ErrorText(),
            "diagonal must have 2 rows for k = [0,1], not shape [1,2]");
  EXPECT_EQ(Diag(Ints({2}, {1, 2}), {0}, 1).ErrorText(), "num_rows must be at least 2, got 1");
  EXPECT_EQ(Diag(Ints({2}, {1, 2}), {0}, 5, 5).ErrorText(),
            "5 rows and 5 columns do not fit diagonals of 2 elements");
  EXPECT_EQ(OpRun("MatrixDiagV3")
                .In(Ints({1}, {1}))
                .In(Scalar(0))
                .In(Scalar(-1))
                .In(Scalar(-1))
                .In(Scalar(0))
                .Attr("align", attr::String("UP"))
                .ErrorText(),
            "align 'UP' is not LEFT_RIGHT, RIGHT_LEFT, LEFT_LEFT or RIGHT_RIGHT");
}

TEST(KernelMatrixDiagPart, ReadsBandsAtEitherEnd) {
  auto part = [](V k, const char* align) {
    return OpRun("MatrixDiagPartV3")
        .In(Iota<int32_t>({2, 3}))
        .In(Vec<int32_t>(std::move(k)))
        .In(Scalar(9))
        .Attr("align", attr::String(align));
  };
  EXPECT_EQ(Values<int32_t>(part({1}, "LEFT_LEFT").One()), (V{1, 5}));
  EXPECT_EQ(Values<int32_t>(part({-1, 2}, "RIGHT_LEFT").One()), (V{9, 2, 1, 5, 0, 4, 3, 9}));
  EXPECT_EQ(Values<int32_t>(part({-1, 2}, "LEFT_RIGHT").One()), (V{2, 9, 1, 5, 0, 4, 9, 3}));
  EXPECT_EQ(part({3}, "LEFT_LEFT").ErrorText(), "k must be between -1 and 2, got 3");
}

TEST(KernelMatrixSetDiag, WritesBands) {
  Tensor x = Ints({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(Values<int32_t>(OpRun("MatrixSetDiag").In(x).In(Ints({2}, {7, 8})).One()),
            (V{7, 2, 3, 8}));
  EXPECT_EQ(Values<int32_t>(OpRun("MatrixSetDiagV2").In(x).In(Ints({1}, {7})).In(Scalar(-1)).One()),
            (V{1, 2, 7, 4}));
  EXPECT_EQ(OpRun("MatrixSetDiagV3").In(x).In(Ints({3}, {7, 8, 9})).In(Scalar(0)).ErrorText(),
            "diagonal must have shape [2] for input [2,2], not [3]");
}

// --- Solvers

TEST(KernelDeterminant, OfEmptyAndSingularMatricesToo) {
  ExpectNear(OpRun("MatrixDeterminant").In(Floats({2, 2, 2}, {1, 2, 3, 4, 1, 1, 1, 1})).One(),
             {-2, 0});
  EXPECT_EQ(Values<float>(OpRun("MatrixDeterminant").In(Floats({1, 0, 0}, {})).One()), Fs{1});
  auto logs = OpRun("LogMatrixDeterminant")
                  .In(Floats({2, 2, 2}, {1, 2, 3, 4, 1, 1, 1, 1}))
                  .Out({proto::DT_FLOAT, proto::DT_FLOAT})
                  .All();
  EXPECT_EQ(Values<float>(logs[0]), (Fs{-1, 0}));
  EXPECT_NEAR(Values<float>(logs[1])[0], std::log(2.0f), 1e-5);
  EXPECT_EQ(Values<float>(logs[1])[1], -INFINITY);
  EXPECT_EQ(OpRun("MatrixDeterminant").In(Iota<float>({2, 3})).ErrorText(),
            "input must be square matrices, not shape [2,3]");
  EXPECT_EQ(OpRun("MatrixDeterminant").In(Iota<float>({2})).ErrorText(),
            "input must have rank 2 or more, not shape [2]");
}

TEST(KernelSolve, InvertsAndSolves) {
  Tensor a = Floats({2, 2}, {2, 1, 0, 4}), ones = Floats({2, 2}, {1, 1, 1, 1});
  ExpectNear(OpRun("MatrixInverse").In(a).One(), {0.5f, -0.125f, 0, 0.25f});
  ExpectNear(OpRun("MatrixInverse").In(a).Attr("adjoint", attr::Bool(true)).One(),
             {0.5f, 0, -0.125f, 0.25f});
  ExpectNear(OpRun("MatrixSolve").In(a).In(Floats({2, 1}, {4, 8})).One(), {1, 2});
  EXPECT_EQ(OpRun("MatrixInverse").In(ones).ErrorText(), "the input is not invertible");
  EXPECT_EQ(OpRun("MatrixSolve").In(ones).In(Floats({2, 1}, {4, 8})).ErrorText(),
            "the matrix is not invertible");
  EXPECT_EQ(OpRun("MatrixSolve").In(a).In(Floats({1, 1}, {4})).ErrorText(),
            "rhs must have batch and rows of the matrix [2,2], not shape [1,1]");
  EXPECT_EQ(DimsOf(OpRun("MatrixInverse").In(Floats({0, 2, 2}, {})).One()), (D{0, 2, 2}));
}

TEST(KernelSolve, Triangles) {
  auto solve = [](bool lower, bool adjoint, Tensor right) {
    return OpRun("MatrixTriangularSolve")
        .In(Floats({2, 2}, {2, 3, 1, 4}))
        .In(std::move(right))
        .Attr("lower", attr::Bool(lower))
        .Attr("adjoint", attr::Bool(adjoint));
  };
  Tensor right = Floats({2, 1}, {4, 10});
  ExpectNear(solve(true, false, right).One(), {2, 2});
  ExpectNear(solve(false, false, right).One(), {-1.75f, 2.5f});
  ExpectNear(solve(true, true, right).One(), {0.75f, 2.5f});
  ExpectNear(solve(false, true, right).One(), {2, 1});
  EXPECT_EQ(DimsOf(solve(true, false, Floats({3, 2, 1}, {4, 10, 4, 10, 4, 10})).One()),
            (D{3, 2, 1}));
  EXPECT_EQ(solve(true, false, Floats({3, 1}, {1, 2, 3})).ErrorText(),
            "rhs must have 2 rows for the matrix [2,2], not shape [3,1]");
}

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

TEST(KernelLu, SaysThatTheInputIsNotInvertible) {
  auto lu = [](Tensor in) {
    return OpRun("Lu").In(std::move(in)).Out({proto::DT_FLOAT, proto::DT_INT32});
  };
  auto out = lu(Floats({2, 2}, {0, 2, 4, 1})).All();
  ExpectNear(out[0], {4, 1, 0, 2});
  EXPECT_EQ(Values<int32_t>(out[1]), (std::vector<int32_t>{1, 0}));
  EXPECT_EQ(lu(Floats({2, 2}, {1, 1, 1, 1})).ErrorText(), "the input is not invertible");
}

TEST(KernelMatrixSolveLs, NeedsMoreThanOneDirection) {
  auto solve = [](Tensor matrix, double l2, bool fast) {
    return OpRun("MatrixSolveLs")
        .In(std::move(matrix))
        .In(Floats({2, 1}, {1, 3}))
        .In(Scalar<double>(l2))
        .Attr("fast", attr::Bool(fast));
  };
  ExpectNear(solve(Floats({2, 1}, {1, 1}), 0, true).One(), {2});
  ExpectNear(solve(Floats({2, 1}, {1, 1}), 2, true).One(), {1});
  ExpectNear(solve(Floats({2, 2}, {1, 1, 1, 1}), 0, false).One(), {1, 1});
  EXPECT_EQ(solve(Floats({2, 2}, {0, 0, 0, 0}), 0, true).ErrorText(),
            "the matrix is rank deficient or ill-conditioned: try fast=False or a larger "
            "l2_regularizer");
  EXPECT_EQ(solve(Floats({2, 1}, {1, 1}), -1, true).ErrorText(),
            "l2_regularizer must be one number of 0 or more");
}

TEST(KernelEig, RefusesNumbersThatAreNone) {
  auto eig = [](std::vector<float> values, DataType to) {
    return OpRun("Eig").In(Floats({1, 1}, std::move(values))).Out({to, to});
  };
  EXPECT_EQ(Values<Complex64>(eig({3}, proto::DT_COMPLEX64).One())[0], Complex64(3));
  EXPECT_EQ(eig({NAN}, proto::DT_COMPLEX64).ErrorText(),
            "the eigenvalues of the input were not found");
  EXPECT_EQ(eig({3}, proto::DT_COMPLEX128).ErrorText(),
            "Tout must be complex64 for an input of float, got complex128");
  Tensor root = OpRun("MatrixSquareRoot").In(Floats({1, 1}, {INFINITY})).One();
  EXPECT_TRUE(std::isnan(root.data<float>()[0]));
}

TEST(KernelBanded, RefusesDiagonalsThatDoNotFit) {
  auto solve = [](const char* op, Tensor bands, Tensor right) {
    return OpRun(op).In(std::move(bands)).In(std::move(right));
  };
  ExpectNear(solve("TridiagonalSolve", Floats({3, 1}, {9, 2, 9}), Floats({1, 1}, {6})).One(), {3});
  EXPECT_EQ(DimsOf(solve("TridiagonalSolve", Floats({3, 0}, {}), Floats({0, 2}, {})).One()),
            (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(solve("TridiagonalSolve", Iota<float>({2, 3}), Iota<float>({3, 1})).ErrorText(),
            "diagonals must have 3 rows, not shape [2,3]");
  EXPECT_EQ(solve("TridiagonalSolve", Iota<float>({3, 3}), Iota<float>({2, 1})).ErrorText(),
            "rhs must have batch and size of the diagonals [3,3], not shape [2,1]");
  EXPECT_EQ(solve("BandedTriangularSolve", Iota<float>({4, 3}), Iota<float>({3, 1})).ErrorText(),
            "matrix must have from 1 to 3 bands, got shape [4,3]");
}

}  // namespace
}  // namespace grapnel
