"""A function that is traced again for a shape, a dtype, a rank, Python values and a relaxed shape."""
import tensorflow as tf


@tf.function
def power(x, exponent, scale=1):
    result = tf.ones_like(x)
    for _ in range(exponent):  # unrolled
        result *= x
    return result * tf.cast(scale, x.dtype)


@tf.function(reduce_retracing=True)
def mean(x):
    return tf.reduce_sum(x) / tf.cast(tf.size(x), x.dtype)


@tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
def count(x):
    return tf.math.bincount(x)


print(power(tf.constant([1.0, 2.0]), 2))
print(power(tf.constant([1.0, 2.0, 3.0]), 2))                # another shape
print(power(tf.constant([1, 2]), 2))                         # another dtype
print(power(tf.constant([[1.0, 2.0]]), 2))                   # another rank
print(power(tf.constant([1.0, 2.0]), 3))                     # another Python value
print(power(tf.constant([1.0, 2.0]), 2, scale=2.5))
print(power(tf.constant([1.0, 2.0]), 2, scale=tf.constant(3)))  # a tensor where a number was
print(power(tf.constant([1.0, 2.0]), 2))                     # no new trace
for length in (2, 3, 4):
    print(mean(tf.ones([length])))                           # the second trace takes any length
    print(count(tf.range(length)))
