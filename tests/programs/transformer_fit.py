"""Fits one block of a Transformer that predicts the next token of a sequence."""
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(2)
WORDS, LENGTH, WIDTH = 20, 6, 8
text = np.random.randint(0, WORDS, (16, LENGTH + 1))

tokens = tf.keras.Input((LENGTH,), dtype="int32")
x = tf.keras.layers.Embedding(WORDS, WIDTH)(tokens)
x = x + tf.keras.layers.Embedding(LENGTH, WIDTH)(tf.range(LENGTH))
attended = tf.keras.layers.MultiHeadAttention(2, 4)(x, x, use_causal_mask=True)
x = tf.keras.layers.LayerNormalization()(x + attended)
hidden = tf.keras.layers.Dense(16, activation="gelu")(x)
x = tf.keras.layers.LayerNormalization()(x + tf.keras.layers.Dense(WIDTH)(hidden))
model = tf.keras.Model(tokens, tf.keras.layers.Dense(WORDS)(x))
model.compile(tf.keras.optimizers.AdamW(1e-3), tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
              jit_compile=False)
model.fit(text[:, :-1], text[:, 1:], batch_size=8, epochs=1, verbose=2)
