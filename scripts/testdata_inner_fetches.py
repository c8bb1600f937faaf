"""Makes testdata/inner_fetches/: SavedModels with tensors inside of calls, loops and branches, and TensorFlow's values of them.

needs: tensorflow-cpu==2.21.0        usage: scripts/testdata_inner_fetches.py [OUT_DIR [NAME...]]

`fetches.json` has the feeds of the default signature and a list of fetches: the name, and its value as a .npy file, or instead a part of
the error. The values come from TensorFlow: of the same Python code run eagerly, where each marked tensor is written down as often as it
is computed, or of a Keras model that ends at the layer.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = {}
SEEN = {}  # the values of marked tensors in an eager run, by name


def model(make):
    MODELS[make.__name__] = make
    return make


def floats(np, *shape, seed=0):
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype("f")


def mark(tf, value, name):
    """Gives a node to a tensor, and writes its value down in an eager run."""
    value = tf.identity(value, name)
    if tf.executing_eagerly():
        SEEN.setdefault(name, []).append(value.numpy())
    return value


# A model's function returns the module with a function `serve`, its feeds by key, and a function that returns the fetches, called after an
# eager run: {name: value}, or a text for an error.

@model
def calls(tf, np):
    """A function called twice, which calls another one; a node with several outputs; names that several nodes have, or none"""
    class Model(tf.Module):
        @tf.function
        def inner(self, x):
            return mark(tf, tf.nn.relu(x) * 2.0, "doubled")

        @tf.function
        def block(self, x):
            return mark(tf, self.inner(x - 0.25) + 1.0, "raised")

        @tf.function
        def alone(self, x):
            both, low, high = tf.split(mark(tf, x * x, "square"), 3, name="parts")
            mark(tf, low, "low")
            return both + high

        @tf.function(input_signature=[tf.TensorSpec([6], tf.float32, name="x")])
        def serve(self, x):
            first = self.block(x)
            second = self.block(-x)
            return {"y": tf.reduce_sum(first + second) + mark(tf, self.alone(x), "alone")}

    x = floats(np, 6, seed=1)

    def fetches():
        square, (raised, other) = SEEN["square"][0], SEEN["raised"]
        return {
            "square": square, "alone": SEEN["alone"][0], "low": SEEN["low"][0], "parts:1": square[2:4], "parts:2": square[4:], "parts:output:1": square[2:4],
            "raised": "which is called 2 times", "doubled": "which is called 2 times",
            "PartitionedCall/PartitionedCall/raised": raised, "PartitionedCall/PartitionedCall_1/raised": other,
            "PartitionedCall_1/raised": other, "PartitionedCall_1/PartitionedCall/doubled": SEEN["doubled"][1],
            "PartitionedCall/PartitionedCall/PartitionedCall/doubled": SEEN["doubled"][0], "nowhere": "not found", "parts:3": "has 3 outputs"}
    return Model(), {"x": x}, fetches


@model
def loops(tf, np):
    """A loop with a variable, a loop in a loop, and a loop that runs no iteration"""
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(floats(np, 3, 3, seed=2))

        @tf.function(input_signature=[tf.TensorSpec([2, 3], tf.float32, name="x"), tf.TensorSpec([], tf.int32, name="n")])
        def serve(self, x, n):
            def step(i, h):
                return [i + 1, mark(tf, tf.tanh(h @ self.w) + 0.1, "state")]

            def outer(i, t):
                return [i + 1, tf.while_loop(lambda j, t: j < 2, lambda j, t: [j + 1, mark(tf, t * 2.0 + tf.cast(i, tf.float32), "inside")], [0, t])[1]]
            _, h = tf.while_loop(lambda i, h: i < n, step, [0, x], maximum_iterations=9)
            _, t = tf.while_loop(lambda i, t: i < 3, outer, [0, tf.reduce_sum(x)])
            _, z = tf.while_loop(lambda i, z: i < 0, lambda i, z: [i, mark(tf, z - 1.0, "never")], [0, t])
            return {"y": mark(tf, h, "last") + z}

    def fetches():
        state, inside = SEEN["state"], SEEN["inside"]
        return {
            "last": SEEN["last"][0], "state@0": state[0], "state@3": state[3], "state@-1": state[4], "state@-2": state[3], "while/state@2": state[2],
            "state": "5 iterations", "state@5": "5 iterations", "state@1@1": "5 iterations", "inside@0@0": inside[0], "inside@2@1": inside[5],
            "inside@1": "3 iterations and 2 iterations", "never@0": "ran no iteration", "last@0": "in no loop"}
    return Model(), {"x": floats(np, 2, 3, seed=3), "n": np.int32(5)}, fetches


@model
def branches(tf, np):
    """A conditional whose branches have a node of one name, a switch, a branch in a loop"""
    class Model(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([3], tf.float32, name="x")])
        def serve(self, x):
            y = tf.cond(tf.reduce_sum(x) > 0, lambda: mark(tf, x + 1.0, "up") * 1.0, lambda: mark(tf, x - 1.0, "down") * 2.0)
            chosen = tf.switch_case(tf.constant(1) + tf.cast(x[0] > 9, tf.int32),
                                    [lambda: mark(tf, y, "zero") + 0, lambda: mark(tf, y * 3.0, "one") + 0, lambda: mark(tf, y, "two") + 0])

            def step(i, h):
                return [i + 1, tf.cond(i % 2 == 0, lambda: mark(tf, h + 1.0, "even") * 1.0, lambda: mark(tf, h * 2.0, "odd") * 1.0)]
            return {"y": tf.while_loop(lambda i, h: i < 4, step, [0, chosen])[1]}

    def fetches():
        return {
            "up": SEEN["up"][0], "down": "which did not run", "one": SEEN["one"][0], "zero": "which did not run", "two": "which did not run",
            "even@0": SEEN["even"][0], "even@2": SEEN["even"][1], "odd@3": SEEN["odd"][1], "odd@0": "computed in other iterations", "even@-1": SEEN["even"][1]}
    return Model(), {"x": np.array([0.5, 1.0, -0.25], "f")}, fetches


@model
def values(tf, np):
    """Tensors that no result needs; strings, bools, integers and halves; constants; an argument and a result of a function"""
    class Model(tf.Module):
        @tf.function
        def body(self, number, text):
            mark(tf, tf.strings.length(text), "lengths")
            mark(tf, number > 0, "positive")
            mark(tf, tf.cast(number, tf.float16), "half")
            mark(tf, tf.strings.join([text, text]), "twice")
            mark(tf, tf.constant([[1, 2], [3, 4]]), "fixed")
            return mark(tf, number * 2.0, "result")

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="x"), tf.TensorSpec([None], tf.string, name="s")])
        def serve(self, x, s):
            return {"y": self.body(mark(tf, x + 1.0, "before"), s)}

    def fetches():
        names = "lengths", "positive", "half", "twice", "fixed", "result", "before"
        return {**{name: SEEN[name][0] for name in names}, "number": SEEN["before"][0]}
    return Model(), {"x": np.array([1.5, -3.0], "f"), "s": np.array([b"ab", b"c"])}, fetches


@model
def layers(tf, np):
    """Layers of a Keras model: named and with default names, a nested model, a layer without variables"""
    k = tf.keras
    l = k.layers
    k.utils.set_random_seed(1)
    inside = k.Input((4, 4, 3))
    body = k.Model(inside, l.ReLU(name="bend")(l.Conv2D(2, 3, name="inner_conv")(inside)), name="body")
    x = y = k.Input((6, 6, 1), name="image")
    outputs = {}
    for layer in (l.Conv2D(3, 3, activation="elu", name="stem"), body, l.MaxPooling2D(2, name="pool"), l.Flatten(), l.Dense(4, activation="tanh"),
                  l.Dropout(.5, name="drop"), l.Dense(4), l.Softmax(name="probabilities")):
        y = outputs[layer.name] = layer(y)
    made = k.Model(x, y)
    image = floats(np, 2, 6, 6, 1, seed=4)

    def fetches():
        told = {name: value.numpy() for name, value in k.Model(x, outputs)(image).items() if name != "drop"}
        body_of = k.Model(inside, [body.get_layer("inner_conv").output, body.get_layer("bend").output])
        told["inner_conv"], told["bend"] = (value.numpy() for value in body_of(told["stem"]))
        return told
    return made, {"image": image}, fetches


def save(name, folder):
    import numpy as np
    import tensorflow as tf
    made, feeds, fetches = MODELS[name](tf, np)
    if isinstance(made, tf.Module) and not isinstance(made, tf.keras.Model):
        tf.saved_model.save(made, str(folder / "model"), signatures=made.serve)
        tf.config.run_functions_eagerly(True)
        made.serve(**{key: tf.constant(value) for key, value in feeds.items()})
    else:
        made.export(str(folder / "model"), verbose=False)
    (folder / "model" / "fingerprint.pb").unlink(missing_ok=True)
    told = {"feeds": {}, "fetches": []}
    for i, (key, value) in enumerate(feeds.items()):
        np.save(folder / f"x{i}.npy", value)
        told["feeds"][key] = f"x{i}.npy"
    for i, (fetch, value) in enumerate(fetches().items()):
        if isinstance(value, str):
            told["fetches"].append({"name": fetch, "error": value})
            continue
        value = np.asarray(value)
        np.save(folder / f"y{i}.npy", value.astype("S") if value.dtype == object else value)
        told["fetches"].append({"name": fetch, "file": f"y{i}.npy"})
    (folder / "fetches.json").write_text(json.dumps(told, indent=1) + "\n")


def readme(out):
    rows = [f"| `{name}` | {make.__doc__} |" for name, make in MODELS.items()]
    (out / "README.md").write_text("\n".join([
        "# SavedModels with tensors inside of calls, loops and branches", "",
        "Made by `scripts/testdata_inner_fetches.py` with TensorFlow 2.21.0; do not edit by hand. `model` is the SavedModel, and `fetches.json` has",
        "the feeds of its default signature, and tensors inside of it by name: the value that TensorFlow computes, as a .npy file, or a part of the",
        "error for a name that means no tensor or several.", "", "| model | what it is |", "|---|---|", *rows, ""]))


def main(out=str(ROOT / "testdata" / "inner_fetches"), *names):
    out = pathlib.Path(out)
    if names[:1] == ("--save",):
        save(names[1], out / names[1])
        return
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    for name in names or MODELS:
        shutil.rmtree(out / name, ignore_errors=True)
        (out / name).mkdir(parents=True)
        subprocess.run([sys.executable, __file__, str(out), "--save", name], check=True, env=environment)  # in a process of its own
    readme(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
