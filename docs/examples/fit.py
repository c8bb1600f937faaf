"""Fits a small convolutional network to pictures of noise, evaluates and saves it: the program of docs/guide (optimizing, comparing-graphs, placement).

needs: tensorflow-cpu==2.21.0
"""
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
tf.debugging.set_log_device_placement(True)
pictures = np.random.rand(28, 8, 8, 3).astype("float32")
labels = np.random.randint(0, 4, 28)


@tf.function
def prepare(picture, training):
    """Centers a picture, and flips it in training."""
    centered = (picture - tf.reduce_mean(picture)) / 0.25
    return tf.image.random_flip_left_right(centered, seed=1) if training else centered


def batches(training):
    samples = tf.data.Dataset.from_tensor_slices((pictures, labels))
    return samples.map(lambda picture, label: (prepare(picture, training), label)).batch(8)


model = tf.keras.Sequential([
    tf.keras.Input((8, 8, 3)),
    tf.keras.layers.Conv2D(4, 3, padding="same", use_bias=False),
    tf.keras.layers.BatchNormalization(),
    tf.keras.layers.ReLU(),
    tf.keras.layers.MaxPooling2D(),
    tf.keras.layers.Conv2D(6, 3, activation="relu"),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dropout(0.25),
    tf.keras.layers.Dense(4, name="logits"),
])
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"],
              jit_compile=False)  # otherwise XLA compiles the step, and Grappler does not see it
model.fit(batches(training=True), epochs=2, shuffle=False, verbose=2)
model.evaluate(batches(training=False), verbose=2)


class Served(tf.Module):
    def __init__(self):
        super().__init__()
        self.model, self.prepare = model, prepare

    @tf.function
    def rate(self, pictures, temperature=1.0):
        """The probability of each class, for a batch of pictures."""
        centered = tf.map_fn(lambda picture: self.prepare(picture, False), pictures)
        return tf.nn.softmax(self.model(centered) / temperature)


served = Served()
for few in (pictures[:4], pictures[:9]):
    served.rate(few, temperature=2.0)
tf.saved_model.save(served, "served", signatures=served.rate.get_concrete_function(tf.TensorSpec([None, 8, 8, 3], name="pictures")))
