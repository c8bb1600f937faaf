#!/usr/bin/env python3
"""Networks of docs/examples train to TensorFlow's losses: from the same start, on the same batches, all 100 of them, as they are
traced, with the passes, and op by op in eager mode. What differs is the order in which sums are made; what that grows to in 100 steps is TOLERANCE."""

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
PLUGINS = pathlib.Path(GRAPNEL).resolve().parents[1] / "plugins"
STEPS = 100
TOLERANCE = 1e-5  # of each loss, relative


def grapnel(*args, fails=False):
    done = subprocess.run([GRAPNEL, *map(str, args)], capture_output=True, text=True)
    if fails:
        return done
    assert done.returncode == 0, done.stderr
    return done.stdout


class Network:
    """The same network in TensorFlow, on variables by name."""

    def __init__(self, values):
        names = [n for n in values if n != "grapnel/step" and n.split("/")[0] not in ("adam", "adamw", "sgd", "rmsprop")]
        self.all = {n: tf.Variable(values[n], name=n.replace("/", "_"), trainable="moving" not in n) for n in names}
        self.trained = [v for v in self.all.values() if v.trainable]

    def __getitem__(self, name):
        return self.all[name]


def mlp(w, x):
    h = tf.nn.relu(x @ w["hidden/kernel"] + w["hidden/bias"])
    return h @ w["output/kernel"] + w["output/bias"]


def convnet(w, x):
    h = tf.nn.conv2d(x, w["conv/kernel"], 1, "SAME")
    h, mean, variance = tf.compat.v1.nn.fused_batch_norm(h, w["batch_norm/gamma"], w["batch_norm/beta"], epsilon=0.001)[:3]
    for name, now in (("mean", mean), ("variance", variance)):
        average = w["batch_norm/moving_" + name]
        average.assign_sub((average - now) * 0.01)
    h = tf.nn.max_pool2d(tf.nn.relu(h), 2, 2, "VALID")
    return tf.reshape(h, [16, -1]) @ w["dense/kernel"] + w["dense/bias"]


def lstm(w, x):
    h = c = tf.zeros([8, 5])
    for t in range(6):
        i, f, g, o = tf.split(x[:, t] @ w["lstm/kernel"] + h @ w["lstm/recurrent"] + w["lstm/bias"], 4, 1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        h = tf.sigmoid(o) * tf.tanh(c)
    return h @ w["dense/kernel"]


def norm(w, x, name):
    x -= tf.reduce_mean(x, -1, keepdims=True)
    return x / tf.sqrt(tf.reduce_mean(x * x, -1, keepdims=True) + 1e-5) * w[name + "/gamma"] + w[name + "/beta"]


def transformer(w, x):
    h = tf.gather(w["embedding"], x)
    q, k, v = (h @ w["attention/" + name] for name in ("query", "key", "value"))
    h = norm(w, h + tf.nn.softmax(q @ tf.transpose(k, [0, 2, 1]) * 0.35355338) @ v, "norm_1")
    h = norm(w, h + tf.nn.relu(h @ w["dense_1"]) @ w["dense_2"], "norm_2")
    return h @ w["output"]


SPARSE = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
DECAY = keras.optimizers.schedules.ExponentialDecay(0.05, 20, 0.9)
RANDOM = np.random.default_rng(7)


def words(*shape):
    return RANDOM.integers(0, 11, (STEPS, *shape), dtype=np.int32)


def classes(count, *shape):
    return RANDOM.integers(0, count, (STEPS, *shape), dtype=np.int32)


def floats(*shape):
    return RANDOM.standard_normal((STEPS, *shape)).astype(np.float32)


CASES = {
    "mlp": (mlp, SPARSE, lambda: keras.optimizers.Adam(0.01), floats(20, 7), classes(10, 20)),
    "convnet": (convnet, SPARSE, lambda: keras.optimizers.SGD(DECAY, momentum=0.9), floats(16, 8, 8, 1), classes(4, 16)),
    "lstm": (lstm, keras.losses.MeanSquaredError(), lambda: keras.optimizers.RMSprop(0.01, global_clipnorm=1.0),
             floats(8, 6, 3), floats(8, 1)),
    "transformer": (transformer, SPARSE, lambda: keras.optimizers.AdamW(0.005), words(4, 5), words(4, 5)),
}


class Training(unittest.TestCase):
    def test_a_kill_loses_no_checkpoint(self):
        """Killed at any moment, what --resume goes on with is whole, and ends with the bits of a run that was not."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for name, values in (("x", floats(20, 7)), ("y", classes(10, 20))):
                np.save(folder / f"{name}.npy", values)
            call = [GRAPNEL, "train", "TrainStep", "--plugin", PLUGINS / "train_mlp.so", f"--feed=x={folder}/x.npy",
                    f"--feed=y={folder}/y.npy", "--steps", "3000", "--checkpoint-every", "1", "--quiet"]
            kills = 0
            for _ in range(60):
                run = subprocess.Popen([*call, "--checkpoint-dir", folder / "killed", "--resume"], stderr=subprocess.PIPE)
                try:
                    run.wait(0.15 + 0.013 * (kills % 7))
                except subprocess.TimeoutExpired:
                    run.kill()
                    kills += 1
                error = run.communicate()[1].decode()
                if run.returncode == 0:
                    break
                self.assertEqual(error, "")
            subprocess.run([*call, "--checkpoint-dir", folder / "killed", "--resume"], check=True)
            subprocess.run([*call, "--checkpoint-dir", folder / "whole"], check=True)
            self.assertGreater(kills, 1)
            name = "ckpt-3000.data-00000-of-00001"
            self.assertEqual((folder / "killed" / name).read_bytes(), (folder / "whole" / name).read_bytes())

    def losses_of_tensorflow(self, name, values):
        network, loss_of, make, xs, ys = CASES[name]
        w, optimizer = Network(values), make()

        @tf.function
        def step(x, y):
            with tf.GradientTape() as tape:
                loss = loss_of(y, network(w, x))
            optimizer.apply_gradients(zip(tape.gradient(loss, w.trained), w.trained))
            return loss

        optimizer.build(w.trained)
        losses = [float(step(x, y)) for x, y in zip(xs, ys)]
        return losses, w

    def check(self, name):
        *_, xs, ys = CASES[name]
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            np.save(folder / "x.npy", xs)
            np.save(folder / "y.npy", ys)
            call = ["train", "TrainStep", "--plugin", PLUGINS / f"train_{name}.so", "--feed", f"x={folder / 'x.npy'}", "--feed", f"y={folder / 'y.npy'}"]
            grapnel(*call, "--steps", 0, "--checkpoint-dir", folder / "start")
            reader = tf.train.load_checkpoint(str(folder / "start"))
            values = {n: reader.get_tensor(n) for n in reader.get_variable_to_shape_map()}
            wanted, w = self.losses_of_tensorflow(name, values)
            for more in ([], ["--opt"], ["--eager"]):
                lines = grapnel(*call, "--steps", STEPS, "--log-every", 1, "--json", *more, "--checkpoint-dir",
                                folder / ("end" + "".join(more))).splitlines()
                got = [next(iter(json.loads(line)["scalars"].values())) for line in lines]
                self.assertEqual(len(got), STEPS)
                worst = max(abs(a - b) / max(abs(b), 1e-3) for a, b in zip(got, wanted))
                print(f"{name}{' '.join([''] + more)}: loss {wanted[0]:.4f} -> {wanted[-1]:.4f}, off by {worst:.2g} at most")
                self.assertLess(worst, TOLERANCE, (name, more))
            reader = tf.train.load_checkpoint(str(folder / "end"))
            for variable, value in w.all.items():
                np.testing.assert_allclose(reader.get_tensor(variable), value, rtol=5e-2, atol=5e-3, err_msg=variable)

    def test_mlp(self):
        self.check("mlp")

    def test_convnet(self):
        self.check("convnet")

    def test_lstm(self):
        self.check("lstm")

    def test_transformer(self):
        self.check("transformer")


if __name__ == "__main__":
    unittest.main()
