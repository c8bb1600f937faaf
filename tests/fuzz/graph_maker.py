"""Makes a random TensorFlow graph from a seed: tensors are fed, and pieces put more on top of them.

A piece is a function that takes the Maker and returns tensors, or None where what there is does not suit it. Pieces register
themselves for a family: `@piece("strings")`. Each keeps valid what it makes: it runs, and divides by no zero.
"""
import collections
import random

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import kernels

V1 = tf.compat.v1
RAW = tf.raw_ops
CPU = "/job:localhost/replica:0/task:0/device:CPU:0"

HALVES = [tf.float16, tf.bfloat16]
FLOATS = [tf.float32, tf.float64, *HALVES]
COMPLEX = [tf.complex64, tf.complex128]
INTS = [tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8]
NUMBERS = [*FLOATS, *COMPLEX, *INTS]
VALUES = [*NUMBERS, tf.bool, tf.string]
LARGEST = 2048                                                # elements of a tensor that later pieces may use

PIECES = {}                                                   # family -> pieces, likelier ones several times


def piece(family, times=1):
    def register(make):
        PIECES.setdefault(family, []).extend([make] * times)
        return make
    return register


def has_kernel(op):
    """Whether TensorFlow has a CPU kernel for the op with these dtypes; functions and what they hold pass for it."""
    found = kernels.get_registered_kernels_for_op(op.type).kernel
    if not found:
        return op.type.startswith(("Stateful", "Partitioned")) or op.graph._is_function(op.type)  # pylint: disable=protected-access

    def fits(kernel):
        return kernel.device_type == "CPU" and all(
            op.get_attr(c.name) in [tf.as_dtype(t) for t in c.allowed_values.list.type]
            for c in kernel.constraint if isinstance(op.get_attr(c.name), tf.DType))
    return any(fits(k) for k in found)


class Maker:
    """`tensors` are what pieces may read, `exact` those of them that hold small multiples of 1/4, which no rounding moves:
    what jumps (a comparison, a cast to int) reads no others."""

    def __init__(self, seed):
        self.r, self.n = random.Random(seed), np.random.RandomState(seed)
        self.tensors, self.exact, self.feeds = [], [], {}

    def chance(self, p):
        return self.r.random() < p

    def choice(self, *options):
        return self.r.choice(options)

    # ---- values ----

    def value(self, dtype, shape):
        dtype = tf.as_dtype(dtype)
        if dtype == tf.bool:
            return self.n.rand(*shape) < .5
        if dtype == tf.string:
            words = [b"a", b"grape", b"", b"12", b"-3.5", b"two words", "größe".encode()]
            return np.array([self.r.choice(words) for _ in range(int(np.prod(shape)))], object).reshape(shape)
        if dtype in COMPLEX:
            return ((self.n.randint(-8, 9, shape) + 1j * self.n.randint(-8, 9, shape)) / 4).astype(dtype.as_numpy_dtype)
        if dtype in FLOATS:
            return (self.n.randint(-8, 9, shape) / 4).astype(dtype.as_numpy_dtype)
        return self.n.randint(0 if dtype.min == 0 else -5, 6, shape).astype(dtype.as_numpy_dtype)

    def feed(self, dtype, shape, known=True):
        declared = shape if known else [None if self.chance(.5) else d for d in shape] if self.chance(.8) else None
        with tf.control_dependencies(None):                   # a feed waits for nothing; the ops that read it have their own control inputs
            x = V1.placeholder(dtype, declared)
        self.feeds[x.name] = self.value(dtype, shape)
        if not known and declared is None:
            x = tf.ensure_shape(x, [None] * len(shape))
        self.tensors.append(x)
        self.exact.append(x)
        return x

    def const(self, dtype, shape=(), kind=None):
        dtype = tf.as_dtype(dtype)
        kind = kind or self.choice("any", "any", "zero", "one", "same")
        a = self.value(dtype, shape)
        if dtype not in (tf.bool, tf.string) and kind != "any":
            a = np.full(shape, {"zero": 0, "one": 1, "same": self.r.randrange(1, 4)}[kind]).astype(dtype.as_numpy_dtype)
        return tf.constant(a, dtype)

    def positive(self, dtype, shape=()):
        dtype = tf.as_dtype(dtype)
        return tf.constant(np.full(shape, self.r.choice([1, 2, 4])).astype(dtype.as_numpy_dtype), dtype)

    # ---- existing tensors ----

    def pick(self, dtypes=None, rank=None, known=False, exact=False):
        """Returns a random tensor that fits, later ones likelier; a new feed if no tensor does."""
        if dtypes is not None and not isinstance(dtypes, (list, tuple)):
            dtypes = [dtypes]
        some = [t for t in (self.exact if exact else self.tensors) if (dtypes is None or t.dtype in dtypes)
                and (t.shape.rank is not None if rank is None else t.shape.rank == rank)
                and not (known and not t.shape.is_fully_defined())]
        if not some:
            dims = [4, 3, 2, 2][:rank] if rank is not None else [2, 3]
            return self.feed(self.r.choice(dtypes or NUMBERS), dims)
        return self.r.choice(some if self.chance(.4) else some[-6:])

    def like(self, x, kind=None):
        """Something of x's dtype that broadcasts with it."""
        shape = x.shape.as_list()
        same = [t for t in self.tensors if t.dtype == x.dtype and t.shape.is_fully_defined() and t.shape.as_list() == shape]
        way = self.r.random()
        if way < .3:
            return self.const(x.dtype, (), kind)
        if way < .5 and shape and shape[-1]:
            return self.const(x.dtype, (shape[-1],), kind)
        if way < .65 and None not in shape:
            return self.const(x.dtype, tuple(shape), kind)
        return self.r.choice(same or [x])

    def tame(self, x):
        """x, or something near it of small magnitude, so that chains of products do not leave their range."""
        return tf.tanh(x) if x.dtype in FLOATS and self.chance(.5) else x

    # ---- making ----

    def add(self, made, exact=False):
        for t in made if isinstance(made, (list, tuple)) else [made]:
            if not tf.is_tensor(t) or isinstance(t, (tf.SparseTensor, tf.RaggedTensor)) or t.dtype not in VALUES:
                continue
            if t.shape.rank is None or t.shape.rank > 4 or (t.shape.is_fully_defined() and t.shape.num_elements() > LARGEST):
                self.ends.append(t)
                continue
            self.tensors.append(t)
            if exact:
                self.exact.append(t)

    def make(self, family, size):
        """Fills the default graph with some `size` nodes of pieces of the family; returns the tensors to fetch."""
        self.ends = []
        graph = V1.get_default_graph()
        inside = self.choice("", "", CPU, "/device:CPU:0", "some")
        for dtype, shape in ((tf.float32, [2, 3]), (tf.float32, [4, 4]), (self.r.choice(NUMBERS), [2, 3]), (tf.int32, [3])):
            with tf.device(inside if inside != "some" else ""):
                self.feed(dtype, shape, self.chance(.7))
        fed = list(self.tensors)
        pools = [PIECES[family]] * 3 + [PIECES["numbers"]] if family != "mixed" else list(PIECES.values())
        for _ in range(8 * size):
            if len(graph.get_operations()) >= size:
                break
            make, before = self.r.choice(self.r.choice(pools)), len(graph.get_operations())
            scope = self.choice("", "", "", "a", "block", "head")
            device = inside if inside != "some" else self.choice("", "", CPU, "/device:CPU:0", "/cpu:0")
            try:
                with tf.name_scope(scope) if scope else tf.name_scope(""), tf.device(device):
                    made = make(self)
            except (TypeError, ValueError, NotImplementedError, tf.errors.InvalidArgumentError):
                continue
            if made is not None and all(has_kernel(op) for op in graph.get_operations()[before:]):
                self.add(made)
        self.colocate(graph)
        ends = [t for t in [*self.tensors, *self.ends] if not t.consumers() and not any(t is f for f in fed)]
        ends = ends or [tf.identity(self.tensors[-1])]
        self.r.shuffle(ends)
        return [tf.identity(t) if self.chance(.3) else t for t in ends[:self.choice(1, 2, 3, 6)]]

    def colocate(self, graph):
        """Some nodes ask to be beside another. Not those that may have a twin: the call of Grappler that is compared with drops such
        requests before it merges twins, and a session does not."""
        alike = collections.Counter(op.type for op in graph.get_operations())
        plain = [op for op in graph.get_operations() if op.inputs and alike[op.type] == 1
                 and op.type in ("Abs", "Exp", "MatMul", "Mul", "Neg", "Relu", "Square", "Sum", "Tanh")]
        if len(plain) > 1 and self.chance(.3):
            for op in self.r.sample(plain, 2):
                beside = f"loc:@{op.inputs[0].op.name}".encode()
                op._set_attr("_class", V1.AttrValue(list=V1.AttrValue.ListValue(s=[beside])))  # pylint: disable=protected-access
