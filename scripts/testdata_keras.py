"""Makes testdata/keras with real Keras: an exported model, weights of another one like it, and what that one computes.

needs: tensorflow-cpu==2.21.0 (with Keras 3)        usage: scripts/testdata_keras.py [OUT_DIR]
"""
import os
import shutil
import sys
import zipfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
README = f"""\
# Weights of Keras

Made by `scripts/testdata_keras.py` with TensorFlow {tf.__version__} and Keras {keras.__version__}; do not edit by hand.

`model/` is a Keras model as `model.export` wrote it, `trained.weights.h5` the weights of another model of the same layers, with
an optimizer's, as `save_weights` wrote them, `trained.keras` the same in an archive, `deflated.keras` that archive packed, `checkpoint` the same
as `tf.train.Checkpoint(net=model)` wrote them. `y.npy` is what the other model computes of `x.npy`.
"""


@keras.saving.register_keras_serializable()
class Block(keras.layers.Layer):
    """A layer with a weight of its own and three layers of one kind and shape."""

    def __init__(self, **more):
        super().__init__(**more)
        self.first = keras.layers.Dense(4)
        self.second, self.third = keras.layers.Dense(4), keras.layers.Dense(4)

    def build(self, shape):
        self.scale = self.add_weight(shape=(4,), name="scale", initializer="ones")
        for layer in (self.first, self.second, self.third):
            layer.build((None, 4))

    def call(self, x):
        x = self.first(x) * self.scale
        return self.second(x) - keras.ops.relu(self.third(x))


def make(seed):
    layers = keras.layers
    model = keras.Sequential([keras.Input((3,)), layers.Dense(4), layers.BatchNormalization(), Block(), layers.Dense(2)])
    random = np.random.RandomState(seed)
    for variable in model.weights:
        variable.assign(1 + random.rand(*variable.shape))
    model.compile("sgd", "mse")
    return model


def main(out):
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    with open(os.path.join(out, "README.md"), "w") as file:
        file.write(README)
    model, trained = make(1), make(2)
    model.export(os.path.join(out, "model"), verbose=False)
    os.remove(os.path.join(out, "model", "fingerprint.pb"))
    trained.save_weights(os.path.join(out, "trained.weights.h5"))
    trained.save(os.path.join(out, "trained.keras"))
    with zipfile.ZipFile(os.path.join(out, "trained.keras")) as plain, \
            zipfile.ZipFile(os.path.join(out, "deflated.keras"), "w", zipfile.ZIP_DEFLATED) as packed:
        for name in plain.namelist():
            packed.writestr(name, plain.read(name))
    tf.train.Checkpoint(net=trained).write(os.path.join(out, "checkpoint"))
    x = np.random.RandomState(0).rand(2, 3).astype("f")
    np.save(os.path.join(out, "x.npy"), x)
    np.save(os.path.join(out, "y.npy"), trained(x).numpy())
    print(trained(x).numpy().ravel().tolist())


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "testdata", "keras"))
