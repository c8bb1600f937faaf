"""FLOPs of a SavedModel are those of one run of one signature: those of the graph that TensorFlow traces for that batch, where every
shape is known."""
import json
import os
import subprocess
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import tensorflow as tf
from keras import layers
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

GRAPNEL = os.environ.get("GRAPNEL", "build/release/bin/grapnel")
FULL = bool(os.environ.get("GRAPNEL_FULL"))


def attention():
    i = keras.Input((6, 8))
    return keras.Model(i, layers.Dense(3)(layers.LayerNormalization()(layers.MultiHeadAttention(2, 4)(i, i) + i)))


class Two(tf.Module):
    """Signatures that share a variable; the larger one is not the default."""

    def __init__(self):
        self.w = tf.Variable(tf.ones([6, 5]))
        self.u = tf.Variable(tf.ones([5, 40]))

    @tf.function(input_signature=[tf.TensorSpec([None, 6], name="x")])
    def small(self, x):
        return {"y": tf.reshape(x @ self.w, [tf.shape(x)[0], 5])}

    @tf.function(input_signature=[tf.TensorSpec([8, 6], name="x")])
    def large(self, x):
        return {"y": tf.nn.relu(x @ self.w) @ self.u}


MODELS = {
    "tensordot": (lambda: keras.Sequential([keras.Input((5, 6)), layers.Dense(7), layers.Dense(3, activation="relu")]), (5, 6), "float32"),
    "convolutions": (
        lambda: keras.Sequential(
            [keras.Input((8, 8, 3)), layers.Conv2D(4, 3, padding="same"), layers.MaxPooling2D(), layers.DepthwiseConv2D(3),
             layers.Flatten(), layers.Dense(5)]), (8, 8, 3), "float32"),
    "transposed": (
        lambda: keras.Sequential(
            [keras.Input((4, 4, 2)), layers.Conv2DTranspose(3, 3, strides=2, padding="same"), layers.UpSampling2D()]),
        (4, 4, 2), "float32"),
    "embedding": (
        lambda: keras.Sequential([keras.Input((7,), dtype="int32"), layers.Embedding(20, 5), layers.Reshape((35,)), layers.Dense(4)]),
        (7,), "int32"),
    "attention": (attention, (6, 8), "float32"),
    "recurrent": (lambda: keras.Sequential([keras.Input((5, 3)), layers.GRU(4, unroll=True), layers.Dense(2)]), (5, 3), "float32"),
}


def costs(path, *arguments):
    said = subprocess.run([GRAPNEL, "info", path, "--costs", "--json", *arguments], capture_output=True, check=True)
    return json.loads(said.stdout)["graphs"][0]["run"]


class CostsTest(unittest.TestCase):
    def traced(self, folder, model, shape, dtype, batch):
        """What the graph costs that TensorFlow traces for the batch."""
        function = tf.function(lambda x: model(x, training=False))
        graph = convert_variables_to_constants_v2(function.get_concrete_function(tf.TensorSpec((batch, *shape), dtype))).graph
        tf.io.write_graph(graph, folder, "traced.pb", as_text=False)
        return costs(folder + "/traced.pb")

    def test_one_run_of_a_keras_export(self):
        for name, (make, shape, dtype) in list(MODELS.items())[: None if FULL else 2]:
            model = make()
            with tempfile.TemporaryDirectory() as folder:
                model.export(folder + "/model", verbose=False)
                for batch in (1, 3):
                    with self.subTest(name, batch=batch):
                        got = costs(folder + "/model", "--batch", str(batch))
                        wanted = self.traced(folder, model, shape, dtype, batch)
                        self.assertEqual(got["open"], 0)
                        self.assertEqual(got["signature"], "serving_default")
                        # The shapes' own arithmetic, of which TensorFlow has none left.
                        self.assertLessEqual(wanted["flops"], got["flops"])
                        self.assertLess(got["flops"] - wanted["flops"], 10)
                # A missing batch size is assumed to be 1, with a message.
                assumed = costs(folder + "/model")
                self.assertEqual(assumed["assumed_batch"], 1)
                self.assertEqual(assumed["flops"], costs(folder + "/model", "--batch", "1")["flops"])

    def test_one_of_two_signatures(self):
        model = Two()
        with tempfile.TemporaryDirectory() as folder:
            tf.saved_model.save(model, folder + "/model", signatures={"serving_default": model.small, "large": model.large})
            got = costs(folder + "/model", "--batch", "4")
            self.assertEqual((got["open"], got["flops"] // 10), (0, 4 * 6 * 5 * 2 // 10))
            self.assertEqual(got["signature"], "serving_default")
            large = costs(folder + "/model", "--signature", "large")
            self.assertEqual(large["flops"], 8 * 6 * 5 * 2 + 8 * 5 + 8 * 5 * 40 * 2)
            self.assertEqual(large["signature"], "large")


if __name__ == "__main__":
    unittest.main()
