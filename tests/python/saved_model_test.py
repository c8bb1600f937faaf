"""A SavedModel with variables trains here as in TensorFlow, and TensorFlow reads what is saved then."""
import os
import subprocess
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

GRAPNEL = os.environ.get("GRAPNEL", "build/release/bin/grapnel")
STEPS = 5


class Model(tf.Module):
    """Two layers, a table of labels, and a count of steps."""

    def __init__(self):
        r = np.random.RandomState(0)
        self.w = tf.Variable(r.randn(4, 8).astype("f"), name="w")
        self.v = tf.Variable(r.randn(8, 3).astype("f"), name="v")
        self.steps = tf.Variable(0, name="steps", dtype=tf.int64)
        self.labels = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(["a", "b", "c"], tf.constant([0, 1, 2], tf.int64)), -1)

    @tf.function(input_signature=[tf.TensorSpec([6, 4]), tf.TensorSpec([6], tf.string)])
    def train_step(self, x, names):
        with tf.GradientTape() as tape:
            logits = tf.nn.relu(x @ self.w) @ self.v
            losses = tf.nn.softmax_cross_entropy_with_logits(tf.one_hot(self.labels.lookup(names), 3), logits)
            loss = tf.reduce_mean(losses)
        for variable, gradient in zip((self.w, self.v), tape.gradient(loss, (self.w, self.v))):
            variable.assign_sub(0.1 * gradient)
        self.steps.assign_add(1)
        return {"loss": loss}


class SavedModelTest(unittest.TestCase):
    def test_trains_and_saves(self):
        with tempfile.TemporaryDirectory() as folder:
            model = Model()
            tf.saved_model.save(model, folder + "/model", signatures={"train_step": model.train_step})
            x = np.random.RandomState(1).randn(6, 4).astype("f")
            names = np.array(["a", "c", "b", "b", "a", "c"], "S")
            np.save(folder + "/x.npy", x)
            np.save(folder + "/names.npy", names)
            wanted = [float(model.train_step(x, tf.constant(names))["loss"]) for _ in range(STEPS)]
            done = subprocess.run(
                [GRAPNEL, "run", folder + "/model", "--signature", "train_step", "--feed", f"x={folder}/x.npy", "--feed",
                 f"names={folder}/names.npy", "--fetch", "loss", "--repeat", str(STEPS), "--save-variables", folder + "/after"],
                capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            losses = [float(line.rsplit(" ", 1)[1]) for line in done.stdout.splitlines()]
            np.testing.assert_allclose(losses, wanted[-1:], rtol=1e-5)  # of the last run
            saved = tf.train.load_checkpoint(folder + "/after")
            values = {name: saved.get_tensor(name) for name in saved.get_variable_to_shape_map()}
            by_shape = {value.shape: value for value in values.values() if isinstance(value, np.ndarray) and value.ndim}
            np.testing.assert_allclose(by_shape[4, 8], model.w.numpy(), rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(by_shape[8, 3], model.v.numpy(), rtol=1e-5, atol=1e-6)
            self.assertIn(STEPS, [int(v) for v in values.values() if np.ndim(v) == 0 and not isinstance(v, bytes)])


if __name__ == "__main__":
    unittest.main()
