"""Saves a module with two signatures and a table, loads it, and calls all that it has."""
import tempfile

import tensorflow as tf


class Scorer(tf.Module):
    def __init__(self):
        super().__init__()
        self.scale = tf.Variable([1.0, 2.0, 3.0], name="scale")
        keys = tf.lookup.KeyValueTensorInitializer(["low", "high"], [0.5, 2.0])
        self.table = tf.lookup.StaticHashTable(keys, 1.0)

    @tf.function(input_signature=[tf.TensorSpec([None, 3], name="features")])
    def score(self, features):
        return {"score": tf.nn.sigmoid(tf.reduce_sum(features * self.scale, axis=1))}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="level")])
    def factor(self, level):
        return {"factor": self.table.lookup(level)}


scorer = Scorer()
with tempfile.TemporaryDirectory() as folder:
    tf.saved_model.save(scorer, folder, {"serving_default": scorer.score, "factor": scorer.factor})
    loaded = tf.saved_model.load(folder)
print(loaded.signatures["serving_default"](features=tf.ones([2, 3])))
print(loaded.signatures["factor"](level=tf.constant(["high", "none"])))
print(loaded.score(tf.zeros([1, 3])), loaded.factor(tf.constant(["low"])))
