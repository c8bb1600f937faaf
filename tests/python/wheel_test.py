"""The wheel in a process with TensorFlow, imported before or after it: each has a protobuf of its own."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = """
import numpy as np
graph = tg.load("testdata/models/lenet")
assert graph.optimize(fetch="Identity").graph.run({"x": np.zeros((2, 16, 16, 1), np.float32)})["Identity"].shape == (2, 10)

variable = tf.Variable(tf.fill((3, 4), 2.0))
weights = tf.ones((3, 4))

@tf.function
def with_variable(x):
    return tf.nn.relu(x @ variable) + 1

@tf.function
def without(x):
    return tf.nn.relu(x @ weights) + 1

x = np.arange(6, dtype=np.float32).reshape(2, 3)
concrete = without.get_concrete_function(tf.constant(x))
expected = {True: with_variable(x).numpy().tolist(), False: without(x).numpy().tolist()}
for loaded, has_variable in [
    (tg.load(with_variable, tf.constant(x)), True),
    (tg.load(with_variable.get_concrete_function(tf.constant(x))), True),
    (tg.load(without, tf.constant(x)), False),
    (tg.load(concrete.graph), False),
]:
    [value] = loaded.run({"x": x}).values()
    assert value.tolist() == expected[has_variable], (loaded, value)
assert tg.diff(concrete.graph.as_graph_def(), concrete.graph).ok

model = tf.keras.Sequential([tf.keras.layers.Input((3,)), tf.keras.layers.Dense(5, activation="tanh")])
saved = tg.load(model)
[key] = saved.signatures["serving_default"].inputs
[value] = saved.run({key: x}, signature="serving_default").values()
np.testing.assert_allclose(value, model(x).numpy(), rtol=1e-5)
print("fine")
"""


class WheelTest(unittest.TestCase):
    def run_with(self, imports):
        wheels = sorted((ROOT / "build" / "wheel").glob(f"tfgrapnel-*-cp3{sys.version_info[1]}-*.whl"))
        if not wheels:
            self.skipTest("no wheel (./x wheel)")
        with tempfile.TemporaryDirectory() as folder:
            with zipfile.ZipFile(wheels[-1]) as wheel:
                wheel.extractall(folder)
            done = subprocess.run(
                [sys.executable, "-W", "ignore::UserWarning", "-c", imports + PROGRAM],
                cwd=ROOT,
                env=os.environ | {"PYTHONPATH": folder, "TF_CPP_MIN_LOG_LEVEL": "2"},
                capture_output=True,
                text=True,
            )
        self.assertEqual((done.returncode, done.stdout), (0, "fine\n"), done.stderr[-2000:])

    def test_tensorflow_first(self):
        self.run_with("import tensorflow as tf\nimport tfgrapnel as tg\n")

    def test_tensorflow_last(self):
        self.run_with("import tfgrapnel as tg\nimport tensorflow as tf\n")


if __name__ == "__main__":
    unittest.main()
