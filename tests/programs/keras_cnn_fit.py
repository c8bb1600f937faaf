"""Fits a small convolutional network to pictures of noise."""
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
pictures = np.random.rand(24, 8, 8, 3).astype("float32")
labels = np.random.randint(0, 4, 24)

model = tf.keras.Sequential([
    tf.keras.Input((8, 8, 3)),
    tf.keras.layers.Conv2D(4, 3, padding="same", use_bias=False),
    tf.keras.layers.BatchNormalization(),
    tf.keras.layers.ReLU(),
    tf.keras.layers.MaxPooling2D(),
    tf.keras.layers.Conv2D(6, 3, activation="relu"),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dropout(0.25),
    tf.keras.layers.Dense(4),
])
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"],
              jit_compile=False)  # else XLA compiles the step, and Grappler does not see it
model.fit(pictures, labels, batch_size=8, epochs=2, verbose=2)
