"""Pieces of random graphs that compute: arithmetic of every dtype, shapes, products and convolutions."""
import numpy as np
import tensorflow as tf

from graph_maker import COMPLEX, FLOATS, HALVES, INTS, NUMBERS, RAW, VALUES, V1, piece


def plus(x, c):
    return x + tf.constant(c, x.dtype)


# ---- arithmetic ----

@piece("numbers", 6)
def unary(m):
    x = m.pick(NUMBERS)
    anything = [tf.negative, tf.identity, tf.square, tf.zeros_like, tf.ones_like, tf.stop_gradient, lambda v: tf.negative(tf.negative(v)),
                lambda v: v * v, lambda v: v + v, lambda v: tf.add_n([v, v, v]), lambda v: RAW.Snapshot(input=v),
                lambda v: RAW.PreventGradient(input=v), lambda v: RAW.IdentityN(input=[v, v])[1], tf.math.conj,
                lambda v: tf.subtract(v, v), lambda v: tf.raw_ops.DeepCopy(x=v), lambda v: tf.pow(v, tf.constant(2, v.dtype))]
    real = [tf.abs, tf.nn.relu, lambda v: tf.maximum(v, v), lambda v: tf.clip_by_value(v, v - v, v + v * v), tf.nn.relu6]
    floats = [tf.tanh, tf.sigmoid, tf.nn.softplus, tf.nn.elu, tf.nn.selu, tf.math.erf, tf.sin, tf.cos, tf.nn.softsign,
              lambda v: tf.sqrt(tf.abs(v)), lambda v: tf.math.rsqrt(plus(tf.abs(v), 1)), lambda v: tf.math.log1p(tf.abs(v)),
              lambda v: tf.math.log(plus(tf.abs(v), 1)), lambda v: tf.exp(tf.minimum(v, tf.constant(2, v.dtype))),
              lambda v: tf.math.expm1(tf.minimum(v, tf.constant(2, v.dtype))), lambda v: 1 / plus(tf.abs(v), 1),
              lambda v: tf.math.reciprocal(tf.math.reciprocal(plus(tf.abs(v), 1))), lambda v: tf.nn.leaky_relu(v, m.choice(.1, .3)),
              lambda v: v * tf.sigmoid(v), lambda v: tf.pow(plus(tf.abs(v), 1), tf.constant(m.choice(.5, -.5, -1, 0, 1, 3), v.dtype)),
              lambda v: RAW.CheckNumerics(tensor=tf.tanh(v), message="m"), lambda v: tf.math.divide_no_nan(v, v - v),
              lambda v: tf.sqrt(plus(tf.abs(v), 1)) / tf.sqrt(plus(tf.abs(v), 2)), lambda v: tf.nn.gelu(v, approximate=m.chance(.5))]
    some = anything + ([] if x.dtype in COMPLEX else real) + (floats * 2 if x.dtype in FLOATS else [])
    if x.dtype in COMPLEX:
        some += [tf.math.real, tf.math.imag, tf.abs, tf.math.conj, lambda v: tf.math.conj(tf.math.conj(v)), tf.tanh] * 2
    if x.dtype in INTS:
        some += [tf.bitwise.invert, lambda v: RAW.PopulationCount(x=v), lambda v: tf.bitwise.bitwise_and(v, tf.constant(3, v.dtype))]
    return m.r.choice(some)(x)


@piece("numbers", 6)
def binary(m):
    x = m.tame(m.pick(NUMBERS))
    y = m.like(x)
    anything = [tf.add, tf.subtract, tf.multiply, RAW.Add if x.dtype != tf.bool else tf.add, tf.math.squared_difference,
                tf.math.multiply_no_nan]
    real = [tf.maximum, tf.minimum, lambda a, b: tf.math.floordiv(a, m.positive(a.dtype)), lambda a, b: a + b - b]
    floats = [lambda a, b: a / plus(tf.abs(b), 1), tf.math.divide_no_nan, tf.atan2, tf.math.xdivy, lambda a, b: tf.math.xlogy(a, tf.abs(b))]
    some = anything * 2 + ([] if x.dtype in COMPLEX else real) + (floats if x.dtype in FLOATS else [])
    if x.dtype in INTS:
        some += [tf.bitwise.bitwise_or, tf.bitwise.bitwise_xor, lambda a, b: tf.math.floormod(a, m.positive(a.dtype)),
                 lambda a, b: tf.bitwise.left_shift(a, tf.constant(1, a.dtype)), lambda a, b: tf.truncatediv(a, m.positive(a.dtype))]
    op = m.r.choice(some)
    return op(x, y) if m.chance(.7) or op in floats else op(y, x)


@piece("numbers", 4)
def neutral(m):
    """A constant that changes nothing, or everything, on either side."""
    x = m.pick(NUMBERS)
    shape = x.shape.as_list()
    dims = () if None in shape or m.chance(.4) else m.choice(tuple(shape), tuple(shape[-1:]), (1,) * len(shape), (2, *shape))
    zero, one = m.const(x.dtype, dims, "zero"), m.const(x.dtype, dims, "one")
    ways = [lambda: x + zero, lambda: zero + x, lambda: x - zero, lambda: zero - x, lambda: x * one, lambda: one * x, lambda: x * zero,
            lambda: zero * x, lambda: x / one if x.dtype not in INTS else tf.math.floordiv(x, one), lambda: tf.cast(x, x.dtype),
            lambda: tf.math.add_n([x, m.const(x.dtype, tuple(shape)), m.const(x.dtype, tuple(shape))]),
            lambda: (x + m.const(x.dtype)) + m.const(x.dtype), lambda: (x * m.const(x.dtype)) * m.const(x.dtype),
            lambda: (x - m.const(x.dtype)) + m.const(x.dtype), lambda: m.const(x.dtype) - (m.const(x.dtype) - x),
            lambda: (x * m.positive(x.dtype)) + (x * m.positive(x.dtype)),
            lambda: (x + m.const(x.dtype)) + (m.like(x) + m.const(x.dtype))]
    return m.r.choice(ways)()


@piece("numbers", 3)
def truth(m):
    x = m.pick([t for t in VALUES if t not in COMPLEX], exact=True)
    if x.dtype == tf.bool:
        b = m.r.choice([tf.logical_not, lambda v: tf.logical_not(tf.logical_not(v)), lambda v: v & True, lambda v: v | False,
                        lambda v: v & v,
                        lambda v: tf.logical_or(v, m.const(tf.bool)), lambda v: tf.reduce_any(v), lambda v: tf.reduce_all(v, axis=0)])(x)
        return m.add(b, exact=True) or tf.cast(b, m.r.choice(NUMBERS))
    if x.dtype == tf.string:
        return tf.equal(x, m.const(tf.string))
    b = m.r.choice([tf.equal, tf.not_equal, tf.less, tf.greater_equal])(x, m.choice(x, m.const(x.dtype)))
    m.add(b, exact=True)
    other = m.pick(NUMBERS)
    picked = [lambda: tf.where(b, x, m.like(x)), lambda: tf.logical_not(tf.less(x, m.const(x.dtype))), lambda: tf.cast(b, other.dtype),
              lambda: RAW.SelectV2(condition=b, t=x, e=x), lambda: RAW.Select(condition=b, x=x, y=x + x),
              lambda: tf.where(m.const(tf.bool), x, x * x)]
    return m.r.choice(picked)()


@piece("numbers", 3)
def cast(m):
    x = m.pick([*NUMBERS, tf.bool], exact=True)
    real = [t for t in NUMBERS if t not in COMPLEX]
    to = m.r.choice(NUMBERS if x.dtype not in COMPLEX else COMPLEX)
    ways = [lambda: tf.cast(x, to), lambda: tf.cast(tf.cast(x, m.r.choice([tf.float64, tf.float32])), m.r.choice(real)),
            lambda: tf.transpose(tf.cast(x, to)), lambda: tf.cast(tf.reshape(x, [-1]), to), lambda: tf.cast(tf.cast(x, to), x.dtype),
            lambda: tf.bitcast(x, {1: tf.uint8, 2: tf.int16, 4: tf.int32, 8: tf.int64, 16: tf.complex128}[x.dtype.size]),
            lambda: tf.bitcast(tf.bitcast(x, tf.uint8), x.dtype), lambda: tf.saturate_cast(x, m.r.choice(INTS))]
    return m.r.choice(ways)()


@piece("numbers", 3)
def folded(m):
    """Constants alone."""
    dtype = m.r.choice(VALUES)
    shape = m.choice((), (2,), (2, 3), (0,), (40, 10))
    a, b = m.const(dtype, shape), m.const(dtype, shape)
    if dtype == tf.string:
        return m.r.choice([lambda: a + b, lambda: tf.reshape(a, [-1]), lambda: tf.strings.length(a), lambda: tf.concat([[a], [b]], 0)])()
    if dtype == tf.bool:
        return m.r.choice([tf.logical_and, tf.math.logical_xor, lambda u, v: tf.where(u, u, v)])(a, b)
    ways = [lambda: a + b, lambda: a * b, lambda: tf.reduce_sum(a), lambda: tf.fill([3, 20], tf.reduce_sum(a - b)),
            lambda: tf.stack([a, b]),
            lambda: tf.concat([[a], [b], [a]], 0), lambda: tf.transpose(a), lambda: tf.tile(tf.reshape(a, [-1]), [2]),
            lambda: tf.zeros_like(a),
            lambda: tf.split(tf.stack([a, b]), 2)[1], lambda: tf.unique(tf.reshape(tf.cast(a, tf.int32), [-1]))[0],
            lambda: tf.cast(a, m.r.choice(NUMBERS))]
    return m.r.choice(ways)()


@piece("numbers", 3)
def reduction(m):
    x = m.tame(m.pick(NUMBERS))
    rank = x.shape.rank
    axes = m.r.sample(range(-rank, 0), m.r.randrange(rank + 1)) if m.chance(.8) else None
    ops = [tf.reduce_sum, tf.reduce_mean, tf.reduce_prod] + ([] if x.dtype in COMPLEX else [tf.reduce_max, tf.reduce_min])
    if x.dtype in FLOATS and m.chance(.2):
        ops = [tf.reduce_logsumexp, tf.nn.softmax, tf.nn.log_softmax]
        return m.r.choice(ops)(x)
    return m.r.choice(ops)(x, axes, keepdims=m.chance(.5))


@piece("numbers", 2)
def twice(m):
    """The same computed twice, and read as one or not."""
    x = m.tame(m.pick(NUMBERS))
    y, c = m.like(x), m.const(x.dtype)
    f = m.r.choice([lambda: (x + y, y + x), lambda: (x * c, c * x), lambda: (tf.transpose(x), tf.transpose(x)),
                    lambda: (tf.reduce_sum(x), tf.reduce_sum(x))])
    a, b = f()
    return m.r.choice([lambda: a - b, lambda: a * b, lambda: [a, b], lambda: tf.concat([[a], [b]], 0)])()


@piece("numbers", 2)
def waits(m):
    x, y = m.pick(VALUES), m.pick(VALUES)
    first = m.r.choice([lambda: [y], lambda: [y.op], lambda: [tf.no_op()], lambda: [tf.constant(1.)], lambda: [tf.group(x, y)],
                        lambda: [tf.identity(y)],
                        lambda: [V1.Assert(tf.constant(True), [y])], lambda: [tf.print("random graph", y,
                                                                                       output_stream="file:///dev/null")],
                        lambda: [V1.Assert(tf.reduce_all(tf.equal(tf.shape(y), tf.shape(y))), [x])]])()
    with tf.control_dependencies(first):
        return m.r.choice([tf.identity, lambda v: RAW.IdentityN(input=[v, y])[m.choice(0, 1)],
                           lambda v: tf.concat([[v], [tf.identity(v)]], 0),
                           lambda v: v + m.const(v.dtype), lambda v: tf.constant(1, v.dtype) * v])(x)


@piece("numbers", 2)
def several(m):
    """Nodes with several outputs of which some are read."""
    x = m.pick(VALUES, rank=2)
    n = x.shape.as_list()
    way = m.r.randrange(6)
    if way == 0 and n[0]:
        return m.r.sample(tf.unstack(x), m.r.randrange(1, n[0] + 1))
    if way == 1 and n[1]:
        return tf.split(x, n[1], 1)[m.r.randrange(n[1])]
    if way == 2:
        y, z = m.pick(VALUES), m.pick(VALUES)
        return m.r.sample(RAW.IdentityN(input=[x, y, z]), 2)
    if way == 3:
        f, t = V1.raw_ops.Switch(data=x, pred=m.choice(tf.constant(True), tf.constant(False), m.feed(tf.bool, [])))
        return RAW.Merge(inputs=[tf.identity(f), m.choice(tf.identity(t), tf.reverse(t, [0]))])[m.choice(0, 0, 1)]
    if way == 4 and x.dtype in FLOATS and x.dtype not in HALVES:
        return list(tf.nn.moments(x, [0]))
    return tf.unique_with_counts(tf.reshape(m.pick(INTS, exact=True), [-1]))[m.r.randrange(3)]


# ---- shapes ----

@piece("shapes", 4)
def shaping(m):
    x = m.pick(VALUES)
    rank, dims = x.shape.rank, x.shape.as_list()
    perm = m.r.sample(range(rank), rank)
    ways = [lambda: tf.reshape(x, [-1]), lambda: tf.transpose(x, perm),
            lambda: tf.transpose(tf.transpose(x, perm), [perm.index(i) for i in range(rank)]),
            lambda: tf.expand_dims(x, m.r.randrange(rank + 1)), lambda: tf.squeeze(tf.expand_dims(x, 0), [0]), lambda: tf.concat([x], 0),
            lambda: tf.concat([x, x], m.r.randrange(rank)), lambda: tf.concat([tf.concat([x, x], 0), x], 0), lambda: tf.reverse(x, []),
            lambda: tf.stack([x, x], m.r.randrange(rank + 1)), lambda: tf.tile(x, [m.choice(1, 1, 2) for _ in dims]),
            lambda: tf.reverse(x, [rank - 1]),
            lambda: tf.pad(x, [[m.choice(0, 0, 1)] * 2 for _ in dims]) if x.dtype != tf.string else None, lambda: tf.gather(x, [0, 0]),
            lambda: x[tuple(m.choice(slice(None), slice(0, 1), slice(None, None, -1), 0) for _ in dims)],
            lambda: tf.slice(x, [0] * rank, [-1] * rank),
            lambda: tf.strided_slice(x, [0] * rank, [1] * rank), lambda: x[..., tf.newaxis], lambda: tf.roll(x, 1, 0),
            lambda: tf.reshape(tf.reshape(x, [-1]), tf.shape(x)), lambda: tf.broadcast_to(x, tf.concat([[2], tf.shape(x)], 0)),
            lambda: tf.stack([x])[0],
            lambda: tf.unstack(tf.stack([x, x]))[1], lambda: tf.stack([x, m.like(x), x], 0)[1:2], lambda: tf.repeat(x, 2, 0),
            lambda: tf.reshape(x, dims)]
    return m.r.choice(ways)()


@piece("shapes", 3)
def shapes(m):
    x, out = m.pick(VALUES), m.choice(tf.int32, tf.int64)
    s = tf.shape(x, out)
    rank = x.shape.rank
    ways = [lambda: s, lambda: tf.size(x, out), lambda: tf.rank(x), lambda: tf.reduce_prod(s),
            lambda: s[m.r.randrange(rank)] * tf.cast(2, out),
            lambda: tf.concat([s[:1], s[1:]], 0), lambda: tf.stack([s[0], tf.cast(1, out)]), lambda: tf.shape_n([x, x], out)[1],
            lambda: tf.reshape(x, tf.stack([s[0], tf.cast(-1, out)])), lambda: tf.broadcast_dynamic_shape(tf.shape(x), tf.shape(x)),
            lambda: tf.zeros(s, m.r.choice(NUMBERS)), lambda: tf.ones(s, tf.float32) * 2., lambda: tf.range(s[0]),
            lambda: tf.fill(s, m.const(x.dtype)),
            lambda: tf.cast(tf.size(x), tf.float32) + 1., lambda: tf.eye(tf.shape(x)[0]), lambda: tf.one_hot(tf.range(3), tf.shape(x)[0]),
            lambda: tf.gather(s, [0]), lambda: tf.linspace(0., 1., tf.rank(x) + 2), lambda: tf.sequence_mask(s, 5)]
    return m.r.choice(ways)()


@piece("shapes", 2)
def moves(m):
    """Values that go from place to place."""
    x = m.pick(VALUES, rank=2, known=True)
    rows = x.shape.as_list()[0]
    if not rows:
        return None
    index = m.const(m.choice(tf.int32, tf.int64), (2,), "zero")
    ways = [lambda: tf.gather_nd(x, tf.reshape(index, [2, 1])), lambda: tf.dynamic_partition(x, [i % 2 for i in range(rows)], 2)[0],
            lambda: tf.dynamic_stitch([[0, 1], [2]], [x[:1] if rows < 2 else x[:2], x[:1]]) if rows >= 2 else None,
            lambda: tf.scatter_nd([[1]], x[:1], [3, *x.shape.as_list()[1:]]), lambda: tf.tensor_scatter_nd_update(x, [[0]], x[:1]),
            lambda: tf.boolean_mask(x, [i % 2 == 0 for i in range(rows)]), lambda: tf.where(tf.equal(x, x)), lambda: tf.linalg.diag_part(x),
            lambda: tf.linalg.band_part(x, 0, -1), lambda: tf.sort(x) if x.dtype not in (tf.string, tf.bool, *COMPLEX) else None,
            lambda: tf.math.top_k(x, 1)[m.choice(0, 1)], lambda: tf.cumsum(x, m.choice(0, 1), exclusive=m.chance(.5))]
    return m.r.choice(ways)()


# ---- products ----

@piece("products", 4)
def product(m):
    dtypes = [tf.float32] * 4 + [*FLOATS, *COMPLEX, tf.int32, tf.int64]
    x = m.tame(m.pick(m.r.choice(dtypes), rank=2))
    k, n = x.shape.as_list()[1], m.choice(2, 4)
    if k is None:
        return None
    w = m.const(x.dtype, (k, n), "any")
    ways = [lambda: tf.matmul(x, w), lambda: tf.matmul(x, m.const(x.dtype, (n, k), "any"), transpose_b=True),
            lambda: tf.matmul(x, tf.transpose(tf.transpose(w))),
            lambda: tf.matmul(x, tf.transpose(m.const(x.dtype, (n, k), "any"))), lambda: tf.matmul(tf.transpose(x), x),
            lambda: tf.matmul(x, x, adjoint_b=True),
            lambda: tf.matmul(tf.stack([x, x]), tf.stack([w, w])), lambda: tf.matmul(tf.math.conj(x), w),
            lambda: tf.einsum("ij,jk->ki", x, w),
            lambda: tf.tensordot(x, w, 1), lambda: tf.matmul(tf.stack([x, x]), w[None]) * m.const(x.dtype) + m.const(x.dtype, (2, 1, n))]
    y = m.r.choice(ways)()
    bias = y.shape.as_list()[-1]
    if bias and m.chance(.6):
        y = m.choice(tf.nn.bias_add, tf.add)(y, m.const(y.dtype, (bias,), "any"))
    return activated(m, y)


def activated(m, y):
    if y.dtype in FLOATS and m.chance(.6):
        act = m.r.choice([tf.nn.relu, tf.nn.relu6, tf.nn.elu, tf.tanh, tf.sigmoid, tf.nn.leaky_relu, lambda v: tf.nn.gelu(v, True),
                          tf.nn.gelu, tf.nn.silu])
        return act(y)
    return y


@piece("products", 3)
def convolution(m):
    dtype = m.r.choice([tf.float32] * 3 + FLOATS)
    x = m.tame(m.pick(dtype, rank=4, known=True))
    if min(x.shape.as_list()[1:3]) < 2 or 0 in x.shape.as_list():
        x = m.feed(dtype, [1, 6, 6, 4])
    c, k, o, pad = x.shape.as_list()[3], m.choice(1, 3), m.choice(2, 4), "SAME"
    if m.chance(.2):
        x, pad = tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]]), m.choice("SAME", "VALID") if k == 1 else "VALID"
    if m.chance(.25):
        y = tf.nn.depthwise_conv2d(x, m.const(dtype, (k, k, c, 1), "any"), [1, 1, 1, 1], pad)
    else:
        y = tf.nn.conv2d(x, m.const(dtype, (k, k, c, o), "any"), 1, pad)
    o = y.shape.as_list()[3]
    after = m.r.random()
    if after < .35:
        y = tf.nn.bias_add(y, m.const(dtype, (o,), "any"))
    elif after < .5:
        y = m.choice(tf.add, tf.multiply)(y, m.const(dtype, (o,), "any"))
    elif after < .7 and dtype != tf.float64:
        one = lambda: tf.constant(m.n.rand(o).astype("f") + .5)
        y = V1.nn.fused_batch_norm(y, one(), one(), one(), one(), is_training=False)[0]
    elif after < .8 and y.shape.as_list() == x.shape.as_list():
        y = y + x
    y = activated(m, y)
    return m.choice(tf.nn.max_pool2d, tf.nn.avg_pool2d)(y, 2, 2, "SAME") if m.chance(.2) else y


@piece("products", 2)
def gradient(m):
    x = m.tame(m.pick([tf.float32, tf.float64], known=True))
    w = m.const(x.dtype, (x.shape.as_list()[-1], 2), "any") if x.shape.rank == 2 else m.const(x.dtype)
    y = m.r.choice([lambda: tf.reduce_sum(tf.matmul(x, w) if x.shape.rank == 2 else x * w),
                    lambda: tf.reduce_mean(tf.tanh(x + m.const(x.dtype))),
                    lambda: tf.reduce_sum(tf.nn.softmax(tf.reshape(x, [1, -1])) * 2), lambda: tf.reduce_sum(tf.square(x) * m.like(x)),
                    lambda: tf.reduce_max(tf.reshape(x, [-1])), lambda: tf.reduce_sum(tf.concat([x, x * x], 0))])()
    return V1.gradients(y, [x])[0]


@piece("shapes")
def numbers_of_chance(m):
    """What the seed decides, and no state."""
    shape = [int(v) for v in np.maximum(1, m.n.randint(0, 4, 2))]
    ways = [lambda: tf.random.stateless_uniform(shape, [1, 2]), lambda: tf.random.stateless_normal(shape, [m.r.randrange(9), 2],
                                                                                                   dtype=m.choice(tf.float32, tf.float64)),
            lambda: tf.random.stateless_uniform(shape, [3, 4], 0, 9, m.choice(tf.int32, tf.int64))]
    return m.r.choice(ways)()
