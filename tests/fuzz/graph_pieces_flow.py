"""Pieces of random graphs that choose, repeat and call: branches, loops, functions."""
import contextlib

import tensorflow as tf
from tensorflow.python.framework import function as v1_function
from tensorflow.python.ops import control_flow_util

from graph_maker import COMPLEX, FLOATS, INTS, NUMBERS, RAW, VALUES, V1, piece


def traced(body, **options):
    return tf.function(body, autograph=False, **options)


@contextlib.contextmanager
def frames(use):
    """Loops and branches as nodes of frames (Enter, Switch, Merge) instead of While and If."""
    kept = control_flow_util.ENABLE_CONTROL_FLOW_V2
    control_flow_util.ENABLE_CONTROL_FLOW_V2 = not use
    try:
        yield
    finally:
        control_flow_util.ENABLE_CONTROL_FLOW_V2 = kept


def step(m, x):
    """A body of few nodes that keeps x's dtype and shape."""
    if x.dtype == tf.string:
        return m.r.choice([lambda v: tf.strings.join([v, v]), lambda v: tf.strings.substr(v + "ab", 0, 3), tf.identity])
    if x.dtype == tf.bool:
        return m.r.choice([tf.logical_not, lambda v: tf.logical_not(tf.logical_not(v)), lambda v: v & True])
    c = m.const(x.dtype)
    same = [lambda v: v + c, lambda v: v * c, lambda v: v - v, lambda v: (v + c) + c, lambda v: v * 1 + 0 if v.dtype not in COMPLEX else v,
            tf.negative,
            lambda v: tf.reshape(v, tf.shape(v)), lambda v: tf.transpose(tf.transpose(v)), tf.identity, lambda v: tf.add_n([v, v]),
            lambda v: v + tf.constant(2, v.dtype) * c,
            lambda v: v + tf.cast(tf.size(v), v.dtype), lambda v: tf.stack([v, v])[0], lambda v: tf.reverse(v, [0]) if v.shape.rank else v]
    floats = [tf.nn.relu, tf.tanh, lambda v: tf.sigmoid(v + c), lambda v: tf.nn.softmax(v) if v.shape.rank else tf.sin(v),
              lambda v: tf.math.divide_no_nan(v, c)]
    if x.dtype in FLOATS and x.shape.rank == 2 and x.shape.as_list()[1]:
        k = x.shape.as_list()[1]
        w = m.const(x.dtype, (k, k), "any")
        floats.append(lambda v: tf.nn.relu(tf.nn.bias_add(tf.matmul(v, w), tf.zeros([k], v.dtype))))
    return m.r.choice(same + (floats * 2 if x.dtype in FLOATS else []))


def chain(m, x, count=None):
    steps = [step(m, x) for _ in range(count or m.choice(1, 2, 3))]

    def body(v):
        for f in steps:
            shape = v.shape
            v = f(v)
            v.set_shape(shape)
        return v
    return body


def number(x):
    """Some int32 that x decides, without rounding."""
    return tf.size(x) if x.dtype == tf.string else tf.cast(tf.reduce_sum(tf.cast(tf.equal(x, x), tf.int32)), tf.int32)


# ---- branches ----

@piece("branches", 3)
def condition(m):
    x = m.pick(VALUES)
    body, other = chain(m, x), chain(m, x)
    pred = m.choice(tf.constant(True), tf.constant(False), m.feed(tf.bool, []), m.feed(tf.bool, []), number(x) > m.choice(3, 8))
    y = m.pick(VALUES)
    forms = [(lambda: body(x), lambda: other(x)), (lambda: [body(x), y], lambda: [x, tf.identity(y)]), (lambda: body(x), lambda: x),
             (lambda: tf.cond(pred, lambda: body(x), lambda: x), lambda: other(x)),
             (lambda: body(m.const(x.dtype, (2,))), lambda: other(m.const(x.dtype, (2,))))]
    then, otherwise = m.r.choice(forms)
    if m.chance(.2):
        inner = then
        then = lambda: (V1.Assert(tf.constant(True), [x]), inner())[1]
    with frames(m.chance(.4)):
        return tf.cond(pred, then, otherwise) if m.chance(.5) else V1.cond(pred, then, otherwise)


@piece("branches", 2)
def case(m):
    x = m.pick(VALUES)
    bodies = [chain(m, x) for _ in range(m.choice(1, 2, 3))]
    index = m.choice(tf.constant(m.choice(-1, 0, 1, 5)), number(x) % 3, m.feed(tf.int32, []))
    with frames(m.chance(.2)):
        return tf.switch_case(index, [lambda f=f: f(x) for f in bodies])


@piece("branches")
def in_function(m):
    x, pred = m.pick(VALUES), m.feed(tf.bool, [])
    body, other = chain(m, x), chain(m, x)
    return traced(lambda v, p: tf.cond(p, lambda: body(v), lambda: other(v)))(x, pred)


@piece("branches")
def switched(m):
    """Switch and Merge by hand, with ops on each side, in either order."""
    x = m.pick(VALUES)
    body, other = chain(m, x, 1), chain(m, x, 1)
    pred = m.choice(tf.constant(m.chance(.5)), m.feed(tf.bool, []))
    f, t = RAW.Switch(data=x, pred=pred)
    sides = [other(f), body(t)]
    m.r.shuffle(sides)
    value, index = RAW.Merge(inputs=sides)
    return [value, index] if m.chance(.3) else value


# ---- loops ----

def turns(m):
    return m.choice(0, 1, 2, 3)


@piece("loops", 4)
def loop(m):
    x, count = m.pick(VALUES), turns(m)
    body = chain(m, x)
    limit = m.choice(tf.constant(count), m.feed(tf.int32, []) % 4)
    extra = m.pick(VALUES)
    shape = [tf.TensorShape([]), x.shape, extra.shape]
    unread = m.chance(.3)
    with frames(m.chance(.5)):
        made = V1.while_loop(lambda i, *_: i < limit, lambda i, v, e: (i + 1, body(v), e), [tf.constant(0), x, extra], shape,
                             maximum_iterations=m.choice(None, None, 3), parallel_iterations=m.choice(1, 10))
    return made[1] if unread else [made[1], made[2]]


@piece("loops", 2)
def invariant(m):
    """What is the same in each turn, inside."""
    x = m.pick(FLOATS, rank=2, known=True)
    k = x.shape.as_list()[1]
    w = m.const(x.dtype, (k, k), "any") if m.chance(.5) else m.pick(x.dtype, rank=0)
    with frames(m.chance(.5)):
        f = lambda v: tf.tanh(tf.matmul(v, tf.transpose(w)) if w.shape.rank else v * tf.negative(w) + tf.square(w))
        return V1.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, f(v)), [0, x])[1]


@piece("loops")
def nested(m):
    x = m.pick([*FLOATS, *INTS])
    body = chain(m, x, 1)
    inner = lambda v: V1.while_loop(lambda j, u: j < 2, lambda j, u: (j + 1, body(u)), [0, v], [tf.TensorShape([]), x.shape])[1]
    choose = lambda i, v: tf.cond(i > 1, lambda: body(v), lambda: inner(v))
    with frames(m.chance(.5)):
        return V1.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, m.choice(inner, lambda u: choose(i, u))(v)), [0, x],
                             [tf.TensorShape([]), x.shape])[1]


@piece("loops")
def of_function(m):
    x = m.pick([*FLOATS, *INTS], known=True)
    body = chain(m, x)
    return traced(lambda v: tf.while_loop(lambda i, u: i < turns(m), lambda i, u: (i + 1, body(u)), (0, v))[1])(x)


@piece("loops")
def gradient_of_loop(m):
    x = m.pick(tf.float32, known=True)
    with frames(m.chance(.4)):
        y = V1.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, tf.tanh(v) * x), [0, x])[1]
        return V1.gradients(tf.reduce_sum(y), [x])[0]


# ---- functions ----

@piece("functions", 4)
def call(m):
    x, y = m.pick(VALUES), m.pick(VALUES)
    body, other, c = chain(m, x), chain(m, y), m.const(x.dtype)
    way = m.r.randrange(8)
    bodies = [lambda v, u: body(v), lambda v, u: (body(v), other(u)), lambda v, u: (v, other(u), tf.constant(3)), lambda v,
              u: (body(v), c, c),
              lambda v, u: (V1.Assert(tf.constant(True), [v]), body(v))[1], lambda v, u: {"b": u, "a": body(v)}, lambda v,
              u: (body(v), body(v)),
              lambda v, u: (tf.print("random graph", tf.shape(v), output_stream="file:///dev/null"), other(u), v)[1:]]
    options = {}
    if m.chance(.25):
        options["experimental_attributes"] = {"_noinline": True}
    if m.chance(.25):
        options["input_signature"] = [tf.TensorSpec([None] * x.shape.rank, x.dtype), tf.TensorSpec(None, y.dtype)]
    f = traced(bodies[way], **options)
    made = tf.nest.flatten(f(x, y))
    if m.chance(.3):
        made += tf.nest.flatten(f(m.const(x.dtype, (2,) * x.shape.rank), y))
    return m.r.sample(made, m.r.randrange(1, len(made) + 1))


@piece("functions", 2)
def call_in_call(m):
    x = m.pick(VALUES)
    body, other = chain(m, x), chain(m, x)
    inner = traced(body, experimental_attributes={"_noinline": True} if m.chance(.4) else None)
    outer = m.r.choice([lambda v: inner(inner(v)), lambda v: (other(inner(v)), inner(v)), lambda v: other(inner(m.const(v.dtype, (2, 2)))),
                        lambda v: (inner(v), inner(other(v)))[1], lambda v: traced(lambda u: inner(other(u)))(v)])
    return tf.nest.flatten(traced(outer)(x))


@piece("functions")
def typed(m):
    """A function that the graph calls by its name as an op."""
    x = m.pick(NUMBERS)
    body = chain(m, x, 2)
    f = v1_function.Defun(x.dtype, noinline=m.chance(.3), func_name=f"typed_{len(V1.get_default_graph().get_operations())}")(body)
    y = f(x)
    y.set_shape(x.shape)
    return y


@piece("functions")
def gradient_of_call(m):
    x = m.pick([tf.float32, tf.float64], known=True)
    body = chain(m, x)
    f = traced(lambda v: tf.reduce_sum(body(v) * tf.tanh(v)))
    if m.chance(.3):
        f = tf.recompute_grad(f)
    return V1.gradients(f(x), [x])[0]


@piece("functions")
def own_gradient(m):
    x = m.pick(tf.float32, known=True)
    f = tf.custom_gradient(lambda v: (tf.square(v), lambda up: up * 3.))
    return m.choice(lambda: f(x), lambda: V1.gradients(tf.reduce_sum(f(x)), [x])[0], lambda: traced(f)(x))()


@piece("functions")
def many(m):
    """map_fn, scan, foldl: a loop over lists whose body was traced."""
    x = m.pick([tf.float32, tf.int32, tf.float64, tf.string], rank=2)
    if x.dtype == tf.string:
        return tf.map_fn(lambda v: v + "!", x)
    c = m.const(x.dtype)
    return m.r.choice([lambda: tf.map_fn(lambda v: v * c + v, x), lambda: tf.scan(lambda a, v: a + v, x),
                       lambda: tf.foldl(lambda a, v: a + v * c, x),
                       lambda: tf.vectorized_map(lambda v: tf.reduce_sum(v * v), x)])()
