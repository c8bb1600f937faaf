"""Exports a small classifier of digits twice, as it was and after a change: the models of docs/guide/layers.md. Both folders, and two pictures
to feed, are in layers.tar.xz.

needs: tensorflow-cpu==2.21.0 (with Keras 3)        usage: layers.py [FOLDER]
"""
import pathlib
import sys

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")


def build(width, activation):
    tf.keras.utils.set_random_seed(1)
    image = tf.keras.Input((28, 28, 1), name="image")
    x = layers.Conv2D(8, 3, strides=2, activation="relu", name="conv1")(image)
    x = layers.Lambda(lambda x: x / tf.norm(x, axis=[1, 2], keepdims=True), name="unit")(x)
    x = layers.Conv2D(width, 3, strides=2, use_bias=False, name="conv2")(x)
    x = layers.BatchNormalization(name="norm2")(x)
    x = layers.Activation(activation, name="act2")(x)
    x = layers.Conv2D(width, 3, name="conv3")(x)
    x = layers.Multiply(name="gated")([x, layers.ReLU(name="gate")(x)])
    x = layers.GlobalAveragePooling2D(name="pool")(x)
    return tf.keras.Model(image, layers.Dense(10, activation="softmax", name="digit")(x), name="digits")


build(16, "relu").export(folder / "digits", verbose=False)
build(24, "tanh").export(folder / "digits_new", verbose=False)
picture = np.random.RandomState(1).uniform(0, 255, (1, 28, 28, 1)).astype("float32")
np.save(folder / "picture.npy", picture)
np.save(folder / "blank.npy", np.zeros_like(picture))
