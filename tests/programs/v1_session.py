"""A TensorFlow 1 program: placeholders, a Session, an optimizer's train op and a while_loop."""
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.set_random_seed(7)
x = tf.placeholder(tf.float32, [None, 3], name="x")
y = tf.placeholder(tf.float32, [None, 1], name="y")
with tf.variable_scope("layer"):
    w = tf.get_variable("w", [3, 4], initializer=tf.random_normal_initializer(seed=1))
    b = tf.get_variable("b", [4], initializer=tf.zeros_initializer())
hidden = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w), b), name="hidden")
v = tf.get_variable("v", [4, 1], use_resource=True)
loss = tf.reduce_mean(tf.squared_difference(tf.matmul(hidden, v), y), name="loss")
step = tf.train.get_or_create_global_step()
train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, global_step=step)
_, doubled = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2.0), [0, loss], name="doubling")

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    rows = np.arange(12, dtype=np.float32).reshape(4, 3) / 12
    for _ in range(2):
        print(session.run([train, loss], {x: rows, y: np.ones((4, 1))})[1])
    print(session.run([doubled, hidden], {x: rows, y: np.ones((4, 1))})[0])
