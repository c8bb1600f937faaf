"""What grapnel trains of a model that TensorFlow exported is read back by grapnel and by TensorFlow, and a checkpoint of TensorFlow
that lacks what no run reads is enough. tests/fuzz/checkpoint_round_trips.py has more of the first."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz"))
import numpy as np
import tensorflow as tf
from checkpoint_round_trips import Trip
from exported_models import WAYS, Sizes

GRAPNEL = os.environ.get("GRAPNEL", "build/release/bin/grapnel")
FULL = bool(os.environ.get("GRAPNEL_FULL"))
keras = tf.keras
layers = keras.layers


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_grapnel(self, *words):
        return subprocess.run([GRAPNEL, "run", *map(str, words)], capture_output=True, text=True)


class RoundTrips(InFolder):
    """Trained, saved, read back, trained on: the losses are TensorFlow's, and so is what TensorFlow then serves."""

    def check(self, way, seed):
        sizes = Sizes(seed)
        WAYS[way](self.path("model"), sizes)
        Trip(GRAPNEL, self.path("model"), way, self.folder, seed).make(sizes.columns, sizes.outputs)

    @unittest.skipUnless(FULL, "1,000 round trips take half an hour: --full")
    def test_thousand(self):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz", "checkpoint_round_trips.py")
        subprocess.run([sys.executable, script, GRAPNEL, "1", "1000"], check=True)


# Each takes seconds; without --full a few of them stand for the others.
SHORT = ("module_of_variables_of_one_name", "keras_3_archive", "keras_3_saved")
for _number, _way in enumerate(WAYS if FULL else SHORT):
    setattr(RoundTrips, "test_" + _way, lambda self, way=_way, seed=_number + 1: self.check(way, seed))
for _seed in (31, 32, 33, 34) if FULL else ():
    for _way in ("keras_3_archive", "keras_3_archive_normalized", "keras_3_archive_recurrent"):
        setattr(RoundTrips, f"test_{_way}_{_seed}", lambda self, way=_way, seed=_seed: self.check(way, seed))


def with_dropout():
    return [layers.Dense(3, activation="relu", name="first"), layers.Dropout(0.4), layers.Dense(2, name="last")]


def with_noise():
    return [layers.Dense(3), layers.GaussianNoise(0.1), layers.Dense(3), layers.GaussianDropout(0.2), layers.Dense(2)]


def with_two_dropouts():
    return [layers.Dropout(0.1), layers.Dense(4), layers.BatchNormalization(), layers.Dropout(0.2), layers.Dense(2)]


def with_a_net_in_it():
    return [keras.Sequential([layers.Dense(3, activation="tanh"), layers.AlphaDropout(0.3)]), layers.LayerNormalization(), layers.Dense(2)]


def with_dropout_in_a_loop():
    return [layers.Reshape((2, 2)), layers.Bidirectional(layers.GRU(3, dropout=0.2)), layers.Dense(2)]


def with_recurrent_dropout():
    return [layers.Reshape((2, 2)), layers.LSTM(3, dropout=0.2, recurrent_dropout=0.3), layers.Dense(2)]


class Dropout(InFolder):
    """Keras keeps a seed in each layer that draws random numbers. A tf.train.Checkpoint of the model has none of them, and files of
    weights lack those of recurrent layers."""

    def check(self, make):
        for kind in ("sequential", "functional") if FULL else ("functional",):
            for root in ("model", "net", "") if FULL else ("model",):
                with self.subTest(kind=kind, root=root):
                    keras.backend.clear_session()
                    model = self.net(make(), kind)
                    export = self.path(f"{kind}{root}")
                    model.export(export, verbose=False)
                    for number, variable in enumerate(model.weights):
                        if "seed" not in variable.path:
                            variable.assign(np.random.RandomState(number).rand(*variable.shape).astype("f") + 0.1)
                    x = np.random.RandomState(0).rand(3, 4).astype("f")
                    wanted = model(x, training=False).numpy()
                    checkpoint = tf.train.Checkpoint(**{root: model}) if root else tf.train.Checkpoint(model)
                    checkpoint.write(self.path("ck"))
                    model.save_weights(self.path("ck.weights.h5"))
                    model.save(self.path("ck.keras"))
                    np.save(self.path("x.npy"), x)
                    key = list(tf.saved_model.load(export).signatures["serving_default"].structured_input_signature[1])[0]
                    for weights in ("ck", "ck.weights.h5", "ck.keras"):
                        done = self.run_grapnel(export, "--feed", f"{key}={self.path('x.npy')}", "--fetch", f"output_0={self.path('y.npy')}",
                                                "--variables", self.path(weights))
                        self.assertEqual(done.returncode, 0, done.stderr)
                        np.testing.assert_allclose(np.load(self.path("y.npy")), wanted, rtol=1e-4, atol=1e-5)

    @staticmethod
    def net(parts, kind):
        if kind == "sequential":
            return keras.Sequential([keras.Input((4,)), *parts])
        x = begin = keras.Input((4,))
        for part in parts:
            x = part(x)
        return keras.Model(begin, x)


for _make in (with_dropout, with_noise, with_two_dropouts, with_a_net_in_it, with_dropout_in_a_loop, with_recurrent_dropout):
    setattr(Dropout, "test_" + _make.__name__, lambda self, make=_make: self.check(make))


class Pair(tf.Module):
    def __init__(self, size=4, names=("w", "w")):
        self.one = tf.Variable(np.random.RandomState(1).rand(size, size).astype("f"), name=names[0])
        self.two = tf.Variable(np.random.RandomState(2).rand(size, size).astype("f"), name=names[1])

    @tf.function(input_signature=[tf.TensorSpec([None, None], name="x")])
    def serve(self, x):
        return {"y": x @ self.one @ self.two}

    @tf.function(input_signature=[tf.TensorSpec([None, None], name="x")])
    def step(self, x):
        self.one.assign_add(self.one)
        return {"y": x @ self.one}


class BadInput(InFolder):
    """Each is reported by the variable's name, and what was to be written is not there, or is what it was."""

    def setUp(self):
        super().setUp()
        model = Pair(names=("first", "second"))
        tf.saved_model.save(model, self.path("model"), signatures={"serve": model.serve, "step": model.step})
        np.save(self.path("x.npy"), np.ones((2, 4), "f"))

    def refuses(self, prefix, *said, model="model"):
        for before in (False, True):
            shutil.rmtree(self.path("out"), ignore_errors=True)
            os.mkdir(self.path("out"))
            if before:
                tf.train.Checkpoint(x=tf.Variable(1.0)).write(self.path("out/v"))
            files = {name: pathlib.Path(self.path("out/" + name)).read_bytes() for name in os.listdir(self.path("out"))}
            done = self.run_grapnel(self.path(model), "--signature", "serve", "--feed", f"x={self.path('x.npy')}", "--variables", prefix,
                                    "--save-variables", self.path("out/v"), "--fetch", f"y={self.path('out/y.npy')}")
            self.assertEqual(done.returncode, 2, done.stdout)
            for text in said:
                self.assertIn(text, done.stderr)
            after = {name: pathlib.Path(self.path("out/" + name)).read_bytes() for name in os.listdir(self.path("out"))}
            self.assertEqual(files, after)

    def test_another_model(self):
        tf.train.Checkpoint(dense=Pair(7, ("kernel", "bias"))).write(self.path("other"))
        self.refuses(self.path("other"), "other: ", "one/.ATTRIBUTES/VARIABLE_VALUE")

    def test_shape_off_by_one(self):
        other = Pair(names=("first", "second"))
        other.two = tf.Variable(np.ones((4, 5), "f"), name="second")
        tf.train.Checkpoint(other).write(self.path("off"))
        self.refuses(self.path("off"), "variable 'second' has no value", "two/.ATTRIBUTES/VARIABLE_VALUE' is float[4,5], and float[4,4] was expected")

    def test_shape_off_by_one_of_variables_of_one_name(self):
        model = Pair()
        tf.saved_model.save(model, self.path("same"), signatures={"serve": model.serve})
        model.two = tf.Variable(np.ones((3, 4), "f"), name="w")
        tf.train.Checkpoint(model).write(self.path("off"))
        self.refuses(self.path("off"), "two/.ATTRIBUTES/VARIABLE_VALUE' is float[3,4], and float[4,4] was expected", model="same")

    def test_cut_off(self):
        tf.train.Checkpoint(Pair(names=("first", "second"))).write(self.path("cut"))
        for end in (".data-00000-of-00001", ".index"):
            with self.subTest(end=end):
                name = self.path("cut" + end)
                whole = open(name, "rb").read()
                with open(name, "wb") as file:
                    file.write(whole[:len(whole) * 2 // 3])
                self.refuses(self.path("cut"), "cut" + end)
                with open(name, "wb") as file:
                    file.write(whole)

    def test_two_values_of_one_name(self):
        first, second = Pair(names=("first", "second")), Pair(names=("first", "second"))
        second.one.assign(second.one * 2)
        tf.train.Checkpoint(a=tf.train.Checkpoint(u=first.one), b=tf.train.Checkpoint(v=second.one), c=tf.train.Checkpoint(w=first.two)
                            ).write(self.path("two"))
        self.refuses(self.path("two"), "variable 'first' has no value", "a/u/.ATTRIBUTES/VARIABLE_VALUE", "b/v/.ATTRIBUTES/VARIABLE_VALUE")

    # Keras 3 lists each variable twice; what tf.saved_model.load reads counts.
    def test_two_values_of_an_archive(self):
        sizes = Sizes(3)
        WAYS["keras_3_archive"](self.path("archive"), sizes)
        loaded = tf.saved_model.load(self.path("archive"))
        x, y = np.ones((2, sizes.columns), "f"), np.ones((2, sizes.outputs), "f")
        np.save(self.path("x.npy"), x)
        loaded.signatures["train"](x=tf.constant(x), y=tf.constant(y))
        tf.train.Checkpoint(loaded).write(self.path("trained"))
        done = self.run_grapnel(self.path("archive"), "--signature", "serve", "--feed", f"x={self.path('x.npy')}", "--fetch",
                                f"out={self.path('y.npy')}", "--variables", self.path("trained"))
        self.assertEqual(done.returncode, 0, done.stderr)
        np.testing.assert_allclose(np.load(self.path("y.npy")), loaded.signatures["serve"](x=tf.constant(x))["out"], rtol=1e-4)


if __name__ == "__main__":
    unittest.main()
