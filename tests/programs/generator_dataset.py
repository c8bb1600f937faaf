"""Datasets that Python generates, zipped, padded and shuffled, and read by a tf.function."""
import tensorflow as tf


def sentences():
    for length in (2, 4, 1, 3):
        yield list(range(length)), float(length)


def countdown(start):
    while start > 0:
        yield start
        start -= 1


words = tf.data.Dataset.from_generator(
    sentences, output_signature=(tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.float32)))
numbers = tf.data.Dataset.from_generator(countdown, args=(6,), output_signature=tf.TensorSpec([], tf.int64))
padded = words.map(lambda ids, weight: (ids + 1, weight * 2.0)).shuffle(4, seed=1).padded_batch(2, ([None], []))


@tf.function
def weigh(ids, weights):
    mask = tf.cast(ids > 0, tf.float32)
    return tf.reduce_sum(mask * weights[:, None])


for ids, weights in padded:
    print(ids.shape, weigh(ids, weights).numpy())
for (ids, _), number in tf.data.Dataset.zip((words, numbers)).take(2):
    print(ids.numpy(), number.numpy())
