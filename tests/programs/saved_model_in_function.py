"""A loaded SavedModel, called and trained on inside of a tf.function."""
import tempfile

import tensorflow as tf

tf.random.set_seed(19)


class Encoder(tf.Module):
    def __init__(self):
        super().__init__()
        self.kernel = tf.Variable(tf.random.normal([3, 5]), name="kernel")

    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def encode(self, x):
        return tf.nn.relu(tf.matmul(x, self.kernel))


with tempfile.TemporaryDirectory() as folder:
    tf.saved_model.save(Encoder(), folder)
    encoder = tf.saved_model.load(folder)
head = tf.Variable(tf.random.normal([5, 1]), name="head")


@tf.function
def classify(x):
    return tf.sigmoid(tf.matmul(encoder.encode(x), head))


@tf.function
def fine_tune(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(encoder.encode(x), head) - y))
    variables = [encoder.kernel, head]
    for variable, gradient in zip(variables, tape.gradient(loss, variables)):
        variable.assign_sub(0.1 * gradient)
    return loss


print(fine_tune(tf.ones([2, 3]), tf.zeros([2, 1])))
print(classify(tf.ones([4, 3])))
