"""Makes testdata/object_functions/: SavedModels whose objects have functions, and what TensorFlow gives when it calls them.

needs: tensorflow-cpu==2.21.0        usage: scripts/testdata_object_functions.py [OUT_DIR [NAME...]]

`calls.json` lists calls of functions of the loaded model, in order: the name of the function for --function, its feeds and results by
key, each a .npy file, and how many runs it takes. The values are those of a process that loads the model with
tf.saved_model.load and calls its attributes; nothing in them comes from grapnel.
"""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = {}
Pair = collections.namedtuple("Pair", "first second")


def model(make):
    MODELS[make.__name__] = make
    return make


def floats(np, *shape, seed=0):
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype("f")


# A model's function makes the module, and returns it with the calls: (name, what to do with the loaded object, feeds by key, runs). What
# a call returns is a dict of results by key.

@model
def nested(tf, np):
    """Functions of objects in objects, in a list and in a dict; a function that is two attributes; a private one; one that was never called"""
    class Dense(tf.Module):
        def __init__(self, seed, width):
            super().__init__()
            self.w = tf.Variable(floats(np, 3, width, seed=seed))
            self.b = tf.Variable(floats(np, width, seed=seed + 1))

        @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
        def encode(self, x):
            return tf.nn.relu(x @ self.w + self.b)

    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.net = Dense(1, 4)
            self.layers = [Dense(3, 2), Dense(5, 3)]
            self.heads = {"left": Dense(7, 2), "right.2": Dense(9, 1)}
            self.same = self.net.encode

        @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="features")])
        def __call__(self, x):
            return {"sum": tf.reduce_sum(self.layers[0].encode(x), 1), "net": self.net.encode(x)}

        @tf.function
        def never(self, x):
            return x

        @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
        def _double(self, n):
            return 2 * n

    x = floats(np, 2, 3, seed=20)
    return Model(), [
        ("net.encode", lambda m: {"output_0": m.net.encode(x)}, {"x": x}),
        ("layers[1].encode", lambda m: {"output_0": m.layers[1].encode(x)}, {"x": x}),
        ("layers.0.encode", lambda m: {"output_0": m.layers[0].encode(x)}, {"x": x}),
        ("heads['left'].encode", lambda m: {"output_0": m.heads["left"].encode(x)}, {"x": x}),
        ("heads['right.2'].encode", lambda m: {"output_0": m.heads["right.2"].encode(x)}, {"x": x}),
        ("same", lambda m: {"output_0": m.same(x)}, {"x": x}),
        ("__call__", lambda m: m(x), {"x": x}),
        ("_double", lambda m: {"output_0": m._double(tf.constant(21))}, {"n": np.int32(21)})]


@model
def traces(tf, np):
    """A function with several traces: by shape, by dtype, by Python values (bool, int, string, float, None), also after the *"""
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.scale = tf.Variable(3.0)

        @tf.function
        def apply(self, x, training=False, mode="plain", *, power=1, bias=None):
            y = tf.cast(x, tf.float32) ** power * self.scale
            if training:
                y = y + 100.0
            if mode == "mean, of all":
                y = tf.reduce_mean(y)
            return y if bias is None else y + bias

    m = Model()
    a, b = floats(np, 3, seed=1), floats(np, 2, 2, seed=2)
    n, bias = np.array([1, 2, 3], "i"), np.float32(0.25)
    m.apply(tf.constant(a))
    m.apply(tf.constant(a), True)
    m.apply(tf.constant(b), False, "mean, of all")
    m.apply(tf.constant(n), power=2)
    m.apply(tf.constant(a), power=2, bias=tf.constant(bias))
    call = lambda *args, **kwargs: lambda m: {"output_0": m.apply(*map(tf.constant, args[:1]), *args[1:], **kwargs)}
    return m, [
        ("apply(float[3], training=False, mode='plain', bias=None, power=1)", call(a), {"x": a}),
        ("apply(training=True)", call(a, True), {"x": a}),
        ("apply(float[2,2])", call(b, False, "mean, of all"), {"x": b}),
        ("apply(mode='mean, of all')", call(b, False, "mean, of all"), {"x": b}),
        ("apply(int32[3])", call(n, power=2), {"x": n}),
        ("apply(bias: float[])", call(a, power=2, bias=tf.constant(bias)), {"x": a, "bias": bias})]


@model
def structures(tf, np):
    """Arguments and results that are dicts, lists, tuples, a namedtuple, ragged and sparse tensors, and None"""
    class Model(tf.Module):
        @tf.function
        def mix(self, batch, pair, ids, words, extra=None):
            total = batch["b"][0] * pair.first + batch["a"] - pair.second[0]
            return {"total": total, "rows": (words.row_lengths(), {"dense": tf.sparse.to_dense(ids)}), "words": words, "ids": ids}

        @tf.function
        def split(self, *parts):
            return [parts[0] + 1, (parts[1], None, parts[0] * 2.0)]

        @tf.function
        def nothing(self):
            return None, tf.constant([4, 5])

    m = Model()
    a, b0, b1, first, second = (floats(np, 2, seed=i) for i in range(5))
    ids = tf.sparse.from_dense([[0, 7, 0], [5, 0, 0]])
    words = tf.ragged.constant([["a", "bc"], [], ["d"]])
    mix = lambda m: m.mix({"b": [tf.constant(b0), tf.constant(b1)], "a": tf.constant(a)}, Pair(tf.constant(first), (tf.constant(second),)), ids, words)
    p, q = floats(np, 2, seed=8), floats(np, 3, seed=9)

    def mixed(m):
        got = mix(m)
        return {"total": got["total"], "rows.0": got["rows"][0], "rows.1.dense": got["rows"][1]["dense"], "words:values": got["words"].values,
                "words:row_splits": got["words"].row_splits, "ids:indices": got["ids"].indices, "ids:values": got["ids"].values,
                "ids:dense_shape": got["ids"].dense_shape}

    def halves(m):
        got = m.split(tf.constant(p), tf.constant(q))
        return {"output_0": got[0], "output_1.0": got[1][0], "output_1.2": got[1][2]}

    mix(m)
    halves(m)
    m.nothing()
    return m, [
        ("mix", mixed, {"batch.a": a, "batch.b.0": b0, "batch.b.1": b1, "pair.first": first, "pair.second.0": second, "ids:indices": ids.indices,
                        "ids:values": ids.values, "ids:dense_shape": ids.dense_shape, "words:values": words.values,
                        "words:row_splits": words.row_splits}),
        ("split", halves, {"parts_0": p, "parts_1": q}),
        ("nothing", lambda m: {"output_1": m.nothing()[1]}, {})]


@model
def captures(tf, np):
    """Functions that capture a constant, two tables (one from a file), a file's name and variables; with effects, without results"""
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            file = pathlib.Path(tempfile.mkdtemp()) / "animals.txt"
            file.write_text("cat\ndog\nowl\n")
            self.offset = tf.constant(np.arange(40, dtype="f"))  # too large to be a constant of the function
            self.count = tf.Variable(5, dtype=tf.int64)
            self.file = tf.saved_model.Asset(str(file))
            self.animals = tf.lookup.StaticHashTable(
                tf.lookup.TextFileInitializer(self.file, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), -1)
            self.legs = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["cat", "owl"], [4, 2]), 0)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def look_up(self, names):
            return {"row": self.animals.lookup(names), "legs": self.legs.lookup(names)}

        @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
        def add(self, i):
            return self.offset[i] + 0.5

        @tf.function(input_signature=[])
        def text(self):
            return tf.io.read_file(self.file)

        @tf.function(input_signature=[])
        def step(self):
            return self.count.assign_add(2)

        @tf.function(input_signature=[])
        def reset(self):
            self.count.assign(0)

    names = np.array([b"owl", b"cow", b"cat"])
    return Model(), [
        ("look_up", lambda m: m.look_up(tf.constant(names)), {"names": names}),
        ("add", lambda m: {"output_0": m.add(tf.constant(7))}, {"i": np.int32(7)}),
        ("text", lambda m: {"output_0": m.text()}, {}),
        ("step", lambda m: {"output_0": [m.step() for _ in range(3)][-1]}, {}, 3),
        ("reset", lambda m: {}, {})]


@model
def concrete(tf, np):
    """Attributes that are concrete functions, one of a graph of TensorFlow 1, and functions that share a variable, beside a signature"""
    class Model(tf.Module):
        pass

    m = Model()
    m.v = tf.Variable([[2.0, 1.0]])
    m.times = tf.function(lambda x, y: {"product": x * y * m.v}).get_concrete_function(
        tf.TensorSpec([None, 2], tf.float32, name="left"), y=tf.TensorSpec([], tf.float32, name="right"))

    def graph(x):
        return tf.compat.v1.where(x > 0, x, 10 * x), tf.reduce_sum(x)
    m.pruned = tf.compat.v1.wrap_function(graph, [tf.TensorSpec([3], tf.float32, name="x")])
    m.train = tf.function(lambda: m.v.assign_add([[1.0, 1.0]]), input_signature=[])
    m.serve = tf.function(lambda x: {"y": x + m.v}, input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    x, y, z = floats(np, 2, 2, seed=3), np.float32(1.5), floats(np, 3, seed=4)

    def pruned(loaded):
        got = loaded.pruned(tf.constant(z))
        return {"output_0": got[0], "output_1": got[1]}
    return m, [
        ("times", lambda m: m.times(tf.constant(x), tf.constant(y)), {"x": x, "y": y}),
        ("pruned", pruned, {"x": z}),
        ("train", lambda m: {"output_0": m.train()}, {}),
        ("serve", lambda m: m.serve(tf.constant(x)), {"x": x})]


def save(name, folder):
    import numpy as np
    import tensorflow as tf
    module, _ = MODELS[name](tf, np)
    tf.saved_model.save(module, str(folder / "model"), signatures=getattr(module, "serve", None))
    (folder / "model" / "fingerprint.pb").unlink(missing_ok=True)


def call(name, folder):
    import numpy as np
    import tensorflow as tf
    _, calls = MODELS[name](tf, np)
    told = []
    for i, (function, run, feeds, *runs) in enumerate(calls):
        loaded = tf.saved_model.load(str(folder / "model"))  # anew, since a call may change variables
        told.append({"function": function, "feeds": {}, "results": {}, "runs": runs[0] if runs else 1})
        for kind, values in ("feeds", feeds), ("results", run(loaded)):
            for j, (key, value) in enumerate(values.items()):
                file = f"{kind[0]}{i}_{j}.npy"
                value = np.asarray(value)
                np.save(folder / file, value.astype("S") if value.dtype == object else value)
                told[-1][kind][key] = file
    (folder / "calls.json").write_text(json.dumps(told, indent=1) + "\n")


def readme(out):
    rows = [f"| `{name}` | {make.__doc__} |" for name, make in MODELS.items()]
    (out / "README.md").write_text("\n".join([
        "# SavedModels whose objects have functions", "",
        "Made by `scripts/testdata_object_functions.py` with TensorFlow 2.21.0; do not edit by hand. `model` is the SavedModel, and `calls.json` has",
        "what TensorFlow gives when it calls the functions of the loaded model: for each call the function's name, its feeds and results by key, each a",
        ".npy file, and the number of runs.", "", "| model | what it is |", "|---|---|", *rows, ""]))


def main(out=str(ROOT / "testdata" / "object_functions"), *names):
    out = pathlib.Path(out)
    if names[:1] in (("--save",), ("--call",)):
        {"--save": save, "--call": call}[names[0]](names[1], out / names[1])
        return
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    for name in names or MODELS:
        shutil.rmtree(out / name, ignore_errors=True)
        (out / name).mkdir(parents=True)
        for step in "--save", "--call":  # in processes of their own
            subprocess.run([sys.executable, __file__, str(out), step, name], check=True, env=environment)
    readme(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
