"""Loops of one's own: a gradient penalty, a Hessian by nested tapes, and a custom gradient."""
import tensorflow as tf

tf.random.set_seed(10)
w1 = tf.Variable(tf.random.normal([4, 8], stddev=0.5), name="w1")
w2 = tf.Variable(tf.random.normal([8, 1], stddev=0.5), name="w2")


@tf.custom_gradient
def clipped(x):
    return tf.identity(x), lambda upstream: tf.clip_by_value(upstream, -0.5, 0.5)


@tf.function
def critic(x):
    return clipped(tf.matmul(tf.tanh(tf.matmul(x, w1)), w2))


@tf.function
def penalty_step(real, fake):
    mix = tf.random.uniform([tf.shape(real)[0], 1], seed=1)
    between = mix * real + (1.0 - mix) * fake
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(between)
            score = critic(between)
        slope = tf.norm(inner.gradient(score, between), axis=1)
        loss = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real)) + 10.0 * tf.reduce_mean((slope - 1.0) ** 2)
    for variable, gradient in zip((w1, w2), outer.gradient(loss, [w1, w2])):
        variable.assign_sub(0.01 * gradient)
    return loss


@tf.function
def hessian(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(x ** 3) + tf.reduce_prod(x)
        slope = inner.gradient(y, x)
    return outer.jacobian(slope, x)


for _ in range(2):
    print(penalty_step(tf.random.normal([3, 4]), tf.random.normal([3, 4])))
print(hessian(tf.constant([1.0, 2.0, 3.0])))
