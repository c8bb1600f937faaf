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
        op(what, _name=name, _rtol=1e-2 if tf.bfloat16 in dtypes else 1e-5, **feeds)(
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
    # TensorFlow's own float versions are good to a few units in 10^-6.
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
