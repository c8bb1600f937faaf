"""The wheel in a process with TensorFlow, imported before or after it: each has a protobuf of its own."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BOTH = """
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


CAPTURE = """
weights = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
x = np.array([[1, -1]], np.float32)
case = tg.capture(tf.function(lambda x: tf.nn.relu(x @ weights)), [x])
[value] = case.run().values()
assert value.tolist() == [[0, 0]] and tg.replay(case).lines[0]["status"] == "pass"

model = tf.keras.Sequential([tf.keras.layers.Input((2,)), tf.keras.layers.Dense(3)])
assert tg.capture(model, x, "keras_case").path == "keras_case"
model.export("saved", verbose=False)
[key] = tg.load("saved").signatures["serving_default"].inputs
assert tg.replay(tg.capture("saved", {key: x})).ok

with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    given = tf.compat.v1.placeholder(tf.float32, [1, 2], name="x")
    twice = tf.multiply(given, 2, name="y")
    case = tg.capture(session, {given: x}, fetch="y")
    assert case.run()["y:0"].tolist() == [[2, -2]]
    try:
        tg.capture(session, {given: x})
    except TypeError as error:
        assert str(error) == "fetch: a Session needs the tensors that are wanted"
for wrong, text in [((lambda x: tf.reshape(x, [5]), [x]), "the function cannot be traced"), (("saved", {"z": x}), "no input of 'serving_default' named 'z'")]:
    try:
        tg.capture(*wrong)
    except tg.Error as error:
        assert text in str(error), error
    else:
        raise AssertionError(text)
print("fine")
"""


class WheelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        wheels = sorted((ROOT / "build" / "wheel").glob(f"tfgrapnel-*-cp3{sys.version_info[1]}-*.whl"))
        if not wheels:
            raise unittest.SkipTest("no wheel (./x wheel)")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.package = folder.name
        with zipfile.ZipFile(wheels[-1]) as wheel:
            wheel.extractall(folder.name)

    def run_with(self, program, imports="import numpy as np\nimport tensorflow as tf\nimport tfgrapnel as tg\n"):
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(ROOT / "testdata", os.path.join(folder, "testdata"))
            done = subprocess.run(
                [sys.executable, "-W", "ignore::UserWarning", "-c", imports + program],
                cwd=folder,
                env=os.environ | {"PYTHONPATH": self.package, "TF_CPP_MIN_LOG_LEVEL": "2"},
                capture_output=True,
                text=True,
            )
        self.assertEqual((done.returncode, done.stdout), (0, "fine\n"), done.stderr[-2000:])

    def test_tensorflow_first(self):
        self.run_with(BOTH)

    def test_tensorflow_last(self):
        self.run_with(BOTH, "import tfgrapnel as tg\nimport tensorflow as tf\n")

    def test_capture(self):
        self.run_with(CAPTURE)


if __name__ == "__main__":
    unittest.main()
