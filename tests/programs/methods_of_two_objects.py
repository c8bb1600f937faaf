"""Methods that are tf.functions, of two objects of one class and of a subclass: each object has traces of its own."""
import tensorflow as tf


class Filter(tf.Module):
    def __init__(self, decay, name):
        super().__init__(name)
        self.decay = decay  # a Python number: a constant of the trace
        self.state = tf.Variable(tf.zeros([3]), name="state")

    @tf.function
    def update(self, x):
        self.state.assign(self.decay * self.state + (1.0 - self.decay) * self.prepare(x))
        return self.state.read_value()

    @tf.function
    def prepare(self, x):
        return x - tf.reduce_mean(x)


class Clipped(Filter):
    @tf.function
    def prepare(self, x):
        return tf.clip_by_value(x, -1.0, 1.0)


slow, fast, clipped = Filter(0.9, "slow"), Filter(0.5, "fast"), Clipped(0.5, "clipped")
for x in ([1.0, 2.0, 3.0], [3.0, 0.0, -3.0]):
    for each in (slow, fast, clipped):
        print(each.name, each.update(tf.constant(x)).numpy())
print(slow.prepare(tf.constant([[1.0, 3.0]])).numpy())
