"""Two exports of a network: each variable is paired with itself, whatever was added, taken out or renamed around it, and whichever Keras
wrote it. `diff --values` and the check [changed_weights] tell of the others alone."""
import functools
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import numpy as np
import tensorflow as tf

try:
    import tf_keras  # Keras 2
except ImportError:
    tf_keras = None

GRAPNEL = os.environ.get("GRAPNEL", "build/release/bin/grapnel")


def values(count, seed):
    return np.random.RandomState(seed).rand(count).astype("f") + 0.1


class Network:
    """Layers of one shape in a row, each with the values of its own name, so that only names and readers tell which is which."""

    def __init__(self, keras, names, leave_out=(), kinds=None, changed=()):
        layers = keras.layers
        x = begin = keras.Input((6, 6, 4), name="image")
        for number, name in enumerate(names):
            kind = (kinds or {}).get(name, name.split("_")[-1].rstrip("0123456789"))
            layer = {"conv": lambda: layers.Conv2D(4, 3, padding="same", name=name), "bn": lambda: layers.BatchNormalization(name=name),
                     "norm": lambda: layers.LayerNormalization(name=name), "dense": lambda: layers.Dense(4, name=name),
                     "relu": lambda: layers.ReLU(name=name), "drop": lambda: layers.Dropout(0.5, name=name),
                     "gru": lambda: layers.GRU(4, name=name), "flat": lambda: layers.Reshape((36, 4), name=name)}[kind]
            if name not in leave_out:
                x = layer()(x)
        self.model = keras.Model(begin, x)
        for layer in self.model.layers:
            for place, variable in enumerate(v for v in layer.weights if "seed" not in v.name):
                key = sum(map(ord, layer.name)) * 10 + place + (1 if layer.name in changed else 0) * 1000
                variable.assign(np.reshape(values(int(np.prod(variable.shape)), key), variable.shape))


NAMES = ("top_conv", "top_bn", "top_relu", "mid_conv", "mid_bn", "mid_relu", "low_conv", "low_bn", "class_dense")


class ChangedWeights(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(self.path("policy.toml"), "w") as file:
            file.write("[changed_weights]\n")

    def path(self, name):
        return os.path.join(self.folder, name)

    def export(self, name, *args, keras=tf.keras, how="export", **more):
        keras.backend.clear_session()
        model = Network(keras, *args, **more).model
        if how == "export":
            model.export(self.path(name), **({"verbose": False} if keras is tf.keras else {}))
        else:
            tf.saved_model.save(model, self.path(name))

    def diff(self, a="old", b="new"):
        """{(layer/weight of A, of B)}: what differs."""
        done = subprocess.run([GRAPNEL, "diff", self.path(a), self.path(b), "--values", "--json"], capture_output=True, text=True)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        found = set()
        for one in json.loads(done.stdout)["values"]["different"]:
            self.assertNotIn("->", one["type"], one)
            if "seed" not in one.get("a", "") and (not {"a", "b"} <= set(one) or "Const" not in one["a"] and "/" in one["a"]):
                found.add((self.weight(one.get("a")), self.weight(one.get("b"))))
        return found

    def check(self, model="new", base="old", code=None):
        done = subprocess.run([GRAPNEL, "check", self.path(model), "--against", self.path(base), "--policy", self.path("policy.toml"),
                               "--json", "--all"], capture_output=True, text=True)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        report = json.loads(done.stdout)
        return sorted(self.weight(one["node"]) for one in report["findings"] if one["node"] and "seed" not in one["node"]), report

    @staticmethod
    def weight(name):
        return None if name is None else "/".join(re.sub(r"_\d+$", "", part) for part in name.split("/")[-2:])

    def only_gone(self, layer, weights):
        gone = {(f"{layer}/{weight}", None) for weight in weights}
        self.assertEqual(self.diff(), gone)
        self.assertEqual(self.check()[0], sorted(name for name, _ in gone))

    BN = ("gamma", "beta", "moving_mean", "moving_variance")

    def test_batch_norm_taken_out(self):
        for left_out in ("mid_bn", "top_bn", "low_bn"):
            with self.subTest(left_out):
                shutil.rmtree(self.path("new"), ignore_errors=True)
                self.export("old", NAMES)
                self.export("new", NAMES, leave_out=[left_out])
                self.only_gone(left_out, self.BN)
                shutil.rmtree(self.path("old"))

    def test_convolution_taken_out(self):
        self.export("old", NAMES)
        self.export("new", NAMES, leave_out=["mid_conv", "mid_relu"])
        self.only_gone("mid_conv", ("kernel", "bias"))

    def test_saved_and_not_exported(self):
        self.export("old", NAMES, how="save")
        self.export("new", NAMES, leave_out=["mid_bn"], how="save")
        self.only_gone("mid_bn", self.BN)

    def test_one_saved_one_exported(self):
        self.export("old", NAMES, how="save")
        self.export("new", NAMES, leave_out=["mid_bn"])
        self.only_gone("mid_bn", self.BN)

    def test_layer_put_in(self):
        self.export("old", NAMES)
        names = [*NAMES[:4], "new_norm", *NAMES[4:]]
        self.export("new", names)
        self.assertEqual(self.diff(), {(None, "new_norm/gamma"), (None, "new_norm/beta")})
        self.assertEqual(self.check()[0], [])

    def test_recurrent_and_dense(self):
        names = ("top_dense", "flat", "a_gru", "mid_dense", "low_dense", "last_dense")
        self.export("old", names)
        self.export("new", names, leave_out=["mid_dense"])
        self.only_gone("mid_dense", ("kernel", "bias"))

    def test_numbered_layers(self):
        names = ("dense", "dense_1", "dense_2", "dense_3")
        kinds = dict.fromkeys(names, "dense")
        self.export("old", names, kinds=kinds)
        self.export("new", names, kinds=kinds, changed=["dense_2"])
        done = subprocess.run([GRAPNEL, "diff", self.path("old"), self.path("new"), "--values", "--json"], capture_output=True, text=True)
        report = json.loads(done.stdout)["values"]
        self.assertEqual(len(report["different"]), 2, report)
        self.assertTrue(all("dense_2" in one["a"] and "dense_2" in one["b"] for one in report["different"]), report)

    def test_one_layer_trained(self):
        self.export("old", NAMES)
        self.export("new", NAMES, changed=["low_bn"])
        pairs = {(f"low_bn/{weight}", f"low_bn/{weight}") for weight in self.BN}
        self.assertEqual(self.diff(), pairs)
        self.assertEqual(self.check()[0], sorted(name for name, _ in pairs))

    def test_another_width(self):
        """No value of one shape is compared with one of another."""
        def served(model):
            return lambda x: {"y": x @ model.one @ model.two}

        for size in (3, 5):
            model = tf.Module()
            model.one, model.two = tf.Variable(np.ones((2, size), "f"), name="one"), tf.Variable(np.ones((size, 2), "f"), name="two")

            model.serve = tf.function(served(model), input_signature=[tf.TensorSpec([None, 2], name="x")])
            tf.saved_model.save(model, self.path(f"net_{size}"), signatures={"serving_default": model.serve})
        done = subprocess.run([GRAPNEL, "diff", self.path("net_3"), self.path("net_5"), "--values", "--json"], capture_output=True, text=True)
        sides = {(one.get("a"), one.get("b"), one["type"]) for one in json.loads(done.stdout)["values"]["different"]}
        self.assertEqual(sides, {("one", None, "float[2,3]"), ("two", None, "float[3,2]"), (None, "one", "float[2,5]"), (None, "two", "float[5,2]")})

    def test_modules(self):
        """Variables of one name and shape in a list, one of which is gone."""
        for name, places in (("old", range(5)), ("new", (0, 1, 3, 4))):
            model = tf.Module()
            model.w = [tf.Variable(values(9, place).reshape(3, 3), name="w") for place in places]

            def serve(x, model, places):
                for place, w in zip(places, model.w):
                    x = tf.matmul(x, w, name=f"layer_{place}")
                return {"y": x}

            function = tf.function(functools.partial(serve, model=model, places=places), input_signature=[tf.TensorSpec([None, 3], name="x")])
            tf.saved_model.save(model, self.path(name), signatures=function)
        done = subprocess.run([GRAPNEL, "diff", self.path("old"), self.path("new"), "--values", "--json"], capture_output=True, text=True)
        report = json.loads(done.stdout)["values"]
        self.assertEqual((report["compared"], report["same"]), (4, 4), report)
        self.assertEqual([("a" in one, "b" in one) for one in report["different"]], [(True, False)], report)

    @unittest.skipUnless(tf_keras, "no tf_keras")
    def test_keras_2_and_3(self):
        for how in ("export", "save"):
            with self.subTest(how):
                self.export("old", NAMES, keras=tf_keras, how=how)
                self.export("new", NAMES, leave_out=["mid_bn"], how=how)
                self.only_gone("mid_bn", self.BN)
                self.export("trained", NAMES, changed=["mid_conv"], how=how)
                self.assertEqual(self.diff("old", "trained"), {(f"mid_conv/{w}", f"mid_conv/{w}") for w in ("kernel", "bias")})
                for name in ("old", "new", "trained"):
                    shutil.rmtree(self.path(name))

    def test_without_values(self):
        """A graph without its folder has no values: that is said, and is not "nothing found"."""
        self.export("old", NAMES)
        self.export("new", NAMES, changed=["mid_conv"])
        shutil.copy(self.path("old/saved_model.pb"), self.path("base.pb"))
        shutil.copy(self.path("new/saved_model.pb"), self.path("model.pb"))
        for model, base, who in (("new", "base.pb", "BASE comes without the values of its variables"),
                                 ("model.pb", "old", "MODEL comes without the values of its variables"),
                                 ("model.pb", "base.pb", "BASE and MODEL come without the values of their variables")):
            with self.subTest(model=model, base=base):
                found, report = self.check(model, base)
                self.assertEqual(found, [])
                [one] = report["checks"]
                self.assertEqual(one["status"], "not looked")
                self.assertIn(who, one["reason"])
        done = subprocess.run([GRAPNEL, "diff", self.path("base.pb"), self.path("new"), "--values"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("variables: not compared: A comes without the values of its variables", done.stdout)
        self.assertNotIn("only after", done.stdout)


if __name__ == "__main__":
    unittest.main()
