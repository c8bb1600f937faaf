"""A model begins from checkpoints of other roots, and from weights of Keras, with the values that TensorFlow has."""
import os
import re
import subprocess
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

GRAPNEL = os.environ.get("GRAPNEL", "build/release/bin/grapnel")
Checkpoint = tf.train.Checkpoint
layers = tf.keras.layers


class Layer(tf.Module):
    def __init__(self, rows, columns, random):
        self.w = tf.Variable(random.randn(rows, columns).astype("f"), name="w")
        self.b = tf.Variable(random.randn(columns).astype("f"), name="b")

    def __call__(self, x):
        return x @ self.w + self.b


class Net(tf.Module):
    def __init__(self, seed, size=4):
        random = np.random.RandomState(seed)
        self.l1, self.l2 = Layer(3, size, random), Layer(size, 1 if size == 4 else size, random)

    @tf.function(input_signature=[tf.TensorSpec([None, 3], name="x")])
    def __call__(self, x):
        return {"y": self.l2(tf.nn.relu(self.l1(x)))}


class Outer(tf.Module):
    """A net within a model: a checkpoint of the net alone lacks the scale."""

    def __init__(self, net):
        self.net, self.scale = net, tf.Variable(2.0, name="scale")

    @tf.function(input_signature=[tf.TensorSpec([None, 3], name="x")])
    def __call__(self, x):
        return {"y": self.net(x)["y"] * self.scale}

    @tf.function(input_signature=[tf.TensorSpec([None, 3], name="x")])
    def plain(self, x):
        return {"y": self.net(x)["y"]}


def keras_model(seed):
    tf.keras.utils.set_random_seed(seed)
    inner = tf.keras.Sequential([layers.Dense(4, activation="relu"), layers.Dense(4)])
    model = tf.keras.Sequential([tf.keras.Input((3,)), layers.Dense(4, activation="tanh"), layers.BatchNormalization(), inner,
                                 layers.LayerNormalization(), layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(np.random.rand(8, 3).astype("f"), np.ones((8, 1)), verbose=0, epochs=3)
    return model


def functional_model(seed):
    tf.keras.utils.set_random_seed(seed)
    x = tf.keras.Input((3,))
    y = layers.Dense(3, use_bias=False)(x)
    for _ in range(2):
        y = layers.Add()([y, layers.Dense(3, activation="gelu")(y)])
    return tf.keras.Model(x, layers.Dense(1, bias_initializer="glorot_uniform")(layers.BatchNormalization()(y)))


class VariablesTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.x = np.random.RandomState(0).rand(2, 3).astype("f")
        np.save(self.path("x.npy"), self.x)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_model(self, model, variables, *more):
        said = subprocess.run([GRAPNEL, "info", self.path(model)], capture_output=True, text=True).stdout
        key = re.search(r"^  in +(\S+)", said, re.MULTILINE)[1]
        output = re.search(r"^  out +(\S+)", said, re.MULTILINE)[1]
        return subprocess.run(
            [GRAPNEL, "run", self.path(model), "--feed", f"{key}={self.path('x.npy')}", "--fetch",
             f"{output}={self.path('y.npy')}", "--variables", self.path(variables), *more], capture_output=True, text=True)

    def begins(self, model, variables, wanted, *more):
        with self.subTest(model=model, variables=variables):
            done = self.run_model(model, variables, *more)
            self.assertEqual(done.returncode, 0, done.stderr)
            np.testing.assert_allclose(np.load(self.path("y.npy")), wanted, rtol=1e-4, atol=1e-5)

    def refuses(self, model, variables, *said):
        with self.subTest(model=model, variables=variables):
            done = self.run_model(model, variables)
            self.assertEqual(done.returncode, 2, done.stdout)
            for text in said:
                self.assertIn(text, done.stderr)

    def test_modules(self):
        net, trained, other = Net(1), Net(2), Net(3)
        tf.saved_model.save(net, self.path("net"), signatures=net.__call__)
        outer = Outer(net)
        tf.saved_model.save(outer, self.path("outer"), signatures=outer.__call__)
        wanted = trained(self.x)["y"].numpy()
        roots = {
            "root": Checkpoint(trained),
            "net": Checkpoint(net=trained),
            "with_optimizer": Checkpoint(a_optimizer=tf.keras.optimizers.SGD(), model=trained, step=tf.Variable(3)),
            "deep": Checkpoint(state=Checkpoint(run=Checkpoint(net=trained))),
            "parts": Checkpoint(l2=trained.l2, l1=trained.l1),
            "list": Checkpoint(layers=[trained.l1, trained.l2]),
            "beside": Checkpoint(other=Net(4, size=5), net=trained),
        }
        for name, checkpoint in roots.items():
            checkpoint.write(self.path(name))
            self.begins("net", name, wanted)
            self.refuses("outer", name, "variable 'scale' has no value: the checkpoint has no 'scale'")
        Checkpoint(model=Outer(trained)).write(self.path("outer_model"))
        self.begins("outer", "outer_model", 2 * wanted)
        self.begins("net", "outer_model", wanted)
        # Two that are as good: which is meant would be a guess.
        Checkpoint(net=trained, average=other).write(self.path("two"))
        self.refuses("net", "two", "in several places: 'average/l1/w/", "'net/l1/w/")
        # Nothing like it, and a layer of another size.
        Checkpoint(a=tf.Variable([1.0])).write(self.path("nothing"))
        self.refuses("net", "nothing", "restoring the variables")
        Checkpoint(net=Net(1, size=5)).write(self.path("larger"))
        self.refuses("net", "larger")

    # Layers of one shape, in a place that says nothing: neither is taken for the other.
    def test_what_may_be_two_things_is_neither(self):
        net = Net(1, size=3)
        tf.saved_model.save(net, self.path("square"), signatures=net.__call__)
        Checkpoint(layers=[net.l1, net.l2]).write(self.path("list"))
        self.refuses("square", "list", "layers/0/w/", "layers/1/w/")
        Checkpoint(only=net.l2).write(self.path("one"))
        self.refuses("square", "one", "may be that of another variable")

    def test_keras(self):
        for make in (keras_model, functional_model):
            model, trained = make(1), make(2)
            wanted = trained(self.x).numpy()
            name = make.__name__
            model.export(self.path(name + "_exported"), verbose=False)
            tf.saved_model.save(model, self.path(name + "_saved"))
            Checkpoint(trained).write(self.path("root"))
            Checkpoint(model=trained, step=tf.Variable(1)).write(self.path("model"))
            trained.save_weights(self.path("trained.weights.h5"))
            trained.save(self.path("trained.keras"))
            for kind in ("_exported", "_saved"):
                for variables in ("root", "model", "trained.weights.h5", "trained.keras"):
                    self.begins(name + kind, variables, wanted)
        self.refuses("keras_model_exported", "trained.weights.h5", "the file has no layer 'sequential")


if __name__ == "__main__":
    unittest.main()
