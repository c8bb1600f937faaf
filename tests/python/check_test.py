"""What `check` says of models that TensorFlow and Keras save: one finding where one thing was changed, none where it was not."""
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
L = keras.layers
ROWS = [tf.TensorSpec([None, 4], name="x")]
TWO = ROWS + [tf.TensorSpec([None, 4], name="c")]
POLICY = """
[dtypes]
forbidden = ["float64"]
[unused_inputs]
[debug_ops]
[unguarded_ops]
[retraced_functions]
most = 3
[parameters]
most = 300
[changed_weights]
"""


def findings(folder, model, base=None):
    with open(f"{folder}/policy.toml", "w") as file:
        file.write(POLICY)
    against = ["--against", f"{folder}/{base}"] if base else []
    done = subprocess.run([GRAPNEL, "check", f"{folder}/{model}", "--policy", f"{folder}/policy.toml", "--json", "--all", *against],
                          capture_output=True, text=True)
    assert done.returncode < 2, done.stderr
    # Without BASE a check that needs it is a warning.
    return [(finding["check"], finding["node"]) for finding in json.loads(done.stdout)["findings"]
            if "the check could not run" not in finding["what"]]


def network(names, changed=None, before=0):
    for _ in range(before):
        L.Dense(1)                                              # other numbers in what Keras names
    i = keras.Input((8, 8, 3), name=names[0])
    x = L.BatchNormalization(name=names[2])(L.Conv2D(6, 3, name=names[1])(i))
    x = L.Dense(7, activation="relu", name=names[3])(L.GlobalAveragePooling2D()(x))
    model = keras.Model(i, L.Dense(4, name=names[4])(x))
    for number, variable in enumerate(model.weights):
        value = np.random.RandomState(number).rand(*variable.shape).astype("f")
        value.flat[0] += 0.1 * (number == changed)
        variable.assign(value)
    return model


class Served(tf.Module):
    def __init__(self):
        self.w = tf.Variable(tf.ones([4, 4]))


class CheckTest(unittest.TestCase):
    def save(self, folder, name, **signatures):
        model = Served()
        functions = {key: tf.function(make(model), input_signature=inputs) for key, (make, inputs) in signatures.items()}
        for key, function in functions.items():
            setattr(model, key, function)
        tf.saved_model.save(model, f"{folder}/{name}", signatures=functions)

    def test_weights_of_layers_with_other_names(self):
        old, new = ("im", "c", "bn", "d", "e"), ("image", "stem", "norm", "hidden", "logits")
        with tempfile.TemporaryDirectory() as folder:
            for name, model in {"old": network(old), "new": network(new, before=2), "other": network(new, changed=6)}.items():
                model.export(f"{folder}/{name}", verbose=False)
            self.assertEqual(findings(folder, "new", "old"), [])
            (check, node), = findings(folder, "other", "old")
            self.assertEqual((check, node.split("/")[0]), ("changed_weights", "hidden"))

    def test_each_signature(self):
        with tempfile.TemporaryDirectory() as folder:
            plain = (lambda m: lambda x: {"y": tf.nn.relu(x @ m.w)}, ROWS)
            self.save(folder, "well", serve=plain, rank=(lambda m: lambda x, c: {"z": (x + c) @ m.w}, TWO))
            self.save(folder, "unused", serve=plain, rank=(lambda m: lambda x, c: {"z": x @ m.w}, TWO))
            self.save(folder, "unguarded", serve=plain, rank=(lambda m: lambda x: {"z": x / tf.norm(x @ m.w)}, ROWS))
            self.assertEqual(findings(folder, "well"), [])
            self.assertEqual(findings(folder, "unused"), [("unused_inputs", "rank_c")])
            (check, node), = findings(folder, "unguarded")
            self.assertEqual((check, node.split("/")[-1]), ("unguarded_ops", "truediv"))

    def test_traces_of_a_function_that_is_no_object(self):
        def serve(times):
            def make(model):
                step = tf.function(lambda x, factor: tf.nn.relu(x @ model.w) * factor)
                def run(x):
                    for number in range(times):
                        x = step(x, float(number))
                    return {"y": x}
                return run
            return make
        with tempfile.TemporaryDirectory() as folder:
            self.save(folder, "three", serve=(serve(3), ROWS))
            self.save(folder, "four", serve=(serve(4), ROWS))
            self.assertEqual(findings(folder, "three"), [])
            (check, _), = findings(folder, "four", "three")
            self.assertEqual(check, "retraced_functions")

    def test_dtype_of_a_variable(self):
        with tempfile.TemporaryDirectory() as folder:
            model = Served()
            model.wide = tf.Variable(tf.ones([4], tf.float64), name="wide")
            model.serve = tf.function(lambda x: {"y": x @ model.w + tf.cast(model.wide, tf.float32)}, input_signature=ROWS)
            tf.saved_model.save(model, f"{folder}/model", signatures=model.serve)
            self.assertEqual(findings(folder, "model"), [("dtypes", "wide")])

    def test_normalizations(self):
        with tempfile.TemporaryDirectory() as folder:
            i = keras.Input((8,))
            x = L.UnitNormalization()(L.LayerNormalization()(L.Dense(8, activation="softplus")(i)))
            x = L.Dense(4, activation="softmax")(L.GroupNormalization(2)(x))
            keras.Model(i, x).export(f"{folder}/model", verbose=False)
            self.assertEqual(findings(folder, "model"), [])


if __name__ == "__main__":
    unittest.main()
