"""Programs that are written twice: here for tf.function, and in tests/trace/programs/*.cpp for lib/trace, by the same names.
programs_test.py compares the graphs, what they give and their gradients.

  @program("family", F(2, 3), I(4, high=7))     x: float [2,3], y: int32 [4] from 0 to 6
  def Name(x, y): ...

Inputs are named x, y, z, ... in Python; what is fed is random. None is a dimension that is not known while tracing.
One file however long: it is a list of small programs.
"""

import inspect

import numpy as np
import tensorflow as tf


class Input:
    """What an input is, and what is fed: `make` gives it, of a generator and a shape in which unknown dimensions are 3."""
    def __init__(self, dtype, shape, make):
        self.dtype, self.shape, self.make = tf.as_dtype(dtype), shape, make

    def spec(self, name):
        return tf.TensorSpec(self.shape, self.dtype, name)

    def values(self, random):
        shape = [3 if dim is None else dim for dim in self.shape]
        return np.asarray(self.make(random, shape)).astype(self.dtype.as_numpy_dtype)


def F(*shape):
    """Normal."""
    return Input(tf.float32, shape, lambda random, shape: random.normal(size=shape))


def P(*shape):
    """Positive: from 0.3 to 3."""
    return Input(tf.float32, shape, lambda random, shape: random.uniform(0.3, 3, size=shape))


def D(*shape):
    """Normal, double."""
    return Input(tf.float64, shape, lambda random, shape: random.normal(size=shape))


def I(*shape, low=0, high=10, dtype=tf.int32):
    return Input(dtype, shape, lambda random, shape: random.integers(low, high, size=shape))


def B(*shape):
    return Input(tf.bool, shape, lambda random, shape: random.uniform(size=shape) < 0.5)


def S(*shape):
    """Words of several lengths, in upper and lower case."""
    words = np.array([b"Grapnel", b"tensor", b"FLOW", b"a", b"", b"loop body"], dtype=object)
    return Input(tf.string, shape, lambda random, shape: words[random.integers(0, len(words), size=shape)])


def Spd(n):
    """A symmetric, positive definite matrix."""
    def make(random, shape):
        values = random.normal(size=shape)
        return values @ values.T + 2 * np.eye(shape[0])
    return Input(tf.float32, (n, n), make)


class Program:
    def __init__(self, family, inputs, function):
        self.name, self.family, self.inputs, self.function = function.__name__, family, inputs, function
        self.specs = [i.spec(name) for i, name in zip(inputs, inspect.signature(function).parameters)]

    def trace(self):
        return tf.function(self.function, autograph=False).get_concrete_function(*self.specs)

    def feeds(self):
        """The same in each process; other values for each program."""
        random = np.random.default_rng([len(self.name), *self.name.encode()])
        return [i.values(random) for i in self.inputs]


PROGRAMS = {}


def program(family, *inputs):
    def add(function):
        PROGRAMS[function.__name__] = Program(family, inputs, function)
        return function
    return add


# --- Arithmetic.

@program("arithmetic", F(None))
def Polynomial(x):
    top = (2.0 * x + 3.0) * x - 1.0
    bottom = x * x + 1.0
    return top / bottom


@program("arithmetic", I(4, low=-20, high=20), I(4, low=1, high=7))
def IntegerDivision(a, b):
    floor = a // b
    rest = a % b
    true = a / b
    return floor, rest, true, floor * b + rest


@program("arithmetic", F(5), F(5))
def Comparisons(x, y):
    less = x < y
    both = tf.logical_and(less, x != 0.0)
    either = less | (y >= 1.0)
    return tf.where(both, tf.maximum(x, y), tf.minimum(x, -y)), either, tf.logical_not(both)


@program("arithmetic", P(3), P(3))
def PowersAndRoots(x, y):
    root = tf.sqrt(x) + tf.math.rsqrt(y)
    power = tf.pow(x, y) * tf.exp(-x)
    return root, power, tf.math.log1p(y), tf.square(x) - tf.abs(y)


@program("arithmetic", I(3), F(3), D(3))
def MixedDtypes(i, x, d):
    wide = tf.cast(x, tf.float64) + d
    half = tf.cast(i, tf.float32) * x
    return wide, half, tf.cast(half, tf.int32) + i


@program("arithmetic", F(4), F(4))
def Waves(x, y):
    angle = tf.math.atan2(y, x)
    s = tf.sin(angle)
    c = tf.cos(angle)
    return s * s + c * c, tf.tanh(s) - tf.sigmoid(c), tf.math.erf(x), tf.floor(y), tf.round(x)


# --- Reductions.

@program("reductions", F(4, 3))
def MeanAndVariance(x):
    mean, variance = tf.nn.moments(x, axes=[0])
    return mean, variance


@program("reductions", F(2, 3, 4))
def ReduceAxes(x):
    total = tf.reduce_sum(x, axis=[0, 2])
    kept = tf.reduce_max(x, axis=-1, keepdims=True)
    product = tf.reduce_prod(x, axis=1)
    return total, kept, product, tf.reduce_mean(x)


@program("reductions", F(2, None))
def UnknownAxis(x):
    each = tf.reduce_sum(x, axis=1)
    share = x / tf.expand_dims(each, 1)
    count = tf.cast(tf.size(x), tf.float32)
    return share, tf.reduce_sum(x) / count


@program("reductions", F(3, 5))
def Extremes(x):
    best = tf.argmax(x, axis=1)
    worst = tf.argmin(x, axis=1, output_type=tf.int32)
    values, places = tf.math.top_k(x, k=2)
    return best, worst, values, places


@program("reductions", F(3, 4))
def CumulativeSums(x):
    running = tf.cumsum(x, axis=1)
    before = tf.cumsum(x, axis=1, exclusive=True)
    after = tf.cumsum(x, axis=0, reverse=True)
    product = tf.math.cumprod(x, axis=1)
    return running, before, after, product


@program("reductions", F(6))
def Spread(x):
    deviation = tf.math.reduce_std(x)
    variance = tf.math.reduce_variance(x)
    ordered = tf.sort(x)
    falling = tf.argsort(x, direction="DESCENDING")
    return deviation, variance, ordered, falling


# --- Shapes and slicing.

@program("shapes", F(4, 6))
def Slicing(x):
    part = x[1:, ::2]
    last = x[..., -1]
    column = x[:, tf.newaxis, 2]
    back = x[::-1, 1:-1]
    return part, last, column, back


@program("shapes", F(2, 3, 4))
def Reshaping(x):
    flat = tf.reshape(x, [2, -1])
    turned = tf.transpose(x, [2, 0, 1])
    deep = tf.expand_dims(flat, 0)
    back = tf.squeeze(deep, [0])
    return flat, turned, deep, back + 1.0, tf.transpose(flat)


@program("shapes", F(2, 3))
def PadAndTile(x):
    border = tf.pad(x, [[1, 1], [0, 2]])
    mirrored = tf.pad(x, [[0, 0], [1, 1]], mode="REFLECT")
    filled = tf.pad(x, [[0, 1], [0, 0]], constant_values=9.0)
    return border, mirrored, filled, tf.tile(x, [2, 1])


@program("shapes", F(4, 6))
def SplitAndConcat(x):
    left, middle, right = tf.split(x, 3, axis=1)
    head, tail = tf.split(x, [1, 3], axis=0)
    rows = tf.unstack(x)
    return tf.concat([right, middle, left], axis=1), tf.concat([tail, head], axis=0), tf.stack(rows[::2], axis=1)


@program("shapes", F(5, 3), I(4, high=5), I(2, 2, high=3))
def GatherRows(x, i, j):
    rows = tf.gather(x, i)
    columns = tf.gather(x, i % 3, axis=1)
    points = tf.gather_nd(x, j)
    return rows, columns, points


@program("shapes", F(None, 3))
def DynamicShape(x):
    shape = tf.shape(x)
    n = shape[0]
    index = tf.range(n)
    filled = tf.fill([n, 2], 0.5)
    return tf.concat([x, filled], axis=1), index, tf.zeros([n]), tf.ones_like(x), tf.reshape(x, [n * 3])


@program("shapes", I(5, high=4), F(5, 4))
def Masks(i, x):
    chosen = tf.one_hot(i, 4)
    picked = tf.reduce_sum(x * chosen, axis=1)
    kept = tf.boolean_mask(x, picked > 0.0)
    lengths = tf.sequence_mask(i, 4)
    return chosen, picked, tf.shape(kept)[1], lengths


# --- Control flow.

@program("control flow", I(low=3, high=40))
def Collatz(n):
    def step(n, steps):
        next = tf.cond(n % 2 == 0, lambda: n // 2, lambda: 3 * n + 1)
        return next, steps + 1
    return tf.while_loop(lambda n, steps: n > 1, step, [n, tf.constant(0)])


@program("control flow", F(3))
def NestedLoops(x):
    def outer(i, v):
        def inner(j, u):
            next = u * 0.5 + x
            return j + 1, next
        w = tf.while_loop(lambda j, u: j < 3, inner, [tf.constant(0), v])[1]
        return i + 1, w
    return tf.while_loop(lambda i, v: i < 2, outer, [tf.constant(0), x])[1]


@program("control flow", F(4))
def CollectSquares(x):
    squares = tf.TensorArray(tf.float32, size=4, element_shape=[])

    def body(i, squares):
        v = x[i]
        return i + 1, squares.write(i, v * v)
    squares = tf.while_loop(lambda i, squares: i < 4, body, [tf.constant(0), squares])[1]
    return squares.stack()


@program("control flow", F(3, 2))
def RunningRows(x):
    rows = tf.TensorArray(tf.float32, size=3, element_shape=[2]).unstack(x)
    sums = tf.TensorArray(tf.float32, size=3, element_shape=[2])

    def body(i, total, sums):
        next = total + rows.read(i)
        return i + 1, next, sums.write(i, next)
    loop = tf.while_loop(lambda i, total, sums: i < 3, body, [tf.constant(0), tf.zeros([2]), sums])
    return loop[1], loop[2].stack()


@program("control flow", I(low=5, high=9))
def GrowingArray(n):
    numbers = tf.TensorArray(tf.int32, size=0, dynamic_size=True, element_shape=[])

    def body(i, a, b, numbers):
        numbers = numbers.write(i, a)
        return i + 1, b, a + b, numbers
    loop = tf.while_loop(lambda i, a, b, numbers: i < n, body, [tf.constant(0), tf.constant(0), tf.constant(1), numbers])
    return loop[3].stack(), loop[3].size()


@program("control flow", F(3))
def BranchInLoop(x):
    def body(i, v):
        even = tf.equal(i % 2, 0)
        v = tf.cond(even, lambda: v * 2.0, lambda: v + x)
        return i + 1, v
    return tf.while_loop(lambda i, v: i < 5, body, [tf.constant(0), x])[1]


@program("control flow", F(6))
def EarlyExit(x):
    def go_on(i, done):
        return tf.logical_and(i < 6, tf.logical_not(done))

    def body(i, done):
        return i + 1, x[i] < 0.0
    i, done = tf.while_loop(go_on, body, [tf.constant(0), tf.constant(False)])
    return tf.where(done, i - 1, -1)


@program("control flow", I(high=4), F(3))
def SwitchOfThree(i, x):
    return tf.switch_case(i, [lambda: x + 1.0, lambda: tf.tanh(x), lambda: -x])


@program("control flow", F(), F(2))
def CaseOfPredicates(s, x):
    small = s < -0.5
    large = s > 0.5
    return tf.case([(small, lambda: x - 1.0), (large, lambda: x + 1.0)], default=lambda: x * s)


@program("control flow", F(2), B())
def TwoResults(x, flag):
    def swap():
        return x[1], x[0]

    def keep():
        return x[0], x[1]
    a, b = tf.cond(flag, swap, keep)
    return a - b, a * b


# --- Gradients.

@program("gradients", F(2, 3), F(3, 4), F(4))
def GradientOfDense(x, w, b):
    with tf.GradientTape() as tape:
        tape.watch([w, b])
        y = tf.tanh(tf.matmul(x, w) + b)
        loss = tf.reduce_sum(y * y)
    dw, db = tape.gradient(loss, [w, b])
    return loss, dw, db


@program("gradients", F(3))
def SecondDerivative(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        first = inner.gradient(y, x)
    second = outer.gradient(first, x)
    return first, second


@program("gradients", F(4))
def CustomGradientOfLog(x):
    @tf.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)

        def grad(upstream):
            return upstream * (1.0 - 1.0 / (1.0 + e))
        return tf.math.log(1.0 + e), grad
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = log1pexp(x)
    return y, tape.gradient(y, x)


@program("gradients", F(3), F(3))
def StopGradients(x, y):
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = x * tf.stop_gradient(y) + tf.stop_gradient(x) * y
    dx, dy = tape.gradient(z, [x, y])
    return dx, dy


@program("gradients", F(3))
def GradientOfLoop(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.sin(v) + x), [tf.constant(0), x])[1]
    return y, tape.gradient(y, x)


@program("gradients", F(5, 2), I(3, high=5))
def GradientOfGather(table, i):
    with tf.GradientTape() as tape:
        tape.watch(table)
        rows = tf.gather(table, i)
        loss = tf.reduce_sum(tf.square(rows))
    return loss, tf.convert_to_tensor(tape.gradient(loss, table))


@program("gradients", F(3))
def JacobianOfSoftmax(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.softmax(x)
    return tape.jacobian(y, x, experimental_use_pfor=False)


# --- Networks.

@program("networks", F(2, 4), F(4, 5), F(5), F(5, 3), F(3))
def DenseLayers(x, w1, b1, w2, b2):
    hidden = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w1), b1))
    logits = tf.nn.bias_add(tf.matmul(hidden, w2), b2)
    return tf.nn.softmax(logits), hidden


@program("networks", F(2, 8, 8, 3), F(3, 3, 3, 4), F(4), F(64, 5))
def ConvNet(x, kernel, bias, w):
    conv = tf.nn.conv2d(x, kernel, strides=1, padding="SAME")
    active = tf.nn.relu(tf.nn.bias_add(conv, bias))
    pooled = tf.nn.max_pool2d(active, ksize=2, strides=2, padding="VALID")
    flat = tf.reshape(pooled, [2, -1])
    return tf.nn.log_softmax(tf.matmul(flat, w))


@program("networks", F(4, 3), F(3), P(3))
def BatchNormTraining(x, beta, gamma):
    mean, variance = tf.nn.moments(x, axes=[0])
    return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-3), mean, variance


@program("networks", F(2, 4, 4, 3), P(3), F(3), F(3), P(3))
def BatchNormInference(x, scale, offset, mean, variance):
    y, _, _ = tf.compat.v1.nn.fused_batch_norm(x, scale, offset, mean, variance, epsilon=1e-3, is_training=False)
    return tf.nn.relu(y)


@program("networks", F(1, 6, 6, 2))
def Pooling(x):
    most = tf.nn.max_pool2d(x, ksize=[2, 2], strides=[2, 2], padding="SAME")
    mean = tf.nn.avg_pool2d(x, ksize=3, strides=1, padding="VALID")
    return most, mean, tf.reduce_mean(x, axis=[1, 2])


@program("networks", F(2, 3, 4), F(2, 5, 4), F(2, 5, 6))
def Attention(q, k, v):
    scores = tf.matmul(q, k, transpose_b=True)
    weights = tf.nn.softmax(scores * 0.5)
    return tf.matmul(weights, v), weights


@program("networks", F(2, 6), P(6), F(6))
def LayerNorm(x, gamma, beta):
    mean, variance = tf.nn.moments(x, axes=[-1], keepdims=True)
    centered = (x - mean) * tf.math.rsqrt(variance + 1e-5)
    return centered * gamma + beta


@program("networks", F(2, 3), F(2, 4), F(2, 4), F(7, 16), F(16))
def LstmCell(x, h, c, w, b):
    gates = tf.matmul(tf.concat([x, h], axis=1), w) + b
    i, f, g, o = tf.split(gates, 4, axis=1)
    next_c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
    next_h = tf.sigmoid(o) * tf.tanh(next_c)
    return next_h, next_c


@program("networks", F(4, 2, 3), F(7, 16))
def LstmLoop(x, w):
    steps = tf.TensorArray(tf.float32, size=4, element_shape=[2, 3]).unstack(x)
    outputs = tf.TensorArray(tf.float32, size=4, element_shape=[2, 4])

    def body(t, h, c, outputs):
        gates = tf.matmul(tf.concat([steps.read(t), h], axis=1), w)
        i, f, g, o = tf.split(gates, 4, axis=1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        h = tf.sigmoid(o) * tf.tanh(c)
        return t + 1, h, c, outputs.write(t, h)
    start = [tf.constant(0), tf.zeros([2, 4]), tf.zeros([2, 4]), outputs]
    loop = tf.while_loop(lambda t, h, c, outputs: t < 4, body, start)
    return loop[3].stack(), loop[2]


@program("networks", F(2, 3), F(2, 4), F(7, 8), F(7, 4))
def GruCell(x, h, w, u):
    gates = tf.sigmoid(tf.matmul(tf.concat([x, h], axis=1), w))
    r, z = tf.split(gates, 2, axis=1)
    candidate = tf.tanh(tf.matmul(tf.concat([x, r * h], axis=1), u))
    return z * h + (1.0 - z) * candidate


@program("networks", F(6, 3), I(2, 4, high=6), F(3, 2))
def EmbeddingBag(table, words, w):
    vectors = tf.nn.embedding_lookup(table, words)
    mean = tf.reduce_mean(vectors, axis=1)
    return tf.matmul(mean, w)


@program("networks", F(2, 4), F(4, 4))
def ResidualGelu(x, w):
    hidden = tf.nn.gelu(tf.matmul(x, w))
    other = tf.nn.elu(x) + tf.nn.leaky_relu(x, alpha=0.1)
    return x + hidden, other, tf.nn.l2_normalize(hidden, axis=1), tf.nn.silu(x)


# --- Losses.

@program("losses", F(4, 3), F(4, 3))
def CrossEntropy(logits, z):
    labels = tf.nn.softmax(z)
    losses = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.reduce_mean(losses)


@program("losses", F(4, 3), I(4, high=3), F(3, 3))
def SparseCrossEntropy(logits, labels, w):
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.reduce_mean(losses) + 0.01 * tf.nn.l2_loss(w)


@program("losses", F(5), F(5))
def HuberLoss(x, y):
    error = tf.abs(x - y)
    small = tf.minimum(error, 1.0)
    return tf.reduce_mean(0.5 * small * small + (error - small))


@program("losses", F(4), B(4))
def BinaryCrossEntropy(logits, labels):
    truth = tf.cast(labels, tf.float32)
    losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=truth, logits=logits)
    return tf.reduce_sum(losses), losses


# --- Numerics.

@program("numerics", F(3, 4))
def StableSoftmax(x):
    shifted = x * 100.0 - tf.reduce_max(x * 100.0, axis=1, keepdims=True)
    e = tf.exp(shifted)
    return e / tf.reduce_sum(e, axis=1, keepdims=True)


@program("numerics", F(3, 4))
def LogSumExp(x):
    rows = tf.reduce_logsumexp(x * 100.0, axis=1)
    return rows, tf.reduce_logsumexp(x)


@program("numerics", F(3, 3))
def Clips(x):
    value = tf.clip_by_value(x, -0.5, 0.5)
    return value, tf.clip_by_norm(x, 1.0)


@program("numerics", P(4))
def CheckedLog(x):
    y = tf.debugging.check_numerics(tf.math.log(x), "log of x")
    return tf.math.softplus(y), tf.math.divide_no_nan(x, x - x), tf.math.log_sigmoid(y)


# --- Strings.

@program("strings", S(3), S(3))
def JoinAndLower(x, y):
    joined = tf.strings.join([x, y], separator="-")
    return tf.strings.lower(joined), tf.strings.length(joined)


@program("strings", S(4), I(4))
def Texts(x, i):
    part = tf.strings.substr(x, 0, 0)
    number = tf.strings.as_string(i)
    named = tf.strings.regex_replace(x, "[aeiou]", "*")
    return part, named + number, tf.strings.to_hash_bucket_fast(x, 100), tf.strings.upper(x)


# --- Data pipelines.

@program("data", I(low=3, high=9, dtype=tf.int64))
def SumOfDataset(n):
    dataset = tf.data.Dataset.range(n)
    return dataset.reduce(tf.constant(0, tf.int64), lambda total, x: total + x * x)


@program("data", F(6, 2), F(2))
def MapAndBatch(x, w):
    dataset = tf.data.Dataset.from_tensor_slices(x)
    dataset = dataset.map(lambda row: row * w).batch(2, drop_remainder=True)
    return dataset.reduce(tf.zeros([2, 2]), lambda total, batch: total + tf.tanh(batch))


@program("data", I(5), F(5))
def ZipAndFilter(i, x):
    dataset = tf.data.Dataset.zip((tf.data.Dataset.from_tensor_slices(i), tf.data.Dataset.from_tensor_slices(x)))
    dataset = dataset.filter(lambda i, x: i > 2).take(3)
    return dataset.reduce(tf.constant(0.0), lambda total, element: total + tf.cast(element[0], tf.float32) * element[1])


@program("data", I(low=2, high=5, dtype=tf.int64))
def FlatMapAndRepeat(n):
    dataset = tf.data.Dataset.range(1, n)
    dataset = dataset.flat_map(lambda i: tf.data.Dataset.range(i)).repeat(2).skip(1)
    dataset = dataset.shuffle(8, seed=7).prefetch(2)
    return dataset.reduce(tf.constant(0, tf.int64), lambda total, x: total * 3 + x)


# --- Assertions.

@program("assertions", P(3))
def AssertAllPositive(x):
    tf.debugging.Assert(tf.reduce_all(x > 0.0), [x], summarize=5)
    return tf.sqrt(x)


@program("assertions", P(None, 3), F(None, 3))
def AssertComparisons(x, y):
    tf.debugging.assert_equal(tf.shape(x), tf.shape(y), message="x and y must be alike")
    tf.debugging.assert_greater(x, 0.0)
    tf.debugging.assert_less(y, 100.0)
    tf.debugging.assert_non_negative(x)
    return x + y


@program("assertions", F(None, None), I(2))
def AssertStatic(x, i):
    tf.debugging.assert_rank(x, 2)
    tf.debugging.assert_type(i, tf.int32)
    tf.debugging.assert_rank_at_least(i, 1)
    tf.debugging.assert_scalar(tf.reduce_sum(x))
    tf.debugging.assert_integer(i)
    return tf.ensure_shape(x, [None, 3]) * 2.0


# --- Printing.

@program("printing", F(3))
def PrintInLoop(x):
    def body(i, v):
        tf.print("step", i, output_stream="file:///dev/null")
        return i + 1, v * 0.5
    return tf.while_loop(lambda i, v: i < 3, body, [tf.constant(0), x])[1]


@program("printing", F())
def PrintInBranch(x):
    def positive():
        tf.print("positive:", x, output_stream="file:///dev/null")
        return tf.sqrt(x)

    def negative():
        return x * 0.0
    return tf.cond(x > 0.0, positive, negative)


# --- Random.

@program("random", I(2))
def StatelessDraws(seed):
    uniform = tf.random.stateless_uniform([3], seed)
    normal = tf.random.stateless_normal([2, 2], seed, mean=1.0, stddev=2.0)
    whole = tf.random.stateless_uniform([4], seed, minval=3, maxval=9, dtype=tf.int32)
    return uniform, normal, whole


@program("random", F(3))
def SeededDraws(x):
    noise = tf.random.normal([3], seed=11)
    scale = tf.random.uniform([], 1.0, 2.0, seed=12)
    return x + noise * scale


@program("random", F(4, 5), I(2))
def StatelessDropout(x, seed):
    draws = tf.random.stateless_uniform([4, 5], seed)
    keep = tf.cast(draws >= 0.25, tf.float32)
    return x * keep / 0.75


# --- Linear algebra.

@program("linear algebra", Spd(3), F(3, 2))
def SolveAndDet(a, b):
    x = tf.linalg.solve(a, b)
    return x, tf.linalg.det(a), tf.linalg.inv(a), tf.linalg.trace(a)


@program("linear algebra", Spd(4))
def CholeskyLogDet(a):
    factor = tf.linalg.cholesky(a)
    diagonal = tf.linalg.diag_part(factor)
    return 2.0 * tf.reduce_sum(tf.math.log(diagonal)), factor


@program("linear algebra", F(2, 3, 4), F(2, 4, 5), F(3, 3))
def EinsumAndNorms(x, y, z):
    product = tf.einsum("bij,bjk->bik", x, y)
    outer = tf.einsum("ij,kj->ik", z, z)
    lower = tf.linalg.band_part(z, -1, 0)
    return product, outer, lower, tf.norm(z), tf.linalg.matvec(z, z[0])


# --- Segments.

@program("segments", F(5, 2))
def SegmentMeans(x):
    ids = tf.constant([0, 0, 1, 2, 2])
    return tf.math.segment_mean(x, ids), tf.math.segment_max(x, ids)


@program("segments", F(6), I(6, high=3))
def UnsortedSegments(x, ids):
    total = tf.math.unsorted_segment_sum(x, ids, 3)
    return total, tf.tensor_scatter_nd_add(x, [[1], [3]], [1.0, 2.0]), tf.scatter_nd([[0], [2]], [5.0, 6.0], [4])


# --- Images.

@program("images", P(1, 4, 4, 3))
def Colors(x):
    bounded = x / tf.reduce_max(x)
    hsv = tf.image.rgb_to_hsv(bounded)
    return hsv, tf.image.hsv_to_rgb(hsv), tf.reverse(x, [2])


@program("images", F(1, 4, 4, 2))
def ResizeAndPatch(x):
    larger = tf.image.resize(x, [6, 8])
    nearest = tf.image.resize(x, [2, 2], method="nearest")
    deep = tf.nn.space_to_depth(x, 2)
    return larger, nearest, tf.nn.depth_to_space(deep, 2), deep
