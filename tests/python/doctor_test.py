"""Networks of Keras and their training steps: `doctor` is silent where all is well, and names the defect where one was put in."""
import json
import os
import subprocess
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf

GRAPNEL = os.environ.get("GRAPNEL", "build/release/bin/grapnel")
L, LOSS, OPT = keras.layers, keras.losses, keras.optimizers
RANDOM = np.random.default_rng(0)
ROWS = 64
FLAT = RANDOM.normal(size=(ROWS, 20)).astype("f4")
IMAGES = RANDOM.normal(size=(ROWS, 16, 16, 3)).astype("f4")
WORDS = RANDOM.integers(1, 100, (ROWS, 12)).astype("i4")
WORDS[:, 8:] = 0                                                # padding
CLASSES = RANDOM.integers(0, 10, ROWS).astype("i4")
ONE_HOT = np.eye(10, dtype="f4")[CLASSES]
SIGNS = (FLAT[:, :1] > 0).astype("f4")
TARGET = (FLAT @ RANDOM.normal(size=(20, 1))).astype("f4")


def of_logits():
    return LOSS.SparseCategoricalCrossentropy(from_logits=True, reduction=None)


def sequential(*layers):
    return keras.Sequential(list(layers))


def normal(deviation):
    return keras.initializers.RandomNormal(stddev=deviation)


def transformer():
    i = keras.Input((12,), dtype="int32")
    x = L.Embedding(100, 32)(i)
    for _ in range(2):
        x = L.LayerNormalization()(x + L.MultiHeadAttention(4, 8, dropout=0.1)(x, x))
        x = L.LayerNormalization()(x + L.Dense(32)(L.Dense(64, activation="gelu")(x)))
    return keras.Model(i, L.Dense(10)(L.GlobalAveragePooling1D()(x)))


def residual():
    """Scales that begin as zeros: a branch has no gradient at first."""
    i = keras.Input((16, 16, 3))
    x = L.Conv2D(16, 3, padding="same", use_bias=False)(i)
    for _ in range(3):
        y = L.Conv2D(16, 3, padding="same", use_bias=False)(L.ReLU()(L.BatchNormalization()(x)))
        x = x + L.BatchNormalization(gamma_initializer="zeros")(y)
    return keras.Model(i, L.Dense(10)(L.GlobalAveragePooling2D()(L.ReLU()(L.BatchNormalization()(x)))))


class ByEinsum(L.Layer):
    """A layer of heads, as in EinsumDense if it is not a product of two matrices."""

    def __init__(self, heads, width, activation=None, deviation=None):
        super().__init__()
        self.heads, self.width, self.deviation = heads, width, deviation
        self.activation = keras.activations.get(activation)

    def build(self, shape):
        initializer = normal(self.deviation) if self.deviation else "glorot_uniform"
        self.kernel = self.add_weight(shape=(shape[-1], self.heads, self.width), initializer=initializer)
        self.back = self.add_weight(shape=(self.heads, self.width, shape[-1]), initializer="glorot_uniform")

    def call(self, x):
        return tf.einsum("hwo,...hw->...o", self.back, self.activation(tf.einsum("...i,ihw->...hw", x, self.kernel)))


def gelu_by_tanh(x):
    return keras.activations.gelu(x, approximate=True)


def gated():
    """GEGLU and SiLU: what is multiplied is a gate."""
    i = keras.Input((20,))
    x = keras.activations.gelu(L.Dense(32)(i)) * L.Dense(32)(i)
    x = L.Dense(32, activation="silu")(x)
    return keras.Model(i, L.Dense(10)(x))


def u_net():
    i = keras.Input((16, 16, 3))
    fine = L.Conv2D(8, 3, padding="same", activation="relu")(i)
    coarse = L.Conv2D(16, 3, padding="same", activation="relu")(L.MaxPool2D()(fine))
    return keras.Model(i, L.Conv2D(1, 1, activation="sigmoid")(L.Concatenate()([L.UpSampling2D()(coarse), fine])))


class VAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.encode, self.mean, self.log_variance = L.Dense(16, activation="relu"), L.Dense(4), L.Dense(4)
        self.decode = sequential(L.Dense(16, activation="relu"), L.Dense(20))

    def call(self, x, training=False):
        h = self.encode(x)
        mean, log_variance = self.mean(h), self.log_variance(h)
        self.add_loss(-0.5 * tf.reduce_mean(tf.reduce_sum(1 + log_variance - mean ** 2 - tf.exp(log_variance), 1)))
        return self.decode(mean + tf.exp(0.5 * log_variance) * tf.random.normal(tf.shape(mean)))


class Tied(keras.Model):
    """Predicts the next word; the embedding is the last layer too. It begins slowly."""

    def __init__(self):
        super().__init__()
        self.words, self.steps = L.Embedding(100, 16), L.LSTM(16, return_sequences=True)

    def call(self, x, training=False):
        return tf.einsum("bth,vh->btv", self.steps(self.words(x)), self.words.embeddings)


class Quantized(keras.Model):
    """A codebook behind a StopGradient that lets the gradient through."""

    def __init__(self):
        super().__init__()
        self.encode, self.decode = L.Dense(8), L.Dense(20)
        self.codes = self.add_weight(shape=(16, 8), initializer="uniform")

    def call(self, x, training=False):
        z = self.encode(x)
        distance = tf.reduce_sum(self.codes ** 2, 1) - 2 * tf.matmul(z, self.codes, transpose_b=True)
        q = tf.gather(self.codes, tf.argmin(distance, 1))
        self.add_loss(tf.reduce_mean((tf.stop_gradient(q) - z) ** 2) + tf.reduce_mean((q - tf.stop_gradient(z)) ** 2))
        return self.decode(z + tf.stop_gradient(q - z))


class AlwaysTraining(keras.Model):
    def __init__(self):
        super().__init__()
        self.parts = [L.Dense(32, activation="relu"), L.BatchNormalization(), L.Dropout(0.5)]
        self.last = L.Dense(10)

    def call(self, x, training=False):
        x = self.parts[0](x)
        return self.last(self.parts[2](self.parts[1](x, training=True), training=True))


# Name: model, loss, optimizer, x, y.
HEALTHY = {
    "convolutional": (lambda: sequential(
        L.Conv2D(8, 3, padding="same"), L.BatchNormalization(), L.ReLU(), L.MaxPool2D(), L.Conv2D(16, 3, activation="relu"),
        L.GlobalAveragePooling2D(), L.Dropout(0.5), L.Dense(10)), of_logits(), lambda: OPT.SGD(0.05, momentum=0.9), IMAGES, CLASSES),
    "probabilities": (lambda: sequential(L.Dense(32, activation="relu"), L.Dense(10, activation="softmax")),
                      LOSS.SparseCategoricalCrossentropy(reduction=None), OPT.Adam, FLAT, CLASSES),
    "categorical": (lambda: sequential(L.Dense(32, activation="gelu"), L.Dense(10, activation="softmax")),
                    LOSS.CategoricalCrossentropy(reduction=None), OPT.Adam, FLAT, ONE_HOT),
    "binary": (lambda: sequential(L.Dense(32, activation="tanh"), L.Dense(1, activation="sigmoid")),
               LOSS.BinaryCrossentropy(reduction=None), OPT.RMSprop, FLAT, SIGNS),
    "logistic_from_zeros": (lambda: sequential(L.Dense(10, kernel_initializer="zeros")), of_logits(), OPT.SGD, FLAT, CLASSES),
    "lstm": (lambda: sequential(L.Embedding(100, 16, mask_zero=True), L.LSTM(16), L.Dense(10)), of_logits(),
             lambda: OPT.Adam(clipnorm=1.0), WORDS, CLASSES),
    "gru": (lambda: sequential(L.Embedding(100, 16), L.Bidirectional(L.GRU(8)), L.Dense(10)), of_logits(), OPT.Nadam, WORDS, CLASSES),
    "transformer": (transformer, of_logits(), OPT.AdamW, WORDS, CLASSES),
    "residual": (residual, of_logits(), lambda: OPT.SGD(0.05, momentum=0.9), IMAGES, CLASSES),
    "penalty": (lambda: sequential(L.Dense(32, activation="relu", kernel_regularizer=keras.regularizers.L2(1e-3)), L.Dense(1)),
                LOSS.MeanSquaredError(reduction=None), OPT.Adam, FLAT, TARGET),
    "rescaled": (lambda: sequential(L.Rescaling(1 / 255), L.Conv2D(8, 3, activation="relu"), L.Flatten(), L.Dense(10)), of_logits(),
                 OPT.Adam, (IMAGES * 40 + 128).astype("f4"), CLASSES),
    "deep_selu": (lambda: sequential(*[L.Dense(32, activation="selu", kernel_initializer="lecun_normal") for _ in range(8)],
                                     L.Dense(10)), of_logits(), OPT.Adam, FLAT, CLASSES),
    "vae": (VAE, LOSS.MeanSquaredError(reduction=None), OPT.Adam, FLAT, FLAT),
    "tied": (Tied, of_logits(), OPT.Adam, WORDS[:, :-1].copy(), WORDS[:, 1:].copy()),
    "quantized": (Quantized, LOSS.MeanSquaredError(reduction=None), OPT.Adam, FLAT, FLAT),
    "einsum": (lambda: sequential(*[ByEinsum(4, 8, a) for a in ("relu", "gelu", gelu_by_tanh)], L.Dense(10)), of_logits(), OPT.Adam, FLAT, CLASSES),
    "gelu_by_tanh": (lambda: sequential(*[L.Dense(32, activation=gelu_by_tanh) for _ in range(4)], L.Dense(10)), of_logits(), OPT.Adam,
                     FLAT, CLASSES),
    "gated": (gated, of_logits(), OPT.Adam, FLAT, CLASSES),
    "u_net": (u_net, LOSS.BinaryCrossentropy(reduction=None), OPT.Adam, IMAGES, (IMAGES[..., :1] > 0).astype("f4")),
}

DENSE = lambda **keys: sequential(L.Dense(32, activation="relu", **keys), L.Dense(10))
# Name: check, signature, then as above.
BROKEN = {
    "softmax_twice": ("softmax_before_loss", "step", lambda: sequential(L.Dense(32, activation="relu"), L.Dense(10), L.Softmax()),
                      lambda y, p: tf.nn.sparse_softmax_cross_entropy_with_logits(y, tf.identity(p)), OPT.Adam, FLAT, CLASSES),
    "zeros": ("symmetric_initialization", "step", lambda: DENSE(kernel_initializer="zeros"), of_logits(), OPT.Adam, FLAT, CLASSES),
    "bytes": ("unscaled_input", "step", lambda: sequential(L.Conv2D(8, 3, activation="relu"), L.Flatten(), L.Dense(10)), of_logits(),
              OPT.Adam, (IMAGES * 40 + 128).clip(0, 255).astype("f4"), CLASSES),
    "nothing_read": ("constant_input", "step", DENSE, of_logits(), OPT.Adam, FLAT * 0, CLASSES),
    "dead": ("dead_relu", "step", lambda: DENSE(bias_initializer=keras.initializers.Constant(-50.0)), of_logits(), OPT.Adam, FLAT, CLASSES),
    "saturated": ("saturated_activation", "step", lambda: sequential(L.Dense(32, activation="tanh", kernel_initializer=normal(50.0)),
                                                                     L.Dense(10)), of_logits(), OPT.Adam, FLAT, CLASSES),
    "too_small": ("activation_spread", "step", lambda: sequential(*[L.Dense(32, activation="relu", kernel_initializer=normal(0.005))
                                                                    for _ in range(5)], L.Dense(10)), of_logits(), OPT.Adam, FLAT, CLASSES),
    "too_small_einsum": ("activation_spread", "step", lambda: sequential(*[ByEinsum(4, 8, "relu", 1e-4) for _ in range(3)], L.Dense(10)),
                         of_logits(), OPT.Adam, FLAT, CLASSES),
    "too_small_gelu": ("activation_spread", "step", lambda: sequential(*[L.Dense(32, activation="gelu", kernel_initializer=normal(0.005))
                                                                         for _ in range(5)], L.Dense(10)), of_logits(), OPT.Adam, FLAT, CLASSES),
    "too_large_gelu": ("activation_spread", "step", lambda: sequential(*[L.Dense(32, activation=gelu_by_tanh, kernel_initializer=normal(3.0))
                                                                         for _ in range(5)], L.Dense(10)), of_logits(), OPT.Adam, FLAT, CLASSES),
    "too_large": ("exploding_gradient", "step", lambda: sequential(*[L.Dense(32, activation="relu", kernel_initializer=normal(3.0))
                                                                     for _ in range(6)], L.Dense(10)), of_logits(), OPT.Adam, FLAT, CLASSES),
    "from_one": ("labels_out_of_range", "step", DENSE, of_logits(), OPT.Adam, FLAT, CLASSES + np.int32(1)),
    "signs": ("labels_out_of_range", "step", lambda: sequential(L.Dense(32, activation="relu"), L.Dense(1)),
              LOSS.BinaryCrossentropy(from_logits=True, reduction=None), OPT.Adam, FLAT, SIGNS * 2 - 1),
    "one_class": ("softmax_of_one", "step", lambda: sequential(L.Dense(32, activation="relu"), L.Dense(1, activation="softmax")),
                  LOSS.BinaryCrossentropy(reduction=None), OPT.Adam, FLAT, SIGNS),
    "penalty": ("regularization_larger_than_loss", "step", lambda: DENSE(kernel_regularizer=keras.regularizers.L2(1.0)), of_logits(),
                OPT.Adam, FLAT, CLASSES),
    "no_rate": ("unchanged_variable", "step", DENSE, of_logits(), lambda: OPT.SGD(0.0), FLAT, CLASSES),
    "small_rate": ("update_ratio", "step", DENSE, of_logits(), lambda: OPT.Adam(1e-9), FLAT, CLASSES),
    "large_rate": ("update_ratio", "step", DENSE, of_logits(), lambda: OPT.Adam(10.0), FLAT, CLASSES),
    "dead_at_chance": ("loss_at_chance", "step", lambda: DENSE(bias_initializer=keras.initializers.Constant(-50.0)), of_logits(),
                       OPT.Adam, FLAT, CLASSES),
    "batch_norm": ("batch_norm_mode", "serving_default", AlwaysTraining, of_logits(), OPT.Adam, FLAT, CLASSES),
    "dropout": ("dropout_mode", "serving_default", AlwaysTraining, of_logits(), OPT.Adam, FLAT, CLASSES),
    "log_by_hand": ("unguarded_op", "step", lambda: sequential(L.Dense(32, activation="relu"), L.Dense(10, activation="softmax")),
                    lambda y, p: -tf.reduce_sum(y * tf.math.log(p), 1), OPT.Adam, FLAT, ONE_HOT),
}


def export(folder, model, loss, optimizer, x, y):
    keras.utils.set_random_seed(1)
    model, optimizer = model(), optimizer()
    model(x)
    optimizer.build(model.trainable_variables)

    def step(x, y):
        with tf.GradientTape() as tape:
            value = tf.reduce_mean(loss(y, model(x, training=True)))
            value = tf.add_n([value, *model.losses])
        optimizer.apply_gradients(zip(tape.gradient(value, model.trainable_variables), model.trainable_variables))
        return {"loss": value}

    def predict(x):
        return {"answer": model(x, training=False)}

    module = tf.Module()
    module.held = [*model.variables, *optimizer.variables]
    specs = [tf.TensorSpec((None, *v.shape[1:]), v.dtype, name) for name, v in (("x", x), ("y", y))]
    signatures = {"step": tf.function(step, input_signature=specs), "serving_default": tf.function(predict, input_signature=specs[:1])}
    tf.saved_model.save(module, f"{folder}/model", signatures=signatures)
    np.save(f"{folder}/x.npy", x)
    np.save(f"{folder}/y.npy", y)


def findings(folder, signature):
    feeds = ["--feed", f"x={folder}/x.npy"] + (["--feed", f"y={folder}/y.npy"] if signature == "step" else [])
    command = [GRAPNEL, "doctor", f"{folder}/model", "--signature", signature, "--json", "-q", *feeds]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["findings"]


def falling(first, last, steps, noise=0.0):
    """By a power, as losses do, with what batches differ by."""
    random = np.random.default_rng(3)
    return (last + (first - last) * (1 + np.arange(steps)) ** -0.7) * (1 + noise * random.normal(size=steps))


def flat(value, steps, noise=0.0):
    return value * (1 + noise * np.random.default_rng(4).normal(size=steps))


def up_at(values, step, growth):
    return np.concatenate([values[:step], values[step] * growth ** np.arange(len(values) - step)])


# Name: the curves by tag, the first step, and what is found: check and curve.
LOGS = {
    "noisy_batches": ({"loss": falling(2.3, 0.4, 500, 0.3)}, 0, None),
    "slow": ({"epoch_loss": falling(2.303, 2.2, 10)}, 0, None),
    "converged": ({"loss": np.concatenate([falling(2.0, 0.01, 50), flat(0.02, 200, 0.4)])}, 0, None),
    "warm_restarts": ({"train/loss": np.tile(falling(1.0, 0.5, 30), 4) * np.repeat([1, 0.8, 0.7, 0.65], 30)}, 0, None),
    "taken_up_again": ({"loss": flat(0.31, 60, 0.01)}, 5000, None),
    "two_that_play": ({"d_loss": flat(1.38, 100, 0.02), "g_loss": up_at(flat(0.7, 100), 20, 1.02)}, 0, None),
    "parts": ({"epoch_loss": falling(3, 1, 20), "epoch_kl_loss": up_at(flat(0.1, 20), 1, 1.2)}, 0, None),
    "likelihood": ({"loss": -falling(5, 9, 30)}, 0, None),
    "accuracy_learns": ({"loss": flat(0.693, 20, 0.001), "accuracy": np.linspace(0.5, 0.8, 20)}, 0, None),
    "few": ({"loss": flat(2.3, 4)}, 0, None),
    "scale": ({"loss": falling(2, 1, 20), "loss_scale": 2.0 ** np.arange(20), "weight_loss_rate": flat(1, 20)}, 0, None),
    "both_rise_a_little": ({"train/loss": falling(2, 0.4, 40), "validation/loss": up_at(falling(2, 0.8, 40), 30, 1.005)}, 0, None),
    "never": ({"train/loss": flat(2.5, 100, 0.05)}, 0, ("loss_curve", "train/loss")),
    "never_with_accuracy": ({"loss": flat(0.9, 30, 0.001), "accuracy": flat(0.4, 30, 0.01)}, 0, ("loss_curve", "loss")),
    "rises": ({"loss": up_at(flat(1.0, 60, 0.05), 10, 1.05)}, 0, ("loss_curve", "loss")),
    "rises_again": ({"loss": up_at(falling(2, 0.3, 100), 60, 1.05)}, 0, ("loss_curve", "loss")),
    "by_heart": ({"epoch_loss": falling(2, 0.1, 40), "val_epoch_loss": up_at(falling(2, 1, 40), 12, 1.03)}, 0,
                 ("loss_curve", "val_epoch_loss")),
    "part_breaks": ({"loss": falling(2, 1, 20), "kl_loss": np.where(np.arange(20) < 12, 1, np.nan)}, 0, ("not_finite", "kl_loss")),
    "guesses": ({"loss": flat(np.log(10), 50, 0.003), "accuracy": flat(0.1, 50, 0.1)}, 0, ("loss_at_chance", "loss")),
}


def write_log(folder, curves, first, as_tensor):
    if as_tensor:
        with tf.summary.create_file_writer(folder).as_default():
            for tag, values in curves.items():
                for i, value in enumerate(values):
                    tf.summary.scalar(tag, value, step=first + i)
        return
    with tf.Graph().as_default(), tf.compat.v1.summary.FileWriter(folder) as writer:
        for tag, values in curves.items():
            for i, value in enumerate(values):
                summary = tf.compat.v1.Summary(value=[tf.compat.v1.Summary.Value(tag=tag, simple_value=value)])
                writer.add_summary(summary, first + i)


class ScalarsTest(unittest.TestCase):
    def test_logs(self):
        for name, (curves, first, expected) in LOGS.items():
            for as_tensor in (False, True):
                with self.subTest(name, as_tensor=as_tensor), tempfile.TemporaryDirectory() as folder:
                    write_log(folder, curves, first, as_tensor)
                    done = subprocess.run([GRAPNEL, "doctor", folder, "--json", "-q"], capture_output=True, text=True, check=True)
                    found = {(f["check"], f["node"]) for f in json.loads(done.stdout)["findings"]}
                    if expected:
                        self.assertIn(expected, found)
                    else:
                        self.assertEqual(found, set())


class DoctorTest(unittest.TestCase):
    def test_healthy(self):
        for name, network in HEALTHY.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                export(folder, *network)
                self.assertEqual(findings(folder, "step"), [])
                self.assertEqual(findings(folder, "serving_default"), [])

    def test_broken(self):
        for name, (check, signature, *network) in BROKEN.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                export(folder, *network)
                self.assertIn(check, [finding["check"] for finding in findings(folder, signature)])


if __name__ == "__main__":
    unittest.main()
