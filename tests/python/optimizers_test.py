#!/usr/bin/env python3
"""Optimizers and losses against Keras: 100 steps of each setting, weights and losses compared. `grapnel train` runs functions of
tests/trace/models/optimizers.cpp; Keras runs the same on the same values."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import keras
import numpy as np
import tensorflow as tf

GRAPNEL = os.environ["GRAPNEL"]
PLUGIN = pathlib.Path(GRAPNEL).resolve().parents[1] / "plugins" / "optimizers.so"
STEPS = 100
schedules = keras.optimizers.schedules

OPTIMIZERS = {
    "Plain": lambda: keras.optimizers.SGD(0.1),
    "Momentum": lambda: keras.optimizers.SGD(0.05, momentum=0.9, clipnorm=0.5),
    "Nesterov": lambda: keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True, clipvalue=0.1),
    "RmsPlain": lambda: keras.optimizers.RMSprop(0.01),
    "RmsCentered": lambda: keras.optimizers.RMSprop(0.005, momentum=0.5, centered=True),
    "AdamPlain": lambda: keras.optimizers.Adam(schedules.CosineDecay(0.05, 80, 0.1)),
    "AdamAmsgrad": lambda: keras.optimizers.Adam(schedules.PiecewiseConstantDecay([10, 50], [0.1, 0.03, 0.01]), amsgrad=True),
    "AdamWDecay": lambda: keras.optimizers.AdamW(schedules.ExponentialDecay(0.05, 30, 0.5, staircase=True), weight_decay=0.01,
                                                 global_clipnorm=1.0),
}
v1 = tf.compat.v1.train
FUSED = {
    "FusedSgd": lambda: v1.GradientDescentOptimizer(0.1),
    "FusedMomentum": lambda: v1.MomentumOptimizer(0.05, 0.9),
    "FusedRms": lambda: v1.RMSPropOptimizer(0.01, epsilon=1e-7),
    "FusedCentered": lambda: v1.RMSPropOptimizer(0.01, epsilon=1e-7, centered=True),
    "FusedAdam": lambda: v1.AdamOptimizer(0.01, epsilon=1e-7),
}
REDUCTIONS = {"Mean": "sum_over_batch_size", "Sum": "sum"}
CLASSES = np.eye(5, dtype=np.float32)


def losses():
    def sparse(y, p):
        return tf.argmax(y, -1)

    same = lambda y, p: y
    for reduction in REDUCTIONS:
        how = {"reduction": REDUCTIONS[reduction]}
        yield "Squared" + reduction, keras.losses.MeanSquaredError(**how), same, None
        yield "Absolute" + reduction, keras.losses.MeanAbsoluteError(**how), same, None
        yield "Huber" + reduction, keras.losses.Huber(0.7, **how), same, None
        yield "BinaryLogits" + reduction, keras.losses.BinaryCrossentropy(from_logits=True, **how), same, None
        yield "Binary" + reduction, keras.losses.BinaryCrossentropy(**how), same, "sigmoid"
        yield "CategoricalLogits" + reduction, keras.losses.CategoricalCrossentropy(from_logits=True, **how), same, None
        yield "Categorical" + reduction, keras.losses.CategoricalCrossentropy(**how), same, "softmax"
        yield "SparseLogits" + reduction, keras.losses.SparseCategoricalCrossentropy(from_logits=True, **how), sparse, None
        yield "Sparse" + reduction, keras.losses.SparseCategoricalCrossentropy(**how), sparse, "softmax"


class AgainstKeras(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        random = np.random.default_rng(3)
        self.x = random.standard_normal((STEPS, 6, 4)).astype(np.float32)
        self.ids = random.integers(0, 7, (STEPS, 6)).astype(np.int32)
        self.y = CLASSES[random.integers(0, 5, (STEPS, 6))]
        for name in "x", "ids", "y":
            np.save(self.folder / f"{name}.npy", getattr(self, name))

    def train(self, function, steps, folder):
        feeds = [f"--feed={name}={self.folder / name}.npy" for name in ("x", "ids", "y")]
        call = [GRAPNEL, "train", function, "--plugin", str(PLUGIN), *feeds, "--steps", str(steps), "--json", "--log-every", "1",
                "--checkpoint-dir", str(self.folder / folder)]
        done = subprocess.run(call, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        reader = tf.train.load_checkpoint(str(self.folder / folder))
        values = {n: reader.get_tensor(n) for n in ("kernel", "table")}
        return values, [json.loads(line)["scalars"]["loss"] for line in done.stdout.splitlines()]

    def check(self, function, optimizer, loss_of, truth, activation, is_fused=False):
        start, _ = self.train(function, 0, function + "_start")
        end, got = self.train(function, STEPS, function)
        kernel, table = tf.Variable(start["kernel"]), tf.Variable(start["table"])
        if not is_fused:
            optimizer.build([kernel, table])

        def step(x, ids, y):
            with tf.GradientTape() as tape:
                p = tf.matmul(x, kernel) + tf.gather(table, ids)
                if activation:
                    p = getattr(tf.nn, activation)(p)
                    p = tf.stop_gradient(p * 0) + p  # Keras looks for the logits behind a softmax
                loss = loss_of(truth(y, p), p)
            gradients = tape.gradient(loss, [kernel, table])
            if is_fused:  # here slices are made dense
                gradients = [tf.convert_to_tensor(g) for g in gradients]
            optimizer.apply_gradients(zip(gradients, [kernel, table]))
            return loss

        if not is_fused:  # which makes its slots at the first step
            step = tf.function(step)

        wanted = [float(step(*batch)) for batch in zip(self.x, self.ids, self.y)]
        worst = max(abs(a - b) / max(abs(b), 1e-2) for a, b in zip(got, wanted))
        print(f"{function}: loss {wanted[0]:.4f} -> {wanted[-1]:.4f}, off by {worst:.2g} at most")
        np.testing.assert_allclose(got, wanted, rtol=2e-4, atol=2e-5, err_msg=function)
        np.testing.assert_allclose(end["kernel"], kernel, rtol=1e-3, atol=1e-4, err_msg=function)
        np.testing.assert_allclose(end["table"], table, rtol=1e-3, atol=1e-4, err_msg=function)

    def test_optimizers(self):
        for name, make in OPTIMIZERS.items():
            with self.subTest(name):
                self.check(name, make(), keras.losses.MeanSquaredError(), lambda y, p: y, None)

    def test_fused_optimizers(self):
        for name, make in FUSED.items():
            with self.subTest(name):
                self.check(name, make(), keras.losses.MeanSquaredError(), lambda y, p: y, None, is_fused=True)

    def test_losses(self):
        for name, loss, truth, activation in losses():
            with self.subTest(name):
                self.check(name, keras.optimizers.SGD(0.02), loss, truth, activation)


if __name__ == "__main__":
    unittest.main()
