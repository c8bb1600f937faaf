"""TensorArrays: a beam that is written and read in a loop, a gather, a split, and a gradient through one."""
import tensorflow as tf

tf.random.set_seed(14)
transition = tf.Variable(tf.random.uniform([4, 4], seed=1), name="transition")


@tf.function
def viterbi(scores):
    length = tf.shape(scores)[0]
    back = tf.TensorArray(tf.int32, size=length, clear_after_read=False, element_shape=[4])
    best = scores[0]
    for i in tf.range(1, length):
        paths = tf.expand_dims(best, 1) + transition
        back = back.write(i, tf.argmax(paths, 0, output_type=tf.int32))
        best = tf.reduce_max(paths, 0) + scores[i]
    tag = tf.argmax(best, output_type=tf.int32)
    tags = tf.TensorArray(tf.int32, size=length, element_shape=[]).write(length - 1, tag)
    for i in tf.range(length - 1, 0, -1):
        tag = back.read(i)[tag]
        tags = tags.write(i - 1, tag)
    return tags.stack(), tf.reduce_max(best)


@tf.function
def cumulative(values):
    rows = tf.TensorArray(tf.float32, size=0, dynamic_size=True).unstack(values)
    sums = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    total = tf.zeros([2])
    for i in tf.range(rows.size()):
        total += rows.read(i) ** 2
        sums = sums.write(i, total)
    return sums.concat()


@tf.function
def slopes(values):
    with tf.GradientTape() as tape:
        tape.watch(values)
        y = tf.reduce_sum(cumulative(values))
    return tape.gradient(y, values)


print(viterbi(tf.random.normal([5, 4], seed=2)))
print(slopes(tf.reshape(tf.range(6.0), [3, 2])))
