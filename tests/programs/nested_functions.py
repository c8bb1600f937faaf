"""A training step that calls a tf.function, which calls another one; batches of three sizes."""
import tensorflow as tf

tf.random.set_seed(3)
weights = tf.Variable(tf.random.normal([8, 16], stddev=0.1), name="weights")
bias = tf.Variable(tf.zeros([16]), name="bias")
head = tf.Variable(tf.random.normal([16, 1], stddev=0.1), name="head")


@tf.function
def normalize(x):
    mean, variance = tf.nn.moments(x, axes=[1], keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-5)


@tf.function
def forward(x, training):
    hidden = tf.nn.relu(tf.matmul(normalize(x), weights) + bias)
    if training:  # a Python value: one trace for each
        hidden = tf.nn.dropout(hidden, 0.1, seed=4)
    return tf.matmul(normalize(hidden), head)


@tf.function
def train_step(x, y, rate):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(forward(x, True) - y))
    variables = [weights, bias, head]
    for variable, gradient in zip(variables, tape.gradient(loss, variables)):
        variable.assign_sub(rate * gradient)
    return loss


for rows in (4, 6, 9):
    print(train_step(tf.random.normal([rows, 8]), tf.ones([rows, 1]), tf.constant(0.1)))
print(forward(tf.ones([4, 8]), False))
