#!/usr/bin/env python3
"""A model that was written in C++ and trained here, as a SavedModel: TensorFlow loads it, calls it, trains on with its step and with
a tape of its own, and saves it; grapnel opens what it wrote and what TensorFlow wrote back."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import numpy as np
import tensorflow as tf

GRAPNEL = os.environ["GRAPNEL"]
PLUGIN = pathlib.Path(GRAPNEL).resolve().parents[1] / "plugins" / "train_mlp.so"


def grapnel(*args):
    done = subprocess.run([GRAPNEL, *map(str, args)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


class TrainedModel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        random = np.random.default_rng(5)
        self.x = random.standard_normal((40, 20, 7)).astype(np.float32)
        self.y = random.integers(0, 10, (40, 20)).astype(np.int32)
        np.save(self.folder / "x.npy", self.x)
        np.save(self.folder / "y.npy", self.y)
        self.feeds = [f"--feed=x={self.folder}/x.npy", f"--feed=y={self.folder}/y.npy"]
        self.model = self.folder / "model"
        self.losses = self.train(40, "--save-model", self.model)

    def train(self, steps, *more):
        lines = grapnel("train", "TrainStep", "--plugin", PLUGIN, *self.feeds, "--steps", steps, "--json", "--log-every", 1, *more)
        return [json.loads(line)["scalars"]["loss"] for line in lines.splitlines()]

    def test_tensorflow_calls_it_and_trains_on(self):
        longer = self.train(60)
        loaded = tf.saved_model.load(str(self.model))
        self.assertEqual(sorted(loaded.signatures), ["Serve", "TrainStep"])
        self.assertEqual(len(loaded.trainable_variables), 4)
        self.assertEqual(len(loaded.variables), 13)
        self.assertEqual(loaded.hidden.kernel.shape, [7, 32])
        w = {v.name: v for v in loaded.trainable_variables}
        logits = loaded.Serve(tf.constant(self.x[0]))
        h = tf.nn.relu(self.x[0] @ loaded.hidden.kernel + loaded.hidden.bias)
        np.testing.assert_allclose(logits, h @ loaded.output.kernel + loaded.output.bias, rtol=1e-5, atol=1e-6)
        again = loaded.signatures["Serve"](x=tf.constant(self.x[0]))["output_0"]
        np.testing.assert_array_equal(logits, again)
        # Twenty steps more are those that grapnel makes after its forty.
        step = loaded.signatures["TrainStep"]
        got = [float(step(x=self.x[i], y=self.y[i])["output_0"]) for i in range(10)]
        got += [float(loaded.TrainStep(tf.constant(self.x[i]), tf.constant(self.y[i]))) for i in range(10, 20)]
        np.testing.assert_allclose(got, longer[40:], rtol=1e-4)
        # A tape of TensorFlow's, over the loaded function.
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(self.y[0], loaded.Serve(tf.constant(self.x[0])))
            )
        gradients = tape.gradient(loss, loaded.trainable_variables)
        self.assertTrue(all(g is not None and np.abs(g).sum() > 0 for g in gradients), w.keys())
        for g, v in zip(gradients, loaded.trainable_variables):
            v.assign_sub(0.1 * g)
        # Saved by TensorFlow, it is what grapnel runs.
        tf.saved_model.save(loaded, str(self.folder / "again"), signatures=dict(loaded.signatures))
        self.assertAlmostEqual(self.served(self.folder / "again"), float(tf.reduce_sum(loaded.Serve(tf.constant(self.x[0])))), places=2)

    def served(self, model, *more):
        np.save(self.folder / "one.npy", self.x[0])
        grapnel("run", model, "--signature", "Serve", f"--feed=x={self.folder}/one.npy", f"--fetch=output_0={self.folder}/o.npy", *more)
        return float(np.load(self.folder / "o.npy").sum())

    def test_grapnel_opens_it_again(self):
        info = grapnel("info", self.model)
        self.assertIn("TrainStep", info)
        self.assertIn("13 variables", info)
        loaded = tf.saved_model.load(str(self.model))
        self.assertAlmostEqual(self.served(self.model), float(tf.reduce_sum(loaded.Serve(tf.constant(self.x[0])))), places=3)
        # Its signature is a step: training goes on where it was.
        lines = grapnel("train", self.model, "--signature", "TrainStep", *self.feeds, "--steps", 10, "--json", "--log-every", 1)
        got = [next(iter(json.loads(line)["scalars"].values())) for line in lines.splitlines()]
        np.testing.assert_allclose(got, self.train(50)[40:], rtol=1e-4)
        grapnel("opt", self.model, "-o", self.folder / "optimized")
        self.assertAlmostEqual(self.served(self.folder / "optimized"), self.served(self.model), places=3)

    def test_it_is_the_same_bytes_each_time(self):
        self.train(40, "--save-model", self.folder / "twice")
        for name in "saved_model.pb", "variables/variables.index", "variables/variables.data-00000-of-00001":
            self.assertEqual((self.model / name).read_bytes(), (self.folder / "twice" / name).read_bytes(), name)


if __name__ == "__main__":
    unittest.main()
