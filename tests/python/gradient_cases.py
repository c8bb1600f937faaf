"""Rows of the table of gradients: an op, its inputs and attributes, for each op that has a rule. gradient_test.py makes them in
TensorFlow and here, and compares.

  Row("MatMul", F(2, 3), F(3, 4), transpose_b=False)

F, P, U, Z are floating-point inputs to differentiate by, in each dtype of the row; I, L, B, S are constants: int32, int64, bool,
string. Inputs are in the order of the op's definition; a list argument is a list.
"""

import numpy as np

RANDOM = np.random.default_rng(20240229)


class Input:
    """A tensor to differentiate by: made anew for each dtype, equal values for all; complex ones have an imaginary part too."""
    def __init__(self, values, dtype=None):
        self.values, self.dtype = np.asarray(values), dtype

    def of(self, dtype):
        dtype = self.dtype or dtype
        if dtype in COMPLEX and not np.iscomplexobj(self.values):
            return (self.values + 0.5j * np.flip(self.values)).astype(dtype)
        return self.values.astype(dtype)


def F(*shape):
    """Normal, no two elements alike, none within 0.05 of 0 or of a whole number."""
    values = RANDOM.normal(size=shape)
    return Input(np.where(np.abs(values - np.round(values)) < 0.05, values + 0.11, values))


def P(*shape):
    """Positive: from 0.3 to 3."""
    return Input(RANDOM.uniform(0.3, 3, size=shape))


def U(*shape):
    """Within the unit interval, its ends left out: from -0.9 to 0.9."""
    return Input(RANDOM.uniform(-0.9, 0.9, size=shape))


def A(values, dtype=None):
    """These."""
    return Input(values, dtype)


def Spd(*shape):
    """Symmetric, positive definite matrices."""
    values = RANDOM.normal(size=shape)
    return Input(values @ np.swapaxes(values, -1, -2) + 2 * np.eye(shape[-1]))


def Matrix(*shape):
    """Far from singular."""
    return Input(RANDOM.normal(size=shape) + 3 * np.eye(shape[-2], shape[-1]))


def Triangle(*shape, lower=True):
    values = RANDOM.normal(size=shape) + 3 * np.eye(shape[-1])
    return Input(np.tril(values) if lower else np.triu(values))


def I(values):
    return np.asarray(values, np.int32)


def L(values):
    return np.asarray(values, np.int64)


def B(values):
    return np.asarray(values, np.bool_)


# Halves and complex numbers are compared only if TensorFlow has kernels for them.
HALVES, COMPLEX = ("float16", "bfloat16"), ("complex64", "complex128")
REALS = ("float32", "float64") + HALVES
FLOATS = WIDE = REALS + COMPLEX
SINGLE = ("float32",)


class Row:
    def __init__(self, op, *inputs, dtypes=FLOATS, outputs=None, by=None, dynamic=True, **attrs):
        self.op, self.inputs, self.dtypes, self.outputs, self.attrs = op, inputs, dtypes, outputs, attrs
        self.ops, self.v1, self.device = [op], False, None
        self.by = by            # places of the inputs to differentiate by; None: all that are floating point
        self.dynamic = dynamic  # also with shapes that are not known while tracing


def unary():
    for op in ("Neg Abs Sign Square Exp Expm1 Sinh Cosh Tanh Asinh Erf Erfc Sin Cos Atan Sigmoid Floor Ceil Round Rint Softplus "
               "Softsign Relu Relu6 Elu Selu LeakyRelu Identity StopGradient Inv Reciprocal").split():
        yield Row(op, F(2, 3))
        yield Row(op, F())
    for op in "Sqrt Rsqrt Log Log1p".split():
        yield Row(op, P(2, 3))
    for op in "Lgamma Digamma Spence Expint".split():
        yield Row(op, P(2, 3), dtypes=WIDE)
    for op in "Dawsn FresnelCos FresnelSin BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1".split():
        yield Row(op, P(2, 3), dtypes=WIDE)
    for op in "BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1".split():
        yield Row(op, P(2, 3), dtypes=WIDE)
    for op in "Atanh Asin Acos Tan Erfinv".split():
        yield Row(op, U(2, 3), dtypes=FLOATS if op in ("Atanh", "Asin", "Acos", "Tan") else WIDE)
    yield Row("Acosh", A([1.2, 2.0, 5.0]))
    yield Row("Ndtri", A([0.1, 0.4, 0.9]), dtypes=WIDE)
    yield Row("Square", F(0, 3))
    for op in ("Neg Square Exp Expm1 Sinh Cosh Tanh Sin Cos Tan Atanh Asinh Acosh Asin Acos Atan Sigmoid Sqrt Rsqrt Log Log1p "
               "Reciprocal Conj Sign").split():
        yield Row(op, A([[0.3 + 0.4j, -0.5 + 0.2j], [0.7 - 0.6j, 0.25 + 0.1j]]), dtypes=COMPLEX)
    z = A([0.3 + 0.4j, -0.5 + 0.2j], None)
    yield Row("ComplexAbs", z, dtypes=COMPLEX, Tout=None)
    yield Row("Real", z, dtypes=COMPLEX, Tout=None)
    yield Row("Imag", z, dtypes=COMPLEX, Tout=None)
    yield Row("Angle", z, dtypes=COMPLEX, Tout=None)
    for to in ("float64", "float16", "complex64"):
        yield Row("Cast", F(2, 2), dtypes=SINGLE, DstT=to)
    for op in "TanhGrad SigmoidGrad ReciprocalGrad InvGrad".split():
        yield Row(op, F(2, 3), F(2, 3))
    for op in "SqrtGrad RsqrtGrad".split():
        yield Row(op, P(2, 3), F(2, 3))


def binary():
    for op in "Add AddV2 Sub Mul Maximum Minimum SquaredDifference".split():
        for shapes in (((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2, 3)), ((2, 3), ()), ((0, 3), (3,))):
            yield Row(op, *(F(*shape) for shape in shapes))
        yield Row(op, F(2, 3), F(2, 3), by=(0,))
        yield Row(op, F(2, 3), F(), by=(0,))
        yield Row(op, F(2, 3), F(3), by=(1,))
    for op in "Div RealDiv DivNoNan Pow Atan2 Xdivy Xlogy Xlog1py MulNoNan FloorMod".split():
        dtypes = WIDE if op in ("Atan2",) else FLOATS
        for shapes in (((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2, 3))):
            yield Row(op, *(P(*shape) for shape in shapes), dtypes=dtypes)
        yield Row(op, P(2, 3), P(), by=(0,), dtypes=dtypes)
    for op in "Mul AddV2 Sub RealDiv Pow SquaredDifference".split():
        yield Row(op, A([0.3 + 0.4j, -0.5 + 0.2j]), A([0.7 - 0.6j, 0.25 + 0.1j]), dtypes=COMPLEX)
    yield Row("Complex", F(2, 3), F(3), dtypes=WIDE, Tout=None)
    yield Row("NextAfter", F(2, 3), F(3), dtypes=WIDE)
    yield Row("FloorDiv", P(2, 3), P(3))
    yield Row("Cross", F(2, 3), F(2, 3))
    yield Row("Igamma", P(2, 3), P(3), dtypes=WIDE)
    yield Row("Igammac", P(2, 3), P(3), dtypes=WIDE)
    yield Row("Zeta", A([[2.5, 3.0], [4.0, 1.5]]), P(2), dtypes=WIDE)
    yield Row("Polygamma", A([[1.0, 2.0], [3.0, 1.0]]), P(2), dtypes=WIDE, by=(1,))
    yield Row("Betainc", P(2, 3), P(2, 3), A([[0.2, 0.4, 0.5], [0.7, 0.1, 0.9]]), dtypes=WIDE)
    yield Row("Select", B([[True, False], [False, True]]), F(2, 2), F(2, 2))
    yield Row("SelectV2", B([[True, False], [False, True]]), F(2, 2), F(2, 2))
    yield Row("SelectV2", B([True, False]), F(2, 2), F())
    yield Row("SelectV2", B([[True], [False]]), F(2), F(3, 2, 2))
    yield Row("ClipByValue", F(2, 3), A(-0.7), A(0.8))
    yield Row("AddN", [F(2, 3), F(2, 3), F(2, 3)])
    yield Row("AccumulateNV2", [F(2, 3), F(2, 3)], shape=[2, 3], dynamic=False)


def reductions():
    for op in "Sum Mean Max Min Prod EuclideanNorm".split():
        # Where the gradient that comes in is 0, TensorFlow's of a complex norm is NaN.
        dtypes = REALS if op == "EuclideanNorm" else FLOATS
        for axes in ([0], [1, 2], [0, 1, 2], [-1], []):
            for keep in (False, True):
                yield Row(op, P(2, 3, 2), I(axes), keep_dims=keep, dtypes=dtypes)
        yield Row(op, P(2, 3), I(1), keep_dims=False, dtypes=dtypes)
    yield Row("Sum", F(0, 3), I([0]), keep_dims=False)
    yield Row("Mean", F(), I([]), keep_dims=False)
    for op in "Cumsum Cumprod".split():
        for exclusive in (False, True):
            for reverse in (False, True):
                yield Row(op, P(3, 4), I(1), exclusive=exclusive, reverse=reverse)
    yield Row("CumulativeLogsumexp", F(3, 4), I(1), exclusive=False, reverse=False)
    yield Row("CumulativeLogsumexp", F(3, 4), I(0), exclusive=True, reverse=True)
    ids = I([0, 0, 1, 3])
    for op in "SegmentSum SegmentMean SegmentMax SegmentMin SegmentProd".split():
        yield Row(op, F(4, 3), ids, dtypes=WIDE)
        yield Row(op, F(4), ids, dtypes=WIDE)
    yield Row("SegmentProd", A([[1.0, 0.0], [0.0, 2.0], [0.0, 3.0], [4.0, 5.0]]), I([0, 0, 0, 1]), dtypes=WIDE)
    for op in "UnsortedSegmentSum UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd".split():
        yield Row(op, F(4, 3), I([2, -1, 0, 2]), I(3), dtypes=WIDE)
    for op in "SparseSegmentSum SparseSegmentMean SparseSegmentSqrtN".split():
        yield Row(op, F(4, 3), I([0, 3, 1, 0]), I([0, 0, 1, 2]), dtypes=WIDE)
        yield Row(op + "WithNumSegments", F(4, 3), I([0, 3, 1, 0]), I([0, 0, 1, 2]), I(4), dtypes=WIDE)
    yield Row("ArgMax", F(2, 3), I(1))


def arrays():
    yield Row("Pack", [F(2, 3), F(2, 3), F(2, 3)], axis=1)
    yield Row("Unpack", F(3, 2), num=3, axis=0)
    yield Row("Unpack", F(3, 2), num=2, axis=1)
    for axis in (0, 1, -1):
        yield Row("ConcatV2", [F(2, 3), F(2, 3), F(2, 3)], I(axis))
    yield Row("ConcatV2", [F(2, 1) for _ in range(18)], I(1))
    yield Row("Concat", I(1), [F(2, 3), F(2, 1)])
    yield Row("Slice", F(4, 5), I([1, 2]), I([2, -1]))
    yield Row("StridedSlice", F(4, 5, 3), I([1, 0]), I([4, 3]), I([2, 1]), begin_mask=0, end_mask=0, ellipsis_mask=0,
              new_axis_mask=0, shrink_axis_mask=0)
    yield Row("StridedSlice", F(4, 5, 3), I([1, 0, 0]), I([2, 0, 0]), I([1, -1, 1]), begin_mask=2, end_mask=2, ellipsis_mask=4,
              new_axis_mask=0, shrink_axis_mask=1)
    yield Row("StridedSliceGrad", I([4, 3]), I([1]), I([3]), I([1]), F(2, 3), by=(4,), dynamic=False)
    yield Row("TensorStridedSliceUpdate", F(4, 3), I([1]), I([3]), I([1]), F(2, 3))
    yield Row("Split", I(1), F(2, 6), num_split=3)
    yield Row("SplitV", F(2, 6), I([1, 3, 2]), I(1), num_split=3)
    yield Row("Reshape", F(2, 6), I([3, 4]))
    yield Row("Reshape", F(2, 6), I([-1]))
    yield Row("ExpandDims", F(2, 3), I(1))
    yield Row("Squeeze", F(2, 1, 3), axis=[1])
    yield Row("Transpose", F(2, 3, 4), I([2, 0, 1]))
    yield Row("ConjugateTranspose", A([[0.3 + 0.4j, -0.5 + 0.2j]]), I([1, 0]), dtypes=COMPLEX)
    yield Row("Tile", F(2, 3), I([2, 1]))
    yield Row("BroadcastTo", F(3, 1), I([2, 3, 4]))
    yield Row("BroadcastTo", F(), I([2]))
    yield Row("Fill", I([2, 3]), F())
    yield Row("Pad", F(2, 3), I([[1, 0], [2, 1]]))
    yield Row("PadV2", F(2, 3), I([[1, 0], [2, 1]]), F(), by=(0,))
    yield Row("MirrorPad", F(3, 4), I([[1, 1], [2, 0]]), mode="REFLECT")
    yield Row("MirrorPad", F(3, 4), I([[1, 1], [2, 0]]), mode="SYMMETRIC")
    yield Row("MirrorPadGrad", F(4, 5), I([[1, 0], [1, 1]]), mode="REFLECT")
    yield Row("ReverseSequence", F(3, 4), L([2, 4, 1]), seq_dim=1, batch_dim=0)
    yield Row("Reverse", F(2, 3), B([True, False]))
    yield Row("ReverseV2", F(2, 3), I([0, 1]))
    yield Row("Roll", F(4, 3), I([1, -1]), I([0, 1]))
    yield Row("SpaceToBatch", F(1, 4, 4, 2), I([[0, 0], [0, 0]]), block_size=2)
    yield Row("BatchToSpace", F(4, 2, 2, 2), I([[0, 0], [0, 0]]), block_size=2)
    yield Row("SpaceToBatchND", F(1, 4, 4, 1), I([2, 2]), I([[0, 0], [2, 0]]))
    yield Row("BatchToSpaceND", F(4, 2, 2, 1), I([2, 2]), I([[0, 0], [1, 0]]))
    yield Row("SpaceToDepth", F(1, 4, 4, 2), block_size=2, data_format="NHWC")
    yield Row("DepthToSpace", F(1, 2, 2, 8), block_size=2, data_format="NHWC")
    yield Row("IdentityN", [F(2), F(3)], outputs=None)
    yield Row("PlaceholderWithDefault", F(2), shape=[2], dynamic=False)
    yield Row("EnsureShape", F(2, 3), shape=[2, 3])
    yield Row("CheckNumerics", F(2), message="x")
    yield Row("CheckNumericsV2", F(2), message="x")
    yield Row("Gather", F(4, 3), I([[2, 0], [2, 1]]))
    for axis, batch in ((0, 0), (1, 0), (-1, 0), (1, 1), (2, 1)):
        yield Row("GatherV2", F(3, 4, 2), I([[1, 0], [1, 1], [0, 1]]), I(axis), batch_dims=batch)
    yield Row("GatherV2", F(3, 4), I([1, 1, 2]), I(0), batch_dims=0)
    yield Row("GatherNd", F(3, 4), I([[1, 2], [0, 0], [1, 2]]))
    yield Row("GatherNd", F(3, 4), I([[1], [1]]))
    yield Row("ScatterNd", I([[1], [3], [1]]), F(3, 2), I([4, 2]))
    for op in "TensorScatterUpdate TensorScatterAdd TensorScatterSub TensorScatterMax TensorScatterMin".split():
        yield Row(op, F(4, 2), I([[1], [3]]), F(2, 2), dtypes=WIDE)
    yield Row("ScatterNdNonAliasingAdd", F(4, 2), I([[1], [3]]), F(2, 2), dtypes=WIDE)
    yield Row("DynamicPartition", F(4, 2), I([1, 0, 1, 1]), num_partitions=2)
    for op in "DynamicStitch ParallelDynamicStitch".split():
        yield Row(op, [I([0, 2]), I([1, 3])], [F(2, 2), F(2, 2)])
    yield Row("QuantizeAndDequantizeV2", F(2, 3), A(-1.0), A(1.0), by=(0,), dtypes=WIDE)
    yield Row("QuantizeAndDequantizeV3", F(2, 3), A(-1.0), A(1.0), I(8), by=(0,), dtypes=WIDE)
    yield Row("QuantizeAndDequantizeV4", F(2, 3), A(-1.0), A(1.0), dtypes=WIDE)
    yield Row("FakeQuantWithMinMaxArgs", F(2, 3), dtypes=SINGLE, min=-1.0, max=1.0)
    yield Row("FakeQuantWithMinMaxVars", F(2, 3), A(-1.0), A(1.0), dtypes=SINGLE)
    yield Row("FakeQuantWithMinMaxVarsPerChannel", F(2, 3), A([-1.0, -0.5, -0.3]), A([1.0, 0.7, 0.4]), dtypes=SINGLE)


def matrices():
    for ta in (False, True):
        for tb in (False, True):
            yield Row("MatMul", F(*((3, 2) if ta else (2, 3))), F(*((4, 3) if tb else (3, 4))), transpose_a=ta, transpose_b=tb)
            for op in ("BatchMatMul", "BatchMatMulV2"):
                yield Row(op, F(2, *((3, 2) if ta else (2, 3))), F(2, *((4, 3) if tb else (3, 4))), adj_x=ta, adj_y=tb)
            yield Row("SparseMatMul", F(*((3, 2) if ta else (2, 3))), F(*((4, 3) if tb else (3, 4))), transpose_a=ta,
                      transpose_b=tb, dtypes=SINGLE)
    yield Row("MatMul", F(2, 3), F(3, 4), by=(0,))
    yield Row("MatMul", F(2, 3), F(3, 4), by=(1,))
    yield Row("BatchMatMulV2", F(3, 1, 2, 3), F(2, 3, 4))
    yield Row("BatchMatMulV3", F(2, 2, 3), F(3, 4), Tout=None)
    z = lambda *s: A(RANDOM.normal(size=s) + 1j * RANDOM.normal(size=s))
    yield Row("MatMul", z(2, 3), z(3, 2), dtypes=COMPLEX)
    for equation, shapes in (("ij,jk->ik", ((2, 3), (3, 4))), ("bij,bjk->bik", ((2, 2, 3), (2, 3, 2))), ("ij->ji", ((2, 3),)),
                             ("ij->i", ((2, 3),)), ("ij,kj->", ((2, 3), (4, 3))), ("...ij,...jk->...ik", ((2, 2, 3), (3, 4))),
                             ("i,j->ij", ((2,), (3,))), ("ii->i", ((3, 3),)), ("ijk,j->ik", ((2, 3, 2), (3,)))):
        yield Row("Einsum", [F(*shape) for shape in shapes], equation=equation)
    yield Row("MatrixInverse", Matrix(2, 3, 3), dtypes=WIDE)
    yield Row("MatrixInverse", Matrix(3, 3), dtypes=WIDE, adjoint=True)
    yield Row("MatrixDeterminant", Matrix(2, 3, 3), dtypes=WIDE)
    yield Row("LogMatrixDeterminant", Matrix(2, 3, 3), dtypes=WIDE)
    yield Row("Cholesky", Spd(3, 3), dtypes=WIDE)
    yield Row("Cholesky", Spd(2, 3, 3), dtypes=WIDE)
    for adjoint in (False, True):
        yield Row("MatrixSolve", Matrix(3, 3), F(3, 2), dtypes=WIDE, adjoint=adjoint)
        for lower in (False, True):
            yield Row("MatrixTriangularSolve", Triangle(3, 3, lower=lower), F(3, 2), dtypes=WIDE, adjoint=adjoint, lower=lower)
    yield Row("MatrixTriangularSolve", Triangle(2, 3, 3), F(3, 2), dtypes=WIDE)
    yield Row("BandedTriangularSolve", A([[2.0, 3.0, 2.5], [0.0, 0.3, 0.2]]), F(3, 2), dtypes=WIDE, lower=True)
    yield Row("MatrixSolveLs", F(4, 2), F(4, 3), A(0.1, "float64"), by=(0, 1), dtypes=WIDE, fast=True, dynamic=False)
    yield Row("MatrixSolveLs", F(2, 4), F(2, 3), A(0.1, "float64"), by=(0, 1), dtypes=WIDE, fast=True, dynamic=False)
    for shape, full in (((3, 3), False), ((4, 3), False), ((3, 4), False), ((3, 4), True)):
        yield Row("Qr", Matrix(*shape), dtypes=WIDE, full_matrices=full, dynamic=False)
    yield Row("SelfAdjointEigV2", Spd(3, 3), dtypes=WIDE, compute_v=True, outputs=(0,))
    yield Row("SelfAdjointEigV2", Spd(3, 3), dtypes=WIDE, compute_v=False)
    for shape in ((3, 3), (4, 3), (3, 4)):
        yield Row("Svd", Matrix(*shape), dtypes=WIDE, compute_uv=True, full_matrices=False, outputs=(0,), dynamic=False)
    yield Row("Svd", Matrix(3, 4), dtypes=WIDE, compute_uv=False, full_matrices=False)
    yield Row("MatrixSquareRoot", Spd(3, 3), dtypes=WIDE)
    yield Row("TridiagonalMatMul", F(1, 4), F(1, 4), F(1, 4), F(4, 2), dtypes=WIDE)
    yield Row("TridiagonalSolve", A([[0.2, 0.3, 0.4, 0], [3.0, 4, 5, 3], [0, 0.5, 0.1, 0.6]]), F(4, 2), dtypes=WIDE, dynamic=False)
    yield Row("Diag", F(3))
    yield Row("DiagPart", F(3, 3))
    yield Row("MatrixDiag", F(2, 3))
    yield Row("MatrixDiagPart", F(2, 3, 3))
    yield Row("MatrixDiagPart", F(2, 3, 4))
    yield Row("MatrixSetDiag", F(2, 3, 4), F(2, 3), dynamic=False)
    yield Row("MatrixDiagV2", F(2, 3), I(1), I(-1), I(-1), A(0.0), by=(0,))
    yield Row("MatrixDiagPartV2", F(3, 4), I([-1, 1]), A(0.0), by=(0,))
    yield Row("MatrixSetDiagV2", F(3, 4), F(3), I(0), dynamic=False)
    yield Row("MatrixDiagV3", F(2, 3), I(1), I(-1), I(-1), A(0.0), by=(0,))
    yield Row("MatrixDiagPartV3", F(3, 4), I([-1, 1]), A(0.0), by=(0,))
    yield Row("MatrixSetDiagV3", F(3, 4), F(3), I(0), dynamic=False)
    yield Row("MatrixBandPart", F(3, 4), L(1), L(0))
    yield Row("Eig", Matrix(3, 3), dtypes=WIDE, compute_v=True, Tout=None, outputs=(0,))


def networks():
    for op in "ReluGrad Relu6Grad EluGrad SeluGrad SoftplusGrad LeakyReluGrad".split():
        yield Row(op, F(2, 3), F(2, 3))
    yield Row("BiasAdd", F(2, 3), F(3))
    yield Row("BiasAdd", F(2, 3, 4, 2), F(3), data_format="NCHW")
    yield Row("BiasAddV1", F(2, 3), F(3))
    yield Row("BiasAddGrad", F(2, 3))
    yield Row("BiasAddGrad", F(2, 3, 2, 2), data_format="NCHW")
    yield Row("Softmax", F(2, 3))
    yield Row("LogSoftmax", F(2, 3))
    yield Row("SoftmaxCrossEntropyWithLogits", F(2, 3), A([[0.1, 0.2, 0.7], [0.5, 0.5, 0.0]]), outputs=(0,))
    yield Row("SoftmaxCrossEntropyWithLogits", F(2, 3), A([[0.1, 0.2, 0.7], [0.5, 0.5, 0.0]]))
    yield Row("SparseSoftmaxCrossEntropyWithLogits", F(2, 3), I([2, 0]), outputs=(0,))
    yield Row("SparseSoftmaxCrossEntropyWithLogits", F(2, 3), I([2, 0]))
    yield Row("L2Loss", F(2, 3))
    for padding in ("SAME", "VALID"):
        two = dict(strides=[1, 2, 2, 1], padding=padding, dtypes=WIDE)
        yield Row("Conv2D", F(2, 6, 5, 2), F(3, 2, 2, 3), **two)
        yield Row("DepthwiseConv2dNative", F(2, 6, 5, 2), F(3, 2, 2, 2), **two)
        yield Row("MaxPool", F(2, 6, 5, 2), ksize=[1, 3, 2, 1], **two)
        yield Row("MaxPoolV2", F(2, 6, 5, 2), I([1, 3, 2, 1]), I([1, 2, 2, 1]), padding=padding, dtypes=WIDE)
        yield Row("AvgPool", F(2, 6, 5, 2), ksize=[1, 3, 2, 1], **two)
        yield Row("MaxPoolWithArgmax", F(2, 6, 5, 2), ksize=[1, 3, 2, 1], outputs=(0,), **two)
        three = dict(strides=[1, 1, 2, 1, 1], padding=padding, dtypes=WIDE)
        yield Row("Conv3D", F(1, 3, 4, 3, 2), F(2, 2, 2, 2, 2), **three)
        yield Row("MaxPool3D", F(1, 3, 4, 3, 2), ksize=[1, 2, 2, 2, 1], **dict(three, dtypes=SINGLE))
        yield Row("AvgPool3D", F(1, 3, 4, 3, 2), ksize=[1, 2, 2, 2, 1], **three)
    one = dict(strides=[1, 1, 1, 1], padding="SAME", dtypes=WIDE)
    yield Row("Conv2D", F(1, 5, 5, 2), F(3, 3, 2, 2), strides=[1, 1, 1, 1], padding="SAME", dilations=[1, 2, 2, 1], dtypes=WIDE)
    yield Row("Conv2D", F(1, 5, 5, 1), F(2, 2, 1, 2), strides=[1, 1, 1, 1], padding="EXPLICIT", dtypes=WIDE,
              explicit_paddings=[0, 0, 1, 0, 0, 1, 0, 0])
    yield Row("Conv2DBackpropInput", I([1, 4, 4, 2]), F(3, 3, 2, 3), F(1, 4, 4, 3), **one)
    yield Row("Conv2DBackpropFilter", F(1, 4, 4, 2), I([3, 3, 2, 3]), F(1, 4, 4, 3), **one)
    yield Row("DepthwiseConv2dNativeBackpropInput", I([1, 4, 4, 2]), F(3, 3, 2, 1), F(1, 4, 4, 2), **one)
    yield Row("DepthwiseConv2dNativeBackpropFilter", F(1, 4, 4, 2), I([3, 3, 2, 1]), F(1, 4, 4, 2), **one)
    volume = dict(strides=[1, 1, 1, 1, 1], padding="SAME", dtypes=WIDE)
    yield Row("Conv3DBackpropInputV2", I([1, 3, 3, 3, 1]), F(2, 2, 2, 1, 2), F(1, 3, 3, 3, 2), **volume)
    yield Row("Conv3DBackpropFilterV2", F(1, 3, 3, 3, 1), I([2, 2, 2, 1, 2]), F(1, 3, 3, 3, 2), **volume)
    yield Row("AvgPoolGrad", I([1, 4, 4, 2]), F(1, 2, 2, 2), ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
    yield Row("AvgPool3DGrad", I([1, 2, 4, 4, 1]), F(1, 1, 2, 2, 1), ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1],
              padding="VALID", dtypes=WIDE)
    image = RANDOM.normal(size=(1, 4, 4, 1))
    pooled = image.reshape(1, 2, 2, 2, 2, 1).max(axis=(2, 4))
    for op in ("MaxPoolGrad", "MaxPoolGradGrad"):
        last = F(1, 2, 2, 1) if op == "MaxPoolGrad" else F(1, 4, 4, 1)
        yield Row(op, A(image), A(pooled), last, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID", dtypes=WIDE)
    yield Row("MaxPoolGradV2", A(image), A(pooled), F(1, 2, 2, 1), I([1, 2, 2, 1]), I([1, 2, 2, 1]), padding="VALID", dtypes=WIDE)
    volumes = RANDOM.normal(size=(1, 2, 2, 2, 1))
    for op in ("MaxPool3DGrad", "MaxPool3DGradGrad"):
        last = F(1, 1, 1, 1, 1) if op == "MaxPool3DGrad" else F(1, 2, 2, 2, 1)
        yield Row(op, A(volumes), A(volumes.max().reshape(1, 1, 1, 1, 1)), last, ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1],
                  padding="VALID", dtypes=SINGLE)
    yield Row("Dilation2D", F(1, 5, 5, 2), F(2, 2, 2), strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="SAME", dtypes=WIDE)
    yield Row("LRN", F(1, 2, 2, 6), depth_radius=2, bias=1.0, alpha=0.5, beta=0.5, dtypes=SINGLE)
    for training in (True, False):
        for op in "FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3".split():
            yield Row(op, F(2, 3, 2, 4), F(4), F(4), *((A([]), A([])) if training else (F(4), P(4))), by=(0, 1, 2), outputs=(0,),
                      is_training=training, epsilon=0.01, dtypes=SINGLE)
    yield Row("FusedBatchNormV3", F(2, 4, 3, 2), F(4), F(4), F(4), P(4), by=(0, 1, 2), outputs=(0,), is_training=False,
              epsilon=0.01, data_format="NCHW", dtypes=SINGLE)
    for op in "FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3".split():
        more = (A(np.zeros(4), "float32"),) if op.endswith("V3") else ()
        yield Row(op, F(2, 3, 2, 4), F(2, 3, 2, 4), P(4), F(4), P(4), *more, by=(0, 1, 2), outputs=(0, 1, 2), is_training=False,
                  epsilon=0.01, dtypes=SINGLE, dynamic=False)
    yield Row("TopKV2", F(2, 5), I(3), outputs=(0,))
    yield Row("TopK", F(5), k=2, outputs=(0,))
    yield Row("NthElement", F(2, 5), I(2))
    yield Row("IsotonicRegression", F(2, 4), outputs=(0,), output_dtype=None, dtypes=WIDE, dynamic=False)
    yield Row("FractionalMaxPool", F(1, 6, 6, 1), pooling_ratio=[1.0, 1.5, 1.5, 1.0], outputs=(0,), seed=1, seed2=2,
              deterministic=True, dtypes=WIDE)
    yield Row("FractionalAvgPool", F(1, 6, 6, 1), pooling_ratio=[1.0, 1.5, 1.5, 1.0], outputs=(0,), seed=1, seed2=2,
              deterministic=True, dtypes=WIDE, dynamic=False)
    for op in "ResizeNearestNeighbor ResizeBilinear ResizeBicubic".split():
        for centers in (False, True):
            yield Row(op, F(1, 3, 4, 2), I([5, 6]), half_pixel_centers=centers, dtypes=WIDE)
    yield Row("ScaleAndTranslate", F(1, 4, 4, 2), I([5, 5]), A([1.2, 1.3], "float32"), A([0.1, 0.2], "float32"), by=(0,),
              dtypes=SINGLE)
    yield Row("CropAndResize", F(2, 5, 5, 1), A([[0.1, 0.1, 0.9, 0.8], [0.2, 0.0, 0.7, 1.0]], "float32"), I([0, 1]), I([3, 3]),
              dtypes=SINGLE)
    yield Row("RGBToHSV", A(RANDOM.uniform(0.1, 0.9, size=(2, 2, 3))),
              dtypes=("float32", "float64", "bfloat16"))  # of half TensorFlow's own ends in a NaN
    yield Row("ExtractImagePatches", F(1, 4, 4, 2), ksizes=[1, 2, 2, 1], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="SAME",
              dtypes=WIDE)


def others():
    z = lambda *s: A(RANDOM.normal(size=s) + 1j * RANDOM.normal(size=s))
    for op, shape in (("FFT", (2, 5)), ("FFT2D", (2, 3, 4)), ("FFT3D", (2, 3, 4))):
        yield Row(op, z(*shape), dtypes=COMPLEX)
        yield Row("I" + op, z(*shape), dtypes=COMPLEX)
    for length in (6, 5):
        yield Row("RFFT", F(2, length), I([length]), dtypes=WIDE, Tcomplex=None)
        yield Row("RFFT2D", F(4, length), I([4, length]), dtypes=WIDE, Tcomplex=None)
        yield Row("IRFFT", z(2, length // 2 + 1), I([length]), dtypes=COMPLEX, Treal=None)
        yield Row("IRFFT2D", z(4, length // 2 + 1), I([4, length]), dtypes=COMPLEX, Treal=None)
    for shape in ((2, 2, 4, 6), (2, 4, 5)):
        yield Row("RFFT2D", F(*shape), I(shape[-2:]), dtypes=WIDE, Tcomplex=None)
    places, shape = L([[0, 1], [1, 0], [1, 2]]), L([2, 3])
    yield Row("SparseReorder", L([[1, 0], [0, 1], [1, 2]]), F(3), shape, dtypes=WIDE)
    yield Row("SparseAdd", places, F(3), shape, L([[0, 1], [1, 1]]), F(2), shape, A(0.0), by=(1, 4), dtypes=WIDE, dynamic=False)
    yield Row("SparseTensorDenseAdd", places, F(3), shape, F(2, 3), dtypes=WIDE)
    yield Row("SparseReduceSum", places, F(3), shape, I([1]), dtypes=WIDE)
    yield Row("SparseSlice", places, F(3), shape, L([0, 1]), L([2, 2]), dtypes=WIDE)
    for adjoint_a in (False, True):
        for adjoint_b in (False, True):
            b = F(2, 2) if adjoint_a else (F(2, 3) if adjoint_b else F(3, 2))
            yield Row("SparseTensorDenseMatMul", places, F(3), shape, b, adjoint_a=adjoint_a, adjoint_b=adjoint_b, dtypes=WIDE)
    for op in "SparseDenseCwiseMul SparseDenseCwiseDiv".split():
        yield Row(op, places, F(3), shape, P(2, 3), dtypes=WIDE)
        yield Row(op, places, F(3), shape, P(3), dtypes=WIDE)
    yield Row("SparseSoftmax", places, F(3), shape, dtypes=WIDE)
    yield Row("SparseFillEmptyRows", L([[0, 1], [2, 0]]), F(2), L([3, 2]), F(), outputs=(1,), dtypes=WIDE)
    yield Row("SparseToDense", places, shape, F(3), F(), dtypes=WIDE)
    yield Row("OptionalFromValue", [F(2), F(3)], outputs=())
    yield Row("BlockLSTM", L(2), F(2, 2, 3), F(2, 4), F(2, 4), F(7, 16), F(4), F(4), F(4), F(16), outputs=(6,), dtypes=SINGLE)
    yield Row("BlockLSTMV2", L(2), F(2, 2, 3), F(2, 4), F(2, 4), F(7, 16), F(4), F(4), F(4), F(16), outputs=(6,), dtypes=SINGLE)
    yield Row("CTCLoss", F(5, 2, 4), L([[0, 0], [0, 1], [1, 0]]), I([1, 2, 0]), I([5, 5]), outputs=(0,), dtypes=WIDE)


def volumes():
    for padding in ("SAME", "VALID"):
        yield Row("ExtractVolumePatches", F(2, 3, 4, 3, 2), ksizes=[1, 2, 2, 2, 1], strides=[1, 1, 2, 1, 1], padding=padding,
                  dynamic=False)
    turn = [0.9, -0.2, 0.5, 0.1, 1.1, -0.3, 0.001, 0.002]
    for interpolation in ("BILINEAR", "NEAREST"):
        yield Row("ImageProjectiveTransformV2", F(1, 4, 5, 2), A(turn, "float32"), I([3, 4]), by=(0,),
                  interpolation=interpolation, fill_mode="CONSTANT", dynamic=False)
        yield Row("ImageProjectiveTransformV3", F(2, 4, 5, 1), A([turn, turn[:6] + [0, 0]], "float32"), I([4, 5]),
                  A(0.5, "float32"), by=(0,), interpolation=interpolation, fill_mode="CONSTANT")
    halves = SINGLE + HALVES
    yield Row("ApproxTopK", F(2, 5), k=3, outputs=(0,), dtypes=halves, dynamic=False)
    yield Row("ApproxTopK", F(2, 5, 3), k=2, reduction_dimension=1, is_max_k=False, outputs=(0,), dtypes=halves, dynamic=False)


def draws():
    for shape in ([3], [2, 3]):
        yield Row("RandomGamma", I(shape), P(2), seed=3, seed2=5)
    yield Row("StatelessRandomGammaV2", I([3, 2]), L([1, 2]), P(2))
    yield Row("StatelessRandomGammaV3", I([3, 2]), np.asarray([7], np.uint64), np.asarray([0, 1], np.uint64), I(1), P(2))
    yield Row("StatelessParameterizedTruncatedNormal", I([4, 3]), L([1, 2]), F(3), P(), A(-1.5), A([1.0, 2.0, 3.0]))
    yield Row("StatelessParameterizedTruncatedNormal", I([5]), L([3, 4]), F(), P(), A(-2.0), A(0.5))


def without_any():
    """Ops that are constant almost everywhere, and those that only look at what they hand on."""
    yield Row("ArgMin", F(2, 3), I(1))
    yield Row("TruncateDiv", P(2, 3), P(3))
    yield Row("Print", F(2, 3), [F(2)], message="never", first_n=0, by=(0,))
    yield Row("DebugIdentityV2", F(2, 3), tfdbg_context_id="c", op_name="x", output_slot=0, tensor_debug_mode=0)
    yield Row("DebugGradientIdentity", F(2, 3))


def rows():
    for family in (unary, binary, reductions, arrays, matrices, networks, others, volumes, draws, without_any):
        yield from family()
