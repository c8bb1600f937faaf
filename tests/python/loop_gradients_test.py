"""Gradients of SavedModels whose loops read variables by their handles: `check-gradients` finds them right, and `train --optimizer` gives
TensorFlow's losses. tests/fuzz/random_gradients.py has random functions. Gradients that are 0 are no finding."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import numpy as np
import tensorflow as tf

GRAPNEL = os.environ.get("GRAPNEL", "build/release/bin/grapnel")
FULL = bool(os.environ.get("GRAPNEL_FULL"))
STEPS = 10


class Model(tf.Module):
    """Variables by name, and a loss of an input of three rows."""

    def __init__(self, loss, dtype=tf.float32, **shapes):
        random = np.random.RandomState(3)
        for name, shape in shapes.items():
            setattr(self, name, tf.Variable(random.randn(*shape) * 0.4, dtype=dtype, name=name))
        self.x = random.randn(3, 4).astype(dtype.as_numpy_dtype)
        self.serve = tf.function(lambda x: {"loss": loss(self, x)}, input_signature=[tf.TensorSpec([3, 4], dtype, name="x")])
        self.trained = [getattr(self, name) for name in shapes]


def rolled(m, x):
    for _ in tf.range(3):
        x = tf.tanh(x @ m.recur + m.shift)
    return tf.reduce_sum(x * x)


def nested(m, x):
    total = tf.zeros([], x.dtype)
    for i in tf.range(3):
        for _ in tf.range(i):
            x = tf.tanh(x @ m.recur)
        x += m.shift
        total += tf.reduce_sum(x * x)
    return total


def in_a_call(m, x):
    inner = tf.function(lambda x: rolled(m, x))
    return inner(x) + inner(x * 0.5)


def with_a_branch(m, x):
    i = 0
    while i < 4 and tf.reduce_sum(x * x) < 100.0:
        if tf.reduce_sum(x) > 0:
            x = tf.sin(x @ m.recur)
        else:
            x = x + m.shift
        i += 1
    return tf.reduce_mean(tf.exp(-x))


def in_a_branch(m, x):
    return tf.cond(tf.reduce_sum(x) < 1000.0, lambda: rolled(m, x), lambda: tf.reduce_sum(m.shift))


def with_an_embedding(m, x):
    total = tf.zeros([4], x.dtype)
    for i in tf.range(5):
        total = tf.tanh(total + tf.gather(m.table, [i % 3, 0])[0] + x[i % 3])
    return tf.reduce_sum(total)


def with_an_array(m, x):
    out = tf.TensorArray(x.dtype, size=3)
    h = tf.zeros([4], x.dtype)
    for i in tf.range(3):
        h = tf.tanh(tf.linalg.matvec(m.recur, h) + x[i] + m.shift)
        out = out.write(i, h)
    return tf.reduce_sum(out.stack() ** 2)


def read_in_the_condition_too(m, x):
    i = 0
    while i < 5 and tf.reduce_sum(m.shift) < 100.0:
        x = x * m.shift + 0.1
        i += 1
    return tf.reduce_sum(x)


def scanned(m, x):
    states = tf.scan(lambda h, row: tf.tanh(tf.linalg.matvec(m.recur, h) + row * m.shift), x, tf.zeros([4], x.dtype))
    return tf.reduce_sum(states * states) + tf.reduce_sum(tf.map_fn(lambda row: row * m.shift, x))


SQUARE = {"recur": (4, 4), "shift": (4,)}
MODELS = {
    "rolled": (rolled, SQUARE), "nested": (nested, SQUARE), "in_a_call": (in_a_call, SQUARE), "with_a_branch": (with_a_branch, SQUARE),
    "in_a_branch": (in_a_branch, SQUARE), "with_an_embedding": (with_an_embedding, {"table": (5, 4)}), "with_an_array": (with_an_array, SQUARE),
    "read_in_the_condition_too": (read_in_the_condition_too, {"shift": (4,)}), "scanned": (scanned, SQUARE),
}
LAYERS = {
    "gru": lambda k: k.layers.GRU(5), "gru_before": lambda k: k.layers.GRU(3, reset_after=False), "lstm": lambda k: k.layers.LSTM(4),
    "simple_rnn": lambda k: k.layers.SimpleRNN(4), "both_ways": lambda k: k.layers.Bidirectional(k.layers.GRU(3)),
}


class LoopGradients(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def grapnel(self, *words):
        done = subprocess.run([GRAPNEL, *map(str, words)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def check(self, serve, trained, feeds, tolerance=1e-4):
        for name, value in feeds.items():
            np.save(self.path(name + ".npy"), value)
        words = [f"--feed={name}={self.path(name)}.npy" for name in feeds]
        said = self.grapnel("check-gradients", self.path("model"), "--fetch", "loss", *words)
        self.assertNotIn("WRONG", said)
        lines = self.grapnel("train", self.path("model"), *words, "--optimizer", "sgd", "--learning-rate", 0.05, "--loss", "loss", "--steps", STEPS,
                             "--log-every", 1, "--json")
        got = [json.loads(line)["scalars"]["loss"] for line in lines.splitlines()]
        wanted = []
        for _ in range(STEPS):
            with tf.GradientTape() as tape:
                loss = serve(**{name: tf.constant(value) for name, value in feeds.items()})["loss"]
            wanted.append(float(loss))
            for variable, gradient in zip(trained, tape.gradient(loss, trained)):
                variable.assign_sub(tf.constant(0.05, variable.dtype) * gradient)
        self.assertNotEqual(wanted[0], wanted[-1])
        np.testing.assert_allclose(got, wanted, rtol=tolerance)

    def check_model(self, name, dtype):
        loss, shapes = MODELS[name]
        model = Model(loss, dtype, **shapes)
        tf.saved_model.save(model, self.path("model"), signatures=model.serve)
        self.check(model.serve, model.trained, {"x": model.x})

    def check_layer(self, keras, layer):
        keras.backend.clear_session()
        keras.utils.set_random_seed(4)
        net = keras.Sequential([keras.Input((6, 3)), layer(keras), keras.layers.Dense(2)])
        random = np.random.RandomState(5)
        x, y = random.randn(4, 6, 3).astype("f"), random.randn(*net(np.zeros((4, 6, 3), "f")).shape).astype("f")
        module = tf.Module()
        module.net = net
        specs = [tf.TensorSpec(x.shape, name="x"), tf.TensorSpec(y.shape, name="y")]
        module.serve = tf.function(lambda x, y: {"loss": tf.reduce_mean(tf.square(net(x) - y))}, input_signature=specs)
        tf.saved_model.save(module, self.path("model"), signatures=module.serve)
        # The gradients are those of the graph that was saved, so that Keras chooses nothing else under a tape.
        self.check(lambda **feeds: module.serve(**feeds), net.trainable_variables, {"x": x, "y": y}, tolerance=1e-3)

    @unittest.skipUnless(FULL, "1,000 random functions take half an hour: --full")
    def test_thousand(self):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz", "random_gradients.py")
        subprocess.run([sys.executable, script, GRAPNEL, "1", "1000"], check=True)

    def test_random_functions(self):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz", "random_gradients.py")
        subprocess.run([sys.executable, script, GRAPNEL, "1", "8"], check=True)


# Each traces a network; without --full a few of them stand for the others.
for _name in MODELS if FULL else list(MODELS)[:3]:
    for _dtype in (tf.float32, tf.float64) if FULL else (tf.float32,):
        setattr(LoopGradients, f"test_{_name}_{_dtype.name}", lambda self, name=_name, dtype=_dtype: self.check_model(name, dtype))
for _name, _layer in LAYERS.items() if FULL else [("gru", LAYERS["gru"])]:
    setattr(LoopGradients, f"test_keras_3_{_name}", lambda self, layer=_layer: self.check_layer(tf.keras, layer))


def attention(q, k, v, wk, bk):
    """A bias of the keys adds the same to all scores of a query."""
    return tf.nn.softmax(q @ tf.transpose(k @ wk + bk)) @ v * 60.0 + 40.0


def softmax_of_a_shift(x, shift):
    return tf.nn.softmax(x * 3.0 + shift) * 1000.0


def normalized(x, bias):
    """A bias in front of a normalization."""
    y = x + bias
    y -= tf.reduce_mean(y, 0, keepdims=True)
    return y / tf.sqrt(tf.reduce_mean(y * y, 0, keepdims=True) + 1e-3) + 200.0


def cancelled(x, c):
    """Large sums that cancel: what is stored is small, and rounded as what is large."""
    return (tf.reduce_sum(x) + 3000.0 * c) - 3000.0 * c + 1e-3 * x


def log_softmax_of_a_shift(x, shift):
    return tf.nn.log_softmax(x * 20.0 + shift) * 30.0


def differences(x, shift):
    y = tf.cumsum(x * 50.0 + 100.0, 1) + shift
    return y[:, 1:] - y[:, :-1]


ZERO = {
    attention: ({"q": (3, 4), "k": (5, 4), "v": (5, 2), "wk": (4, 4), "bk": (4,)}, "bk"),
    softmax_of_a_shift: ({"x": (4, 6), "shift": (4, 1)}, "shift"),
    normalized: ({"x": (8, 3), "bias": (3,)}, "bias"),
    cancelled: ({"x": (3, 3), "c": ()}, "c"),
    log_softmax_of_a_shift: ({"x": (4, 6), "shift": (4, 1)}, "shift"),
    differences: ({"x": (3, 5), "shift": (3, 1)}, "shift"),
}


class ZeroGradients(unittest.TestCase):
    def check(self, function, dtype, scale):
        shapes, _ = ZERO[function]
        random = np.random.RandomState(int(scale * 10))
        with tempfile.TemporaryDirectory() as folder:
            graph = tf.Graph()
            with graph.as_default():
                feeds = [tf.compat.v1.placeholder(dtype, shape, name) for name, shape in shapes.items()]
                tf.identity(function(*feeds), name="y")
            with open(folder + "/graph.pb", "wb") as file:
                file.write(graph.as_graph_def().SerializeToString())
            words = []
            for name, shape in shapes.items():
                np.save(f"{folder}/{name}.npy", np.asarray(random.randn(*shape) * scale, dtype.as_numpy_dtype))
                words.append(f"--feed={name}={folder}/{name}.npy")
            done = subprocess.run([GRAPNEL, "check-gradients", folder + "/graph.pb", *words, "--fetch", "y"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


for _function in ZERO:
    for _dtype in (tf.float32, tf.float64):
        for _scale in (0.5, 1.0, 2.0) if FULL else (1.0,):
            setattr(ZeroGradients, f"test_{_function.__name__}_{_dtype.name}_{_scale}".replace(".", "_"),
                    lambda self, function=_function, dtype=_dtype, scale=_scale: self.check(function, dtype, scale))


if __name__ == "__main__":
    unittest.main()
