"""Makes networks with TensorFlow, weights drawn from a seed: case folders with a frozen graph, an input, and TensorFlow's outputs.

usage: networks.py FOLDER NAME...      makes FOLDER/NAME

What is drawn: kernels so that values keep their size from layer to layer, and biases, scales, means and variances of
BatchNormalization as spread as a trained network has them. At their initial 0 and 1 they would be folded away, and be no work.
"""
import json
import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

K = tf.keras
L = K.layers
SEED = 7
NETWORKS = {}


def network(make):
    NETWORKS[make.__name__] = make
    return make


def image(size=224, channels=3):
    return lambda r: r.random_sample((1, size, size, channels)).astype("f")


def tokens(most, *shape):
    return lambda r: r.randint(0, most, shape).astype("i")


@network
def lenet():
    layers = [K.Input((28, 28, 1)), L.Conv2D(6, 5, activation="relu", padding="same"), L.MaxPool2D(), L.Conv2D(16, 5, activation="relu"),
              L.BatchNormalization(), L.MaxPool2D(), L.Flatten(), L.Dense(120, activation="tanh"), L.Dense(84, activation="sigmoid"),
              L.Dense(10, activation="softmax")]
    return K.Sequential(layers), image(28, 1)


@network
def lstm_text():
    layers = [K.Input((12,), dtype="int32"), L.Embedding(50, 16), L.Bidirectional(L.LSTM(16, return_sequences=True)), L.GRU(8),
              L.Dense(3, activation="softmax")]
    return K.Sequential(layers), tokens(50, 2, 12)


@network
def transformer_small():
    ids = K.Input((16,), dtype="int32")
    x = L.Embedding(100, 64)(ids) + L.Embedding(16, 64)(tf.range(16)[None])
    for _ in range(2):
        x = L.LayerNormalization(epsilon=1e-5)(x + L.MultiHeadAttention(4, 16)(x, x))
        x = L.LayerNormalization(epsilon=1e-5)(x + L.Dense(64)(L.Dense(256, activation="gelu")(x)))
    return K.Model(ids, L.Dense(100)(x)), tokens(100, 2, 16)


@network
def unet():
    """GroupNormalization, LeakyRelu and Softplus, transposed convolutions on the way up."""
    def block(x, channels):
        for _ in range(2):
            x = L.LeakyReLU(0.1)(L.GroupNormalization(8)(L.Conv2D(channels, 3, padding="same")(x)))
        return x

    start = K.Input((128, 128, 3))
    x, kept = start, []
    for channels in (16, 32, 64):
        x = block(x, channels)
        kept.append(x)
        x = L.MaxPool2D()(x)
    x = block(x, 128)
    for channels, beside in zip((64, 32, 16), reversed(kept)):
        x = block(L.Concatenate()([L.Conv2DTranspose(channels, 2, strides=2)(x), beside]), channels)
    return K.Model(start, L.Conv2D(2, 1, activation="softplus")(x)), image(128)


def application(name, builder, size=224):
    NETWORKS[name] = lambda: (getattr(K.applications, builder)(weights=None), image(size))


application("mobilenet_v2", "MobileNetV2")
application("mobilenet_v3_large", "MobileNetV3Large")
application("resnet50", "ResNet50")
application("densenet121", "DenseNet121")
application("efficientnet_b0", "EfficientNetB0")
application("nasnet_mobile", "NASNetMobile")
application("inception_v3", "InceptionV3", 299)
application("xception", "Xception", 299)


def draw_weights(model, r):
    for v in model.weights:
        kind, shape = v.path.split("/")[-1], tuple(v.shape)
        if not tf.as_dtype(v.dtype).is_floating:
            continue
        if kind in ("bias", "beta", "moving_mean", "mean"):
            v.assign(0.1 * r.standard_normal(shape))
        elif kind in ("gamma", "moving_variance", "variance"):
            v.assign(1 + 0.2 * r.random_sample(shape))
        else:
            read = shape[:2] if "depthwise" in v.path else shape[:-1]
            v.assign(r.standard_normal(shape) * np.sqrt(2 / max(1, np.prod(read))))


def even_out(model, x):
    """Scales the last layer that has a kernel so that what it gives is about one: a softmax of large numbers is 1 and zeros, whatever
    went wrong before it."""
    last = [layer for layer in model.layers if hasattr(layer, "kernel")][-1]
    activation, last.activation = last.activation, K.activations.linear
    spread = float(np.std(K.Model(model.inputs, last.output)(x, training=False)))
    last.activation = activation
    last.kernel.assign(last.kernel / spread)


def write_case(folder, model, x):
    function = tf.function(lambda x: model(x, training=False)).get_concrete_function(tf.TensorSpec(x.shape, x.dtype))
    function = convert_variables_to_constants_v2(function, lower_control_flow=False)
    outputs = tf.nest.flatten(function(tf.constant(x)))
    info = {"feeds": {function.inputs[0].name: "feed_0.npy"}, "fetches": {}, "rtol": 1e-3, "atol": {}}
    np.save(os.path.join(folder, "feed_0.npy"), x)
    for i, (tensor, value) in enumerate(zip(function.outputs, outputs)):
        value = value.numpy()
        if not np.isfinite(value).all() or value.std() == 0:
            sys.exit(f"output {i} is {value.ravel()[:4]}: nothing that could be compared")
        info["fetches"][tensor.name] = f"out_{i}.npy"
        info["atol"][tensor.name] = float(f"{2e-3 * value.std():.1e}")
        np.save(os.path.join(folder, f"out_{i}.npy"), value)
    with open(os.path.join(folder, "graph.pb"), "wb") as file:
        file.write(function.graph.as_graph_def().SerializeToString(deterministic=True))
    return info


def training_step(folder):
    """One step of ResNet50, for drawing: variables are inputs."""
    model, optimizer, loss = K.applications.ResNet50(weights=None), K.optimizers.Adam(), K.losses.CategoricalCrossentropy()
    optimizer.build(model.trainable_variables)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            value = loss(y, model(x, training=True))
        optimizer.apply_gradients(zip(tape.gradient(value, model.trainable_variables), model.trainable_variables))
        return value

    graph = step.get_concrete_function(tf.TensorSpec((8, 224, 224, 3)), tf.TensorSpec((8, 1000))).graph.as_graph_def()
    with open(os.path.join(folder, "graph.pb"), "wb") as file:
        file.write(graph.SerializeToString(deterministic=True))
    return {}


def main():
    for name in sys.argv[2:]:
        folder = os.path.join(sys.argv[1], name)
        os.makedirs(folder, exist_ok=True)
        K.backend.clear_session()
        K.utils.set_random_seed(SEED)
        if name == "resnet50_train":
            info = training_step(folder)
        else:
            r = np.random.RandomState(SEED)
            model, draw_input = NETWORKS[name]()
            x = draw_input(r)
            draw_weights(model, r)
            even_out(model, x)
            info = write_case(folder, model, x)
        # Last: a folder that has it is whole.
        with open(os.path.join(folder, "case.json.part"), "w", encoding="utf-8") as file:
            json.dump(info, file, indent=1)
        os.replace(file.name, os.path.join(folder, "case.json"))


if __name__ == "__main__":
    main()
