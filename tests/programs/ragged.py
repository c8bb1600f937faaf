"""Ragged tensors: sentences of words, their lengths, means, and pairs of neighbors."""
import tensorflow as tf


@tf.function
def bigrams(sentences):
    words = tf.strings.split(tf.strings.lower(sentences))
    return tf.strings.ngrams(words, 2, separator="_")


@tf.function
def averages(values):
    centered = values - tf.expand_dims(tf.reduce_mean(values, axis=1), 1)
    return tf.reduce_mean(centered ** 2, axis=1), values.row_lengths(), centered.to_tensor(-1.0, shape=[None, 4])


@tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.int64)])
def join(ids):
    return tf.concat([ids[:, :1], ids[:, ::-1]], axis=1)


@tf.function
def mapped(values):
    return tf.map_fn(tf.reduce_max, values, fn_output_signature=tf.float32)


print(bigrams(tf.constant(["The cat sat", "on mats", "x"])))
print(averages(tf.ragged.constant([[1.0, 2.0, 6.0], [4.0], [5.0, 7.0]])))
print(join(tf.ragged.constant([[1, 2], [3]], dtype=tf.int64)))
print(mapped(tf.ragged.constant([[1.0, 5.0], [2.0]])))
