"""Keras' evaluate and predict of a model with two inputs, and one step of fit before."""
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(9)
left, right = tf.keras.Input((4,), name="left"), tf.keras.Input((4,), name="right")
dense = tf.keras.layers.Dense(6, activation="relu")
both = tf.keras.layers.Concatenate()([dense(left), dense(right)])
model = tf.keras.Model([left, right], tf.keras.layers.Dense(1, activation="sigmoid")(both))
model.compile("sgd", "binary_crossentropy", metrics=["accuracy", "auc"], jit_compile=False)

inputs = [np.random.rand(10, 4).astype("float32") for _ in range(2)]
target = np.random.randint(0, 2, (10, 1))
model.fit(inputs, target, batch_size=10, verbose=0)
print(model.evaluate(inputs, target, batch_size=4, verbose=0))
print(model.predict(inputs, batch_size=5, verbose=0).shape)
print(model.predict_on_batch([i[:3] for i in inputs]).shape)
