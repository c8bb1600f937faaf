"""40 SavedModels whose signatures say the shapes of their arguments, for saved_opt.py.

usage: saved_opt_models.py OUT [NAME...]

OUT/NAME/model is the SavedModel, OUT/NAME/x_KEY.npy a value for each input of its signature serving_default. Weights come from a
seed. Models whose name begins with k2_ need tf_keras, the package of Keras 2; the others need TensorFlow alone.
"""

import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

MODELS = {}
# Models that hold an If, a Case or a While: compared body by body.
CONTROL_FLOW = {
    "k3_lstm", "k3_gru", "k3_bidirectional", "k2_lstm", "k2_gru", "k2_simple_rnn", "module_cond", "module_case", "module_while",
    "module_while_cond", "module_map",
}


def model(make):
    MODELS[make.__name__] = make
    return make


def floats(*shape, seed=0, scale=0.5):
    return (np.random.RandomState(1000 + seed).randn(*shape) * scale).astype("f")


def integers(*shape, below=10, seed=0):
    return np.random.RandomState(2000 + seed).randint(0, below, shape).astype("i")


class Variables(tf.Module):
    """A module with float variables, by name."""

    def __init__(self, **shapes):
        super().__init__()
        for i, (name, shape) in enumerate(sorted(shapes.items())):
            setattr(self, name, tf.Variable(floats(*shape, seed=i), name=name))


def save_module(path, module, call, *specs):
    function = tf.function(call, input_signature=list(specs))
    module.call = function
    tf.saved_model.save(module, path, signatures=function)


def spec(shape, name, dtype=tf.float32):
    return tf.TensorSpec(shape, dtype, name)


def save_keras3(path, built, batch):
    """`batch`: None leaves it open."""
    inputs = [tf.TensorSpec((batch, *x.shape[1:]), x.dtype, x.name) for x in built.inputs]
    archive = tf.keras.export.ExportArchive()
    archive.track(built)
    archive.add_endpoint("serve", built.call if len(inputs) == 1 else lambda *xs: built(list(xs)), input_signature=inputs)
    archive.write_out(path, verbose=False)


# --- Keras 3


def keras3(batch):
    """Decorates a function that gets keras.layers and gives inputs and outputs of a model."""

    def decorate(make):
        def save(path):
            tf.keras.utils.set_random_seed(7)
            inputs, outputs = make(tf.keras.layers, tf.keras)
            built = tf.keras.Model(inputs, outputs)
            spread_statistics(built)
            save_keras3(path, built, batch)

        MODELS[make.__name__] = save
        return save

    return decorate


def spread_statistics(built):
    """Moving averages that a batch norm cannot be folded away with."""
    for i, weight in enumerate(built.weights):
        if "moving" in weight.name or "gamma" in weight.name or "beta" in weight.name or "bias" in weight.name:
            weight.assign(np.abs(floats(*weight.shape, seed=i)) + 0.5)


@keras3(2)
def k3_conv2d(L, keras):
    x = i = keras.Input((16, 16, 3), name="image")
    for filters in (8, 12):
        x = L.Conv2D(filters, 3, padding="same", use_bias=False)(x)
        x = L.BatchNormalization()(x)
        x = L.ReLU()(x)
        x = L.MaxPooling2D()(x)
    x = L.GlobalAveragePooling2D()(x)
    return i, L.Dense(5, "softmax")(x)


@keras3(None)
def k3_residual(L, keras):
    x = i = keras.Input((12, 12, 4), name="image")
    for _ in range(2):
        y = L.Conv2D(4, 3, padding="same", activation="relu")(x)
        y = L.Conv2D(4, 3, padding="same")(y)
        x = L.Activation("relu")(L.Add()([x, y]))
    return i, L.Dense(3)(L.Flatten()(x))


@keras3(3)
def k3_conv1d(L, keras):
    i = keras.Input((20, 6), name="series")
    x = L.Conv1D(8, 5, activation="relu")(i)
    x = L.Conv1D(8, 3, padding="causal", dilation_rate=2, activation="elu")(x)
    return i, L.Dense(1)(L.GlobalMaxPooling1D()(x))


@keras3(None)
def k3_conv3d(L, keras):
    i = keras.Input((6, 8, 8, 2), name="volume")
    x = L.Conv3D(4, 3, activation="relu")(i)
    x = L.MaxPooling3D()(x)
    return i, L.Dense(2, "sigmoid")(L.Flatten()(x))


@keras3(None)
def k3_depthwise(L, keras):
    i = keras.Input((14, 14, 8), name="image")
    x = L.Conv2D(16, 1, use_bias=False)(i)
    x = L.ReLU(6.0)(L.BatchNormalization()(x))
    x = L.DepthwiseConv2D(3, padding="same", use_bias=False)(x)
    x = L.ReLU(6.0)(L.BatchNormalization()(x))
    x = L.Conv2D(8, 1, use_bias=False)(x)
    return i, L.Add()([i, L.BatchNormalization()(x)])


@keras3(2)
def k3_separable(L, keras):
    i = keras.Input((10, 10, 3), name="image")
    x = L.SeparableConv2D(6, 3, activation="relu")(i)
    x = L.ZeroPadding2D(1)(x)
    x = L.Conv2D(4, 3, strides=2, activation="swish")(x)
    return i, L.GlobalMaxPooling2D()(x)


@keras3(2)
def k3_transposed(L, keras):
    i = keras.Input((5, 5, 4), name="image")
    x = L.Conv2DTranspose(6, 3, strides=2, padding="same", activation="relu")(i)
    x = L.UpSampling2D(2)(x)
    return i, L.Conv2D(1, 1, activation="tanh")(x)


@keras3(None)
def k3_attention(L, keras):
    i = keras.Input((12, 16), name="tokens")
    x = L.LayerNormalization()(L.Add()([i, L.MultiHeadAttention(2, 8)(i, i)]))
    y = L.Dense(16)(L.Dense(32, "gelu")(x))
    return i, L.LayerNormalization()(L.Add()([x, y]))


@keras3(2)
def k3_attention_fixed(L, keras):
    ids = keras.Input((10,), dtype="int32", name="ids")
    x = L.Embedding(30, 16)(ids)
    x = L.Add()([x, L.MultiHeadAttention(4, 4)(x, x, use_causal_mask=True)])
    return ids, L.Dense(4, "softmax")(L.GlobalAveragePooling1D()(x))


@keras3(2)
def k3_lstm(L, keras):
    i = keras.Input((7, 5), name="series")
    return i, L.Dense(3)(L.LSTM(6)(i))


@keras3(None)
def k3_gru(L, keras):
    i = keras.Input((6, 4), name="series")
    return i, L.Dense(2, "softmax")(L.GRU(5, return_sequences=True)(i))


@keras3(2)
def k3_bidirectional(L, keras):
    ids = keras.Input((8,), dtype="int32", name="ids")
    return ids, L.Dense(1, "sigmoid")(L.Bidirectional(L.LSTM(4))(L.Embedding(25, 6)(ids)))


@keras3(4)
def k3_embedding(L, keras):
    ids = keras.Input((9,), dtype="int32", name="ids")
    x = L.Embedding(40, 8)(ids)
    return ids, L.Dense(3)(L.Dropout(0.2)(L.GlobalAveragePooling1D()(x)))


@keras3(None)
def k3_dense(L, keras):
    x = i = keras.Input((10,), name="features")
    for activation in ("relu", "tanh", "sigmoid", "leaky_relu", "gelu", "softplus"):
        x = L.Dense(8, activation)(x)
    return i, L.Dense(4, "softmax")(x)


@keras3(3)
def k3_norms(L, keras):
    x = i = keras.Input((8, 8, 6), name="image")
    x = L.LayerNormalization()(x)
    x = L.Conv2D(6, 1)(x)
    x = L.GroupNormalization(2)(x)
    return i, L.UnitNormalization()(L.Flatten()(x))


@keras3(None)
def k3_two_inputs(L, keras):
    a, b = keras.Input((6,), name="wide"), keras.Input((4, 3), name="deep")
    x = L.Concatenate()([L.Dense(5, "relu")(a), L.Flatten()(b)])
    y = L.Multiply()([L.Dense(5, "sigmoid")(x), L.Dense(5)(x)])
    return [a, b], [L.Dense(1)(y), L.Subtract()([x, L.Dense(17)(y)])]


# --- Keras 2


def keras2(batch):
    def decorate(make):
        def save(path):
            import tf_keras

            tf_keras.utils.set_random_seed(7)
            built = tf_keras.Model(*make(tf_keras.layers, tf_keras, batch))
            spread_statistics(built)
            built.save(path, save_format="tf")

        MODELS[make.__name__] = save
        return save

    return decorate


@keras2(2)
def k2_conv2d(L, keras, batch):
    x = i = keras.Input((16, 16, 3), batch, name="image")
    x = L.BatchNormalization()(L.Conv2D(8, 3, use_bias=False)(x))
    x = L.AveragePooling2D()(L.Activation("relu")(x))
    return i, L.Dense(5, "softmax")(L.Flatten()(x))


@keras2(None)
def k2_depthwise(L, keras, batch):
    i = keras.Input((12, 12, 4), batch, name="image")
    x = L.DepthwiseConv2D(3, depth_multiplier=2, padding="same")(i)
    x = L.ReLU(6.0)(L.BatchNormalization()(x))
    return i, L.GlobalAveragePooling2D()(L.Conv2D(6, 1, activation="relu")(x))


@keras2(None)
def k2_conv1d(L, keras, batch):
    i = keras.Input((24, 3), batch, name="series")
    x = L.MaxPooling1D(2)(L.Conv1D(6, 3, activation="relu")(i))
    return i, L.Dense(2)(L.Flatten()(L.Conv1D(4, 3, activation="tanh")(x)))


@keras2(2)
def k2_conv3d(L, keras, batch):
    i = keras.Input((6, 6, 6, 2), batch, name="volume")
    x = L.BatchNormalization()(L.Conv3D(4, 3)(i))
    return i, L.GlobalAveragePooling3D()(L.Activation("relu")(x))


@keras2(None)
def k2_lstm(L, keras, batch):
    i = keras.Input((7, 5), batch, name="series")
    return i, L.Dense(3)(L.LSTM(6)(i))


@keras2(3)
def k2_gru(L, keras, batch):
    i = keras.Input((6, 4), batch, name="series")
    return i, L.Dense(2, "softmax")(L.GRU(5, return_sequences=True)(i))


@keras2(2)
def k2_simple_rnn(L, keras, batch):
    i = keras.Input((5, 4), batch, name="series")
    return i, L.SimpleRNN(6, activation="relu")(i)


@keras2(None)
def k2_attention(L, keras, batch):
    i = keras.Input((8, 12), batch, name="tokens")
    x = L.LayerNormalization()(L.Add()([i, L.MultiHeadAttention(3, 4)(i, i)]))
    return i, L.Dense(4)(L.Dense(8, "relu")(x))


@keras2(4)
def k2_embedding(L, keras, batch):
    ids = keras.Input((9,), batch, dtype="int32", name="ids")
    x = L.Embedding(40, 8)(ids)
    return ids, L.Dense(3, "sigmoid")(L.Flatten()(x))


@keras2(None)
def k2_dense(L, keras, batch):
    i = keras.Input((10,), batch, name="features")
    x = L.Dropout(0.5)(L.Dense(16, "relu")(i))
    x = L.BatchNormalization()(L.Dense(8, "elu")(x))
    return i, [L.Dense(3, name="a")(x), L.Dense(1, "sigmoid", name="b")(x)]


# --- tf.Module


@model
def module_dense(path):
    m = Variables(w=(6, 8), b=(8,), v=(8, 3), c=(3,))

    def call(x):
        h = tf.nn.relu(tf.matmul(x, m.w) + m.b)
        return {"y": tf.nn.softmax(tf.nn.bias_add(tf.matmul(h, m.v), m.c))}

    save_module(path, m, call, spec([4, 6], "x"))


@model
def module_conv1d(path):
    m = Variables(w=(3, 4, 8), b=(8,))

    def call(x):
        y = tf.nn.conv1d(x, m.w, 1, "SAME") + m.b
        return {"y": tf.nn.relu(y), "top": tf.reduce_max(y, axis=1)}

    save_module(path, m, call, spec([2, 12, 4], "x"))


@model
def module_conv2d(path):
    m = Variables(w=(3, 3, 3, 6), b=(6,), scale=(6,), u=(1, 1, 6, 4), d=(4,))

    def call(image):
        x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(image, m.w, 2, "SAME"), m.b))
        x = tf.nn.leaky_relu(tf.nn.conv2d(x * m.scale, m.u, 1, "VALID") + m.d, 0.1)
        return {"y": tf.reduce_mean(x, [1, 2])}

    save_module(path, m, call, spec([1, 10, 10, 3], "image"))


@model
def module_conv3d(path):
    m = Variables(w=(2, 2, 2, 2, 4), b=(4,))

    def call(volume):
        x = tf.nn.conv3d(volume, m.w, [1, 1, 1, 1, 1], "VALID") + m.b
        return {"y": tf.nn.relu(x)}

    save_module(path, m, call, spec([2, 5, 5, 5, 2], "volume"))


@model
def module_depthwise(path):
    m = Variables(w=(3, 3, 4, 1), scale=(4,), offset=(4,), mean=(4,), p=(1, 1, 4, 8))

    def call(image):
        x = tf.nn.depthwise_conv2d(image, m.w, [1, 1, 1, 1], "SAME")
        x, _, _ = tf.compat.v1.nn.fused_batch_norm(x, m.scale, m.offset, m.mean, tf.abs(m.scale) + 1.0, is_training=False)
        return {"y": tf.nn.conv2d(tf.nn.relu6(x), m.p, 1, "SAME")}

    save_module(path, m, call, spec([2, 8, 8, 4], "image"))


@model
def module_attention(path):
    m = Variables(q=(8, 2, 4), k=(8, 2, 4), v=(8, 2, 4), o=(2, 4, 8))

    def call(x, mask):
        q, k, v = (tf.einsum("bsd,dhe->bhse", x, w) for w in (m.q, m.k, m.v))
        scores = tf.einsum("bhse,bhte->bhst", q, k) * (1 / tf.sqrt(4.0))
        scores += (1.0 - tf.cast(mask, tf.float32))[:, None, None, :] * -1e9
        return {"y": x + tf.einsum("bhst,bhte,hed->bsd", tf.nn.softmax(scores), v, m.o)}

    save_module(path, m, call, spec([2, 6, 8], "x"), spec([2, 6], "mask", tf.int32))


@model
def module_neutral(path):
    def call(v):
        high = tf.reduce_max(v)
        y = tf.reshape(v, [3, 4]) + tf.zeros([3, 4])
        return {"a": high * 1.0, "b": high + 0.0, "y": tf.squeeze(tf.expand_dims(y, 0), 0) / 2.0}

    save_module(path, tf.Module(), call, spec([3, 4], "v"))


@model
def module_shapes(path):
    m = Variables(w=(6, 5))

    def call(x):
        n, t = tf.shape(x)[0], tf.shape(x)[1]
        flat = tf.reshape(x, [n * t, 6])
        y = tf.reshape(tf.matmul(flat, m.w), [n, t, 5])
        return {"y": y + tf.tile(tf.reduce_sum(y, 1, keepdims=True), [1, t, 1]), "rank": tf.rank(y) + tf.size(m.w)}

    save_module(path, m, call, spec([None, 4, 6], "x"))


@model
def module_gather(path):
    m = Variables(table=(20, 6), w=(6, 2))

    def call(ids, weights):
        x = tf.nn.embedding_lookup(m.table, ids) * weights[:, :, tf.newaxis]
        return {"y": tf.tanh(tf.reduce_sum(x, 1) @ m.w), "best": tf.argmax(x, -1)}

    save_module(path, m, call, spec([3, 5], "ids", tf.int32), spec([3, 5], "weights"))


@model
def module_cond(path):
    m = Variables(w=(4, 4), b=(4,))

    def call(x, flip):
        y = tf.cond(flip, lambda: tf.nn.relu(tf.matmul(x, m.w) + m.b), lambda: tf.reshape(x, [3, 4]) * 1.0 - m.b)
        return {"y": y * y}

    save_module(path, m, call, spec([3, 4], "x"), spec([], "flip", tf.bool))


@model
def module_case(path):
    m = Variables(w=(4, 4))

    def call(x, which):
        branches = [lambda: x + 0.0, lambda: tf.nn.softmax(x @ m.w), lambda: tf.square(x) - tf.reshape(x, tf.shape(x)), lambda: -(-x)]
        return {"y": tf.switch_case(which, branches)}

    save_module(path, m, call, spec([2, 4], "x"), spec([], "which", tf.int32))


@model
def module_while(path):
    m = Variables(w=(4, 4), b=(4,))

    def call(x):
        def body(i, h):
            return i + 1, tf.nn.relu(tf.matmul(h, m.w) + m.b) * 1.0

        return {"y": tf.while_loop(lambda i, h: i < 5, body, [0, x])[1]}

    save_module(path, m, call, spec([2, 4], "x"))


@model
def module_while_cond(path):
    m = Variables(w=(3, 3))

    def call(x, n):
        def body(i, h):
            h = tf.cond(tf.equal(i % 2, 0), lambda: tf.matmul(h, m.w), lambda: tf.reshape(h, [2, 3]) + x * 2.0)
            return i + 1, tf.tanh(h)

        return {"y": tf.while_loop(lambda i, h: i < n, body, [tf.constant(0), x])[1]}

    save_module(path, m, call, spec([2, 3], "x"), spec([], "n", tf.int32))


@model
def module_map(path):
    m = Variables(w=(5,))

    def call(x):
        return {"y": tf.map_fn(lambda row: tf.reduce_sum(row * m.w) / 2.0, x), "sum": tf.scan(lambda a, b: a + b, x)[-1]}

    save_module(path, m, call, spec([4, 5], "x"))


def values_of(signature):
    """A value for each input of the signature, open sizes as 2."""
    values = {}
    for i, (key, one) in enumerate(sorted(signature.structured_input_signature[1].items())):
        shape = [2 if size is None else size for size in one.shape]
        if one.dtype == tf.bool:
            values[key] = np.ones(shape, bool)
        elif one.dtype.is_floating:
            values[key] = floats(*shape, seed=50 + i, scale=1).astype(one.dtype.as_numpy_dtype)
        else:
            values[key] = np.asarray(integers(*shape, below=3, seed=50 + i), one.dtype.as_numpy_dtype)
    return values


def main(out, *names):
    for name in names or sorted(MODELS):
        folder = pathlib.Path(out) / name
        folder.mkdir(parents=True, exist_ok=True)
        tf.keras.backend.clear_session()
        MODELS[name](str(folder / "model"))
        loaded = tf.saved_model.load(str(folder / "model"))
        for key, value in values_of(loaded.signatures["serving_default"]).items():
            np.save(folder / f"x_{key}.npy", value)
    return 0


assert len(MODELS) == 40 and CONTROL_FLOW <= set(MODELS)
if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
