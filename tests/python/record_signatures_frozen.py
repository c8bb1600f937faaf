"""record_signatures_frozen.py [NAME...]: makes SavedModels in testdata/signatures and records what TensorFlow answers.

Each folder KIND/NAME has the model, the inputs of its default signature (x_KEY.npy) and TensorFlow's outputs (y_KEY.npy). Kinds:
  freeze_loses_table             a frozen graph must know what the model's tables hold
  stale_input_shapes             functions that stay calls are given values where they were given variables
  optimised_model_does_not_load  functions that Grappler specializes are written into a SavedModel again
"""
import os
import shutil
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import keras
import numpy as np
import tensorflow as tf

HOME = "testdata/signatures"
tf1, L = tf.compat.v1, keras.layers
MAKERS = []


def recorded(kind):
    def add(make):
        MAKERS.append((kind, make.__name__, make))
        return make
    return add


def normal(*shape, dtype="f", seed=0):
    return np.random.RandomState(seed).randn(*shape).astype(dtype)


def spec(shape, dtype, name):
    return tf.TensorSpec(shape, dtype, name)


def static(keys, values, default):
    return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(tf.constant(keys), tf.constant(values)), default)


# Tables.


@recorded("freeze_loses_table")
def two_tables(path):
    """int64 to string and string to float, one of them read within a branch."""
    module = tf.Module()
    module.names = static(np.int64([3, 5, 2**40]), ["three", "five", "many"], "none")
    module.prices = static(["three", "many"], np.float32([1.5, -2]), np.nan)

    @tf.function(input_signature=[spec([None], tf.int64, "code")])
    def serve(code):
        name = module.names.lookup(code)
        price = tf.cond(tf.size(code) > 2, lambda: module.prices.lookup(name), lambda: tf.zeros_like(code, tf.float32))
        return {"name": name, "price": price}

    tf.saved_model.save(module, path, signatures=serve)
    return {"code": np.int64([5, 2**40, 3, 4])}


@recorded("freeze_loses_table")
def vocabulary_file(path):
    """TensorFlow 1: words of a text file among the assets, with buckets for others, beside a variable."""
    with tf.Graph().as_default(), tf1.Session() as session, tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "words.txt")
        with open(file, "w") as f:
            f.write("red\ngreen\nblue\n")
        words = tf1.placeholder(tf.string, [None, 2], "words")
        table = tf1.lookup.StaticVocabularyTable(
            tf1.lookup.TextFileInitializer(file, tf.string, tf1.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
                                           tf1.lookup.TextFileIndex.LINE_NUMBER), 2)
        rows = tf1.get_variable("rows", initializer=normal(5, 3, dtype="d"))
        out = tf.reduce_sum(tf.gather(rows, table.lookup(words)), 1, name="out")
        session.run([tf1.global_variables_initializer(), tf1.tables_initializer()])
        info = tf1.saved_model.build_tensor_info
        signature = tf1.saved_model.build_signature_def({"words": info(words)}, {"sum": info(out)}, "sum")
        builder = tf1.saved_model.Builder(path)
        builder.add_meta_graph_and_variables(session, ["serve"], {"sum": signature}, main_op=tf1.tables_initializer(),
                                             assets_collection=tf1.get_collection(tf1.GraphKeys.ASSET_FILEPATHS))
        builder.save()
    return {"words": np.array([[b"blue", b"red"], [b"green", b"pink"]])}


@recorded("freeze_loses_table")
def table_in_checkpoint(path):
    """A table that changes: its rows of floats are in the checkpoint."""
    module = tf.Module()
    module.rows = tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, [0.0, 0.0, -1.0])
    module.rows.insert(["a", "bb", "ccc"], normal(3, 3))
    module.scale = tf.Variable(np.float32([2, 3, 4]))

    @tf.function(input_signature=[spec([None], tf.string, "word")])
    def embed(word):
        return {"row": module.rows.lookup(word) * module.scale}

    tf.saved_model.save(module, path, signatures={"serving_default": embed})
    return {"word": np.array([b"ccc", b"d", b"a"])}


@recorded("freeze_loses_table")
def within_calls(path):
    """Tables of two signatures, read by a function that stays a call and by one that it calls; int32 to int32 through a file."""
    file = os.path.join(path + ".assets", "pairs.txt")
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with open(file, "w") as f:
        f.write("10,7\n20,9\n-3,11\n")
    module = tf.Module()
    module.pairs = tf.lookup.StaticHashTable(
        tf.lookup.TextFileInitializer(file, tf.int64, 0, tf.int64, 1, delimiter=","), -1)
    module.other = static(["x"], np.int64([1]), 0)

    @tf.function
    def inner(key):
        return module.pairs.lookup(key) * 2

    @tf.function(experimental_attributes={"_noinline": True})
    def outer(key):
        return inner(key) + module.pairs.lookup(key + 10)

    @tf.function(input_signature=[spec([None], tf.int64, "key")])
    def serve(key):
        return {"sum": outer(key) + 1}

    @tf.function(input_signature=[spec([None], tf.string, "word")])
    def lookup(word):
        return {"number": module.other.lookup(word)}

    tf.saved_model.save(module, path, signatures={"lookup": lookup, "serving_default": serve})
    shutil.rmtree(path + ".assets")
    return {"key": np.int64([10, -3, 20, 0])}


@recorded("freeze_loses_table")
def keras_lookup(path):
    """Keras 3: a layer that looks words up, then an embedding."""
    words = keras.Input((3,), dtype="string", name="words")
    ids = L.StringLookup(vocabulary=["up", "down", "left"], num_oov_indices=1)(words)
    out = L.Dense(2)(L.Flatten()(L.Embedding(4, 2)(ids)))
    keras.Model(words, out).export(path, verbose=False)
    return {"words": np.array([[b"left", b"up", b"over"], [b"down", b"down", b"up"]])}


# Functions that stay calls.


@recorded("stale_input_shapes")
def compiled_float64(path):
    """jit_compile, two float64 variables of different ranks."""
    module = tf.Module()
    module.w, module.b = tf.Variable(normal(3, 5, dtype="d")), tf.Variable(normal(5, dtype="d", seed=1))

    @tf.function(jit_compile=True)
    def layer(x):
        return tf.nn.relu(x @ module.w + module.b)

    @tf.function(input_signature=[spec([None, 3], tf.float64, "x")])
    def serve(x):
        return {"y": layer(x) - 1.0}

    tf.saved_model.save(module, path, signatures=serve)
    return {"x": normal(2, 3, dtype="d", seed=2)}


@recorded("stale_input_shapes")
def nested_calls(path):
    """A compiled function that hands a variable on to another one, called twice with different variables."""
    module = tf.Module()
    module.ws = [tf.Variable(normal(4, 4, seed=i)) for i in range(2)]

    @tf.function(experimental_attributes={"_noinline": True})
    def inner(x, w):
        return tf.tanh(tf.matmul(x, w, transpose_b=True))

    @tf.function(jit_compile=True)
    def outer(x):
        for w in module.ws:
            x = inner(x, w)
        return x

    @tf.function(input_signature=[spec([2, 4], tf.float32, "input")])
    def serve(input):
        return {"a": outer(input), "b": inner(input * 2.0, module.ws[1])}

    tf.saved_model.save(module, path, signatures=serve)
    return {"input": normal(2, 4, seed=5)}


@recorded("stale_input_shapes")
def gathered_rows(path):
    """A call that gathers rows of a half variable by int64 indices, one of two signatures."""
    module = tf.Module()
    module.table = tf.Variable(normal(6, 3, dtype="e"))

    @tf.function(experimental_attributes={"_noinline": True})
    def rows(index):
        return tf.gather(module.table, index) + tf.cast(tf.shape(module.table)[1], tf.half)

    @tf.function(input_signature=[spec([None], tf.int64, "index")])
    def serve(index):
        return {"rows": rows(index)}

    @tf.function(input_signature=[spec([], tf.int64, "index")])
    def one(index):
        return {"row": rows(index[None])[0]}

    tf.saved_model.save(module, path, signatures={"one": one, "serving_default": serve})
    return {"index": np.int64([5, 0, 2, 2])}


@recorded("stale_input_shapes")
def keras_compiled(path):
    """Keras 3: a layer whose call is compiled, in an exported model."""

    class Scaled(L.Layer):
        def build(self, shape):
            self.w = self.add_weight(shape=(shape[-1], 3), initializer=keras.initializers.RandomNormal(seed=3))
            self.k = self.add_weight(shape=(3,), initializer="ones")

        def call(self, x):
            w, k = self.w.value, self.k.value
            return tf.function(lambda x: (x @ w) * k, jit_compile=True)(x)

    i = keras.Input((4,), name="features")
    keras.Model(i, L.Softmax()(Scaled()(i))).export(path, verbose=False)
    return {"features": normal(3, 4, seed=4)}


@recorded("stale_input_shapes")
def compiled_loop(path):
    """A loop whose compiled body reads an int32 variable, and a convolution of a picture in another call."""
    module = tf.Module()
    module.step, module.kernel = tf.Variable([1, 2, 3]), tf.Variable(normal(2, 2, 1, 3))

    @tf.function(jit_compile=True)
    def add(v):
        return v + module.step * 2

    @tf.function(experimental_attributes={"_noinline": True})
    def look(picture):
        return tf.nn.conv2d(picture, module.kernel, 1, "SAME")

    @tf.function(input_signature=[spec([1, 4, 4, 1], tf.float32, "picture"), spec([3], tf.int32, "start")])
    def serve(picture, start):
        total = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, add(v)), (0, start))[1]
        return {"total": total, "seen": look(picture)}

    tf.saved_model.save(module, path, signatures=serve)
    return {"picture": normal(1, 4, 4, 1, seed=6), "start": np.int32([5, 6, 7])}


# Functions that Grappler specializes for the constants they are called with.


def keras2(name, device):
    """What Keras 2 marks the body of an LSTM or GRU with."""
    return {"api_implements": name + "_6f5902ac", "api_preferred_device": device}


@recorded("optimised_model_does_not_load")
def keras2_lstm(path):
    """An LSTM as in Keras 2: a body for the CPU and one for the GPU, from zeros."""
    module = tf.Module()
    module.kernel, module.recurrent = tf.Variable(normal(3, 8) / 2), tf.Variable(normal(2, 8, seed=1) / 2)
    module.bias = tf.Variable(normal(8, seed=2))

    def body(x, h, c, reverse):
        x = tf.cond(reverse, lambda: tf.reverse(x, [1]), lambda: x)

        def step(i, h, c):
            z = x[:, i] @ module.kernel + h @ module.recurrent + module.bias
            a, f, g, o = tf.split(z, 4, 1)
            c = tf.sigmoid(f) * c + tf.sigmoid(a) * tf.tanh(g)
            return i + 1, tf.sigmoid(o) * tf.tanh(c), c

        return tf.while_loop(lambda i, *_: i < 4, step, (0, h, c))[1]

    lstm = tf.function(body, autograph=False, experimental_attributes=keras2("lstm", "CPU"))
    other = tf.function(body, autograph=False, experimental_attributes=keras2("lstm", "GPU"))

    @tf.function(input_signature=[spec([2, 4, 3], tf.float32, "x")])
    def serve(x):
        zeros = tf.zeros([2, 2])
        other.get_concrete_function(x, zeros, zeros, tf.constant(False)).add_to_graph()
        return {"h": lstm(x, zeros, zeros, tf.constant(False))}

    tf.saved_model.save(module, path, signatures=serve)
    return {"x": normal(2, 4, 3, seed=3)}


@recorded("optimised_model_does_not_load")
def keras2_gru(path):
    """A GRU's body in float64, called twice with other constants, in one of two signatures that share it."""
    module = tf.Module()
    module.w = tf.Variable(normal(3, 3, dtype="d"))

    @tf.function(experimental_attributes=keras2("gru", "CPU"))
    def gru(x, h, mix):
        update = tf.sigmoid(x @ module.w)
        return update * h + (1.0 - update) * tf.tanh(x * mix)

    @tf.function(input_signature=[spec([None, 3], tf.float64, "x")])
    def serve(x):
        h = gru(x, tf.ones([1, 3], tf.float64), tf.constant(0.5, tf.float64))
        return {"out": gru(x, h, tf.constant(2.0, tf.float64))}

    @tf.function(input_signature=[spec([1, 3], tf.float64, "x")])
    def once(x):
        return {"out": gru(x, tf.zeros([1, 3], tf.float64), tf.constant(1.0, tf.float64))}

    tf.saved_model.save(module, path, signatures={"serving_default": serve, "once": once})
    return {"x": normal(2, 3, dtype="d", seed=1)}


@recorded("optimised_model_does_not_load")
def not_inlined(path):
    """Not of Keras: a function that must stay a call, with an int64 constant and a shape."""
    module = tf.Module()
    module.rows = tf.Variable(np.arange(24, dtype=np.int64).reshape(4, 6))

    @tf.function(experimental_attributes={"_noinline": True})
    def shaped(index, offset, shape):
        return tf.reshape(tf.gather(module.rows, index) + offset, shape)

    @tf.function(input_signature=[spec([2], tf.int32, "index")])
    def serve(index):
        return {"block": shaped(index, tf.constant(7, tf.int64), tf.constant([3, 4])) * 2}

    tf.saved_model.save(module, path, signatures=serve)
    return {"index": np.int32([3, 1])}


@recorded("optimised_model_does_not_load")
def within_branches(path):
    """Specialized calls within a branch and within another call that is compiled."""
    module = tf.Module()
    module.w = tf.Variable(normal(4, 4, dtype="e"))

    @tf.function(experimental_attributes=keras2("lstm", "GPU"))
    def body(x, rate):
        return x @ module.w * rate

    @tf.function(jit_compile=True)
    def compiled(x):
        return body(x, tf.constant(2.0, tf.half)) + tf.constant(1.0, tf.half)

    @tf.function(input_signature=[spec([None, 4], tf.half, "x"), spec([], tf.bool, "twice")])
    def serve(x, twice):
        y = tf.cond(twice, lambda: body(x, tf.constant(0.25, tf.half)), lambda: x)
        return {"branch": y, "call": compiled(x)}

    tf.saved_model.save(module, path, signatures=serve)
    return {"x": normal(3, 4, dtype="e", seed=1), "twice": np.array(True)}


@recorded("optimised_model_does_not_load")
def keras_layer(path):
    """Keras 3: a layer of one's own that calls a recurrent body of Keras 2 with a constant mask."""

    class Recurrent(L.Layer):
        def build(self, shape):
            self.w = self.add_weight(shape=(2, 2), initializer=keras.initializers.RandomNormal(seed=1), name="w")

        def call(self, x):
            w = self.w.value

            @tf.function(experimental_attributes=keras2("gru", "CPU"))
            def body(x, mask):
                return tf.where(mask, tf.tanh(x @ w), 0.0)

            return body(x, tf.constant([[True, False]]))

    i = keras.Input((2,), name="i")
    keras.Model(i, L.Dense(3)(Recurrent()(i))).export(path, verbose=False)
    return {"i": normal(4, 2, seed=2)}


def answers(path, inputs):
    signatures = tf.saved_model.load(path).signatures
    signature = signatures["serving_default" if "serving_default" in signatures else list(signatures)[0]]
    return {key: value.numpy() for key, value in signature(**{k: tf.constant(v) for k, v in inputs.items()}).items()}


def store(path, value):
    if value.dtype == object:
        value = value.astype("S")  # without pickles
    np.save(path, value)


def main(names):
    for kind, name, make in MAKERS:
        if names and name not in names:
            continue
        folder = os.path.join(HOME, kind, name)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        keras.backend.clear_session()
        keras.utils.set_random_seed(7)
        model = os.path.join(folder, "model")
        inputs = make(model)
        for file in ("fingerprint.pb", "keras_metadata.pb"):
            if os.path.exists(os.path.join(model, file)):
                os.remove(os.path.join(model, file))
        for letter, tensors in (("x", inputs), ("y", answers(model, inputs))):
            for key, value in tensors.items():
                store(os.path.join(folder, f"{letter}_{key}.npy"), value)
        print(kind, name)


if __name__ == "__main__":
    main(sys.argv[1:])
