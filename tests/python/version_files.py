#!/usr/bin/env python3
"""Makes, with the TensorFlow that is installed, what users have of it: models, cases, dumps, a placement log and debug folders.

usage: version_files.py OUT_FOLDER      needs: tensorflow 2, any, and tfgrapnel

Written for TensorFlow 2.13 (Keras 2) and 2.16 (Keras 3) as much as for the one that other tests use, so without what only one has.
"""

import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))


def networks(tf):
    """{name: (model, input)}"""
    import numpy as np

    layers, some = tf.keras.layers, np.random.default_rng(0)
    tf.keras.utils.set_random_seed(0)
    convnet = tf.keras.Sequential([
        layers.Input((16, 16, 3)), layers.Conv2D(8, 3, padding="same"), layers.BatchNormalization(), layers.ReLU(),
        layers.DepthwiseConv2D(3, activation="relu6"), layers.MaxPooling2D(), layers.GlobalAveragePooling2D(), layers.Dropout(0.5),
        layers.Dense(10, activation="softmax"),
    ])
    words = layers.Input((7,), dtype="int32")
    seen = layers.Embedding(20, 8)(words)
    hidden = layers.LSTM(6, return_sequences=True)(seen)
    hidden = layers.Bidirectional(layers.GRU(5))(hidden)
    recurrent = tf.keras.Model(words, layers.Dense(3)(hidden))
    seen = layers.Input((5, 8))
    attended = layers.MultiHeadAttention(2, 4)(seen, seen)
    transformer = tf.keras.Model(seen, layers.LayerNormalization()(layers.Add()([seen, layers.Dense(8, activation="gelu")(attended)])))
    return {
        "convnet": (convnet, some.random((2, 16, 16, 3), "f")),
        "recurrent": (recurrent, some.integers(0, 20, (2, 7)).astype("int32")),
        "transformer": (transformer, some.random((2, 5, 8), "f")),
    }


def make_models(out):
    import tensorflow as tf

    import capture

    for name, (model, value) in networks(tf).items():
        capture.function(model, [value], str(out / "cases" / name))
        (model.export if hasattr(model, "export") else model.save)(str(out / "saved_models" / name))

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.string)])
    def flow(x, mode):
        total = tf.zeros_like(x)
        for i in tf.range(tf.size(x)):
            total += tf.cond(x[i] > 0, lambda: x * x[i], lambda: tf.nn.relu(-x))
        return total, tf.strings.join([mode, tf.strings.as_string(tf.size(x))])

    import numpy as np

    capture.function(flow, [np.array([1, -2, 3], "f"), np.array(b"mode")], str(out / "cases" / "flow"))
    make_session(out)
    (out / "keras.txt").write_text(importlib.metadata.version("keras"))


def make_session(out):
    """A network of TensorFlow 1, with a training step, and its MetaGraph and checkpoint."""
    import numpy as np
    import tensorflow as tf

    import capture

    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(0)
        x = v1.placeholder(tf.float32, [None, 4], "x")
        w = v1.get_variable("w", initializer=np.linspace(-1, 1, 12, dtype="f").reshape(4, 3), use_resource=False)
        y = tf.nn.softmax(tf.matmul(x, w) + 0.5, name="y")
        v1.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(tf.square(y)), name="step")
        session.run(v1.global_variables_initializer())
        capture.session(session, {"x:0": np.ones((2, 4), "f")}, ["y:0"], str(out / "cases" / "session"))
        (out / "meta").mkdir()
        v1.train.Saver().save(session, str(out / "meta" / "model"))


def make_call(out):
    """A function is called, which is optimized and placed."""
    import tensorflow as tf

    tf.debugging.set_log_device_placement(True)
    model, value = networks(tf)["convnet"]
    step = tf.function(lambda x: model(x, training=False))
    step(tf.constant(value))


def make_run(out, name):
    """A case is run, with variables as constants, which is what most rewrites are for."""
    import numpy as np
    import tensorflow as tf

    folder = out / "cases" / name
    case, graph = json.loads((folder / "case.json").read_text()), tf.compat.v1.GraphDef()
    graph.ParseFromString((folder / "graph.pb").read_bytes())
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.import_graph_def(graph, name="")
        session.run(list(case["fetches"]), {name: np.load(folder / file) for name, file in case["feeds"].items()})


def make_debug(out):
    import tensorflow as tf

    tf.debugging.experimental.enable_dump_debug_info(str(out / "debug"), tensor_debug_mode="FULL_HEALTH", circular_buffer_size=-1)

    @tf.function
    def loss(x):
        hidden = tf.nn.relu(x - 1.0)
        return tf.reduce_mean(tf.math.log(hidden) * hidden)

    loss(tf.constant([[0.5, 2.0], [3.0, 4.0]]))
    tf.debugging.experimental.disable_dump_debug_info()


def make_health(out):
    """Two trainings that are watched into one folder, the second of which stops; what the wheel says of that."""
    import numpy as np
    import tensorflow as tf
    from tfgrapnel.keras import TensorHealth

    health = TensorHealth(str(out / "health"))
    for offset in (2.0, 0.0):
        model = tf.keras.Sequential([tf.keras.layers.Dense(1), tf.keras.layers.Lambda(lambda x, by=offset: tf.math.log(x * 0.0 + by))])
        model.compile("sgd", "mse")
        model.fit(np.ones((8, 3), np.float32), np.ones((8, 1), np.float32), batch_size=4, verbose=0, callbacks=[health])
    (out / "health.txt").write_text(f"{health.step} {health.first_bad['op']} {health.sentence}\n")


def run(out, part, *arguments, **environment):
    command = [sys.executable, __file__, str(out), part, *arguments]
    done = subprocess.run(command, env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"} | environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{part}: {done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout + done.stderr


def main():
    if len(sys.argv) > 2:
        out, part, *arguments = sys.argv[1:]
        return globals()[f"make_{part}"](pathlib.Path(out), *arguments)
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = pathlib.Path(sys.argv[1]).resolve()
    out.mkdir(parents=True)
    run(out, "models")
    run(out, "debug")
    run(out, "health")

    def dumping(name):
        (out / "dumps" / name).mkdir(parents=True)
        return {"TF_DUMP_GRAPH_PREFIX": str(out / "dumps" / name), "TF_CPP_MIN_LOG_LEVEL": "0", "TF_CPP_VMODULE": "meta_optimizer=4"}

    (out / "placement.log").write_text(run(out, "call", **dumping("call")))
    for case in sorted((out / "cases").iterdir()):
        run(out, "run", case.name, **dumping(case.name))
    return None


if __name__ == "__main__":
    main()
