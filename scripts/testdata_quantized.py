"""Graphs of ops on quantized tensors. Files of cases hold no quantized values: bytes are fed and fetched, and seen as
quantized in between. Importing this adds them to OPS of testdata_ops."""
import numpy as np
import tensorflow as tf

from testdata_ops import integers, op, random, raw

F, I, L = np.float32, np.int32, np.int64
PLAIN = {tf.qint8: tf.int8, tf.quint8: tf.uint8, tf.qint16: tf.int16, tf.quint16: tf.uint16, tf.qint32: tf.int32}


def quantized(x, dtype=tf.quint8):
    return raw.Bitcast(input=x, type=dtype)


def plain(results):
    """Results of an op, the quantized ones as the integers that they are."""
    return [raw.Bitcast(input=y, type=PLAIN[y.dtype]) if y.dtype in PLAIN else y for y in tf.nest.flatten(results)]


def levels(*shape, seed=0, dtype="u1"):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    return np.random.RandomState(seed).randint(low, high, shape, dtype=dtype)


def of_version(producer):
    """Makes the graph one of an older TensorFlow, for ops that later ones lack."""
    old = tf.compat.v1.GraphDef()
    old.versions.producer = producer
    tf.import_graph_def(old)


# ---- rounded as if quantized ----

_X = random(3, 4, low=-3, high=5)


@op("as wide as the numbers are, and given; unsigned; in double; of few bits", x=_X)
def QuantizeAndDequantize(x):
    of_version(21)
    v1 = raw.QuantizeAndDequantize
    return (v1(input=x), v1(input=x, range_given=True, input_min=-1., input_max=2., num_bits=4),
            v1(input=x, signed_input=False, num_bits=3), v1(input=tf.cast(x, tf.double)))


@op("a scale for each row and each column, rounded up and to even", x=_X)
def QuantizeAndDequantizeV2(x):
    v2 = raw.QuantizeAndDequantizeV2
    return (v2(input=x, input_min=tf.zeros([3]), input_max=tf.zeros([3]), axis=0, num_bits=4),
            v2(input=x, input_min=x[0], input_max=x[1], axis=1, num_bits=4, round_mode="HALF_UP", narrow_range=True),
            v2(input=x * 2, input_min=-4., input_max=3., range_given=True, num_bits=4, signed_input=False))


@op("bits as an input; a scale for each column, narrow, in double", x=_X, bits=I(5))
def QuantizeAndDequantizeV3(x, bits):
    v3, y = raw.QuantizeAndDequantizeV3, tf.cast(x, tf.double)
    return (v3(input=x, input_min=-1., input_max=2., num_bits=bits),
            v3(input=y, input_min=y[0], input_max=y[0] + 2, num_bits=bits, axis=1, narrow_range=True),
            v3(input=x, input_min=0., input_max=0., num_bits=bits, range_given=False))


@op("and its gradient, where the range ends: for all, for each column", x=_X, g=random(3, 4, seed=1))
def QuantizeAndDequantizeV4(x, g):
    v4, grad = raw.QuantizeAndDequantizeV4, raw.QuantizeAndDequantizeV4Grad
    low, high = tf.constant([-1., -2., 0., -.5]), tf.constant([1., 3., 2., .5])
    return (v4(input=x, input_min=-1., input_max=2.), v4(input=x, input_min=-1., input_max=2., range_given=True),
            v4(input=x, input_min=low, input_max=high, axis=1, num_bits=5),
            *grad(gradients=g, input=x, input_min=-1., input_max=2.),
            *grad(gradients=g, input=x, input_min=low, input_max=high, axis=1))


# ---- arithmetic ----

_A = dict(x=levels(3, 5), y=levels(3, 5, seed=1), row=levels(5, seed=2))
_RANGES = dict(min_x=-1., max_x=2.5, min_y=-.3, max_y=4.)


@op("alike, a row for all, a number for all", **_A)
def QuantizedAdd(x, y, row):
    return [z for a, b in ((x, y), (x, row), (row, x), (x, row[:1])) for z in plain(
        raw.QuantizedAdd(x=quantized(a), y=quantized(b), **_RANGES))]


@op("alike, a row for all, a number for all", **_A)
def QuantizedMul(x, y, row):
    return [z for a, b in ((x, y), (x, row), (row, x), (row[:1], x)) for z in plain(
        raw.QuantizedMul(x=quantized(a), y=quantized(b), **_RANGES))]


@op("unsigned and signed", x=levels(2, 3, 4), b=levels(4, seed=1), sx=levels(3, 4, dtype="i1"),
    sb=levels(4, seed=1, dtype="i1"))
def QuantizedBiasAdd(x, b, sx, sb):
    ends = dict(min_input=-1., max_input=3., min_bias=-.2, max_bias=.7, out_type=tf.qint32)
    return (plain(raw.QuantizedBiasAdd(input=quantized(x), bias=quantized(b), **ends)) +
            plain(raw.QuantizedBiasAdd(input=quantized(sx, tf.qint8), bias=quantized(sb, tf.qint8), **ends)))


@op("each of the four transpositions", a=levels(3, 5), b=levels(5, 4, seed=1))
def QuantizedMatMul(a, b):
    return [z for ta in (False, True) for tb in (False, True) for z in plain(raw.QuantizedMatMul(
        a=quantized(raw.Transpose(x=a, perm=[1, 0]) if ta else a),
        b=quantized(raw.Transpose(x=b, perm=[1, 0]) if tb else b), transpose_a=ta, transpose_b=tb, min_a=-1., max_a=2.,
        min_b=-.5, max_b=4., Toutput=tf.qint32))]


# ---- windows ----

_IMAGE = levels(2, 7, 6, 3)


@op("SAME and VALID, strides that leave pixels over, a range without 0; a signed filter", x=_IMAGE,
    w=levels(2, 3, 3, 4, seed=1))
def QuantizedConv2D(x, w):
    v = levels(2, 3, 3, 4, seed=1, dtype="i1")            # TensorFlow wants a signed filter to be constant

    def conv(stride, padding, low=-1.):
        return plain(raw.QuantizedConv2D(
            input=quantized(x), filter=quantized(w), min_input=low, max_input=2., min_filter=-.5, max_filter=3.,
            strides=[1, stride, stride, 1], padding=padding))
    signed = plain(raw.QuantizedConv2D(
        input=quantized(x), filter=quantized(tf.constant(v), tf.qint8), min_input=0., max_input=2., min_filter=-.5, max_filter=3.,
        strides=[1, 2, 2, 1], padding="SAME"))
    return signed + conv(1, "SAME") + conv(2, "SAME") + conv(1, "VALID") + conv(3, "VALID") + conv(4, "VALID") + conv(1, "SAME", 1.)


@op("halves to even; windows at the edge; signed", x=_IMAGE, s=levels(1, 4, 5, 2, dtype="i1"))
def QuantizedAvgPool(x, s):
    pool = raw.QuantizedAvgPool
    return (plain(pool(input=quantized(x), min_input=-1., max_input=2., ksize=[1, 3, 2, 1], strides=[1, 2, 2, 1],
                       padding="SAME")) +
            plain(pool(input=quantized(s, tf.qint8), min_input=-1., max_input=2., ksize=[1, 2, 2, 1],
                       strides=[1, 1, 1, 1], padding="VALID")))


@op("windows at the edge; overlapping ones; signed", x=_IMAGE, s=levels(1, 4, 5, 2, dtype="i1"))
def QuantizedMaxPool(x, s):
    pool = raw.QuantizedMaxPool
    return (plain(pool(input=quantized(x), min_input=-1., max_input=2., ksize=[1, 3, 2, 1], strides=[1, 2, 2, 1],
                       padding="SAME")) +
            plain(pool(input=quantized(s, tf.qint8), min_input=-1., max_input=2., ksize=[1, 2, 2, 1],
                       strides=[1, 1, 1, 1], padding="VALID")))


# ---- activations, parts, ranges ----

_SUMS = integers(2, 3, 4, high=2**31 - 1, seed=3) - np.int32(2**30)


@op("below 0 and above 6, of bytes and of sums", x=levels(3, 5), sums=_SUMS)
def QuantizedRelu6(x, sums):
    return [z for relu in (raw.QuantizedRelu, raw.QuantizedRelu6) for y in (quantized(x), quantized(sums, tf.qint32))
            for z in plain(relu(features=y, min_features=-3., max_features=9., out_type=y.dtype))]


@op("the range stays", x=levels(2, 6), shape=np.array([3, -1], I))
def QuantizedReshape(x, shape):
    return plain(raw.QuantizedReshape(tensor=quantized(x), shape=shape, input_min=-1., input_max=2.))


@op("ranges that differ, and one that is the whole; signed; one before the other", x=levels(2, 3), y=levels(2, 2, seed=1),
    sx=_SUMS)
def QuantizedConcat(x, y, sx):
    join, s = raw.QuantizedConcat, quantized(sx, tf.qint32)
    return (plain(join(concat_dim=1, values=[quantized(x), quantized(y)], input_mins=[-1., -3.], input_maxes=[2., 1.])) +
            plain(join(concat_dim=0, values=[quantized(x), quantized(x)], input_mins=[-1., 0.], input_maxes=[2., 1.])) +
            plain(join(concat_dim=2, values=[s, s], input_mins=[-1., -3.], input_maxes=[2., 1.])))


@op("to bytes, unsigned and signed; the range that is used", x=_SUMS)
def Requantize(x):
    sums, ends = quantized(x, tf.qint32), dict(input_min=-700., input_max=900.)
    wanted = dict(requested_output_min=-50., requested_output_max=100.)
    return (plain(raw.Requantize(input=sums, out_type=tf.quint8, **ends, **wanted)) +
            plain(raw.Requantize(input=sums, out_type=tf.qint8, **ends, **wanted)) +
            plain(raw.QuantizeDownAndShrinkRange(input=sums, out_type=tf.quint8, **ends)) +
            list(raw.RequantizationRange(input=sums, **ends)))


@op("a range for each channel", x=_SUMS.reshape(2, 2, 3, 2))
def RequantizePerChannel(x):
    sums, ends = quantized(x, tf.qint32), dict(input_min=[-700., -200.], input_max=[900., 100.])
    return (plain(raw.RequantizePerChannel(input=sums, out_type=tf.quint8, requested_output_min=0.,
                                           requested_output_max=300., **ends)) +
            plain(raw.RequantizePerChannel(input=sums, out_type=tf.qint8, requested_output_min=-200.,
                                           requested_output_max=300., **ends)) +
            list(raw.RequantizationRangePerChannel(input=sums, clip_value_max=1e30, **ends)) +
            list(raw.RequantizationRangePerChannel(input=sums, clip_value_max=6., **ends)))


# ---- normalization, images ----

@op("the range found, and given", x=levels(2, 3, 4, 2))
def QuantizedInstanceNorm(x):
    norm = raw.QuantizedInstanceNorm
    return (plain(norm(x=quantized(x), x_min=-1., x_max=3.)) +
            plain(norm(x=quantized(x), x_min=-1., x_max=3., output_range_given=True, given_y_min=-1., given_y_max=1.5)))


@op("scaled by gamma and not", x=levels(2, 3, 2, 2), m=levels(2, seed=1), v=levels(2, seed=2), b=levels(2, seed=3),
    g=levels(2, seed=4))
def QuantizedBatchNormWithGlobalNormalization(x, m, v, b, g):
    return [z for scale in (False, True) for z in plain(raw.QuantizedBatchNormWithGlobalNormalization(
        t=quantized(x), t_min=-10., t_max=20., m=quantized(m), m_min=-3., m_max=8., v=quantized(v), v_min=.5, v_max=90.,
        beta=quantized(b), beta_min=-1., beta_max=1., gamma=quantized(g), gamma_min=0., gamma_max=5.,
        out_type=tf.qint32, variance_epsilon=.01, scale_after_normalization=scale))]


@op("up and down, bytes, sums and floats; of a size that stays", x=levels(2, 3, 4, 3), sums=_SUMS.reshape(1, 4, 3, 2),
    f=random(1, 3, 2, 2))
def QuantizedResizeBilinear(x, sums, f):
    def resize(y, size, **k):
        return plain(raw.QuantizedResizeBilinear(images=y, size=size, min=-1., max=2., **k))
    return (resize(quantized(x), [5, 9]) + resize(quantized(x), [2, 3], align_corners=True) +
            resize(quantized(x), [4, 7], half_pixel_centers=True) + resize(quantized(x), [3, 4]) +
            resize(quantized(sums, tf.qint32), [7, 2]) + resize(f, [4, 4]))


# ---- uniform ----

_Q8, _Q32 = dict(quantization_min_val=-128, quantization_max_val=127), dict(quantization_min_val=-2**31, quantization_max_val=2**31 - 1)


def named(prefix, attrs):
    return {prefix + k: v for k, v in attrs.items()}


@op("one scale, a scale for each column; signed and unsigned bytes, 32 bits", x=random(3, 4, low=-40, high=60))
def UniformQuantize(x):
    def quantize(T, scales, zeros, axis=-1, **ends):
        return plain([raw.UniformQuantize(input=x, scales=scales, zero_points=zeros, Tout=T, quantization_axis=axis, **ends)])
    return (quantize(tf.qint8, .3, 5, **_Q8) + quantize(tf.qint8, [.3, .2, 1., .7], [1, 2, -3, 0], 1, **_Q8) +
            quantize(tf.quint8, .5, 100, quantization_min_val=0, quantization_max_val=255) +
            quantize(tf.qint32, [1e-3, .5, .1], [0, 7, -9], 0, **_Q32))


@op("one scale, a scale for each column; signed and unsigned bytes, 32 bits", x=levels(3, 4, dtype="i1"), u=levels(5),
    s=_SUMS)
def UniformDequantize(x, u, s):
    dequantize = raw.UniformDequantize
    return (dequantize(input=quantized(x, tf.qint8), scales=[.3, .2, 1., .7], zero_points=[1, 2, -3, 0], Tout=tf.float32,
                       quantization_axis=1, **_Q8),
            dequantize(input=quantized(u), scales=.25, zero_points=128, Tout=tf.float32, quantization_min_val=0,
                       quantization_max_val=255),
            dequantize(input=quantized(s, tf.qint32), scales=.25, zero_points=128, Tout=tf.float32, **_Q32))


@op("from all to all, to and from scales of columns", x=levels(3, 4, dtype="i1"), s=_SUMS)
def UniformRequantize(x, s):
    columns = [.3, .2, 1., .7], [1, 2, -3, 0]

    def requantize(y, ends, scales, zeros, axis, to_scales, to_zeros, to_axis):
        return plain([raw.UniformRequantize(
            input=y, input_scales=scales, input_zero_points=zeros, output_scales=to_scales, output_zero_points=to_zeros,
            Tout=tf.qint8, input_quantization_axis=axis, output_quantization_axis=to_axis, **named("input_", ends),
            **named("output_", _Q8))])
    y = quantized(x, tf.qint8)
    return (requantize(y, _Q8, .3, 1, -1, .25, -2, -1) + requantize(y, _Q8, *columns, 1, .25, -2, -1) +
            requantize(y, _Q8, .3, 1, -1, *columns, 1) + requantize(y, _Q8, *columns, 1, *columns, 1) +
            requantize(quantized(s, tf.qint32), _Q32, 1e-6, 5, -1, 30., 3, -1))


def uniform(op, axis, **more):
    return dict(lhs_quantization_axis=axis, rhs_quantization_axis=axis, output_quantization_axis=axis,
                **named("lhs_", _Q32), **named("rhs_", _Q32), **named("output_", _Q32), **more)


@op("alike and broadcast, one scale and a scale for each column", x=_SUMS.reshape(6, 4), y=_SUMS[0, 0])
def UniformQuantizedAdd(x, y):
    a, b = quantized(x, tf.qint32), quantized(y, tf.qint32)
    columns = [.3, .2, 1., .7], [1, 2, -3, 0]
    return (plain([raw.UniformQuantizedAdd(
        lhs=a, rhs=b, lhs_scales=.3, lhs_zero_points=1, rhs_scales=.2, rhs_zero_points=-1, output_scales=2.,
        output_zero_points=3, **uniform(None, -1))]) + plain([raw.UniformQuantizedAdd(
            lhs=a, rhs=a, lhs_scales=columns[0], lhs_zero_points=columns[1], rhs_scales=columns[0],
            rhs_zero_points=columns[1], output_scales=[3., 2., 5., 7.], output_zero_points=columns[1], **uniform(None, 1))]))


@op("one pair of bounds, a pair for each column", x=_SUMS.reshape(6, 4))
def UniformQuantizedClipByValue(x):
    clip, a = raw.UniformQuantizedClipByValue, quantized(x, tf.qint32)
    def q(v): return quantized(tf.constant(v), tf.qint32)
    return (plain([clip(operand=a, min=q(-10**8), max=q(3 * 10**8), scales=.3, zero_points=4, **_Q32)]) +
            plain([clip(operand=a, min=q([-5, 0, 10**7, -10**9]), max=q([5, 10**8, 10**8, 10**9]), scales=[.1] * 4,
                        zero_points=[0] * 4, quantization_axis=1, **_Q32)]))


@op("one scale, a scale for each column of the right side, and of the result", x=levels(3, 5, dtype="i1"),
    y=levels(5, 4, seed=1, dtype="i1"))
def UniformQuantizedDot(x, y):
    def dot(scales, zeros, axis, to_scales, to_zeros, to_axis):
        return plain([raw.UniformQuantizedDot(
            lhs=quantized(x, tf.qint8), rhs=quantized(y, tf.qint8), lhs_scales=.3, lhs_zero_points=4, rhs_scales=scales,
            rhs_zero_points=zeros, output_scales=to_scales, output_zero_points=to_zeros, Tout=tf.qint32,
            rhs_quantization_axis=axis, output_quantization_axis=to_axis, **named("lhs_", _Q8), **named("rhs_", _Q8),
            **named("output_", _Q32))])
    columns = [.3, .2, 1., .7], [1, 2, -3, 0]
    return dot(.2, -3, -1, .01, 5, -1) + dot(*columns, 1, .01, 5, -1) + dot(*columns, 1, *columns, 1)


@op("rows of floats that are quantized, one of them zeros; one scale, a scale for each column",
    x=random(3, 5, low=-2, high=5) * np.array([[1.], [0.], [-3.]], F), y=levels(5, 4, seed=1, dtype="i1"))
def UniformQuantizedDotHybrid(x, y):
    dot, b = raw.UniformQuantizedDotHybrid, quantized(y, tf.qint8)
    return (dot(lhs=x, rhs=b, rhs_scales=.3, rhs_zero_points=4, Tout=tf.float32, **named("rhs_", _Q8)),
            dot(lhs=x, rhs=b, rhs_scales=[.3, .2, 1., .7], rhs_zero_points=[1, 2, -3, 0], Tout=tf.float32,
                rhs_quantization_axis=1, **named("rhs_", _Q8)))
