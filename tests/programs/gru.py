"""A bidirectional GRU over masked sequences, fitted with Keras."""
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(11)
tokens = np.random.randint(1, 12, (8, 5))
tokens[::2, 3:] = 0
labels = np.random.randint(0, 2, (8, 1)).astype("float32")

model = tf.keras.Sequential([
    tf.keras.Input((5,), dtype="int32"),
    tf.keras.layers.Embedding(12, 4, mask_zero=True),
    tf.keras.layers.Bidirectional(tf.keras.layers.GRU(3)),
    tf.keras.layers.Dense(1),
])
model.compile("rmsprop", tf.keras.losses.BinaryCrossentropy(from_logits=True), jit_compile=False)
model.fit(tokens, labels, batch_size=4, epochs=1, verbose=2)
