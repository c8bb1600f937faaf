"""Makes testdata/ with real TensorFlow: models and single ops as cases, and what Grappler makes of small graphs.

needs: tensorflow-cpu==2.21.0        usage: scripts/make_testdata.py [OUT_DIR]

Graphs are the same from run to run. Outputs are too on one machine; another CPU may round a sum of floats differently,
which each case's tolerance allows for.
"""
import json
import os
import shutil
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import numpy as np
import tensorflow as tf
from google.protobuf import text_format
from tensorflow.core.protobuf import config_pb2, meta_graph_pb2, rewriter_config_pb2
from tensorflow.python.grappler import cluster, tf_optimizer

import capture
from testdata_functions import FUNCTIONS, with_plain_names
from testdata_ops import OPS, integers, random
import testdata_kernels  # more of OPS
from testdata_rewrites import OPTIMIZER, REWRITES
import testdata_audio, testdata_dataset, testdata_flow, testdata_math, testdata_quantized  # their ops join OPS
import testdata_random, testdata_sequence, testdata_staging, testdata_state, testdata_text, testdata_training

K = tf.keras
ROWS = []                                                     # of testdata/README.md: path, origin, what it is


def row(path, origin, what):
    ROWS.append((path, origin, what.strip().split("\n")[0]))


# ---- models and stories ----

def trained_like(model, seed=0):
    """Gives biases and statistics the spread of a trained model's: at 0 and 1 Grappler folds them away."""
    r = np.random.RandomState(seed)
    for v in model.weights:
        kind = v.path.split("/")[-1]
        if kind in ("bias", "beta", "moving_mean"):
            v.assign(r.randn(*v.shape).astype("f") * .1)
        elif kind in ("gamma", "moving_variance"):
            v.assign(1 + .2 * r.rand(*v.shape).astype("f"))
    return model


def lenet():
    """A small convolutional network with frozen weights, two images in, ten probabilities each out."""
    layers = K.layers
    model = K.Sequential([
        K.Input((16, 16, 1)), layers.Conv2D(6, 5, activation="relu", padding="same"), layers.MaxPool2D(),
        layers.Conv2D(12, 3), layers.BatchNormalization(), layers.ReLU(), layers.AveragePooling2D(2), layers.Flatten(),
        layers.Dense(40, activation="tanh"), layers.Dense(20, activation="sigmoid"),
        layers.Dense(10, activation="softmax")])
    return trained_like(model), [random(2, 16, 16, 1, low=0)]


def transformer_block():
    """One block of a transformer with frozen weights: embedding, attention, layer norm, gelu; logits and scores out."""
    layers, d, heads, vocab, seq = K.layers, 16, 2, 20, 8
    ids = K.Input((seq,), dtype="int32")
    x = layers.Embedding(vocab, d)(ids) + layers.Embedding(seq, d)(tf.range(seq)[None])
    a, scores = layers.MultiHeadAttention(heads, d // heads)(x, x, return_attention_scores=True)
    x = layers.LayerNormalization(epsilon=1e-5)(x + a)
    h = layers.Dense(d)(layers.Dense(4 * d, activation="gelu")(x))
    x = layers.LayerNormalization(epsilon=1e-5)(x + h)
    return trained_like(K.Model(ids, [layers.Dense(vocab)(x), scores])), [integers(2, seq, high=vocab)]


def train_step():
    """One step of gradient descent on a two-layer classifier: weights are arguments, loss and new weights come out."""
    def step(x, labels, w1, b1, w2, b2):
        weights = w1, b1, w2, b2
        with tf.GradientTape() as tape:
            tape.watch(weights)
            hidden = tf.nn.relu(tf.matmul(x, w1) + b1)
            logits = tf.matmul(hidden, w2) + b2
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels, logits))
        return loss, [w - 0.1 * g for w, g in zip(weights, tape.gradient(loss, weights))]
    return step, [random(8, 12, low=0), np.eye(3, dtype="f")[integers(8, high=3)], random(12, 16), random(16, seed=1),
                  random(16, 3, seed=2), random(3, seed=3)]


def harmonic_mean():
    """The harmonic mean of three numbers, with a minimum that nothing uses."""
    def f(x):
        tf.reduce_min(x)
        return tf.cast(tf.size(x), tf.float32) / tf.reduce_sum(1.0 / x)
    return f, [np.array([1, 2, 4], "f")]


def harmonic_mean_print():
    """The same, with the minimum printed: a control edge keeps it alive."""
    def f(x):
        tf.print("min:", tf.reduce_min(x))
        return tf.cast(tf.size(x), tf.float32) / tf.reduce_sum(1.0 / x)
    return f, [np.array([1, 2, 4], "f")]


def collatz():
    """A while loop around a conditional, as functions: how many steps from 27 to 1."""
    def f(n):
        steps = tf.constant(0)
        while n > 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        return n, steps
    return tf.function(f), [np.int32(27)]


def make_stories(out):
    for make, folder, freeze in ((lenet, "models/lenet", True), (transformer_block, "models/transformer_block", True),
                                 (train_step, "models/train_step", True), (harmonic_mean, "harmonic_mean", False),
                                 (harmonic_mean_print, "harmonic_mean_print", False), (collatz, "collatz", False)):
        K.utils.set_random_seed(0)
        fn, args = make()
        capture.function(fn, args, os.path.join(out, folder), freeze=freeze)
        row(folder, f"`{make.__name__}` in scripts/make_testdata.py, traced by tools/capture.py", make.__doc__)


# ---- one op each ----

def make_ops(out):
    for name, (what, f, feeds, rtol) in sorted(OPS.items()):
        case = f"ops/{name}.zip"
        with tf.Graph().as_default() as g, tf.compat.v1.Session(graph=g) as sess:
            placeholders = [tf.compat.v1.placeholder(v.dtype, v.shape, name=k) for k, v in feeds.items()]
            values = dict(zip(placeholders, feeds.values()))
            capture.session(sess, values, tf.nest.flatten(f(*placeholders)), os.path.join(out, case), rtol=rtol)
        row(case, "one op, run in a session", what)


# ---- rewrites ----

def grappler(graph_def, fetches, config):
    """TensorFlow's own optimizer on graph_def."""
    meta = meta_graph_pb2.MetaGraphDef(graph_def=graph_def)
    meta.collection_def["train_op"].node_list.value.extend(fetches)
    session_config = config_pb2.ConfigProto()
    session_config.graph_options.rewrite_options.CopyFrom(config)
    return tf_optimizer.OptimizeGraph(session_config, meta, cluster=cluster.Cluster(disable_detailed_stats=True))


def make_rewrites(out):
    for name, (build, fetches) in sorted(REWRITES.items()):
        config = rewriter_config_pb2.RewriterConfig(
            meta_optimizer_iterations=rewriter_config_pb2.RewriterConfig.ONE, min_graph_nodes=-1,
            fail_on_optimizer_errors=True, optimizers=[OPTIMIZER[name.split(".")[0]]])
        with tf.Graph().as_default() as g:
            build()
            graph = g.as_graph_def()
        folder = os.path.join(out, "rewrites", name)
        os.makedirs(folder)
        result = grappler(graph, fetches, config)
        for file, message in (("graph.pbtxt", graph), ("config.pbtxt", config), ("tf.pbtxt", result)):
            with open(os.path.join(folder, file), "w") as f:
                f.write(text_format.MessageToString(message))
        what = build.__doc__.strip()
        with open(os.path.join(folder, "case.json"), "w") as f:
            json.dump({"title": what, "fetch": list(fetches)}, f, indent=1)
            f.write("\n")
        row("rewrites/" + name, f"Grappler, `{OPTIMIZER[name.split('.')[0]]}` alone, once", what)


# ---- functions ----

def make_functions(out):
    for name, (build, optimizers, feeds) in sorted(FUNCTIONS.items()):
        folder = os.path.join(out, "functions", name)
        with tf.Graph().as_default() as g:
            placeholders = [tf.compat.v1.placeholder(v.dtype, v.shape, name=k) for k, v in feeds.items()]
            results = tf.nest.flatten(build(*placeholders))
            names = [r.name for r in results]
            graph = with_plain_names(g.as_graph_def())
        with tf.Graph().as_default() as g, tf.compat.v1.Session(graph=g) as sess:
            tf.import_graph_def(graph, name="")
            graph = with_plain_names(g.as_graph_def())
            values = sess.run(names, {k + ":0": v for k, v in feeds.items()})
        config = rewriter_config_pb2.RewriterConfig(
            meta_optimizer_iterations=rewriter_config_pb2.RewriterConfig.ONE, min_graph_nodes=-1,
            fail_on_optimizer_errors=True, optimizers=optimizers)
        capture.write_case(folder, graph, {k + ":0": v for k, v in feeds.items()}, dict(zip(names, values)))
        result = grappler(graph, names, config)
        for file, message in (("config.pbtxt", config), ("tf.pbtxt", result)):
            with open(os.path.join(folder, file), "w") as f:
                f.write(text_format.MessageToString(message))
        row("functions/" + name, f"Grappler, {', '.join(f'`{o}`' for o in optimizers)}, once", build.__doc__)


# ---- the table ----

README = """\
# Test data

`scripts/make_testdata.py` makes the folders in the table below, and the table, with TensorFlow {version}: do not edit them by hand. The
programs were written for this project; every value and every optimized graph is TensorFlow's own.

A folder with `graph.pb` is a case folder: a graph with values for its inputs and the outputs that TensorFlow computed. A zip file
under `ops/` is a case in one file, which grapnel opens like a folder. A folder under
`rewrites/` shows what Grappler makes of a graph: `graph.pbtxt` is the graph, `config.pbtxt` the RewriterConfig that Grappler used,
`case.json` names the fetches, and `tf.pbtxt` is TensorFlow's result. A folder under `functions/` has the files of both kinds.

Other scripts make the folders that the table does not list. Most have a README of their own, such as [debug folders](tfdbg/README.md),
[models stored in chunks](chunked/README.md), [files of Keras weights](keras/README.md), [models that Keras users have](keras_models/README.md), changes of models
(`changed_models.tar.xz`, by `scripts/testdata_changed_models.py`),
[networks that do not learn](doctor/README.md),
[SavedModels with TensorFlow's view of their signatures](signatures/README.md),
[SavedModels whose objects have functions](object_functions/README.md),
[SavedModels with tensors inside of calls, loops and branches](inner_fetches/README.md), [graphs for several GPUs](virtual_gpus/README.md),
[function libraries](libraries/README.md),
[placement logs](placement_logs/README.md), [stages of dumps](stages/README.md) and [graphs of functions](function_graphs/README.md).

| case | what it is | where it came from | bytes |
|---|---|---|---|
{rows}

{count} cases, {total:,} bytes.
"""


def write_readme(out):
    def size(path):
        if os.path.isfile(path):
            return os.path.getsize(path)
        return sum(os.path.getsize(os.path.join(d, f)) for d, _, files in os.walk(path) for f in files)
    sizes = {path: size(os.path.join(out, path)) for path, _, _ in ROWS}
    lines = [f"| `{path}` | {what} | {origin} | {sizes[path]:,} |" for path, origin, what in ROWS]
    text = README.format(version=tf.__version__, rows="\n".join(lines), count=len(ROWS), total=sum(sizes.values()))
    with open(os.path.join(out, "README.md"), "w") as f:
        f.write(text)


def main():
    out = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "testdata"))
    tf.get_logger().setLevel("ERROR")
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    for folder in ("models", "harmonic_mean", "harmonic_mean_print", "collatz", "ops", "rewrites", "functions"):
        shutil.rmtree(os.path.join(out, folder), ignore_errors=True)
    make_stories(out)
    make_ops(out)
    make_rewrites(out)
    make_functions(out)
    write_readme(out)
    print(f"{out}: {len(ROWS)} cases")


if __name__ == "__main__":
    main()
