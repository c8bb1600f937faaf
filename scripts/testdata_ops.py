"""Graphs of one op each, for scripts/make_testdata.py: the op is named `out`, its inputs are placeholders."""
import numpy as np
import tensorflow as tf

raw = tf.raw_ops
OPS = {}                                                      # folder: (what, function, feeds, rtol)


def random(*shape, seed=0, low=-1., high=1., dtype="f"):
    return np.random.RandomState(seed).uniform(low, high, shape).astype(dtype)


def integers(*shape, high=10, seed=0, dtype="i4"):
    return np.random.RandomState(seed).randint(0, high, shape).astype(dtype)


def op(what, _rtol=1e-5, _name=None, **feeds):
    """Registers a function from placeholders to the op's outputs. Its name, or _name, is the folder's."""
    def register(f):
        OPS[_name or f.__name__] = (what, f, feeds, _rtol)
        return f
    return register


X23, X234, IMAGE = random(2, 3), random(2, 3, 4), random(2, 7, 6, 3)
EDGE = np.array([-np.inf, -2.5, -0., 0., 1e-40, .5, 1, 3, 88, np.inf, np.nan], "f")


@op("two matrices", x=X23, y=random(3, 4))
def MatMul(x, y):
    return raw.MatMul(a=x, b=y, name="out")


@op("both matrices transposed", x=random(3, 2), y=random(4, 3))
def MatMul_transposed(x, y):
    return raw.MatMul(a=x, b=y, transpose_a=True, transpose_b=True, name="out")


@op("batches broadcast against each other", x=random(2, 1, 3, 4), y=random(3, 5, 4))
def BatchMatMulV2(x, y):
    return raw.BatchMatMulV2(x=x, y=y, adj_y=True, name="out")


@op("attention scores", x=random(2, 3, 2, 4), y=random(2, 5, 2, 4, seed=1))
def Einsum(x, y):
    return raw.Einsum(inputs=[x, y], equation="aecd,abcd->acbe", name="out")


@op("SAME padding, which is uneven here", x=IMAGE, w=random(2, 3, 3, 4))
def Conv2D_same(x, w):
    return raw.Conv2D(input=x, filter=w, strides=[1, 2, 2, 1], padding="SAME", name="out")


@op("VALID padding, dilated", x=IMAGE, w=random(2, 2, 3, 4))
def Conv2D_valid_dilated(x, w):
    return raw.Conv2D(input=x, filter=w, strides=[1, 1, 1, 1], padding="VALID", dilations=[1, 2, 3, 1], name="out")


@op("explicit padding", x=IMAGE, w=random(3, 3, 3, 2))
def Conv2D_explicit(x, w):
    return raw.Conv2D(input=x, filter=w, strides=[1, 1, 1, 1], padding="EXPLICIT",
                      explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0], name="out")


@op("two filters for each channel", x=IMAGE, w=random(3, 3, 3, 2))
def DepthwiseConv2dNative(x, w):
    return raw.DepthwiseConv2dNative(input=x, filter=w, strides=[1, 1, 1, 1], padding="SAME", name="out")


@op("convolution, bias, Relu6", x=IMAGE, w=random(3, 3, 3, 4), b=random(4))
def _FusedConv2D(x, w, b):
    return internal("_FusedConv2D", [x, w, b], T=tf.float32, TArgs=[tf.float32], num_args=1, num_host_args=0,
                    strides=[1, 1, 1, 1], padding="SAME", fused_ops=[b"BiasAdd", b"Relu6"])


@op("convolution in three dimensions, paddings in a list, bias, Relu", x=random(1, 3, 4, 5, 2), w=random(2, 2, 3, 2, 3),
    b=random(3))
def _FusedConv3D(x, w, b):
    return internal("_FusedConv3D", [x, w, b], T=tf.float32, num_args=1, strides=[1, 1, 2, 1, 1], padding="VALID",
                    padding_list=[0, 0, 1, 0, 0, 2, 1, 1, 0, 0], fused_ops=[b"BiasAdd", b"Relu"])


@op("batch of products, factor, mask", q=random(2, 3, 4, 6), k=random(2, 3, 5, 6, seed=1), s=np.array(.25, "f"),
    m=random(2, 1, 1, 5, seed=2))
def _MklFusedBatchMatMulV2(q, k, s, m):
    return internal("_MklFusedBatchMatMulV2", [q, k, s, m], T=tf.float32, adj_y=True, num_args=2,
                    fused_ops=[b"Mul", b"Add"])


@op("matrix product, bias, Relu", x=X23, w=random(3, 4), b=random(4))
def _FusedMatMul(x, w, b):
    return internal("_FusedMatMul", [x, w, b], T=tf.float32, num_args=1, fused_ops=[b"BiasAdd", b"Relu"])


@op("windows cut off at the edge", x=IMAGE)
def MaxPool(x):
    return raw.MaxPool(input=x, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="SAME", name="out")


@op("windows at the edge average what is there", x=IMAGE)
def AvgPool(x):
    return raw.AvgPool(value=x, ksize=[1, 3, 2, 1], strides=[1, 2, 2, 1], padding="SAME", name="out")


@op("inference, with given mean and variance", x=IMAGE, scale=random(3, low=.5), offset=random(3, seed=1),
    mean=random(3, seed=2), variance=random(3, seed=3, low=.5))
def FusedBatchNormV3(x, scale, offset, mean, variance):
    return raw.FusedBatchNormV3(x=x, scale=scale, offset=offset, mean=mean, variance=variance, epsilon=1e-3,
                                is_training=False, name="out").y


@op("training: mean and variance of the batch", x=IMAGE, scale=random(3, low=.5), offset=random(3, seed=1))
def FusedBatchNormV3_training(x, scale, offset):
    return raw.FusedBatchNormV3(x=x, scale=scale, offset=offset, mean=[], variance=[], epsilon=1e-3,
                                is_training=True, name="out")[:3]


@op("channels last", x=IMAGE, b=random(3))
def BiasAdd(x, b):
    return raw.BiasAdd(value=x, bias=b, name="out")


@op("large values do not overflow", x=random(3, 5, low=-200, high=200))
def Softmax(x):
    return raw.Softmax(logits=x, name="out")


@op("large values do not overflow", x=random(3, 5, low=-200, high=200))
def LogSoftmax(x):
    return raw.LogSoftmax(logits=x, name="out")


@op("over two axes, one counted from the end, kept as 1", x=X234)
def Mean(x):
    return raw.Mean(input=x, axis=[0, -1], keep_dims=True, name="out")


@op("of integers, over all axes", x=integers(3, 4, high=2**30))
def Sum(x):
    return raw.Sum(input=x, axis=[0, 1], name="out")


@op("with NaN and infinities among the values", x=np.stack([EDGE, EDGE[::-1]]))
def Max(x):
    return raw.Max(input=x, axis=0, name="out")


@op("over no axis: nothing changes", x=X23)
def Prod_no_axis(x):
    return raw.Prod(input=x, axis=np.zeros([0], "i4"), name="out")


@op("the first of equals", x=np.array([[1, 3, 3], [2, 0, 2]], "f"))
def ArgMax(x):
    return raw.ArgMax(input=x, dimension=1, name="out")


@op("the largest three and where they were", x=random(2, 6))
def TopKV2(x):
    return raw.TopKV2(input=x, k=3, name="out")


@op("exclusive and reversed", x=X23)
def Cumsum(x):
    return raw.Cumsum(x=x, axis=1, exclusive=True, reverse=True, name="out")


@op("float to int32 cuts off towards zero", x=np.array([-2.9, -.5, 0, .5, 2.9, 1e6], "f"))
def Cast(x):
    return raw.Cast(x=x, DstT=tf.int32, name="out")


@op("float to half: rounding to even, overflow, denormals", x=np.array([2049, 2051, 65520, 1e-7, -1 / 3, np.nan], "f"))
def Cast_to_half(x):
    return raw.Cast(x=x, DstT=tf.half, name="out")


@op("three parts, negative axis", x=X23, y=random(2, 1), z=random(2, 2))
def ConcatV2(x, y, z):
    return raw.ConcatV2(values=[x, y, z], axis=-1, name="out")


@op("three equal parts", x=random(2, 6))
def Split(x):
    return raw.Split(axis=1, value=x, num_split=3, name="out")


@op("unequal parts, one size to be found", x=random(5, 2))
def SplitV(x):
    return raw.SplitV(value=x, size_splits=[1, -1, 2], axis=0, num_split=3, name="out")


@op("new axis in the middle", x=X23, y=random(2, 3, seed=1))
def Pack(x, y):
    return raw.Pack(values=[x, y], axis=1, name="out")


@op("along the last axis", x=X23)
def Unpack(x):
    return raw.Unpack(value=x, num=3, axis=-1, name="out")


@op("rows of a matrix by a matrix of indices", x=random(5, 3), i=integers(2, 4, high=5))
def GatherV2(x, i):
    return raw.GatherV2(params=x, indices=i, axis=0, name="out")


@op("a batch dimension", x=X234, i=integers(2, 2, high=4))
def GatherV2_batch(x, i):
    return raw.GatherV2(params=x, indices=i, axis=2, batch_dims=1, name="out")


@op("every mask: x[::-1, ..., new, 1:, 2]", x=random(3, 2, 4, 5))
def StridedSlice(x):
    return raw.StridedSlice(input=x, begin=[0, 0, 0, 1, 2], end=[0, 0, 0, 0, 3], strides=[-1, 1, 1, 1, 1], begin_mask=1,
                            end_mask=1 | 8, ellipsis_mask=2, new_axis_mask=4, shrink_axis_mask=16, name="out")


@op("size -1 means to the end", x=X234)
def Slice(x):
    return raw.Slice(input=x, begin=[0, 1, 2], size=[1, -1, 2], name="out")


@op("three axes turned", x=X234)
def Transpose(x):
    return raw.Transpose(x=x, perm=[2, 0, 1], name="out")


@op("one size to be found", x=X234)
def Reshape(x):
    return raw.Reshape(tensor=x, shape=[4, -1], name="out")


@op("one axis of two", x=random(1, 3, 1))
def Squeeze(x):
    return raw.Squeeze(input=x, axis=[-1], name="out")


@op("repeated along both axes", x=X23)
def Tile(x):
    return raw.Tile(input=x, multiples=[2, 3], name="out")


@op("to a larger rank", x=random(2, 1))
def BroadcastTo(x):
    return raw.BroadcastTo(input=x, shape=[3, 2, 2], name="out")


@op("with a value", x=X23)
def PadV2(x):
    return raw.PadV2(input=x, paddings=[[1, 0], [0, 2]], constant_values=7., name="out")


@op("the edge is not repeated", x=X23)
def MirrorPad(x):
    return raw.MirrorPad(input=x, paddings=[[1, 1], [2, 0]], mode="REFLECT", name="out")


@op("indices out of range give rows of the off value", i=np.array([1, -1, 3, 0], "i4"))
def OneHot(i):
    return raw.OneHot(indices=i, depth=3, on_value=5., off_value=-1., name="out")


@op("counting down", a=np.int32(7), b=np.int32(-3), c=np.int32(-4))
def Range(a, b, c):
    return raw.Range(start=a, limit=b, delta=c, name="out")


@op("condition broadcast against both values", c=np.array([[True], [False]]), x=X23, y=random(3))
def SelectV2(c, x, y):
    return raw.SelectV2(condition=c, t=x, e=y, name="out")


@op("NaN is less than nothing", x=EDGE, y=EDGE[::-1].copy())
def Less(x, y):
    return raw.Less(x=x, y=y, name="out")


@op("a column against a row, integers", x=integers(3, 1, high=3), y=integers(4, high=3, seed=1))
def Equal(x, y):
    return raw.Equal(x=x, y=y, name="out")


@op("a row against a scalar", x=np.array([True, False]), y=np.array(True))
def LogicalAnd(x, y):
    return raw.LogicalAnd(x=x, y=y, name="out")


SIGNED = dict(x=np.array([7, -7, 7, -7, 0, 6], "i4"), y=np.array([2, 2, -2, -2, 5, -3], "i4"))


@op("integers: rounds down", **SIGNED)
def FloorDiv(x, y):
    return raw.FloorDiv(x=x, y=y, name="out")


@op("integers: the sign of the divisor", **SIGNED)
def FloorMod(x, y):
    return raw.FloorMod(x=x, y=y, name="out")


@op("integers: rounds towards zero", **SIGNED)
def Div(x, y):
    return raw.Div(x=x, y=y, name="out")


@op("a column against a row", x=random(2, 1, 3), y=random(4, 1))
def AddV2(x, y):
    return raw.AddV2(x=x, y=y, name="out")


@op("an empty tensor against a row", x=np.zeros((0, 3), "f"), y=random(3))
def Mul_empty(x, y):
    return raw.Mul(x=x, y=y, name="out")


@op("zeros and infinities on both sides", x=np.array([1, -1, 0, np.inf, 5], "f"), y=np.array([0, 0, 0, np.inf, 2], "f"))
def RealDiv(x, y):
    return raw.RealDiv(x=x, y=y, name="out")


@op("NaN on either side", x=np.array([1, np.nan, 3, -0.], "f"), y=np.array([np.nan, 2, 2, 0.], "f"))
def Maximum(x, y):
    return raw.Maximum(x=x, y=y, name="out")


@op("a scalar exponent", x=random(5, low=0, high=3), y=np.float32(2.5))
def Pow(x, y):
    return raw.Pow(x=x, y=y, name="out")


@op("a row against a matrix", x=X23, y=random(3))
def SquaredDifference(x, y):
    return raw.SquaredDifference(x=x, y=y, name="out")


@op("three tensors", x=X23, y=random(2, 3, seed=1), z=random(2, 3, seed=2))
def AddN(x, y, z):
    return raw.AddN(inputs=[x, y, z], name="out")


def unary(name, argument):
    op("edges of the float range: infinities, zeros, a denormal, NaN", _name=name, x=EDGE)(
        lambda x: getattr(raw, name)(**{argument: x}, name="out"))


for _name in ("Exp", "Log", "Sqrt", "Rsqrt", "Tanh", "Sigmoid", "Erf"):
    unary(_name, "x")
for _name in ("Relu", "Elu", "Softplus"):
    unary(_name, "features")


@op("a slope of 0.1 below zero", x=X23)
def LeakyRelu(x):
    return raw.LeakyRelu(features=x, alpha=.1, name="out")


@op("half to even", x=np.array([-2.5, -1.5, -.5, .5, 1.5, 2.5, 2.4, 2.6], "f"))
def Round(x):
    return raw.Round(x=x, name="out")


@op("half the pixels, corners not aligned", x=IMAGE)
def ResizeBilinear(x):
    return raw.ResizeBilinear(images=x, size=[9, 4], half_pixel_centers=True, name="out")


def internal(name, inputs, **attrs):
    """An op that Python's API does not offer, named out."""
    def value(v):
        if isinstance(v, list) and v and isinstance(v[0], tf.DType):
            return tf.compat.v1.AttrValue(list=tf.compat.v1.AttrValue.ListValue(type=[t.as_datatype_enum for t in v]))
        if isinstance(v, list):
            field = "s" if isinstance(v[0], bytes) else "i"
            return tf.compat.v1.AttrValue(list=tf.compat.v1.AttrValue.ListValue(**{field: v}))
        if isinstance(v, tf.DType):
            return tf.compat.v1.AttrValue(type=v.as_datatype_enum)
        if isinstance(v, bool):
            return tf.compat.v1.AttrValue(b=v)
        return tf.compat.v1.AttrValue(**{"i" if isinstance(v, int) else "s": v if isinstance(v, int) else v.encode()})
    return tf.compat.v1.get_default_graph().create_op(
        name, inputs, [tf.float32], name="out", attrs={k: value(v) for k, v in attrs.items()}).outputs[0]
