"""A tf.data pipeline: parsed lines, a filter, interleaved ranges, scan, batches of windows, and a sum over all."""
import tensorflow as tf


def parse(line):
    fields = tf.strings.to_number(tf.strings.split(line, ","))
    return tf.reshape(fields, [3])


def is_positive(row):
    return tf.reduce_sum(row) > 0.0


def repeated(n):
    return tf.data.Dataset.range(n).map(lambda i: i * 10 + n)


lines = tf.data.Dataset.from_tensor_slices([f"{i},{i * i - 20},{-i}" for i in range(10)])
rows = lines.map(parse, num_parallel_calls=2).filter(is_positive).batch(2).prefetch(1)
for row in rows:
    print(row.numpy().tolist())

mixed = tf.data.Dataset.range(1, 4).interleave(repeated, cycle_length=2)
sums = mixed.scan(tf.constant(0, tf.int64), lambda total, x: (total + x, total + x))
print(list(sums.as_numpy_iterator()))

windows = tf.data.Dataset.range(7).window(3, shift=2).flat_map(lambda window: window.batch(3))
print([w.tolist() for w in windows.as_numpy_iterator()])


@tf.function
def total(dataset):
    result = tf.constant(0.0)
    for batch in dataset:
        result += tf.reduce_sum(batch)
    return result


print(total(rows).numpy(), sums.reduce(tf.constant(0, tf.int64), lambda a, b: tf.maximum(a, b)).numpy())
