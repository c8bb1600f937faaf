"""Two SavedModels are compared signature by signature, and their variables by how much they differ."""
import json
import os
import subprocess
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

GRAPNEL = os.environ.get("GRAPNEL", "build/release/bin/grapnel")


class Net(tf.Module):
    def __init__(self, width=16):
        super().__init__()
        self.w = tf.Variable(tf.random.stateless_normal([8, width], [1, 2]), name="dense/kernel")
        self.b = tf.Variable(tf.ones([width]), name="dense/bias")
        self.steps = tf.Variable(np.int64(2**60), name="steps", trainable=False)
        self.words = tf.Variable(["a", "b"], name="words", trainable=False)

    @tf.function(input_signature=[tf.TensorSpec([None, 8], tf.float32, name="x")])
    def serve(self, x):
        return {"y": tf.nn.relu(x @ self.w + self.b)}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32, name="ids")])
    def look_up(self, ids):
        return {"word": tf.gather(self.words, ids), "step": self.steps + 1}


class Scaled(Net):
    @tf.function(input_signature=[tf.TensorSpec([None, 8], tf.float32, name="x"), tf.TensorSpec([], tf.float32, name="gain")])
    def serve(self, x, gain):
        return {"y": tf.nn.relu(x @ self.w + self.b) * gain}


class ModelDiff(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.a = self.save("a", Net())

    def tearDown(self):
        self.folder.cleanup()

    def save(self, name, net, second="look_up"):
        path = os.path.join(self.folder.name, name)
        tf.saved_model.save(net, path, signatures={"serving_default": net.serve, second: net.look_up})
        return path

    def diff(self, a, b, *flags):
        done = subprocess.run([GRAPNEL, "diff", a, b, *flags], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def test_same(self):
        code, text = self.diff(self.a, self.save("b", Net()), "--values")
        self.assertEqual(code, 0, text)
        self.assertIn("values: 0 differ, 4 the same", text)

    def test_values(self):
        net = Net()
        net.w.assign(net.w * 1.5)
        net.b[3].assign(np.nan)
        net.steps.assign_add(1)
        net.words.assign(["a", "c"])
        b = self.save("b", net)
        code, text = self.diff(self.a, b)
        self.assertEqual(code, 0, text)                       # the graphs are the same
        code, text = self.diff(self.a, b, "--values", "--json")
        self.assertEqual(code, 1, text)
        report = json.loads(text)
        self.assertFalse(report["same"])
        values = {v["a"]: v for v in report["values"]["different"]}
        self.assertEqual(set(values), {"dense/kernel", "dense/bias", "steps", "words"})
        self.assertAlmostEqual(values["dense/kernel"]["relative"], 0.5, places=6)
        self.assertEqual(values["dense/kernel"]["differing"], 8 * 16)
        self.assertEqual((values["dense/bias"]["differing"], values["dense/bias"]["not_finite_b"]), (1, 1))
        self.assertEqual((values["steps"]["differing"], values["steps"]["largest"]), (1, 1))
        self.assertEqual(values["words"]["differing"], 1)

    def test_another_shape(self):
        code, text = self.diff(self.a, self.save("b", Net(32)), "--values")
        self.assertEqual(code, 1, text)
        self.assertIn("output y  float[?,16] -> float[?,32]", text)
        self.assertIn("float[8,16] -> float[8,32]", text)

    def test_signatures(self):
        code, text = self.diff(self.a, self.save("b", Scaled(), "words"), "--json")
        self.assertEqual(code, 1, text)
        by_name = {s["name"]: s for s in json.loads(text)["signatures"]}
        self.assertEqual({n: (s["in_a"], s["in_b"]) for n, s in by_name.items()},
                         {"look_up": (True, False), "words": (False, True), "serving_default": (True, True)})
        self.assertEqual(by_name["serving_default"]["changes"], [{"what": "input gain", "before": "", "after": "float[]"}])
        self.assertGreater(by_name["serving_default"]["added"], 0)

    def test_interface_alone(self):
        """Another key for the same tensor breaks callers, though no node differs."""
        net = Net()
        path = os.path.join(self.folder.name, "b")
        renamed = tf.function(lambda x: {"z": net.serve(x)["y"]}, input_signature=[tf.TensorSpec([None, 8], tf.float32, name="x")])
        net.renamed = renamed
        tf.saved_model.save(net, path, signatures={"serving_default": renamed, "look_up": net.look_up})
        code, text = self.diff(self.a, path)
        self.assertEqual(code, 1, text)
        self.assertIn("- output y", text)
        self.assertIn("+ output z", text)


if __name__ == "__main__":
    unittest.main()
