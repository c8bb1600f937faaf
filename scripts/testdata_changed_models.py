"""Makes testdata/changed_models.tar.xz: three models of Keras, each with twelve changes that pull requests make, and what `grapnel check
--against` has to say of them. Each model is also built a second time, by the same program and by another process.

needs: tensorflow-cpu==2.21.0 (with Keras 3); tf_keras==2.21.0 for the change "other_keras", which is left out without it
usage: scripts/testdata_changed_models.py [OUT.tar.xz]

In the archive, MODEL/base is the SavedModel as it was, and MODEL/CHANGE the changed one. expected.json has a line for each:
{"model", "change", "kind", "says", "finding"}: the verdict's kind, words that its sentence has, and the check that finds it, if one does.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = {}                                                   # name: function
# The change: the verdict's kind, words of its sentence ({hidden}: the layer that changes), and the check that finds it.
CHANGES = {
    "width": ("structure", ["{hidden}", "kernel float[", " -> float["], None),
    "activation": ("structure", ["{hidden}", "Relu -> Tanh"], None),
    "without_norm": ("structure", ["{norm}", "is gone"], None),
    "mixed_precision": ("structure", ["half instead of float"], None),
    "broken_fusion": ("structure", [], "lost_fusions"),
    "output_added": ("interface", ["also gives 'hidden'", "callers are not affected"], None),
    "output_removed": ("interface", ["no longer gives 'second'"], "signatures"),
    "renamed": ("names", ["'{hidden}' is now 'trunk'"], None),
    "retrained": ("weights", ["all", "layers with weights have other values"], "changed_weights"),
    "preprocessing": ("structure", ["scaled", "is new"], None),
    "cpu_op": ("structure", ["AsString"], "placement"),
    "other_keras": ("structure", ["{of_keras2}"], None),       # the layers of Keras 2 use other ops
    "again": ("same", [], None),                               # the same program builds the model a second time
    "rebuilt": ("same", [], None),                             # another process does
}
OTHER_KERAS = "other_keras"


def model(hidden, norm, of_keras2):
    """`hidden` is the layer that changes, `norm` the normalization that goes, and `of_keras2` says what Keras 2 does otherwise."""
    def add(make):
        MODELS[make.__name__] = make, {"hidden": hidden, "norm": norm, "of_keras2": of_keras2}
        return make
    return add


class Build:
    """What a change says to the functions that build models."""

    def __init__(self, keras, change, names):
        self.keras, self.layers, self.change, self.names = keras, keras.layers, change, names

    def has(self, change):
        return self.change == change

    def scaled(self, x):
        return self.layers.Rescaling(1 / 255, offset=-0.5, name="scaled")(x) if self.has("preprocessing") else x

    def named(self, key):
        """None where Keras gives the name."""
        return None if self.names[key] in ("dense", "batch_normalization") else self.names[key]

    def norm(self, x):
        return x if self.has("without_norm") else self.layers.BatchNormalization(name=self.named("norm"))(x)

    def hidden(self, x, width):
        """The layer that changes."""
        name = "trunk" if self.has("renamed") else self.named("hidden")
        width = 2 * width if self.has("width") else width
        if not self.has("broken_fusion"):
            return self.layers.Dense(width, activation="tanh" if self.has("activation") else "relu", name=name)(x)
        x = self.layers.Dense(width, name=name)(x)
        return self.layers.Add(name="sum")([self.layers.Activation("relu", name="act")(x), x])

    def through_text(self, x):
        """Ops that have kernels for the CPU alone."""
        if not self.has("cpu_op"):
            return x
        import tensorflow as tf

        class ThroughText(self.layers.Layer):
            def call(self, x):
                return tf.reshape(tf.strings.to_number(tf.strings.as_string(x)), tf.shape(x))

            def compute_output_shape(self, shape):
                return shape
        return ThroughText(name="text")(x)

    def outputs(self, first, second, hidden):
        as_float = lambda name, x: self.layers.Activation("linear", dtype="float32", name=name)(x)
        outputs = {"first": as_float("first", first), "second": as_float("second", second)}
        if self.has("output_removed"):
            del outputs["second"]
        if self.has("output_added"):
            outputs["hidden"] = hidden
        return outputs


@model(hidden="features", norm="norm", of_keras2="'score': AddV2 -> BiasAdd")
def ranker(build):
    """Named layers, two heads."""
    layers = build.layers
    inputs = build.keras.Input((6,), name="row")
    x = build.norm(layers.Dense(7, activation="relu", name="wide")(build.scaled(inputs)))
    hidden = build.hidden(x, 8)
    x = build.through_text(layers.Dense(5, activation="relu", name="narrow")(hidden))
    return build.keras.Model(inputs, build.outputs(layers.Dense(1, name="score")(x), layers.Dense(3, name="kind")(x), hidden))


@model(hidden="dense", norm="batch_normalization", of_keras2="'conv2d': without Reshape + Squeeze")
def digits(build):
    """A convolutional network with Keras's default names."""
    layers = build.layers
    inputs = build.keras.Input((12, 12, 1), name="image")    # a name of Keras would be the signature's, with a counter
    x = build.norm(layers.Conv2D(4, 3, activation="relu")(build.scaled(inputs)))
    x = layers.Flatten()(layers.MaxPooling2D()(layers.Conv2D(6, 3, activation="relu")(x)))
    hidden = build.hidden(x, 16)
    x = build.through_text(hidden)
    return build.keras.Model(inputs, build.outputs(layers.Dense(10, activation="softmax")(x), layers.Dense(2)(x), hidden))


@model(hidden="merged", norm="norm", of_keras2="'local': without Reshape + Squeeze")
def sequences(build):
    """An embedding and a recurrent layer."""
    layers = build.layers
    inputs = build.keras.Input((9, 4), name="steps")
    x = build.norm(layers.Conv1D(6, 3, padding="causal", activation="relu", name="local")(build.scaled(inputs)))
    hidden = build.hidden(layers.GRU(5, name="reader")(x), 6)
    x = build.through_text(hidden)
    return build.keras.Model(inputs, build.outputs(layers.Dense(2, name="mood")(x), layers.Dense(4, name="topic")(x), hidden))


def import_keras(change):
    if change == OTHER_KERAS:
        import tf_keras
        return tf_keras
    import keras
    return keras


def set_weights(made, change):
    """The same values for each build; a change of structure leaves the other layers' values."""
    import zlib

    import numpy as np
    for layer in made.layers:
        values = []
        for number, weight in enumerate(layer.get_weights()):
            role = "retrained" if change == "retrained" else "base"
            key = zlib.crc32(f"{role} {type(layer).__name__} {weight.shape} {number}".encode())
            value = np.random.RandomState(key).uniform(0.1, 0.9, weight.shape).astype(weight.dtype)
            values.append(value)
        if values:
            layer.set_weights(values)


def save(name, change, folder):
    make, names = MODELS[name]
    keras = import_keras(change)
    if change != "again":
        keras.backend.clear_session()                         # which forgets the policy too
    keras.mixed_precision.set_global_policy("mixed_float16" if change == "mixed_precision" else "float32")
    made = make(Build(keras, change, names))
    set_weights(made, change)
    if hasattr(made, "export"):
        made.export(folder, **({} if change == OTHER_KERAS else {"verbose": False}))
    else:
        made.save(folder)
    for left in ("fingerprint.pb", "assets"):
        path = os.path.join(folder, left)
        shutil.rmtree(path) if os.path.isdir(path) else os.path.exists(path) and os.remove(path)


def expected_of(name, change):
    kind, says, finding = CHANGES[change]
    names = MODELS[name][1]
    return {"model": name, "change": change, "kind": kind, "says": [text.format(**names) for text in says], "finding": finding}


def has_other_keras():
    try:
        import_keras(OTHER_KERAS)
    except ImportError:
        print(f"{OTHER_KERAS} is left out: tf_keras is not installed")
        return False
    return True


def main(out):
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        changes = [change for change in CHANGES if change != OTHER_KERAS or has_other_keras()]
        for name in MODELS:
            for change in ["base", *changes]:
                place = os.path.join(folder, name, change)
                if change == "rebuilt":
                    subprocess.run([sys.executable, __file__, "--save", name, change, place], check=True)
                else:
                    save(name, change, place)
            lines += [json.dumps(expected_of(name, change)) for change in changes]
        with open(os.path.join(folder, "expected.json"), "w") as f:
            f.write("\n".join(lines) + "\n")
        with tarfile.open(out, "w:xz", preset=9) as tar:
            for path in sorted(pathlib.Path(folder).rglob("*")):
                info = tar.gettarinfo(path, path.relative_to(folder))
                info.uid = info.gid = info.mtime = 0
                info.uname = info.gname = ""
                if path.is_dir():
                    tar.addfile(info)
                else:
                    with open(path, "rb") as f:
                        tar.addfile(info, f)
    print(f"{len(lines)} changed models, {os.path.getsize(out)} bytes")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--save"]:
        save(*sys.argv[2:])
    else:
        main(sys.argv[1] if len(sys.argv) > 1 else ROOT / "testdata/changed_models.tar.xz")
