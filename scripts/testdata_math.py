"""Graphs of ops that search, reorder and write parts of tensors, of special functions, linear algebra, images and
quantized numbers, many of them several to a folder. Importing this adds them to OPS of testdata_ops."""
import numpy as np
import tensorflow as tf

from testdata_kernels import case
from testdata_ops import IMAGE, X23, X234, integers, op, random, raw

F, I, L = np.float32, np.int32, np.int64
NAN, INF = np.nan, np.inf


def types(what, name, dtypes, **feeds):
    """Registers f(dtype, *placeholders) run with the feeds cast to each dtype."""
    def register(f):
        op(what, _name=name, **feeds)(
            lambda *xs: [tf.cast(y, tf.float32) if y.dtype in (tf.bfloat16, tf.half) else y
                         for t in dtypes for y in tf.nest.flatten(f(t, *(tf.cast(x, t) for x in xs)))])
        return f
    return register


# ---- parts of tensors ----

case("SpaceToBatchND", "uneven blocks of a padded image", input=random(2, 3, 5, 2), block_shape=np.array([2, 3]),
     paddings=np.array([[0, 1], [2, 2]]))
case("BatchToSpaceND", "cropped on all sides", input=random(12, 2, 3, 2), block_shape=np.array([2, 3]),
     crops=np.array([[1, 0], [2, 3]], I))
case("SpaceToBatchND", "nothing but padding in some blocks, no block at all in one dimension", "narrow",
     input=integers(1, 2, 3), block_shape=np.array([4, 1], I), paddings=np.array([[5, 1], [0, 0]], I))
case("SpaceToBatch", "an image, square blocks", input=random(1, 4, 3, 2), paddings=np.array([[1, 1], [0, 1]]), block_size=2)
case("BatchToSpace", "an image, square blocks", input=random(4, 2, 2, 1), crops=np.array([[1, 0], [0, 1]]), block_size=2)


@op("rows from three tensors, the last one wins; of text, and of one number", x=random(2, 2, 3), y=random(3, seed=1))
def DynamicStitch(x, y):
    return (raw.DynamicStitch(indices=[[[0, 4], [2, 3]], 1], data=[x, y]),
            raw.DynamicStitch(indices=[[1, 0], [1, 2]], data=[["a", "b"], ["c", "d"]]),
            raw.ParallelDynamicStitch(indices=[[0, 1], 2], data=[x[0, :, 0], y[0]]))


@op("masks, steps back, new and lost dimensions", x=random(4, 3), y=random(2, 1, 3, seed=1))
def StridedSliceGrad(x, y):
    return (raw.StridedSliceGrad(shape=[6, 5], begin=[1, 4], end=[5, 1], strides=[1, -1], dy=x),
            raw.StridedSliceGrad(shape=[4, 3], begin=[3, 0, 0], end=[0, 0, 3], strides=[-2, 1, 1], dy=y, end_mask=1,
                                 new_axis_mask=2))


@op("a part written over: as it is, repeated, one row", x=random(4, 3), row=random(3, seed=1))
def TensorStridedSliceUpdate(x, row):
    def update(value, **k):
        return raw.TensorStridedSliceUpdate(input=x, value=value, **k)
    return (update(row, begin=[1, 0], end=[3, 3], strides=[1, 1]),
            update(row, begin=[-1], end=[0], strides=[1], shrink_axis_mask=1),
            update(7., begin=[0, 2], end=[4, 0], strides=[2, -1]))


@op("rows written and added, numbers that go round", x=random(3, 2), v=random(4, 2, seed=1))
def InplaceUpdate(x, v):
    # Each its own copy: TensorFlow writes over x.
    return (raw.InplaceUpdate(x=x + 0., i=[0, -1, 4, 0], v=v), raw.InplaceAdd(x=x + 1., i=[0, -1, 4, 0], v=v),
            raw.InplaceSub(x=x + 2., i=[0, -1, 4, 0], v=v))


@types("both ways of mirroring", "MirrorPadGrad", [tf.float32, tf.half, tf.int32], x=integers(6, 5, high=50))
def mirror_pad_grad(t, x):
    return (raw.MirrorPadGrad(input=x, paddings=[[1, 2], [2, 0]], mode="REFLECT"),
            raw.MirrorPadGrad(input=x, paddings=[[2, 1], [1, 2]], mode="SYMMETRIC"))


@op("whole diagonals, of two and of four dimensions", x=integers(2, 3), y=random(2, 3, 2, 3))
def DiagPart(x, y):
    return raw.Diag(diagonal=x), raw.DiagPart(input=y), raw.Diag(diagonal=tf.constant([1 + 2j, 3j]))


@op("what the layout optimizer adds", x=np.array([-4, 0, 3, 7], I), v=np.array([1, 2, 3, 4], L))
def DataFormatVecPermute(x, v):
    pairs = [[1, 2], [3, 4], [5, 6], [7, 8]]
    return (raw.DataFormatDimMap(x=x), raw.DataFormatDimMap(x=v, src_format="NDHWC", dst_format="NCDHW"),
            raw.DataFormatVecPermute(x=v), raw.DataFormatVecPermute(x=pairs, src_format="NCHW", dst_format="NHWC"),
            raw.DataFormatVecPermute(x=[1, 2], src_format="HWNC", dst_format="WHCN"),
            raw.DataFormatVecPermute(x=[1, 2, 3], src_format="NDHWC", dst_format="NCDHW"))


# ---- search ----

@op("slices along either axis, counted; of text", x=np.array([[1, 0, 0], [1, 0, 0], [2, 0, 0]], I))
def UniqueV2(x):
    text = tf.constant(["b", "a", "b", "c"])
    return (*raw.UniqueV2(x=x, axis=[0]), *raw.UniqueV2(x=x, axis=tf.constant([1], tf.int64), out_idx=tf.int64),
            *raw.UniqueWithCountsV2(x=x, axis=[-1]), *raw.UniqueWithCountsV2(x=text, axis=tf.zeros([0], tf.int32)))


@op("repeats stay; a NaN is in no list", x=np.array([3., 1, 2, 1, NAN, 5], F), y=np.array([1., NAN], F))
def ListDiff(x, y):
    return (*raw.ListDiff(x=x, y=y), *raw.ListDiff(x=["a", "b", "a"], y=["b"], out_idx=tf.int64))


@types("ties, ends, beyond the ends", "UpperBound", [tf.float32, tf.int32, tf.half, tf.uint8],
       s=np.array([[1, 2, 2, 5], [0, 0, 3, 9]], F), v=np.array([[2, 0, 9], [0, 10, 3]], F))
def upper_bound(t, s, v):
    return (raw.UpperBound(sorted_inputs=s, values=v), raw.LowerBound(sorted_inputs=s, values=v),
            raw.LowerBound(sorted_inputs=s, values=v, out_type=tf.int64))


@types("below, between, on a boundary, above", "Bucketize", [tf.float32, tf.int32, tf.double, tf.int64],
       x=np.array([[-5, 0, 1], [10, 99, 100]], F))
def bucketize(t, x):
    return raw.Bucketize(input=x, boundaries=[0., 10., 100.])


@types("smallest and largest of rows", "NthElement", [tf.float32, tf.int32, tf.bfloat16, tf.uint16],
       x=integers(3, 7, high=9))
def nth_element(t, x):
    return raw.NthElement(input=x, n=2), raw.NthElement(input=x, n=2, reverse=True)


@op("ties are in; a class that is not there and infinity are out",
    p=np.array([[.1, .3, .3], [.2, INF, .1], [.5, .5, .5], [.1, .2, .3]], F), t=np.array([2, 0, 1, 7], I))
def InTopKV2(p, t):
    return (raw.InTopKV2(predictions=p, targets=t, k=1), raw.InTopK(predictions=p, targets=t, k=2),
            raw.InTopKV2(predictions=p, targets=tf.cast(t, tf.int64), k=tf.constant(3, tf.int64)))


@types("outside values count at the ends", "HistogramFixedWidth", [tf.float32, tf.int32, tf.double],
       x=np.array([[-1, 0, 2], [3, 5, 15]], F), r=np.array([0, 5], F))
def histogram(t, x, r):
    return (raw.HistogramFixedWidth(values=x, value_range=r, nbins=5),
            raw.HistogramFixedWidth(values=x, value_range=r, nbins=3, dtype=tf.int64))


@op("flat indices", i=np.array([22, 3, 7], L))
def UnravelIndex(i):
    return raw.UnravelIndex(indices=i, dims=tf.constant([7, 6], tf.int64)), raw.UnravelIndex(indices=5, dims=[2, 3, 4])


# ---- functions ----

_SPECIAL = np.array([1e-8, 1e-3, .1, .25, .3, .5, .9, 1., 1.5, 2., 3.7, 5., 8., 12., 30., 60.], "f")


@op("from tiny to large arguments, in float and double", _rtol=3e-5, x=_SPECIAL)
def BesselJ0(x):
    ops = [raw.BesselI0, raw.BesselI0e, raw.BesselI1, raw.BesselI1e, raw.BesselJ0, raw.BesselJ1, raw.BesselK0,
           raw.BesselK0e, raw.BesselK1, raw.BesselK1e, raw.BesselY0, raw.BesselY1]
    return [f(x=tf.cast(x, t)) for f in ops for t in (tf.float32, tf.double)]


@op("on both sides of each change of method, in float and double", _rtol=1e-5,
    x=np.concatenate([_SPECIAL, -_SPECIAL, [0, 1.6, 1.59, 45, 49, 51, 88, INF, NAN]]).astype("f"))
def Dawsn(x):
    # TensorFlow's own float kernels are accurate to a few units in 10^-6.
    ops = [raw.Dawsn, raw.Expint, raw.FresnelCos, raw.FresnelSin, raw.Spence]
    return [f(x=tf.cast(x, t)) for f in ops for t in (tf.float32, tf.double)]


_A = np.array([[.5], [1.], [2.5], [7.], [20.]], F)


@op("of two arguments, in float and double", _rtol=3e-5, a=_A, x=np.array([.1, .5, 1.2, 3., 9., 40.], F))
def Igamma(a, x):
    ops = [lambda a, x: raw.Igamma(a=a, x=x), lambda a, x: raw.Igammac(a=a, x=x),
           lambda a, x: raw.IgammaGradA(a=a, x=x), lambda a, x: raw.RandomGammaGrad(alpha=a, sample=x),
           lambda a, x: raw.Zeta(x=a + 1, q=x), lambda a, x: raw.Polygamma(a=tf.round(a), x=x)]
    return [f(tf.cast(a, t), tf.cast(x, t)) for f in ops for t in (tf.float32, tf.double)]


@op("three shapes alike, and scalars", _rtol=3e-5, a=np.array([.5, 1, 2, 9], F), x=np.array([.1, .5, .9, 1], F))
def Betainc(a, x):
    return (raw.Betainc(a=a, b=a + 1, x=x), raw.Betainc(a=2., b=3., x=x),
            raw.Betainc(a=tf.cast(a, tf.double), b=tf.constant(.3, tf.double), x=tf.cast(x, tf.double)))


@types("sign bits too", "PopulationCount", [tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16],
       x=np.array([-1, 0, 1, 100, -128]))
def population_count(t, x):
    return raw.PopulationCount(x=x)


@op("through zero, to NaN", x=np.array([1, 0, -0., 3, 5], F), y=np.array([2, -1, 1, NAN, 5], F))
def NextAfter(x, y):
    return raw.NextAfter(x1=x, x2=y), raw.NextAfter(x1=tf.cast(x, tf.double), x2=tf.cast(y, tf.double))


@types("vectors of three", "Cross", [tf.float32, tf.int32, tf.half, tf.uint8], a=integers(2, 3), b=integers(2, 3, seed=1))
def cross(t, a, b):
    return raw.Cross(a=a, b=b)


@op("infinities, both directions, without the element itself",
    x=np.array([[1, 2, -INF, 80], [INF, -3, 4, 1], [-INF, -INF, 0, NAN]], F))
def CumulativeLogsumexp(x):
    return (raw.CumulativeLogsumexp(x=x, axis=1), raw.CumulativeLogsumexp(x=x, axis=0, exclusive=True),
            raw.CumulativeLogsumexp(x=tf.cast(x, tf.double), axis=-1, reverse=True, exclusive=True))


# ---- images ----

@types("strided, dilated, both paddings, and the gradients", "Dilation2D", [tf.float32, tf.int32, tf.half],
       x=integers(1, 5, 6, 2, high=20), f=integers(2, 3, 2, seed=1, high=20), g=integers(1, 3, 3, 2, seed=2))
def dilation(t, x, f, g):
    attrs = dict(input=x, filter=f, strides=[1, 2, 2, 1], rates=[1, 2, 1, 1], padding="SAME")
    return (raw.Dilation2D(**attrs), raw.Dilation2DBackpropInput(out_backprop=g, **attrs),
            raw.Dilation2DBackpropFilter(out_backprop=g, **attrs),
            raw.Dilation2D(input=x, filter=f, strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="VALID"))


@op("windows drawn with seeds, both ways, overlapping or not, and the gradients", x=random(2, 7, 9, 2),
    n=integers(1, 6, 10, 1, high=50))
def FractionalMaxPool(x, n):
    out = []
    for pseudo in (True, False):
        for overlapping in (True, False):
            attrs = dict(pooling_ratio=[1, 1.44, 1.73, 1], pseudo_random=pseudo, overlapping=overlapping,
                         deterministic=True, seed=3, seed2=4)
            high, rows, columns = raw.FractionalMaxPool(value=x, **attrs)
            mean, *places = raw.FractionalAvgPool(value=x, **attrs)
            out += [high, rows, columns, mean, *places]
            out += [raw.FractionalMaxPoolGrad(orig_input=x, orig_output=high, out_backprop=mean,
                                              row_pooling_sequence=rows, col_pooling_sequence=columns,
                                              overlapping=overlapping),
                    raw.FractionalAvgPoolGrad(orig_input_tensor_shape=tf.shape(x, out_type=tf.int64),
                                              out_backprop=high, row_pooling_sequence=places[0],
                                              col_pooling_sequence=places[1], overlapping=overlapping)]
    return out + [*raw.FractionalMaxPool(value=n, pooling_ratio=[1, 2, 2, 1], seed=1, seed2=2, deterministic=True),
                  *raw.FractionalAvgPool(value=n, pooling_ratio=[1, 1.5, 2.5, 1], seed=1, seed2=2, deterministic=True)]


_TURN = np.array([[.9, -.3, 2, .4, 1.1, -3, .01, -.02], [1, 0, -8, 0, 1, 17, 0, 0]], F)


@types("every way to fill, both interpolations", "ImageProjectiveTransformV3", [tf.float32, tf.uint8, tf.half],
       x=integers(2, 5, 4, 2, high=250))
def projective(t, x):
    out = []
    for interpolation in ("NEAREST", "BILINEAR"):
        for fill in ("CONSTANT", "REFLECT", "WRAP", "NEAREST"):
            out.append(raw.ImageProjectiveTransformV3(images=x, transforms=_TURN, output_shape=[6, 5], fill_value=7.,
                                                      interpolation=interpolation, fill_mode=fill))
    return out + [raw.ImageProjectiveTransformV2(images=x, transforms=_TURN[:1], output_shape=[3, 3],
                                                 interpolation="BILINEAR")]


@op("every filter, larger and smaller, and the gradient", _rtol=1e-4, x=random(1, 6, 5, 2), g=random(1, 4, 9, 2))
def ScaleAndTranslate(x, g):
    out = []
    for kind in ("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic"):
        for antialias in (True, False):
            where = dict(scale=[.6, 1.7], translation=[.3, -.4], kernel_type=kind, antialias=antialias)
            out += [raw.ScaleAndTranslate(images=x, size=[4, 9], **where),
                    raw.ScaleAndTranslateGrad(grads=g, original_image=x, **where)]
    return out + [raw.ScaleAndTranslate(images=tf.cast(x * 100, tf.uint8), size=[3, 4], scale=[.5, .8],
                                        translation=[-9., 0])]


@op("both versions, centered and normalized or not", x=random(4, 5, 5, 2),
    at=np.array([[.4, -.2], [1, 2], [0, 0], [-1, 1]], F))
def ExtractGlimpse(x, at):
    return [f(input=x, size=[2, 3], offsets=at, centered=c, normalized=n, uniform_noise=False, noise="zero")
            for f in (raw.ExtractGlimpse, raw.ExtractGlimpseV2) for c in (True, False) for n in (True, False)]


@op("inside, over the edge, beside the image; own colors; gray", x=random(2, 6, 7, 3),
    boxes=np.array([[[.1, .2, .6, .9], [-.5, .3, .4, 2]], [[2, 2, 3, 3], [.9, .1, .2, .3]]], F))
def DrawBoundingBoxesV2(x, boxes):
    return (raw.DrawBoundingBoxes(images=x, boxes=boxes), raw.DrawBoundingBoxes(images=x[..., :1], boxes=boxes),
            raw.DrawBoundingBoxesV2(images=x, boxes=boxes, colors=[[.1, .2, .3]]),
            raw.DrawBoundingBoxesV2(images=x[..., 1:2], boxes=boxes, colors=[[.1, .2, .3]]),
            tf.cast(raw.DrawBoundingBoxesV2(images=tf.cast(x, tf.half), boxes=boxes,
                                              colors=[[.5, .6, .7, 1.], [0, 1, 0, 1]]), tf.float32))


@op("the neighbors' share too", g=random(1, 2, 2, 7), x=random(1, 2, 2, 7, seed=1))
def LRNGrad(g, x):
    attrs = dict(depth_radius=2, bias=1.5, alpha=.3, beta=.7)
    return raw.LRNGrad(input_grads=g, input_image=x, output_image=raw.LRN(input=x, **attrs), **attrs)


# ---- linear algebra ----

_SQUARE = random(2, 4, 4) + 3 * np.eye(4, dtype="f")[[2, 0, 3, 1]]
_LINEAR = (tf.float32, tf.double, tf.complex64, tf.complex128)


def linear(x, t):
    """x as dtype t, with an imaginary part where t has one."""
    return tf.cast(x, t) if not t.is_complex else tf.complex(tf.cast(x, t.real_dtype), tf.cast(x[..., ::-1] / 3, t.real_dtype))


@op("rows change places", _rtol=1e-4, x=_SQUARE)
def Lu(x):
    return [y for t in _LINEAR for y in raw.Lu(input=linear(x, t), output_idx_type=tf.int64 if t.size == 8 else tf.int32)]


@op("more equations than unknowns and fewer, regularized or exact", _rtol=1e-4, a=random(2, 5, 3), b=random(2, 5, 2, seed=1))
def MatrixSolveLs(a, b):
    out = []
    for t in _LINEAR:
        for wide in (False, True):
            x, y = (tf.linalg.matrix_transpose(a), b[:, :3]) if wide else (a, b)
            out += [raw.MatrixSolveLs(matrix=linear(x, t), rhs=linear(y, t), l2_regularizer=tf.constant(.5, tf.double)),
                    raw.MatrixSolveLs(matrix=linear(x, t), rhs=linear(y, t), l2_regularizer=tf.constant(0., tf.double),
                                      fast=False)]
    return out


@op("of matrices that have them", _rtol=1e-4, x=np.abs(random(2, 3, 3)) + 3 * np.eye(3, dtype="f"))
def MatrixSquareRoot(x):
    return [raw.MatrixSquareRoot(input=linear(x, t)) for t in _LINEAR] + [
        raw.MatrixLogarithm(input=linear(x, t)) for t in _LINEAR[2:]]


@op("real and complex eigenvalues, with and without vectors", _rtol=1e-4, x=random(2, 4, 4))
def Eig(x):
    out = []
    for t in _LINEAR:
        to = tf.complex64 if t in (tf.float32, tf.complex64) else tf.complex128
        values, vectors = raw.Eig(input=linear(x, t), Tout=to)
        # Rounding alone decides the phase of a complex eigenvector, so its elements are divided by
        # the first one.
        out += [values, vectors / vectors[:, :1], raw.Eig(input=linear(x, t), Tout=to, compute_v=False)[0]]
    return out


@op("of two factors", _rtol=1e-4, l=random(2, 3, 3) + 2 * np.eye(3, dtype="f"), g=random(2, 3, 3, seed=1))
def CholeskyGrad(l, g):
    return [raw.CholeskyGrad(l=tf.cast(tf.linalg.band_part(l, -1, 0), t), grad=tf.cast(g, t)) for t in _LINEAR[:2]]


@op("with and without pivots; and the product", _rtol=1e-4, d=random(2, 3, 5), b=random(2, 5, 2, seed=1))
def TridiagonalSolve(d, b):
    out = []
    for t in _LINEAR:
        strong = d + tf.constant([0., 3, 0])[:, None]
        out += [raw.TridiagonalSolve(diagonals=linear(d, t), rhs=linear(b, t)),
                raw.TridiagonalSolve(diagonals=linear(strong, t), rhs=linear(b, t), partial_pivoting=False),
                raw.TridiagonalMatMul(superdiag=linear(d, t)[:, :1], maindiag=linear(d, t)[:, 1:2],
                                      subdiag=linear(d, t)[:, 2:], rhs=linear(b, t))]
    return out


@op("both triangles and their adjoints, one matrix for all", _rtol=1e-4, a=random(1, 3, 5), b=random(2, 5, 2, seed=1))
def BandedTriangularSolve(a, b):
    out = []
    for t in _LINEAR:
        for lower in (True, False):
            strong = a + tf.constant([2., 0, 0] if lower else [0., 0, 2])[:, None]
            out += [raw.BandedTriangularSolve(matrix=linear(strong, t), rhs=linear(b, t), lower=lower, adjoint=adjoint)
                    for adjoint in (False, True)]
    return out
