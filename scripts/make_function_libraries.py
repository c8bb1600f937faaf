#!/usr/bin/env python3
"""Makes testdata/libraries except train_step.pb: the functions in TensorFlow's eager runtime after programs ran, and two files.

  make_function_libraries.py OUT      needs TensorFlow 2.21; numbers in names are those of one process for each program
"""
import os
import shutil
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
PRODUCER = 2474


def save_library(path):
    """Every function that the process has, as a GraphDef without a main graph."""
    from tensorflow.core.framework import graph_pb2
    from tensorflow.python.eager import context
    graph = graph_pb2.GraphDef()
    graph.versions.producer = PRODUCER
    names = [n.decode() if isinstance(n, bytes) else n for n in context.context().list_function_names()]
    for name in sorted(names):
        graph.library.function.add().CopyFrom(context.context().get_function_def(name))
    with open(path, "wb") as file:
        file.write(graph.SerializeToString(deterministic=True))


def retraces(path):
    """Methods of two objects; traces by shape, dtype, Python values, a tensor instead of a number; lambdas; digits in names."""
    import tensorflow as tf

    class Gain(tf.Module):
        def __init__(self, factor):
            super().__init__()
            self.weights = tf.Variable(tf.fill([3], factor))

        @tf.function
        def apply(self, signal):
            return signal * self.weights

    @tf.function
    def power(base, exponent, activation="relu"):
        result = base
        for _ in range(exponent):
            result = result * base
        return tf.nn.relu(result) if activation == "relu" else tf.tanh(result)

    @tf.function
    def shifted(x, offset):
        return x + offset

    @tf.function
    def pooled(x, keep):
        return tf.reduce_sum(x, axis=1, keepdims=keep)

    @tf.function
    def conv2d_1(x):
        return tf.reduce_sum(shifted(x, 3.0))

    quiet, loud = Gain(0.5), Gain(4.0)
    for gain in (quiet, loud):
        gain.apply(tf.ones([3]))
    quiet.apply(tf.ones([2, 3]))
    power(tf.ones([4]), 2)
    power(tf.ones([4]), 3)
    power(tf.ones([4]), 2, "tanh")
    power(tf.ones([4], tf.float64), 2)
    for offset, size in ((2.0, 4), (7.0, 4), (tf.constant(1.0), 4), (2.0, 6)):
        shifted(tf.ones([size]), offset)
    pooled(tf.ones([2, 5]), True)
    pooled(tf.ones([2, 5]), False)
    conv2d_1(tf.ones([5]))
    increment = tf.function(lambda x: x + 1.0)
    increment(tf.ones([2]))
    made = []

    @tf.function
    def counted(x):  # traced twice: once to make the variable
        if not made:
            made.append(tf.Variable(0.0))
        return made[0].assign_add(x)

    counted(tf.constant(2.0))
    save_library(path)


def control_flow(path):
    """Loops and branches with gradients, a custom gradient, a function of NumPy and one that XLA compiles."""
    import tensorflow as tf
    weight = tf.Variable(tf.ones([4, 4]), name="weight")

    @tf.custom_gradient
    def clip(x):
        return tf.identity(x), lambda upstream: tf.clip_by_value(upstream, -1.0, 1.0)

    @tf.function
    def countdown(n, x):
        while n > 0:
            x = x @ weight
            n -= 1
        return x

    @tf.function
    def choose(index, x):
        x = clip(x) * 2.0 if tf.reduce_sum(x) > 0.0 else x - 1.0
        return tf.switch_case(index, [lambda: x, lambda: tf.sin(x)])

    @tf.function
    def step(index, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(choose(index, countdown(index, x)))
        weight.assign_sub(0.1 * tape.gradient(loss, weight))
        return loss

    @tf.function
    def doubled(x):
        return tf.numpy_function(lambda a: a * 2, [x], tf.float32)

    @tf.function(jit_compile=True)
    def fused(x):
        return tf.tanh(x) * 2.0

    @tf.function
    def rows(x):
        return tf.map_fn(lambda row: fused(row) + 1.0, x)

    step(tf.constant(1), tf.ones([4, 4]) * 0.1)
    doubled(tf.ones([2]))
    rows(tf.ones([3, 2]))
    with tf.GradientTape() as tape:  # Python runs the pair, outside of any function
        tape.watch(cube := tf.ones([2, 2]))
        out = choose(tf.constant(0), cube)
    tape.gradient(out, cube)
    save_library(path)


def datasets(path):
    """Functions that were given to datasets, in Python and in a function."""
    import tensorflow as tf

    def parse(x):
        return tf.cast(x, tf.float32) * 2.0

    numbers = tf.data.Dataset.range(10).map(parse).filter(lambda x: x > 2.0).scan(0.0, lambda s, x: (s + x, s + x)).batch(2)
    numbers = numbers.interleave(lambda b: tf.data.Dataset.from_tensors(b).map(parse), cycle_length=2)

    @tf.function
    def total(data):
        result = tf.constant(0.0)
        for x in data:
            result += tf.reduce_sum(x)
        return result

    @tf.function
    def evens(limit):
        counted = tf.data.Dataset.range(limit).map(lambda x: x + 1).filter(lambda x: x % 2 == 0)
        return counted.reduce(tf.constant(0, tf.int64), lambda a, b: a + b)

    total(numbers)
    evens(tf.constant(4, tf.int64))
    save_library(path)


def saved_model(path):
    """A SavedModel: a signature, a function within another, one that trains, with another Python value too."""
    import tensorflow as tf

    class Head(tf.Module):
        @tf.function
        def score(self, logits):
            return tf.nn.softmax(logits)

    class Net(tf.Module):
        def __init__(self):
            super().__init__()
            self.kernel, self.head = tf.Variable(tf.ones([3, 2]), name="kernel"), Head()

        @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
        def __call__(self, x):
            return self.head.score(x @ self.kernel)

        @tf.function
        def train(self, x, exponent=2):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(self(x) ** exponent)
            self.kernel.assign_sub(tape.gradient(loss, self.kernel))
            return loss

    net = Net()
    net.train(tf.ones([2, 3]))
    net.train(tf.ones([2, 3]), 3)
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(net, folder, signatures=net.__call__)
        shutil.copy(os.path.join(folder, "saved_model.pb"), path)


def step_before(path):
    """A training step for two shapes, through a function with a gradient; a helper that no later version has."""
    import tensorflow as tf
    weights = tf.Variable(tf.ones([3, 2]))

    @tf.function
    def score(x):
        return tf.nn.relu(x @ weights)

    @tf.function
    def step(x, rate):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(score(x))
        weights.assign_sub(rate * tape.gradient(loss, weights))
        return loss

    @tf.function
    def helper(x):
        return tf.sin(x) + 1.0

    for rows in (2, 5):
        step(tf.ones([rows, 3]), tf.constant(0.5))
    helper(tf.ones([4]))
    save_library(path)


def step_after(path):
    """The same in another process and a later version: tanh for relu, a shape more, a report instead of the helper."""
    import tensorflow as tf
    weights = tf.Variable(tf.ones([3, 2]))

    @tf.function
    def report(x):
        return tf.reduce_max(x), tf.reduce_min(x)

    @tf.function
    def score(x):
        return tf.tanh(x @ weights)

    @tf.function
    def step(x, rate):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(score(x))
        weights.assign_sub(rate * tape.gradient(loss, weights))
        return loss

    report(tf.ones([4]))
    for rows in (2, 5, 7):
        step(tf.ones([rows, 3]), tf.constant(0.5))
    save_library(path)


def defuns(path):
    """Functions of TensorFlow 1, named by hand and by a hash, one with a gradient of its own."""
    import tensorflow as tf
    from tensorflow.python.framework import function
    with tf.Graph().as_default() as graph:
        @function.Defun(tf.float32)
        def Square2(x):
            return x * x

        @function.Defun(tf.float32, func_name="my_fn_3")
        def outer(x):
            return Square2(x) + 1.0

        @function.Defun(tf.float32, tf.float32)
        def HalfGrad(x, upstream):
            return upstream * 0.5

        @function.Defun(tf.float32, grad_func=HalfGrad)
        def Softened(x):
            return x * x * x

        x = tf.compat.v1.placeholder(tf.float32, [3], "x")
        tf.compat.v1.gradients(outer(x) + Softened(x), x)
    with open(path, "wb") as file:
        file.write(graph.as_graph_def().SerializeToString(deterministic=True))


PROGRAMS = {"retraces": retraces, "control_flow": control_flow, "datasets": datasets, "saved_model": saved_model, "defuns": defuns,
            "step_before": step_before, "step_after": step_after}

if __name__ == "__main__":
    out = sys.argv[1]
    if len(sys.argv) > 2:
        PROGRAMS[sys.argv[2]](os.path.join(out, sys.argv[2] + ".pb"))
    else:
        os.makedirs(out, exist_ok=True)
        for name in PROGRAMS:
            subprocess.run([sys.executable, __file__, out, name], check=True)
