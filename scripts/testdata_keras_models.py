"""Makes testdata/keras_models/: 40 models that Keras users have, as SavedModels, and what `model.summary()` says of each.

needs: tensorflow-cpu==2.21.0, tf_keras==2.21.0        usage: scripts/testdata_keras_models.py [OUT_DIR [NAME...]]

NAME/model is the SavedModel, NAME/summary.json the summary as data (read from the model's layers, not from the text), NAME/text.txt
the summary as Keras prints it. Each model is made in a process of its own. README.md explains the fields.

"in_export" comes from looking at the export. While Keras traces the model for the export, every call of a layer notes which nodes it
adds to which function. Afterwards the functions that the signatures reach are read from saved_model.pb. A layer is in the export
if one of its nodes is in one of these functions, or if one of its weights is a variable of the SavedModel.
"""
import inspect
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = {}                                                   # name: (version of Keras, how, function)
SECONDS, CPU_SECONDS = 3600, 300                              # for one model


def model(*versions, how=None):
    """Adds a model. Of several versions of Keras, the later ones have the version in their names."""
    def add(make):
        for version in versions:
            name = make.__name__ if version == versions[0] else f"{make.__name__}_keras{version}"
            MODELS[name] = version, how or {3: "model.export()", 2: "model.save()"}[version], make
        return make
    return add


# ---- Text. ----

WORDS = "the a movie film was is not very good bad great boring long short plot actor music and but i".split()


@model(3)
def text_lstm(k):
    """Sentiment of a text: TextVectorization, Embedding and LSTM"""
    l = k.layers
    return k.Sequential([
        k.Input((), dtype="string", name="review"), l.TextVectorization(vocabulary=WORDS, output_sequence_length=12, name="words"),
        l.Embedding(len(WORDS) + 2, 8, name="embedding"), l.LSTM(8, name="reader"), l.Dropout(.5, name="dropout"),
        l.Dense(1, activation="sigmoid", name="sentiment")], name="reviews")


@model(2)
def text_bigru(k):
    """Topic of a sequence of word numbers: a Bidirectional GRU"""
    l = k.layers
    return k.Sequential([
        k.Input((16,), dtype="int32"), l.Embedding(50, 8), l.SpatialDropout1D(.2), l.Bidirectional(l.GRU(6)),
        l.Dense(8, activation="relu"), l.Dropout(.3), l.Dense(4, activation="softmax")])


@model(3)
def text_transformer(k):
    """Topic of a sequence of word numbers: two transformer blocks"""
    l, width = k.layers, 16
    tokens = k.Input((20,), dtype="int32", name="tokens")
    x = l.Embedding(60, width, name="token_embedding")(tokens)
    x = l.Dropout(.1, name="embedding_dropout")(x)
    for i in range(2):
        y = l.MultiHeadAttention(2, width // 2, dropout=.1, name=f"block{i}_attention")(x, x)
        x = l.LayerNormalization(epsilon=1e-6, name=f"block{i}_norm1")(l.Add(name=f"block{i}_add1")([x, y]))
        y = l.Dense(2 * width, activation="gelu", name=f"block{i}_ffn1")(x)
        y = l.Dropout(.1, name=f"block{i}_dropout")(l.Dense(width, name=f"block{i}_ffn2")(y))
        x = l.LayerNormalization(epsilon=1e-6, name=f"block{i}_norm2")(l.Add(name=f"block{i}_add2")([x, y]))
    x = l.GlobalAveragePooling1D(name="pool")(x)
    return k.Model(tokens, l.Dense(4, activation="softmax", name="topic")(x), name="topics")


# ---- Images. ----

@model(3)
def cnn_plain(k):
    """Classifier of digits: two convolutions"""
    l = k.layers
    return k.Sequential([
        k.Input((28, 28, 1)), l.Conv2D(8, 3, activation="relu"), l.MaxPooling2D(), l.Conv2D(16, 3, activation="relu"),
        l.MaxPooling2D(), l.Flatten(), l.Dropout(.5), l.Dense(10, activation="softmax")])


@model(2)
def cnn_batchnorm(k):
    """Classifier of images: convolution, BatchNormalization and ReLU, three times"""
    l = k.layers
    model = k.Sequential([k.Input((32, 32, 3), name="image"), l.Rescaling(1 / 255, name="scale")], name="classifier")
    for i, filters in enumerate((8, 16, 24), 1):
        model.add(l.Conv2D(filters, 3, strides=2, padding="same", use_bias=False, name=f"conv{i}"))
        model.add(l.BatchNormalization(name=f"bn{i}"))
        model.add(l.ReLU(name=f"relu{i}"))
    model.add(l.GlobalAveragePooling2D(name="pool"))
    model.add(l.Dropout(.3, name="drop"))
    model.add(l.Dense(5, name="logits"))
    return model


@model(3)
def residual(k):
    """Classifier of images with residual connections"""
    l = k.layers
    x = inputs = k.Input((32, 32, 3))
    x = l.Conv2D(8, 3, activation="relu", padding="same")(x)
    for filters in (8, 16):
        y = l.BatchNormalization()(l.Conv2D(filters, 3, strides=2, padding="same")(x))
        y = l.Conv2D(filters, 3, padding="same")(l.Activation("relu")(y))
        x = l.add([y, l.Conv2D(filters, 1, strides=2)(x)])
        x = l.Activation("relu")(x)
    return k.Model(inputs, l.Dense(10)(l.GlobalMaxPooling2D()(x)))


@model(3)
def unet(k):
    """U-Net: a mask for each pixel"""
    l = k.layers

    def block(x, filters, name):
        x = l.Conv2D(filters, 3, padding="same", activation="relu", name=name + "_conv1")(x)
        return l.Conv2D(filters, 3, padding="same", activation="relu", name=name + "_conv2")(x)

    x = image = k.Input((32, 32, 1), name="image")
    kept = []
    for i, filters in enumerate((4, 8), 1):
        x = block(x, filters, f"down{i}")
        kept.append(x)
        x = l.MaxPooling2D(name=f"down{i}_pool")(x)
    x = l.Dropout(.3, name="bridge_dropout")(block(x, 16, "bridge"))
    for i, filters in ((2, 8), (1, 4)):
        x = l.UpSampling2D(name=f"up{i}_upsample")(x)
        x = l.Concatenate(name=f"up{i}_concat")([kept[i - 1], x])
        x = block(x, filters, f"up{i}")
    return k.Model(image, l.Conv2D(1, 1, activation="sigmoid", name="mask")(x), name="unet")


@model(3)
def mobile_separable(k):
    """Classifier of images: SeparableConv2D and DepthwiseConv2D"""
    l = k.layers
    x = inputs = k.Input((32, 32, 3))
    x = l.SeparableConv2D(8, 3, padding="same", activation="relu")(x)
    x = l.ZeroPadding2D(1)(x)
    x = l.DepthwiseConv2D(3, strides=2, depth_multiplier=2, use_bias=False)(x)
    x = l.ReLU(6.)(l.BatchNormalization()(x))
    x = l.Conv2D(12, 1)(x)
    x = l.SeparableConv2D(16, 3, strides=2)(x)
    return k.Model(inputs, l.Dense(3, activation="softmax")(l.GlobalAveragePooling2D(keepdims=False)(x)))


@model(3)
def autoencoder(k):
    """Autoencoder of images with Conv2DTranspose"""
    l = k.layers
    return k.Sequential([
        k.Input((16, 16, 1), name="image"), l.Conv2D(8, 3, strides=2, padding="same", activation="relu", name="encoder_conv1"),
        l.Conv2D(4, 3, strides=2, padding="same", activation="relu", name="encoder_conv2"), l.Flatten(name="encoder_flatten"),
        l.Dense(6, name="code"), l.Dense(64, activation="relu", name="decoder_dense"), l.Reshape((4, 4, 4), name="decoder_reshape"),
        l.Conv2DTranspose(8, 3, strides=2, padding="same", activation="relu", name="decoder_conv1"),
        l.Conv2DTranspose(1, 3, strides=2, padding="same", activation="sigmoid", name="decoder_conv2")], name="autoencoder")


@model(3)
def gan_generator(k):
    """Generator of a GAN: from noise to an image"""
    l = k.layers
    return k.Sequential([
        k.Input((12,)), l.Dense(4 * 4 * 8, use_bias=False), l.BatchNormalization(), l.LeakyReLU(), l.Reshape((4, 4, 8)),
        l.Conv2DTranspose(8, 5, strides=2, padding="same", use_bias=False), l.BatchNormalization(), l.LeakyReLU(),
        l.Conv2DTranspose(1, 5, strides=2, padding="same", activation="tanh")], name="generator")


@model(2)
def gan_discriminator(k):
    """Discriminator of a GAN: is an image real?"""
    l = k.layers
    return k.Sequential([
        k.Input((16, 16, 1)), l.GaussianNoise(.1), l.Conv2D(8, 5, strides=2, padding="same"), l.LeakyReLU(), l.Dropout(.3),
        l.Conv2D(16, 5, strides=2, padding="same"), l.LeakyReLU(), l.Dropout(.3), l.Flatten(), l.Dense(1)], name="discriminator")


# ---- Recommendations and tables. ----

@model(3, 2)
def two_towers(k):
    """Recommender: a tower for users and one for movies, each with StringLookup and Embedding"""
    l = k.layers

    def tower(what, words):
        text = k.Input((1,), dtype="string", name=what + "_id")
        x = l.StringLookup(vocabulary=words, name=what + "_lookup")(text)
        x = l.Flatten(name=what + "_flatten")(l.Embedding(len(words) + 1, 8, name=what + "_embedding")(x))
        return text, l.Dense(4, name=what + "_dense")(x)

    user, u = tower("user", [f"user{i}" for i in range(20)])
    movie, m = tower("movie", [f"movie{i}" for i in range(30)])
    return k.Model([user, movie], l.Dot(1, name="score")([u, m]), name="two_towers")


@model(2)
def wide_and_deep(k):
    """Wide and deep: a linear part and a network, from numbers and categories"""
    l = k.layers
    numbers, category = k.Input((6,), name="numbers"), k.Input((1,), dtype="int64", name="category")
    crossed = l.CategoryEncoding(10, output_mode="one_hot", name="category_one_hot")(category)
    wide = l.Concatenate(name="wide")([numbers, crossed])
    deep = l.Flatten(name="category_flatten")(l.Embedding(10, 4, name="category_embedding")(category))
    deep = l.Concatenate(name="deep")([numbers, deep])
    for i, units in enumerate((16, 8), 1):
        deep = l.Dense(units, activation="relu", name=f"deep_dense{i}")(deep)
    return k.Model([numbers, category], l.Dense(1, name="output")(l.Concatenate(name="both")([wide, deep])), name="wide_and_deep")


@model(2)
def multi_in_out(k):
    """Tickets: three inputs (title, body, tags), two outputs (priority, department)"""
    l = k.layers
    title, body, tags = k.Input((8,), name="title"), k.Input((16,), name="body"), k.Input((5,), name="tags")
    a, b = l.Embedding(40, 8)(title), l.Embedding(40, 8)(body)
    x = l.concatenate([l.LSTM(8)(a), l.LSTM(6)(b), tags])
    return k.Model({"title": title, "body": body, "tags": tags},
                   {"priority": l.Dense(1, name="priority")(x), "department": l.Dense(4, name="department")(x)})


@model(3)
def preprocessing(k):
    """Preprocessing only: numbers, categories, text and images become numbers"""
    import numpy as np
    l = k.layers
    age, color, size, image = (k.Input((1,), name="age"), k.Input((1,), dtype="string", name="color"), k.Input((1,), name="size"),
                               k.Input((20, 24, 3), name="image"))
    normal = l.Normalization(axis=-1, name="age_normalization")
    normal.adapt(np.arange(20., dtype="f").reshape(-1, 1))
    outputs = {
        "age": normal(age), "size": l.CategoryEncoding(4, output_mode="one_hot", name="size_encoding")(
            l.Discretization(bin_boundaries=[1., 2., 5.], name="size_bins")(size)),
        "color": l.StringLookup(vocabulary=["red", "green", "blue"], output_mode="multi_hot", name="color_lookup")(color),
        "image": l.Rescaling(1 / 127.5, offset=-1, name="image_scale")(l.Resizing(16, 16, name="image_resize")(image))}
    return k.Model([age, color, size, image], outputs, name="preprocessing")


# ---- Time series. ----

@model(3)
def series_lstm(k):
    """Time series: two LSTMs, the first of which returns its sequence"""
    l = k.layers
    return k.Sequential([k.Input((24, 3)), l.LSTM(8, return_sequences=True), l.LSTM(6), l.Dense(1)])


@model(2)
def series_gru_stateful(k):
    """Time series: GRUs that keep their state from batch to batch"""
    l = k.layers
    return k.Sequential([
        k.Input(batch_shape=(1, 10, 2), name="window"), l.GRU(6, stateful=True, return_sequences=True, name="gru_first"),
        l.GRU(4, stateful=True, name="gru_second"), l.Dense(1, name="next")], name="forecast")


@model(3)
def forecaster_conv1d(k):
    """Time series: causal, dilated Conv1D"""
    l = k.layers
    x = series = k.Input((32, 2), name="series")
    for rate in (1, 2, 4):
        x = l.Conv1D(6, 2, padding="causal", dilation_rate=rate, activation="relu", name=f"causal_{rate}")(x)
    x = l.Cropping1D((28, 0), name="last_steps")(x)
    return k.Model(series, l.Dense(3, name="horizon")(l.Flatten(name="flatten")(x)), name="forecaster")


@model(3)
def time_distributed(k):
    """Video: TimeDistributed convolutions, then a Bidirectional LSTM"""
    l = k.layers
    return k.Sequential([
        k.Input((5, 16, 16, 1)), l.TimeDistributed(l.Conv2D(4, 3, strides=2, activation="relu")), l.TimeDistributed(l.Flatten()),
        l.Bidirectional(l.LSTM(6), merge_mode="sum"), l.Dense(3, activation="softmax")])


# ---- Structure. ----

@model(3)
def siamese(k):
    """Siamese network: an encoder that is called twice, and a layer that is called twice"""
    l = k.layers
    encoder = k.Sequential([
        k.Input((16, 16, 1), name="picture"), l.Conv2D(4, 3, activation="relu", name="conv"), l.Flatten(name="flatten"),
        l.Dense(8, name="embedding")], name="encoder")
    left, right = k.Input((16, 16, 1), name="left"), k.Input((16, 16, 1), name="right")
    shared = l.Dense(4, activation="tanh", name="shared_projection")
    x = l.Subtract(name="difference")([shared(encoder(left)), shared(encoder(right))])
    return k.Model([left, right], l.Dense(1, activation="sigmoid", name="same")(x), name="siamese")


@model(3, 2)
def nested(k):
    """A functional model in a Sequential in a functional model"""
    l = k.layers
    x = k.Input((8, 8, 4))
    y = l.Conv2D(4, 3, padding="same")(x)
    block = k.Model(x, l.ReLU()(l.Add()([x, l.BatchNormalization()(y)])), name="block")
    body = k.Sequential([k.Input((16, 16, 3)), l.Conv2D(4, 3, strides=2, padding="same"), block, l.GlobalAveragePooling2D()], name="body")
    image, extra = k.Input((16, 16, 3)), k.Input((2,))
    return k.Model([image, extra], l.Dense(2)(l.Concatenate()([body(image), extra])))


@model(3)
def sequential_unbuilt(k):
    """A Sequential without an Input, built by its first call"""
    l = k.layers
    model = k.Sequential([l.Dense(16, activation="relu"), l.Dropout(.2), l.Dense(8, activation="relu"), l.Dense(3)])
    model(k.ops.zeros((2, 7)))
    return model


@model(3, 2)
def subclassed(k):
    """A subclassed model"""
    l, tf = k.layers, sys.modules["tensorflow"]

    class Classifier(k.Model):
        def __init__(self, **more):
            super().__init__(**more)
            self.conv = l.Conv2D(4, 3, activation="relu", name="features")
            self.norm = l.BatchNormalization(name="norm")
            self.pool = l.GlobalAveragePooling2D(name="pool")
            self.drop = l.Dropout(.5, name="drop")
            self.head = l.Dense(3, name="head")

        def call(self, x, training=False):
            x = tf.nn.relu(self.norm(self.conv(x), training=training))
            return self.head(self.drop(self.pool(x), training=training))

    model = Classifier(name="classifier")
    model(tf.zeros((1, 12, 12, 3)))
    return model


@model(3)
def vae(k):
    """VAE: a subclassed model of an encoder and a decoder, with a layer that samples"""
    l = k.layers

    class Sampling(l.Layer):
        def __init__(self, **more):
            super().__init__(**more)
            self.seed_generator = k.random.SeedGenerator(7)

        def call(self, inputs):
            mean, log_var = inputs
            return mean + k.ops.exp(.5 * log_var) * k.random.normal(k.ops.shape(mean), seed=self.seed_generator)

    image = k.Input((64,), name="image")
    x = l.Dense(16, activation="relu", name="encoder_dense")(image)
    mean, log_var = l.Dense(2, name="z_mean")(x), l.Dense(2, name="z_log_var")(x)
    encoder = k.Model(image, [mean, log_var, Sampling(name="z")([mean, log_var])], name="encoder")
    code = k.Input((2,), name="code")
    x = l.Dense(16, activation="relu", name="decoder_dense")(code)
    decoder = k.Model(code, l.Dense(64, activation="sigmoid", name="pixels")(x), name="decoder")

    class VAE(k.Model):
        def __init__(self, **more):
            super().__init__(**more)
            self.encoder, self.decoder = encoder, decoder

        def call(self, x):
            return self.decoder(self.encoder(x)[2])

    model = VAE(name="vae")
    model(k.ops.zeros((1, 64)))
    return model


@model(3)
def noise(k):
    """Layers that do nothing in inference: Dropout, SpatialDropout, GaussianNoise and others"""
    l = k.layers
    x = inputs = k.Input((16, 16, 3))
    x = l.GaussianNoise(.1)(x)
    x = l.SpatialDropout2D(.2)(l.Conv2D(6, 3)(x))
    x = l.ActivityRegularization(l2=1e-3)(l.Flatten()(x))
    x = l.Dropout(.5)(l.Dense(8)(x))
    x = l.GaussianDropout(.1)(x)
    return k.Model(inputs, l.Dense(2)(l.AlphaDropout(.1)(x)))


@model(3)
def normalizations(k):
    """LayerNormalization, GroupNormalization, BatchNormalization and UnitNormalization"""
    l = k.layers
    return k.Sequential([
        k.Input((12, 12, 3)), l.Conv2D(8, 3), l.GroupNormalization(4), l.Activation("silu"), l.Conv2D(8, 3), l.BatchNormalization(scale=False),
        l.PReLU(shared_axes=[1, 2]), l.Flatten(), l.Dense(8), l.LayerNormalization(), l.UnitNormalization()])


@model(3)
def lambda_layer(k):
    """Lambda layers, and operators and keras.ops between layers"""
    l = k.layers
    angle = k.Input((1,), name="angle")
    x = l.Lambda(lambda x: k.ops.concatenate([k.ops.sin(x), k.ops.cos(x)], -1), output_shape=(2,), name="circle")(angle)
    y = l.Dense(8, activation="relu", name="hidden")(x)
    z = k.ops.tanh(l.Dense(2, name="change")(y)) * .5 + x
    return k.Model(angle, l.Lambda(lambda x: x * 2, name="double")(z), name="angles")


@model(3)
def custom_layer(k):
    """A layer of the user's own, with get_config, a variable, and layers in it"""
    l = k.layers

    @k.saving.register_keras_serializable(package="mine")
    class GatedUnit(l.Layer):
        def __init__(self, units, **more):
            super().__init__(**more)
            self.units = units
            self.value, self.gate = l.Dense(units), l.Dense(units, activation="sigmoid")

        def build(self, shape):
            self.value.build(shape)
            self.gate.build(shape)
            self.scale = self.add_weight(shape=(self.units,), initializer="ones", name="scale")

        def call(self, x):
            return self.value(x) * self.gate(x) * self.scale

        def compute_output_shape(self, shape):
            return (*shape[:-1], self.units)

        def get_config(self):
            return {**super().get_config(), "units": self.units}

    return k.Sequential([k.Input((10,)), GatedUnit(8), GatedUnit(4), l.Dense(1)])


@model(3)
def mixed_precision(k):
    """Mixed precision: float16 inside, float32 variables and outputs"""
    l = k.layers
    k.mixed_precision.set_global_policy("mixed_float16")
    return k.Sequential([
        k.Input((16, 16, 3), name="image"), l.Conv2D(6, 3, activation="relu", name="conv"), l.BatchNormalization(name="norm"),
        l.Flatten(name="flatten"), l.Dense(8, activation="relu", name="dense"), l.Dense(3, name="logits"),
        l.Activation("softmax", dtype="float32", name="probabilities")], name="mixed")


@model(3, 2)
def compiled_adam(k):
    """A model trained for a few steps with Adam"""
    import numpy as np
    l = k.layers
    model = k.Sequential([k.Input((8,)), l.Dense(12, activation="relu"), l.BatchNormalization(), l.Dropout(.1), l.Dense(1)])
    model.compile("adam", "mse", metrics=["mae"])
    random = np.random.RandomState(0)
    model.fit(random.rand(32, 8).astype("f"), random.rand(32, 1).astype("f"), batch_size=16, epochs=2, shuffle=False, verbose=0)
    return model


@model(3, how="ExportArchive")
def endpoints(k):
    """An ExportArchive with three endpoints: classify, embed and score_texts"""
    l, tf = k.layers, sys.modules["tensorflow"]
    x = k.Input((12,), name="features")
    embedding = l.Dense(6, activation="relu", name="embedding")(l.LayerNormalization(name="norm")(x))
    model = k.Model(x, l.Dense(3, activation="softmax", name="classes")(l.Dropout(.2, name="drop")(embedding)), name="endpoints")
    embedder = k.Model(x, embedding, name="embedder")

    def export(path):
        archive = k.export.ExportArchive()
        archive.track(model)
        spec = [tf.TensorSpec((None, 12), tf.float32, "features")]
        archive.add_endpoint("classify", lambda x: {"classes": model(x, training=False)}, spec)
        archive.add_endpoint("embed", lambda x: embedder(x, training=False), spec)
        archive.add_endpoint("score_texts", lambda texts: model(tf.reshape(tf.io.decode_raw(texts, tf.float32), [-1, 12]), training=False),
                             [tf.TensorSpec((None,), tf.string, "texts")])
        archive.write_out(path, verbose=False)

    model.write_export = export
    return model


@model(3, how="tf.saved_model.save()")
def saved_model_save(k):
    """A Keras model that tf.saved_model.save wrote"""
    l = k.layers
    x = k.Input((10,))
    y = l.Dense(8, activation="relu")(x)
    return k.Model(x, l.Dense(2)(l.Concatenate()([x, l.Dropout(.2)(y)])))


# ---- Networks of keras.applications, with fewer filters: names and structure are Keras's. ----

def application(k, name):
    return __import__(f"{k.__name__}.src.applications.{name}", fromlist=["x"])


@model(3)
def mobilenet_v2(k):
    """MobileNetV2 of keras.applications, a tenth as wide"""
    return k.applications.MobileNetV2(input_shape=(32, 32, 3), alpha=.1, weights=None, classes=5)


@model(2)
def resnet50(k):
    """ResNet50 of keras.applications, a sixteenth as wide after its first convolution"""
    resnet = application(k, "resnet")
    stack = getattr(resnet, "stack_residual_blocks_v1", None) or resnet.stack1

    def stacks(x):
        x = stack(x, 4, 3, stride1=1, name="conv2")
        x = stack(x, 8, 4, name="conv3")
        x = stack(x, 16, 6, name="conv4")
        return stack(x, 32, 3, name="conv5")

    return resnet.ResNet(stacks, False, True, "resnet50", weights=None, input_shape=(32, 32, 3), classes=5)


@model(3)
def efficientnet_b0(k):
    """EfficientNetB0 of keras.applications, an eighth as wide"""
    return application(k, "efficientnet").EfficientNet(.125, 1., 32, name="efficientnetb0", weights=None, input_shape=(32, 32, 3), classes=5)


@model(3)
def densenet121(k):
    """DenseNet121 of keras.applications, which grows by 2 filters, not by 32"""
    densenet = application(k, "densenet")
    block = densenet.conv_block
    densenet.conv_block = lambda x, growth_rate, name: block(x, 2, name=name)
    return densenet.DenseNet([6, 12, 24, 16], weights=None, input_shape=(32, 32, 3), classes=5, name="densenet121")


# ---- What Keras says of a model. ----

class Calls:
    """For each layer, the nodes that its calls add: (name of the function's graph, name of the node)."""
    def __init__(self, tf, classes):
        self.nodes = {}
        for c in classes:
            self.patch(tf, c)

    def patch(self, tf, c):
        call = c.__call__

        def recorded(layer, *args, **more):
            graph = tf.compat.v1.get_default_graph()
            if tf.executing_eagerly() or not hasattr(graph, "captures"):
                return call(layer, *args, **more)
            before = len(graph.get_operations())
            result = call(layer, *args, **more)
            self.nodes.setdefault(id(layer), set()).update((graph.name, op.name) for op in graph.get_operations()[before:])
            return result

        # Functions are named after it, and AutoGraph leaves it as it is.
        recorded.__name__, recorded.__qualname__, recorded.__signature__ = call.__name__, call.__qualname__, inspect.signature(call)
        recorded.autograph_info__ = {}
        c.__call__ = recorded


class Export:
    """The functions that a SavedModel's signatures reach, and its variables."""
    def __init__(self, folder):
        from tensorflow.core.protobuf import saved_model_pb2
        saved = saved_model_pb2.SavedModel.FromString((folder / "saved_model.pb").read_bytes())
        graph = saved.meta_graphs[0].graph_def
        library = {f.signature.name: f for f in graph.library.function}
        self.ops, seen, todo = {}, set(), [graph.node]
        self.variables = {v.name for v in self.variable_nodes(saved.meta_graphs[0])}
        while todo:
            for node in todo.pop():
                for attr in node.attr.values():
                    for f in [attr.func.name, *(f.name for f in attr.list.func)]:
                        if f in library and f not in seen:
                            seen.add(f)
                            todo.append(library[f].node_def)
                            plain = re.sub(r"_\d+$", "", f.removeprefix("__inference_"))
                            self.ops.update({(plain, n.name): n.op for n in library[f].node_def})

    def variable_nodes(self, meta):
        for node in meta.object_graph_def.nodes:
            if node.HasField("variable"):
                yield node.variable


def shape_list(shape):
    return None if shape is None else [None if d is None else int(d) for d in shape]


def shapes_of(tree):
    """A shape, or a list of them for several, from a structure of them."""
    found = []

    def visit(x):
        if isinstance(x, dict):
            for key in sorted(x):
                visit(x[key])
        elif x is None or (isinstance(x, (list, tuple)) and not any(isinstance(e, (list, tuple, dict)) for e in x) and len(x) >= 0
                           and all(e is None or isinstance(e, int) for e in x)):
            found.append(shape_list(x))
        else:
            for e in x:
                visit(e)

    visit(tree)
    return found[0] if len(found) == 1 else found


def output_shape(k, layer):
    """As summary() shows it: also "?" and "multiple"."""
    if k.__name__ == "tf_keras":
        try:
            return shapes_of(layer.output_shape)
        except AttributeError:
            return "multiple"
        except RuntimeError:
            return "?"
    if layer._inbound_nodes:
        shapes = [tuple(t.shape) for t in k.tree.flatten(layer._inbound_nodes[-1].output_tensors)]
        return shape_list(shapes[0]) if len(shapes) == 1 else [shape_list(s) for s in shapes]
    if not layer._build_shapes_dict:
        return "?"
    try:
        return shapes_of(layer.output_shape if hasattr(layer, "output_shape") else layer.compute_output_shape(**layer._build_shapes_dict))
    except NotImplementedError:
        return "?"


def connections(k, layer, relevant):
    found = []
    for node in layer._inbound_nodes:
        if node not in relevant:
            continue
        if k.__name__ == "tf_keras":
            for source, node_index, tensor_index, _ in node.iterate_inbound():
                found.append(f"{source.name}[{node_index}][{tensor_index}]")
        else:
            for tensor in node.input_tensors:
                source, node_index, tensor_index = tensor._keras_history
                found.append(f"{source.name}[{node_index}][{tensor_index}]")
    return found


def rows(k, model, calls, export):
    nodes = getattr(model, "_nodes_by_depth", None) if type(model).__name__ != "Sequential" else None
    relevant = [n for depth in (nodes or {}).values() for n in depth]
    of = getattr(model, "_operations", None) if nodes and k.__name__ == "keras" else model.layers
    result = []
    for layer in of:
        built = getattr(layer, "built", None)
        weights = getattr(layer, "weights", []) if built else []
        kinds = sorted({export.ops[n] for n in calls.nodes.get(id(layer), ()) if n in export.ops})
        names = {getattr(w, "path", w.name).split(":")[0] for w in weights} | {w.name.split(":")[0] for w in weights if "." in w.name}
        result.append({
            "name": layer.name, "class": type(layer).__name__, "output_shape": output_shape(k, layer),
            "parameters": int(layer.count_params()) if built else 0, "connected_to": connections(k, layer, relevant),
            "nested": rows(k, layer, calls, export) if getattr(layer, "layers", None) else [],
            "in_export": bool(kinds or names & export.variables), "ops": kinds})
    return result


def count(weights):
    unique = {id(w): w for w in weights}.values()
    total = 0
    for w in unique:
        n = 1
        for d in w.shape:
            n *= int(d)
        total += n
    return total


# ---- Floating-point operations. ----

def flops(tf, model):
    """By TensorFlow's profiler, over the frozen function for one example. A loop counts as often as it runs. None: unknown."""
    from tensorflow.python.framework import function_def_to_graph, ops, tensor_util
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    inputs = model.inputs if getattr(model, "inputs", None) else [tf.TensorSpec(model.example, tf.float32)]
    specs = [tf.TensorSpec([1, *i.shape[1:]], i.dtype) for i in inputs]
    if any(None in s.shape for s in specs):
        return None

    @tf.function(input_signature=specs)
    def f(*args):
        packed = list(args) if len(args) > 1 else args[0]
        if len(args) > 1 and isinstance(getattr(model, "_inputs_struct", None) or getattr(model, "_nested_inputs", None), dict):
            packed = {i.name.split(":")[0]: a for i, a in zip(inputs, args)}
        return model(packed, training=False)

    graph = convert_variables_to_constants_v2(f.get_concrete_function(), lower_control_flow=False).graph
    library = {d.signature.name: d for d in graph.as_graph_def().library.function}
    options = tf.compat.v1.profiler.ProfileOptionBuilder(tf.compat.v1.profiler.ProfileOptionBuilder.float_operation()).with_empty_output().build()

    def known(tensor):
        while tensor.op.type == "Identity" or tensor.op.type == "Max" and tensor.op.inputs[0].shape.rank == 0:
            tensor = tensor.op.inputs[0]
        if tensor.op.type == "StridedSlice" and tensor.shape.rank == 0:   # one of a shape's dimensions
            shape, start = (tensor_util.constant_value(t) for t in tensor.op.inputs[:2])
            return None if shape is None or start is None or shape.ndim != 1 else int(shape[start[0]])
        value = tensor_util.constant_value(tensor)
        return None if value is None or value.shape else int(value)

    def trips(node):
        """Keras's loops count from 0 to a length, and their condition compares the two."""
        cond = function_def_to_graph.function_def_to_graph(library[node.get_attr("cond").name])
        outside = {t.name: known(value) for t, value in zip(cond.inputs, node.inputs)}
        found = []
        for op in cond.get_operations():
            if op.type == "Less":
                start, end = (outside[t.name] if t.name in outside else known(t) for t in op.inputs)
                if start == 0 and end is not None:
                    found.append(end)
        return min(found, default=None)

    def of(graph):
        with graph.as_default():
            for op in graph.get_operations():
                ops.get_stats_for_node_def(graph, op.node_def, "flops")   # raises ValueError where a shape is unknown
        total = tf.compat.v1.profiler.profile(graph, options=options).total_float_ops
        for op in graph.get_operations():
            if op.type in ("If", "StatelessIf", "Case", "StatelessCase"):
                raise ValueError("a branch")
            called = [op.get_attr(a).name for a in ("f", "body", "cond") if a in op.node_def.attr and op.node_def.attr[a].HasField("func")]
            times = trips(op) if op.type in ("While", "StatelessWhile") else 1
            for name in called:
                inner = function_def_to_graph.function_def_to_graph(library[name], input_shapes=[t.shape for t in op.inputs])
                n = of(inner)
                if n and times is None:
                    raise ValueError("how often a loop runs is unknown")
                total += n * (times or 0)
        return total

    return int(of(graph))


def import_keras(version):
    """TensorFlow, Keras, and the classes whose calls matter."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["TF_USE_LEGACY_KERAS"] = "1" if version == 2 else "0"
    os.environ["COLUMNS"] = "120"                             # else the text is cut off
    import tensorflow as tf
    tf.get_logger().setLevel("ERROR")
    if version == 2:
        import tf_keras as k
        import tf_keras.src.engine.base_layer
        return tf, k, [tf_keras.src.engine.base_layer.Layer]
    import keras as k
    import keras.src.layers.layer
    import keras.src.ops.operation
    k.config.disable_interactive_logging()
    return tf, k, [keras.src.layers.layer.Layer, keras.src.ops.operation.Operation]


def make_one(name, folder, tf, k, classes):
    version, how, make = MODELS[name]
    k.utils.set_random_seed(1)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    model = make(k)
    model.example = {"subclassed": (1, 12, 12, 3), "vae": (1, 64)}.get(make.__name__, (1, 7))
    calls = Calls(tf, classes)
    path = str(folder / "model")
    if how == "model.export()":
        model.export(path, verbose=False)
    elif how == "model.save()":
        model.save(path, save_format="tf")
    elif how == "ExportArchive":
        model.write_export(path)
    else:
        tf.saved_model.save(model, path)
    (folder / "model" / "fingerprint.pb").unlink(missing_ok=True)
    if not any((folder / "model" / "assets").glob("*")):
        shutil.rmtree(folder / "model" / "assets", ignore_errors=True)
    lines = []
    model.summary(line_length=100, print_fn=lambda text, **more: lines.append(text))
    text = "\n".join(lines).rstrip() + "\n"
    (folder / "text.txt").write_text(text)
    trainable = count(getattr(model, "_collected_trainable_weights", None) or model.trainable_weights)
    non_trainable = count(model.non_trainable_weights)
    optimizer = model.optimizer if getattr(model, "optimizer", None) is not None else None
    slots = count(optimizer.variables) if version == 3 and optimizer is not None and optimizer.built else 0
    export = Export(folder / "model")
    try:
        number = flops(tf, model)
    except Exception as e:
        print(f"{name}: no flops: {type(e).__name__}: {str(e)[:300]}", file=sys.stderr)
        number = None
    summary = {
        "keras": k.__version__, "tensorflow": tf.__version__, "made_by": how, "what": make.__doc__, "model": model.name,
        "connected_to_shown": "Connected to" in text, "layers": rows(k, model, calls, export),
        "total": trainable + non_trainable + slots, "trainable": trainable, "non_trainable": non_trainable, "optimizer": slots, "flops": number}
    for label, value in (("Total", "total"), ("Trainable", "trainable"), ("Non-trainable", "non_trainable")):
        printed = int(re.search(rf"^ *{label} params: ([\d,]+)", text, re.M)[1].replace(",", ""))
        assert printed == summary[value], (label, printed, summary[value])
    printed = re.sub(r"\s", "", text)
    for row in summary["layers"]:
        assert row["connected_to"] or row["name"][:12] in printed, row["name"]
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")


README = """\
# Models that Keras users have

Made by `scripts/testdata_keras_models.py` with TensorFlow {tensorflow}, Keras {keras3} and Keras {keras2} (the package `tf_keras`); do
not edit by hand. The models are small, untrained unless the table says otherwise, and were written for this project. About half name
their layers; the others have Keras's default names.

A folder `NAME` has three files. `model` is the SavedModel, as the call in the column "made by" wrote it, less `fingerprint.pb`. In
`text.txt` is what `model.summary(line_length=100)` prints. `summary.json` says the same as data, read from the model's layers:

- `layers` has a row for each row of the summary. `nested` has the rows of a model among the layers, which `expand_nested=True` shows.
- `output_shape` is a list (null: any number), a list of lists for several outputs, or, as Keras prints where it does not know, "?" or
  "multiple".
- `connected_to` lists the sources of a layer in a functional model, as `layer[node][tensor]`. The summary prints them only if
  `connected_to_shown`: it leaves them out for a chain of layers.
- `in_export`: is anything left of the layer in the SavedModel? While Keras traced the model for the export, each call of a layer noted
  the nodes that it added to a function. The value is true if one of these nodes is in a function that the SavedModel's signatures
  reach, or if a weight of the layer is a variable of the SavedModel. `ops` lists the ops of these nodes. Keras 2 leaves an `Identity` of a
  Dropout layer, which therefore counts as exported; of its GaussianNoise, and of these layers in Keras 3, nothing is left. Keras 3
  leaves the loss that ActivityRegularization computes.
- `total`, `trainable` and `non_trainable` are the numbers below the table. In Keras 3, the total includes the variables of the
  optimizer, which `optimizer` counts; Keras 2 does not count them. `model.export()` of Keras 3 does not write these variables into the
  checkpoint; `model.save()` of Keras 2 does.
- `flops` is the number of floating-point operations for one example, by TensorFlow's profiler, over the frozen function. The profiler counts
  only the ops that it knows. A loop counts as often as it runs. The number is null if a shape, or how often a loop runs, is unknown, and if the model
  assigns a variable, because then the function cannot be frozen.

| model | what it is | Keras | made by | rows | parameters | flops | bytes |
|---|---|---|---|---|---|---|---|
{rows}

{count} models, {total:,} bytes.
"""


def write_readme(out):
    lines, total, versions = [], 0, {}
    for name in MODELS:
        if not (out / name / "summary.json").exists():
            continue
        s = json.loads((out / name / "summary.json").read_text())
        size = sum(f.stat().st_size for f in (out / name).rglob("*") if f.is_file())
        total += size
        versions[s["keras"][0]] = s["keras"]
        versions["tensorflow"] = s["tensorflow"]
        amount = "" if s["flops"] is None else f"{s['flops']:,}"
        lines.append(f"| `{name}` | {s['what']} | {s['keras']} | `{s['made_by']}` | {len(s['layers'])} | {s['total']:,} | {amount} | {size:,} |")
    (out / "README.md").write_text(README.format(
        tensorflow=versions.get("tensorflow"), keras3=versions.get("3"), keras2=versions.get("2"), rows="\n".join(lines), count=len(lines),
        total=total))
    print(f"{out}: {len(lines)} models, {total:,} bytes")


def make_some(version, out, names):
    """Imports TensorFlow once, and makes each model in a fork. Nothing of TensorFlow runs before the forks."""
    imported = import_keras(version)
    for name in names:
        log = tempfile.TemporaryFile("w+")
        child = os.fork()
        if not child:
            resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
            signal.alarm(SECONDS)
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
            status = 1
            try:
                make_one(name, out / name, *imported)
                status = 0
            except BaseException:
                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
        status = os.waitpid(child, 0)[1]
        log.seek(0)
        text = log.read()
        if status:
            print(f"{name}: failed ({status}): {text[-3000:]}", file=sys.stderr, flush=True)
            (out / name / "summary.json").unlink(missing_ok=True)
        else:
            print("\n".join([name, *(line for line in text.splitlines() if line.startswith(name + ":"))]), file=sys.stderr, flush=True)


def main():
    if sys.argv[1:2] == ["--keras"]:
        make_some(int(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4:])
        return
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "testdata" / "keras_models").resolve()
    names = sys.argv[2:] or list(MODELS)
    out.mkdir(parents=True, exist_ok=True)
    groups = [subprocess.Popen(["nice", "-n", "15", sys.executable, __file__, "--keras", str(version), str(out),
                                *(name for name in names if MODELS[name][0] == version)]) for version in (2, 3)]
    for group in groups:
        group.wait()
    write_readme(out)
    missing = [name for name in names if not (out / name / "summary.json").exists()]
    if missing:
        sys.exit("could not make: " + ", ".join(missing))


if __name__ == "__main__":
    main()
