"""Mixed precision: layers compute in bfloat16, and a loop of one's own scales the loss of float16."""
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(17)
model = tf.keras.Sequential([
    tf.keras.Input((6,)),
    tf.keras.layers.Dense(8, activation="relu", dtype="mixed_bfloat16"),
    tf.keras.layers.Dense(3, dtype="mixed_bfloat16"),
    tf.keras.layers.Activation("softmax", dtype="float32"),
])
model.compile("sgd", "sparse_categorical_crossentropy", jit_compile=False)
model.fit(np.random.rand(8, 6), np.random.randint(0, 3, 8), batch_size=4, verbose=2)

weights = tf.Variable(tf.random.normal([6, 1]), name="weights")
scale = tf.Variable(1024.0, name="scale", trainable=False)


@tf.function
def scaled_step(x, y):
    with tf.GradientTape() as tape:
        predicted = tf.matmul(tf.cast(x, tf.float16), tf.cast(weights, tf.float16))
        loss = tf.reduce_mean((tf.cast(predicted, tf.float32) - y) ** 2)
        scaled = loss * scale
    gradient = tape.gradient(scaled, weights) / scale
    if tf.reduce_all(tf.math.is_finite(gradient)):
        weights.assign_sub(0.1 * gradient)
    else:
        scale.assign(scale / 2.0)
    return loss


for _ in range(2):
    print(scaled_step(tf.random.normal([4, 6]), tf.ones([4, 1])).numpy())
