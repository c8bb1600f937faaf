"""Conditions: nested ones, one that writes a variable, a switch_case, and a gradient through one."""
import tensorflow as tf

calls = tf.Variable([0, 0], name="calls")


@tf.function
def huber(error, delta):
    if tf.abs(error) <= delta:
        calls.assign_add([1, 0])
        result = 0.5 * error * error
    else:
        calls.assign_add([0, 1])
        if error > 0.0:
            result = delta * (error - 0.5 * delta)
        else:
            result = delta * (-error - 0.5 * delta)
    return result


@tf.function
def activation(kind, x):
    return tf.switch_case(kind, [lambda: tf.nn.relu(x), lambda: tf.tanh(x), lambda: x * tf.sigmoid(x)], default=lambda: x)


@tf.function
def slope(error):
    with tf.GradientTape() as tape:
        tape.watch(error)
        value = huber(error, tf.constant(1.0))
    return tape.gradient(value, error)


for value in (0.5, 3.0, -3.0):
    print(huber(tf.constant(value), tf.constant(1.0)).numpy(), slope(tf.constant(value)).numpy())
for kind in range(4):
    print(activation(tf.constant(kind), tf.constant([-1.0, 2.0])).numpy())
print(calls.numpy())
