"""15 small SavedModels and what TensorFlow makes of them, for three tests of what `grapnel` knows of a signature.

usage: record_signatures.py [KIND/NAME...]        writes testdata/signatures; without names all of them

    outputs_of_captured_case        a case that capture.py recorded of a signature (case), and the same as capture.py wrote it before
                                    cases had keys (old_case): the model gives the case's outputs
    check_values_of_saved_models    variables, tables and feeds by key: optimizing changes no value
    opt_knows_shapes_of_arguments   ops.json has the ops that TensorFlow runs for the signature, without oneDNN ("off") and with ("on"):
                                    the counts of its after_graph_optimization dump
    two_signatures                  several signatures of one network: costs.json has the FLOPs by op of a run for one example, as
                                    TensorFlow counts them, and the bytes of the variables that the signature reads; and ops.json, as above
    gradient_by_signature_keys      d_KEY.npy and dv_NAME.npy have what tf.GradientTape gives for the sum of all floating-point outputs, by
                                    the inputs and by the variables

Each has model, and x_KEY.npy and y_KEY.npy for the inputs and outputs of one signature, whose name is in about.json. What of a key no
file's name holds is quoted as in a URL. Weights and values come from seeds. Names and values vary on purpose: keys that are not
sorted, capitals and slashes in them, one key for an input and an output, several outputs of one shape and dtype.

needs: tensorflow-cpu==2.21.0, tf_keras==2.21.0
"""
# mypy: ignore-errors
import collections
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import capture
from saved_opt import PLUMBING

OUT = ROOT / "testdata" / "signatures"
MODELS = {}
SERVING = "serving_default"


def model(kind, signature=SERVING, **about):
    """Of a function that saves a model to a path and returns {key: value} for the signature."""
    def add(make):
        MODELS[f"{kind}/{make.__name__}"] = make, {"signature": signature, **about}
        return make
    return add


def floats(*shape, seed=0, dtype="f"):
    return np.random.RandomState(100 + seed).uniform(-1, 1, shape).astype(dtype)


def spec(shape, dtype, name):
    return tf.TensorSpec(shape, dtype, name)


def save(path, signatures, **held):
    """A tf.Module: `signatures` {name: (function, specs)}, called with the module first, which holds `held`."""
    module = tf.Module()
    for name, value in held.items():
        setattr(module, name, value)
    functions = {name: tf.function(functools.partial(call, module), input_signature=specs)
                 for name, (call, specs) in signatures.items()}
    module.functions = list(functions.values())
    tf.saved_model.save(module, path, signatures=functions)


def export(path, keras_model, batch=None):
    archive = tf.keras.export.ExportArchive()
    archive.track(keras_model)
    specs = [spec((batch, *x.shape[1:]), x.dtype, x.name) for x in keras_model.inputs]
    archive.add_endpoint("serve", lambda *xs: keras_model(list(xs) if len(xs) > 1 else xs[0], training=False), specs)
    archive.write_out(path, verbose=False)


def save_session(path, build):
    """TensorFlow 1: build() gives {signature: (inputs, outputs)} of a graph."""
    with tf.Graph().as_default() as graph, tf.compat.v1.Session(graph=graph) as session:
        tf.compat.v1.set_random_seed(7)
        ends = build()
        session.run([tf.compat.v1.global_variables_initializer(), tf.compat.v1.tables_initializer()])
        info = tf.compat.v1.saved_model.build_tensor_info
        builder = tf.compat.v1.saved_model.Builder(path)
        builder.add_meta_graph_and_variables(session, ["serve"], {
            name: tf.compat.v1.saved_model.build_signature_def(
                *({key: info(tensor) for key, tensor in side.items()} for side in sides), "tensorflow/serving/predict")
            for name, sides in ends.items()}, main_op=tf.compat.v1.tables_initializer())
        builder.save()


# ---- cases ----

@model("outputs_of_captured_case")
def unsorted_keys(path):
    """Three outputs of one shape and dtype; keys with capitals, a slash and a space."""
    def call(m, zeta, Alpha, beta_9):
        return {"z": zeta * m.w + m.held, "a/odd key": zeta - Alpha * 2, "Mid": Alpha * m.w - tf.cast(beta_9, tf.float64)}
    save(path, {SERVING: (call, [spec([None, 3], tf.float64, "zeta"), spec([None, 3], tf.float64, "Alpha"),
                                 spec([3], tf.int64, "beta_9")])},
         w=tf.Variable(floats(3, dtype="d"), name="w"), held=tf.constant(floats(3, seed=1, dtype="d")))
    return {"zeta": floats(2, 3, seed=2, dtype="d"), "Alpha": floats(2, 3, seed=3, dtype="d"), "beta_9": np.array([5, -2, 7])}


@model("outputs_of_captured_case")
def keras_two_heads(path):
    """Exported by Keras 3: two inputs, of which the second is read first, and two heads of one shape."""
    tf.keras.utils.set_random_seed(3)
    wide, deep = tf.keras.Input((4,), name="wide"), tf.keras.Input((4,), name="deep")
    hidden = tf.keras.layers.Dense(5, activation="tanh")(tf.keras.layers.Concatenate()([deep, wide]))
    export(path, tf.keras.Model([wide, deep], {"up": tf.keras.layers.Dense(2, name="up")(hidden),
                                               "down": tf.keras.layers.Dense(2, name="down", activation="softmax")(hidden)}))
    return {"wide": floats(3, 4, seed=4), "deep": floats(3, 4, seed=5)}


@model("outputs_of_captured_case", "rank")
def session_of_strings(path):
    """TensorFlow 1, two signatures: keys that are not tensor names, a string, a table, a variable that is a reference."""
    def build():
        words = tf.compat.v1.placeholder(tf.string, [None], name="in/words")
        scale = tf.compat.v1.placeholder(tf.float32, [], name="in/scale")
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["cat", "dog"], np.array([4, 9], "q")), -1)
        ids = table.lookup(words)
        bias = tf.compat.v1.get_variable("bias", initializer=np.float32(.25), use_resource=False)
        score = tf.add(tf.cast(ids, tf.float32) * scale, bias, name="out/score")
        shown = tf.strings.join([words, tf.constant("!")], name="out/shown")
        return {"rank": ({"tokens": words, "by": scale}, {"value": score, "number": ids, "label": shown}),
                SERVING: ({"tokens": words}, {"number": ids})}
    save_session(path, build)
    return {"tokens": np.array([b"dog", b"bird", b"cat"]), "by": np.float32(1.5)}


@model("outputs_of_captured_case", "encode")
def several_signatures(path):
    """The default signature is not the one that was captured; functions within functions; an output that is an input."""
    @tf.function
    def inner(x, w):
        return tf.linalg.matmul(x, w)

    @tf.function
    def outer(x, w):
        return tf.nn.relu(inner(x, w)) + inner(x * .5, w)

    def encode(m, x, skip):
        return {"code": outer(x, m.w), "again": outer(x + 1., m.w), "skip": skip}

    def decode(m, code):
        return {"x": inner(code, tf.transpose(m.w))}
    save(path, {SERVING: (decode, [spec([None, 3], tf.float32, "code")]),
                "encode": (encode, [spec([None, 4], tf.float32, "x"), spec([None], tf.int32, "skip")])},
         w=tf.Variable(floats(4, 3, seed=6), name="w"))
    return {"x": floats(2, 4, seed=7), "skip": np.array([3, 1, 4], "i")}


@model("outputs_of_captured_case", "add", steps=[{"total": np.int64(5)}, {"total": np.int64(-9)}])
def counter(path):
    """Three calls in order, each on what the one before left in a variable; an input and an output have one key."""
    def add(m, total, times):
        return {"total": m.sum.assign_add(total * times), "calls": m.calls.assign_add(1)}
    save(path, {"add": (add, [spec([], tf.int64, "total"), spec([], tf.int64, "times")])},
         sum=tf.Variable(np.int64(100), name="sum"), calls=tf.Variable(np.int64(0), name="calls"))
    return {"total": np.int64(7), "times": np.int64(2)}


# ---- values ----

@model("check_values_of_saved_models")
def loop_of_double(path):
    """A while loop whose body reads a variable, in float64, of an input whose batch is open."""
    def call(m, state, rounds):
        step = lambda i, x: (i + 1, tf.tanh(tf.linalg.matmul(x, m.recur) * 1. + 0.))
        return {"last": tf.while_loop(lambda i, x: i < rounds, step, (0, state))[1]}
    save(path, {SERVING: (call, [spec([None, 3], tf.float64, "state"), spec([], tf.int32, "rounds")])},
         recur=tf.Variable(floats(3, 3, seed=8, dtype="d"), name="recur"))
    return {"state": floats(2, 3, seed=9, dtype="d"), "rounds": np.int32(3)}


@model("check_values_of_saved_models")
def keras_normalized(path):
    """Keras 3: batch normalization after a convolution, which optimizing folds."""
    tf.keras.utils.set_random_seed(5)
    net = tf.keras.Sequential([tf.keras.Input((6, 6, 2), name="image"), tf.keras.layers.Conv2D(3, 3, padding="same"),
                               tf.keras.layers.BatchNormalization(), tf.keras.layers.ReLU(), tf.keras.layers.Flatten(),
                               tf.keras.layers.Dense(2)])
    net.layers[1].set_weights([floats(3, seed=10) + 2, floats(3, seed=11), floats(3, seed=12), floats(3, seed=13) + 2])
    export(path, net)
    return {"image": floats(2, 6, 6, 2, seed=14)}


@model("check_values_of_saved_models")
def session_of_variables(path):
    """TensorFlow 1: variables of both kinds, and a table that the main op fills."""
    def build():
        ids = tf.compat.v1.placeholder(tf.int64, [None], name="ids")
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(np.array([1, 2], "q"), np.array([2, 0], "q")), 1)
        old = tf.compat.v1.get_variable("old", initializer=floats(3, 4, seed=15), use_resource=False)
        new = tf.compat.v1.get_variable("new", initializer=floats(4, seed=16), use_resource=True)
        rows = tf.gather(old, table.lookup(ids))
        return {SERVING: ({"which": ids}, {"scaled": rows * new + 0. * new, "sum": tf.reduce_sum(rows, 1)})}
    save_session(path, build)
    return {"which": np.array([2, 5, 1, 1])}


@model("check_values_of_saved_models", "pick/one")
def branches(path):
    """A case in a function in a function; an odd signature and odd keys."""
    @tf.function
    def inner(x, w, which):
        return tf.switch_case(which, [lambda: x + w, lambda: x * w, lambda: tf.zeros_like(x)])

    @tf.function
    def outer(x, w, which):
        return inner(x, w, which) - inner(x, w, (which + 1) % 3)

    def call(m, x, which):
        return {"the rest/x": outer(x, m.w, which) * 1., "first": outer(x + 0., m.v, which)}
    save(path, {"pick/one": (call, [spec([2, 3], tf.float32, "Value"), spec([], tf.int32, "which")])},
         w=tf.Variable(floats(3, seed=17), name="w"), v=tf.Variable(floats(3, seed=18), name="v"))
    return {"Value": floats(2, 3, seed=19), "which": np.int32(1)}


@model("check_values_of_saved_models")
def strings_and_counts(path):
    """A string in, int64 and strings out, and a variable of int64."""
    def call(m, text):
        parts = tf.strings.length(text)
        counts = tf.cast(parts, tf.int64) * m.weights
        return {"counts": counts + tf.zeros_like(counts), "most": tf.reduce_max(counts), "upper": tf.strings.upper(text)}
    save(path, {SERVING: (call, [spec([3], tf.string, "text")])}, weights=tf.Variable(np.array([3, 1, 2]), name="weights"))
    return {"text": np.array([b"one", b"three", b"seventeen"])}


# ---- shapes ----

@model("opt_knows_shapes_of_arguments")
def static_reductions(path):
    """What is neutral goes where all shapes are known."""
    def call(m, v, n):
        hi = tf.reduce_max(v)
        return {"by_one": hi * 1., "and_zero": hi + tf.constant(0., tf.float64), "count": tf.reduce_sum(n) + tf.constant(0, tf.int64)}
    save(path, {SERVING: (call, [spec([1, 3], tf.float64, "v"), spec([4], tf.int64, "n")])})
    return {"v": floats(1, 3, seed=20, dtype="d"), "n": np.array([4, 3, 2, 1])}


@model("opt_knows_shapes_of_arguments")
def open_batch(path):
    """What the last size alone tells; the first is open."""
    def call(m, v):
        rows, columns = tf.shape(v)[0], tf.shape(v)[1]
        return {"sum": tf.reduce_max(v) * 1. + tf.reduce_sum(v), "mean": tf.reduce_sum(v, 1) / tf.cast(columns, tf.float32),
                "flat": tf.reshape(v, [rows * columns])}
    save(path, {SERVING: (call, [spec([None, 5], tf.float32, "v")])})
    return {"v": floats(2, 5, seed=21)}


@model("opt_knows_shapes_of_arguments")
def keras_static(path):
    """Keras 3 with a batch that is known: its reshapes need no shapes of the run."""
    tf.keras.utils.set_random_seed(9)
    x = tf.keras.Input((4, 6), name="frames")
    y = tf.keras.layers.Dense(3, activation="relu")(x)
    y = tf.keras.layers.Reshape((12,))(y)
    y = tf.keras.layers.Add()([tf.keras.layers.Dense(4)(y), tf.keras.layers.GlobalAveragePooling1D()(x)[:, :4]])
    export(path, tf.keras.Model(x, y), batch=2)
    return {"frames": floats(2, 4, 6, seed=22)}


@model("opt_knows_shapes_of_arguments", "second")
def nested_calls(path):
    """Shapes go through calls; a signature with odd keys beside the default one."""
    @tf.function
    def inner(x):
        return x * tf.ones_like(x) + tf.zeros_like(x)

    @tf.function
    def outer(x):
        return inner(x) / tf.cast(tf.size(x), x.dtype)

    def first(m, x):
        return {"y": outer(x)}

    def second(m, left, right):
        return {"r/l": outer(right) + tf.reduce_max(outer(left)) * 1., "rank": tf.rank(left) + tf.shape(right)[0]}
    save(path, {SERVING: (first, [spec([None, 2], tf.float32, "x")]),
                "second": (second, [spec([2, 3], tf.float32, "Left"), spec([4], tf.float32, "right")])})
    return {"Left": floats(2, 3, seed=23), "right": floats(4, seed=24)}


@model("opt_knows_shapes_of_arguments")
def broadcasts(path):
    """Tiles, reshapes and transposes that change nothing where the sizes are known, and one that does; a variable."""
    def call(m, x, y):
        same = tf.transpose(tf.reshape(tf.tile(x, [1, 1]), [3, 1]), [0, 1])
        wide = tf.broadcast_to(y, tf.shape(same * y))
        return {"b": same + m.w, "a": wide * tf.cast(tf.shape(x)[0], tf.float32), "mean": tf.reduce_mean(tf.reshape(y, [-1]))}
    save(path, {SERVING: (call, [spec([3, 1], tf.float32, "x"), spec([1, 2], tf.float32, "y")])},
         w=tf.Variable(floats(1, 2, seed=25), name="w"))
    return {"x": floats(3, 1, seed=26), "y": floats(1, 2, seed=27)}

# ---- one network, several signatures ----

@model("two_signatures")
def keras_two_inputs(path):
    """Keras 3's export() of a model with two inputs and two outputs, in float64, with a layer that is used twice."""
    tf.keras.utils.set_random_seed(11)
    left, right = (tf.keras.Input((6,), name=name, dtype="float64") for name in ("left", "right"))
    shared = tf.keras.layers.Dense(5, name="shared", dtype="float64")
    both = tf.keras.layers.Subtract(dtype="float64")([shared(left), shared(right)])
    far, near = (tf.keras.layers.Dense(n, name=name, dtype="float64")(both) for n, name in ((3, "far"), (1, "near")))
    tf.keras.Model([left, right], {"far": far, "near": near}).export(path, verbose=False)
    return {"left": floats(1, 6, seed=28, dtype="d"), "right": floats(1, 6, seed=29, dtype="d")}


@model("two_signatures")
def keras2_saved_twice(path):
    """Keras 2: three names of one network, before and after the default one; a nested model; variables of an optimizer."""
    import tf_keras
    tf_keras.utils.set_random_seed(12)
    head = tf_keras.Sequential([tf_keras.layers.Flatten(), tf_keras.layers.Dense(4)], name="head")
    net = tf_keras.Sequential([tf_keras.layers.Conv2D(3, 3, input_shape=(8, 8, 2)), tf_keras.layers.MaxPooling2D(), head])
    net.compile("adam", "mse")
    net.fit(floats(4, 8, 8, 2, seed=30), floats(4, 4, seed=31), verbose=0)
    served = tf.function(lambda image: {"scores": net(image)}, input_signature=[spec([None, 8, 8, 2], tf.float32, "image")])
    net.save(path, signatures={"again": served, SERVING: served, "z_last": served})
    return {"image": floats(1, 8, 8, 2, seed=32)}


@model("two_signatures")
def module_of_several_networks(path):
    """Two signatures of one network and two of others, one of which has most of the weights."""
    @tf.function
    def network(x, w, b):
        return tf.nn.bias_add(tf.linalg.matmul(x, w), b)

    def serve(m, x):
        return {"y": network(x, m.w, m.b)}

    def large(m, x):
        return {"rows": tf.linalg.matmul(network(x, m.w, m.b), m.large)}
    x = [spec([None, 4], tf.float32, "x")]
    save(path, {"a_large": (large, x), SERVING: (serve, x), "predict": (serve, x), "embed": (lambda m, x: {"e": x * m.scale}, x)},
         w=tf.Variable(floats(4, 3, seed=33), name="w"), b=tf.Variable(floats(3, seed=34), name="b"),
         large=tf.Variable(floats(3, 500, seed=35), name="large"), scale=tf.Variable(floats(4, seed=36), name="scale"))
    return {"x": floats(1, 4, seed=37)}


@model("two_signatures")
def archive_of_two_batches(path):
    """An archive of Keras 3 with two endpoints of one network, one of them for a batch that is known, and its default signature."""
    tf.keras.utils.set_random_seed(13)
    net = tf.keras.Sequential([tf.keras.Input((12,), name="frames"), tf.keras.layers.Dense(8), tf.keras.layers.Dense(2)])
    archive = tf.keras.export.ExportArchive()
    archive.track(net)
    archive.add_endpoint("serve", lambda x: net(x), [spec([None, 12], tf.float32, "frames")])
    archive.add_endpoint("serve_32", lambda x: net(x), [spec([32, 12], tf.float32, "frames")])
    archive.write_out(path, verbose=False)
    return {"frames": floats(1, 12, seed=38)}


@model("two_signatures")
def session_of_an_estimator(path):
    """TensorFlow 1, like an estimator's: signatures from serialized examples and from features; reference variables, a saver."""
    def build():
        v = tf.compat.v1
        v.train.get_or_create_global_step()
        examples = v.placeholder(tf.string, [None], name="input_example_tensor")
        parsed = v.parse_example(examples, {"x": v.FixedLenFeature([4], tf.float32)})["x"]
        w = v.get_variable("linear/weights", initializer=floats(4, 3, seed=39), use_resource=False)
        b = v.get_variable("linear/bias", initializer=floats(3, seed=40), use_resource=False)
        scores = tf.nn.softmax(tf.nn.bias_add(tf.linalg.matmul(parsed, w), b), name="head/scores")
        v.train.Saver()
        return {SERVING: ({"inputs": examples}, {"scores": scores}), "classification": ({"inputs": examples}, {"scores": scores}),
                "predict": ({"examples": examples}, {"probabilities": scores}), "features": ({"x": parsed}, {"scores": scores})}
    save_session(path, build)
    values = tf.train.Feature(float_list=tf.train.FloatList(value=floats(4, seed=41)))
    return {"inputs": np.array([tf.train.Example(features=tf.train.Features(feature={"x": values})).SerializeToString()])}


# ---- gradients by keys ----

@model("gradient_by_signature_keys")
def keras_heads(path):
    """Keras 3: two inputs and two heads; keys that are names of layers."""
    tf.keras.utils.set_random_seed(14)
    wide, deep = tf.keras.Input((3,), name="wide"), tf.keras.Input((4,), name="deep")
    hidden = tf.keras.layers.Dense(3, activation="tanh", name="hidden")(tf.keras.layers.Concatenate()([deep, wide]))
    up, down = tf.keras.layers.Dense(1, name="up")(hidden), tf.keras.layers.Dense(2, name="down", activation="softplus")(hidden)
    tf.keras.Model({"wide": wide, "deep": deep}, {"up": up, "down": down}).export(path, verbose=False)
    return {"wide": floats(2, 3, seed=42), "deep": floats(2, 4, seed=43)}


@model("gradient_by_signature_keys")
def keras2_embedding(path):
    """Keras 2: numbers of words, which have no gradient, and an embedding, whose gradient has rows; a nested model."""
    import tf_keras
    tf_keras.utils.set_random_seed(15)
    inner = tf_keras.Sequential([tf_keras.layers.Dense(2, activation="sigmoid", input_shape=(3,))], name="inner")
    words, weight = tf_keras.Input((3,), dtype="int32", name="words"), tf_keras.Input((1,), name="weight")
    mean = tf_keras.layers.GlobalAveragePooling1D()(tf_keras.layers.Embedding(7, 3, name="table")(words))
    tf_keras.Model([words, weight], tf_keras.layers.Multiply(name="score")([inner(mean), weight])).save(path)
    return {"words": np.array([[1, 5, 1], [0, 6, 2]], "i"), "weight": floats(2, 1, seed=44)}


@model("gradient_by_signature_keys", "roll/out")
def loop_in_double(path):
    """A loop in float64 in a function, an int64 input beside it, odd keys, and another signature that is the default."""
    @tf.function
    def step(x, w):
        return tf.tanh(tf.linalg.matmul(x, w))

    @tf.function
    def roll(x, w, rounds):
        start = [tf.constant(0, tf.int64), x]
        return tf.while_loop(lambda i, x: i < rounds, lambda i, x: (i + 1, step(x, w)), start, maximum_iterations=5)[1]

    def call(m, start, rounds):
        return {"The end": roll(start, m.recur, rounds), "rounds": rounds + 1}
    save(path, {SERVING: (lambda m, x: {"y": x * 2.}, [spec([2], tf.float32, "start")]),
                "roll/out": (call, [spec([2, 3], tf.float64, "Start"), spec([], tf.int64, "rounds")])},
         recur=tf.Variable(floats(3, 3, seed=45, dtype="d"), name="recur"))
    return {"Start": floats(2, 3, seed=46, dtype="d"), "rounds": np.int64(3)}


@model("gradient_by_signature_keys")
def keys_of_other_nodes(path):
    """Keys that are names of other nodes in the body; an input that is an output; an order that a signature changes."""
    def call(m, z, a):
        mul = tf.multiply(a, m.w, name="z_of_a")
        add = tf.add(z, tf.sin(mul), name="a_of_z")
        return {"z_of_a": tf.reduce_sum(add * add, 1), "a_of_z": mul * tf.reduce_mean(z), "z": z}
    save(path, {SERVING: (call, [spec([None, 3], tf.float32, "z"), spec([None, 3], tf.float32, "a")])},
         w=tf.Variable(floats(3, seed=47), name="z_of_a"))
    return {"z": floats(2, 3, seed=48), "a": floats(2, 3, seed=49)}


@model("gradient_by_signature_keys", "train")
def session_of_a_loss(path):
    """TensorFlow 1: keys unlike the tensors, a resource variable in a scope, int64 labels, a second signature with the same key."""
    def build():
        v = tf.compat.v1
        features, labels = v.placeholder(tf.float32, [None, 3], name="in/features"), v.placeholder(tf.int64, [None], name="in/labels")
        w = v.get_variable("model/dense/kernel", initializer=floats(3, 4, seed=50), use_resource=True)
        logits = tf.linalg.matmul(features, w, name="model/logits")
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits), name="model/loss")
        return {"train": ({"x": features, "labels": labels}, {"loss": loss}), "infer": ({"x": features}, {"logits": logits})}
    save_session(path, build)
    return {"x": floats(2, 3, seed=51), "labels": np.array([3, 0])}


# ---- what TensorFlow makes of them ----

def quoted(key):
    return urllib.parse.quote(key, safe="")


def outputs_of(folder, signature, feeds):
    loaded = tf.saved_model.load(folder)
    return {k: v.numpy() for k, v in loaded.signatures[signature](**{k: tf.constant(v) for k, v in feeds.items()}).items()}


def save_array(path, value):
    np.save(path, capture.to_npy(str(path), value))


def write_old_case(case, old):
    """As capture.py wrote it before: the graph's own names, and none of the keys."""
    shutil.copytree(case, old)
    with open(old / "case.json") as f:
        text = json.load(f)
    tensors = text.pop("tensors")
    rename = lambda group, files: {tensors.get(group, tensors).get(key, key): value for key, value in files.items()}
    for part in (text, *text.get("steps", [])):
        for group in ("feeds", "fetches"):
            part[group] = rename(group, part[group])
    text["atol"] = rename("fetches", text["atol"])
    with open(old / "case.json", "w") as f:
        json.dump(text, f, indent=1)
        f.write("\n")


DUMP = """
import json, os, sys
import numpy as np, tensorflow as tf
folder, signature, dumps, feeds = sys.argv[1:]
os.environ.update(TF_DUMP_GRAPH_FMT="BIN", TF_DUMP_GRAPH_NAME_FILTER="*", TF_DUMP_GRAPH_PREFIX=dumps)
feeds = dict(np.load(feeds))
tf.saved_model.load(folder).signatures[signature](**{k: tf.constant(v) for k, v in feeds.items()})
"""


def ops_of_dump(folder, signature, feeds, onednn):
    """Ops by count of what TensorFlow runs for the signature: the largest of its dumps after optimization."""
    from tensorflow.core.framework import graph_pb2

    with tempfile.TemporaryDirectory() as temporary:
        dumps, values = pathlib.Path(temporary, "dumps"), pathlib.Path(temporary, "feeds.npz")
        dumps.mkdir()
        np.savez(values, **feeds)
        env = {**os.environ, "TF_ENABLE_ONEDNN_OPTS": onednn}
        subprocess.run([sys.executable, "-c", DUMP, folder, signature, dumps, values], check=True, env=env, stderr=subprocess.DEVNULL)
        graphs = [graph_pb2.GraphDef.FromString(f.read_bytes())
                  for kind in ("signature_wrapper", "pruned")  # the latter: a model of TensorFlow 1
                  for f in sorted(dumps.glob(f"__inference_{kind}_*.main.after_graph_optimization*")) if "_partition_" not in f.name]
    largest = max(graphs, key=lambda g: len(g.node))
    counts = collections.Counter(node.op for node in largest.node)
    return {op: counts[op] for op in sorted(counts) if op not in PLUMBING}


def variables_of(function):
    """The variables that a signature reads, by name."""
    read = {id(tensor) for tensor in function.captured_inputs}
    return {v.name.split(":")[0]: v for v in function.graph.variables if id(v.handle) in read}


def costs_of(folder, signature, feeds):
    """FLOPs of a run by op, as TensorFlow's registry counts them in the frozen function, and the bytes of the variables."""
    from tensorflow.python.framework import convert_to_constants, ops

    loaded = tf.saved_model.load(folder)
    function = loaded.signatures[signature]
    specs = {key: tf.TensorSpec(np.shape(value), tf.as_dtype(np.asarray(value).dtype)) for key, value in feeds.items()}
    called = tf.function(lambda **fed: function(**fed)).get_concrete_function(**specs)
    graph = convert_to_constants.convert_variables_to_constants_v2(called).graph
    flops = collections.Counter()
    with graph.as_default():
        for op in graph.get_operations():
            flops[op.type] += ops.get_stats_for_node_def(graph, op.node_def, "flops").value or 0
    weights = sum(v.shape.num_elements() * v.dtype.size for v in variables_of(function).values())
    old = [op.outputs[0] for op in function.graph.get_operations() if op.type == "VariableV2"]  # which cannot be frozen
    if old:
        return {"weights": sum(tensor.shape.num_elements() * tensor.dtype.size for tensor in old)}
    return {"flops": {op: int(flops[op]) for op in sorted(flops) if flops[op]}, "weights": weights}


def gradients_of(folder, signature, feeds):
    """{kind: {name: gradient}} of the sum of all floating-point outputs."""
    loaded = tf.saved_model.load(folder)
    function = loaded.signatures[signature]
    values = {key: tf.constant(value) for key, value in feeds.items()}
    by = {"inputs": {key: value for key, value in values.items() if value.dtype.is_floating}, "variables": variables_of(function)}
    with tf.GradientTape() as tape:
        for group in by.values():
            tape.watch(list(group.values()))
        total = tf.add_n([tf.reduce_sum(y) for y in function(**values).values() if y.dtype.is_floating])
    made = tape.gradient(total, by)
    return {kind: {name: tf.convert_to_tensor(value).numpy() for name, value in group.items()} for kind, group in made.items()}


def record(name):
    make, about = MODELS[name]
    kind, signature, steps = name.split("/")[0], about["signature"], about.get("steps", ())
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    path = str(folder / "model")
    feeds = make(path)
    (folder / "model" / "fingerprint.pb").unlink(missing_ok=True)
    outputs = outputs_of(path, signature, feeds)
    for prefix, values in (("x", feeds), ("y", outputs)):
        for key, value in values.items():
            save_array(folder / f"{prefix}_{quoted(key)}.npy", value)
    with open(folder / "about.json", "w") as f:
        json.dump({"signature": signature, "inputs": sorted(feeds), "outputs": sorted(outputs)}, f, indent=1)
        f.write("\n")
    if kind == "outputs_of_captured_case":
        capture.saved_model(path, feeds, str(folder / "case"), signature, steps=steps)
        write_old_case(folder / "case", folder / "old_case")
    if kind == "two_signatures":
        with open(folder / "costs.json", "w") as f:
            json.dump(costs_of(path, signature, feeds), f, indent=1)
            f.write("\n")
    if kind == "gradient_by_signature_keys":
        for prefix, made in zip(("d", "dv"), gradients_of(path, signature, feeds).values()):
            for name, value in made.items():
                save_array(folder / f"{prefix}_{quoted(name)}.npy", value)
    if kind in ("opt_knows_shapes_of_arguments", "two_signatures"):
        ops = {mode: ops_of_dump(path, signature, feeds, onednn) for mode, onednn in (("off", "0"), ("on", "1"))}
        with open(folder / "ops.json", "w") as f:
            json.dump(ops, f, indent=1)
            f.write("\n")


def main(*names):
    tf.get_logger().setLevel("ERROR")
    for name in names or MODELS:
        record(name)
        print(name)


if __name__ == "__main__":
    main(*sys.argv[1:])
