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
import os
import numpy as np
from tensorflow.python.util import _pywrap_util_port
graph = tg.load("testdata/models/lenet")
# TensorFlow has read the variable when it was imported, and is what "auto" follows.
mode = "on" if _pywrap_util_port.IsMklEnabled() else "off"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0" if mode == "on" else "1"
assert graph.optimize(fetch="Identity").onednn == mode
assert graph.optimize(fetch="Identity", onednn="off").onednn == "off"
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


OBJECTS = """
x = tf.ones([2, 3])
scaled = tf.function(lambda x, scale=1.0: x * scale)
assert tg.load(scaled, x, scale=3.0).run({"x": np.ones((2, 3), np.float32)})["Identity:0"].tolist() == [[3.0] * 3] * 2
try:
    tg.load(scaled)
except TypeError as error:
    assert str(error).startswith("a tf.function needs example arguments, load(f, x): "), error

# Written variables, and captures that cannot be constants.
total = tf.Variable(2.0)

@tf.function
def add(x):
    total.assign_add(tf.reduce_sum(x))
    return total.read_value()

adds = tg.load(add, x)
[first], [second] = ([value.item() for value in adds.run({"x": np.ones((2, 3), np.float32)}).values()] for _ in range(2))
assert (first, second) == (8, 14) and total.numpy() == 2, (first, second)
table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), -1)
look_up = tf.function(lambda k: table[k])
[value] = tg.load(look_up, tf.constant(["a"])).run({"k": ["b"]}).values()
assert value.tolist() == [-1]

class Module(tf.Module):
    def __init__(self):
        self.weights = tf.Variable([[2.0], [3.0]])

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def product(self, x):
        return x @ self.weights

    @tf.function(input_signature=[])
    def bias(self):
        return tf.reduce_sum(self.weights)

module = Module()
loaded = tg.load(module)
assert loaded.run({"x": [[1, 1]]}, signature="product")["output_0"].tolist() == [[5]]
assert loaded.run(signature="bias")["output_0"] == 5
tf.saved_model.save(module, "saved", signatures={"product": module.product})
again = tf.saved_model.load("saved")
for model in (again, again.signatures["product"]):
    assert len(tg.load(model)) > 3
for nothing in (tf.Module(), tf.Variable(1.0), x, tf.keras.layers.Dense(2), tf.data.Dataset.range(2)):
    try:
        tg.load(nothing)
    except TypeError as error:
        assert "is not a model: " in str(error), error
    else:
        raise AssertionError(nothing)

# Feeds that hold no values, or not one array.
fed = tg.load(scaled, x)
for given in (tf.keras.Input((3,)), tf.data.Dataset.range(2), tf.ragged.constant([[1.0], [2.0, 3.0]]), tf.sparse.from_dense([[1.0]])):
    try:
        fed.run({"x": given})
    except (TypeError, ValueError) as error:
        assert str(error).startswith("feed 'x': "), error
    else:
        raise AssertionError(given)
try:
    tg.capture(scaled, [x], fetch="y")
except TypeError as error:
    assert str(error) == "fetch: only for a Session; for a function all results are captured"
try:
    tg.capture(scaled, [x], frezze=True)
except TypeError as error:
    assert str(error) == "capture() got an unexpected keyword argument 'frezze'"
else:
    raise AssertionError
print("fine")
"""

EXAMPLES = """
# The example arguments are the feeds of later calls, also of the keyword ones, which a call may replace.
log = tf.function(lambda x, y, scale=1.0: tf.reduce_sum(tf.math.log(x) * y) * scale)
x, y = np.array([1.0, 0.0], np.float32), np.array([2.0, 3.0], np.float32)
graph = tg.load(log, y=y, x=x)
assert list(graph.default_feeds) == ["x:0", "y:0"], graph.default_feeds
assert graph.blame().first_bad["op"] == "Log"
assert tg.blame(graph, feed={"x": y}).first_bad is None
assert list(graph.run().values()) == [-np.inf]
[value] = graph.run({"x": np.ones(2, np.float32)}).values()
assert value == 0
assert list(tg.run(graph, feed={"x:0": np.ones(2, np.float32)}).values.values()) == [0]
assert list(graph.whole.run().values()) == [-np.inf] and list(graph.optimize().graph.run().values()) == [-np.inf]
import pickle
assert list(pickle.loads(pickle.dumps(graph)).run().values()) == [-np.inf]
assert graph.doctor().findings is not None
# Numbers are part of the graph, so they are not fed.
assert list(tg.load(log, x, y, 2.0).default_feeds) == ["x:0", "y:0"]
assert tg.load(log, tf.TensorSpec([2]), tf.TensorSpec([2])).default_feeds == {}
pair = tf.function(lambda both: both["b"] - both["a"])
assert list(tg.load(pair, {"b": y, "a": x}).run().values())[0].tolist() == [1, 3]

# The same for a Keras model; with labels, the graph is that of its loss.
model = tf.keras.Sequential([tf.keras.layers.Input((2,)), tf.keras.layers.Dense(3, activation="softmax")])
inputs, labels = np.ones((4, 2)), np.array([0, 1, 2, 1])
[value] = tg.load(model, inputs).run().values()
np.testing.assert_allclose(value, model(inputs).numpy(), rtol=1e-5)
try:
    tg.load(model, inputs, labels)
    raise SystemExit("no error")
except ValueError as error:
    assert str(error) == "y: the model has no loss: compile it, or leave y out", error
model.compile("sgd", "sparse_categorical_crossentropy")
[value] = tg.load(model, inputs, labels).run().values()
np.testing.assert_allclose(value, model.evaluate(inputs, labels, verbose=0), rtol=1e-5)
two = [tf.keras.Input((2,), name=name) for name in ("left", "right")]
both = tf.keras.Model(two, tf.keras.layers.Subtract()(two))
for given in ([inputs, 3 * inputs], {"right": 3 * inputs, "left": inputs}):
    assert list(tg.load(both, given).run().values())[0].tolist() == [[-2, -2]] * 4
for given, said in ((inputs, "x: the model has the inputs left, right; 1 arrays were given"), ({"middle": inputs}, "x: the model has no input 'middle'; its inputs are left, right")):
    try:
        tg.load(both, given)
        raise SystemExit("no error")
    except ValueError as error:
        assert str(error) == said, error
print("fine")
"""


CAPTURE = """
import pickle
weights = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
x = np.array([[1, -1]], np.float32)
case = tg.capture(tf.function(lambda x: tf.nn.relu(x @ weights)), [x])
[value] = case.run().values()
assert value.tolist() == [[0, 0]] and tg.replay(case).lines[0]["status"] == "pass"

from tfgrapnel.testing import assert_fused
bias = tf.Variable([1.0, 2.0])
dense = tf.function(lambda x: tf.nn.relu(tf.nn.bias_add(x @ weights, bias)))
assert_fused(dense.get_concrete_function(x), "MatMul + BiasAdd + Relu", count=1)

model = tf.keras.Sequential([tf.keras.layers.Input((2,)), tf.keras.layers.Dense(3)])
case = tg.capture(model, x, "keras_case")
assert case.path == "keras_case"
assert tg.replay(pickle.loads(pickle.dumps(case))).ok
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
        assert str(error) == "fetch: required for a Session"
for wrong, text in [((lambda x: tf.reshape(x, [5]), [x]), "the function cannot be traced"), (("saved", {"z": x}), "no input of 'serving_default' named 'z'")]:
    try:
        tg.capture(*wrong)
    except tg.Error as error:
        assert text in str(error), error
    else:
        raise AssertionError(text)
print("fine")
"""

AROUND = """
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

@tf.function
def inner(x):
    return tf.nn.relu(x) + 1

@tf.function
def f(x):
    with tf.device("/cpu:1"):
        y = tf.tanh(x)
    return inner(y) * 2

def devices(graph):
    return dict(graph.query("SELECT name, device FROM nodes WHERE function IS NULL"))

with tg.placement_log() as log, tg.dumps("dumps") as timeline:
    try:
        timeline.stages
    except AttributeError as error:
        assert "'stages' is available after the block has ended" in str(error)
    f(tf.ones([2]))
assert [name.rpartition("_")[0] for name in log.graphs] == ["__inference_f"]
placed = devices(log.graph)
assert placed["Tanh"].endswith("CPU:1") and placed["PartitionedCall/Relu"].endswith("CPU:0"), placed
assert "Tanh: (Tanh): /job:localhost/replica:0/task:0/device:CPU:1" in log.text
tags = [stage["file"].split(".main.")[1] for stage in timeline.stages]
assert "before_placer.pbtxt" in tags and "after_graph_optimization.pbtxt" in tags, tags
assert len(timeline.graphs) == len(tags) and "before placer" in str(timeline)
assert len(timeline.graphs[0]) > 5 and timeline.graphs.titles[0] == timeline.stages[0]["file"]

# Both go on working, since they were switched on before TensorFlow began.
with tg.dumps("more", groups="*") as more:
    f(tf.ones([3]))
assert len(more.stages) > 10 and len(os.listdir("dumps")) == len(tags)
with tg.placement_log() as log:
    f(tf.ones([4]))
assert len(log.graphs) == 1 and devices(log.graph)["Tanh"].endswith("CPU:1")
f(tf.ones([4]))  # anew, since calls with another setting of the log are other calls
try:
    with tg.dumps("nothing"):
        f(tf.ones([4]))
except tg.Error as error:
    assert "nothing was dumped: no function ran for the first time" in str(error)
else:
    raise AssertionError
print("fine")
"""

TOO_LATE = """
tf.constant(1.0) + 1
for block, text in [
    (lambda: tg.dumps("dumps"), "start the program with TF_DUMP_GRAPH_NAME_FILTER='*' TF_DUMP_GRAPH_GROUPS='main', or call dumps.run(script, "),
    (tg.placement_log, "call tf.debugging.set_log_device_placement(True) at the beginning of the program"),
]:
    try:
        with block():
            raise AssertionError("not reached")
    except tg.Error as error:
        assert text in str(error), error
assert "TF_DUMP_GRAPH_PREFIX" not in os.environ and not tf.debugging.get_log_device_placement()

script = "import sys, tensorflow as tf; tf.function(lambda x: tf.tanh(x) * 2)(tf.ones([2])); sys.exit('no luck' if sys.argv[1:] else 0)"
with open("script.py", "w") as file:
    file.write(script)
timeline = tg.dumps.run("script.py", "run")
assert len(timeline.stages) > 10 and os.path.exists("run/log.txt")
try:
    tg.dumps.run("script.py", "again", ["x"])
except tg.Error as error:
    assert str(error) == "script.py ended with 1: no luck" and error.file == "script.py"
else:
    raise AssertionError
print("fine")
"""

KERAS = """
import warnings
from tfgrapnel.keras import TensorHealth

def train(layers, **options):
    model = tf.keras.Sequential([tf.keras.layers.Input((3,)), *layers])
    model.compile("sgd", "mse")
    x = np.random.RandomState(0).rand(32, 3).astype(np.float32)
    health = TensorHealth(options.pop("dir"), **options)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(x, np.ones((32, 2), np.float32), batch_size=8, epochs=2, verbose=0, callbacks=[health])
    return model, health, [str(warning.message) for warning in said if warning.category is tg.GrapnelWarning]

_, health, [warning] = train([tf.keras.layers.Dense(2), tf.keras.layers.Lambda(lambda x: tf.math.log(x - 100))], dir="bad")
assert health.step == 0 and health.first_bad["op"] == "Log"
assert "<lambda>) made NaN x16 of 16 because its input sequential" in health.sentence, health.sentence
assert warning == f"training stops after step 0: {health.sentence}"
assert tg.blame("bad").first_bad == health.first_bad

model, health, said = train([tf.keras.layers.Dense(2)], dir="good", every=3)
assert health.sentence is None and health.step == 7 and not said
assert len(tg.load("good").info().to_dict()) > 1
size = sum(entry.stat().st_size for entry in os.scandir("good"))
model.fit(np.ones((8, 3), np.float32), np.ones((8, 2), np.float32), verbose=0)
assert size == sum(entry.stat().st_size for entry in os.scandir("good"))  # it is over
try:
    TensorHealth("x", every=0)
except ValueError as error:
    assert "every: a number of steps was expected, not 0" in str(error)
try:
    TensorHealth("x", tensor_debug_mode="SHAPE")
except ValueError as error:
    assert "a mode that records health was expected, CURT_HEALTH, CONCISE_HEALTH, FULL_HEALTH, FULL_TENSOR, not 'SHAPE'" in str(error)
else:
    raise AssertionError
print("fine")
"""

KERAS_AGAIN = """
import warnings
from tfgrapnel.keras import TensorHealth

warnings.simplefilter("ignore", tg.GrapnelWarning)
halved = tf.function(lambda x: x / 2)

class Model(tf.keras.Sequential):
    def call(self, x, training=False):
        return super().call(halved(x))

def fit(*callbacks, layers=()):
    model = Model([tf.keras.layers.Input((3,)), *layers, tf.keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    model.fit(np.ones((8, 3), np.float32), np.ones((8, 2), np.float32), verbose=0, callbacks=callbacks)

# The same folder once more, and what was traced for the first time while it was written.
health = TensorHealth("debug")
fit(health)
fit(health)
assert health.sentence is None and health.step == 1
halved(tf.ones((8, 3)))
fit(health, layers=[tf.keras.layers.Lambda(lambda x: tf.math.log(x - 0.5))])
assert health.step == 2 and health.first_bad["op"] == "Log" and tg.load("debug").blame().first_bad == health.first_bad

# An error ends a training, and the next one begins.
class Fails(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        raise RuntimeError("enough")

try:
    fit(TensorHealth("first"), Fails())
except RuntimeError:
    fit(TensorHealth("second"))
    fit(TensorHealth("first"))
halved(tf.ones((8, 3)))
try:
    fit(TensorHealth("third"), TensorHealth("fourth"))
except ValueError as error:
    assert "one TensorHealth was expected" in str(error)
else:
    raise AssertionError
try:
    fit(TensorHealth("testdata/README.md"))
except OSError as error:
    assert "File exists: 'testdata/README.md'" in str(error)
else:
    raise AssertionError
print("fine")
"""

# With one descriptor closed, and without a stream.
CLOSED = """
import sys
add, double = tf.function(lambda x: x + 1), tf.function(lambda x: 2 * x)
os.close(1)
with tg.placement_log() as log:
    add(tf.constant(1.0))
assert len(log.graphs) == 1
said, sys.stdout = sys.stdout, None
with tg.placement_log() as log:
    double(tf.constant(1.0))
assert len(log.graphs) == 1
del add, double
with tg.placement_log() as log:
    tf.function(lambda x: x / 2)(tf.constant(1.0))
assert log.text and not log.graphs
try:
    os.fstat(1)
except OSError:
    os.write(2, b"fine\\n")
    os._exit(0)  # Python would say that it cannot write what is left
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

    def run_with(self, program, imports="import os\nimport numpy as np\nimport tensorflow as tf\nimport tfgrapnel as tg\n"):
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(ROOT / "testdata", os.path.join(folder, "testdata"))
            done = subprocess.run(
                [sys.executable, "-W", "ignore::UserWarning", "-c", imports + program],
                cwd=folder,
                env=os.environ | {"PYTHONPATH": self.package, "TF_CPP_MIN_LOG_LEVEL": "2"},
                capture_output=True,
                text=True,
            )
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertIn("fine", (done.stdout + done.stderr).splitlines())

    def test_tensorflow_first(self):
        self.run_with(BOTH)

    def test_tensorflow_last(self):
        self.run_with(BOTH, "import tfgrapnel as tg\nimport tensorflow as tf\n")

    def test_objects(self):
        self.run_with(OBJECTS)

    def test_examples(self):
        self.run_with(EXAMPLES)

    def test_capture(self):
        self.run_with(CAPTURE)

    def test_dumps_and_placements(self):
        self.run_with(AROUND)

    def test_too_late(self):
        self.run_with(TOO_LATE)

    def test_closed_descriptors(self):
        self.run_with(CLOSED)

    def test_tensor_health(self):
        self.run_with(KERAS)

    def test_tensor_health_again(self):
        self.run_with(KERAS_AGAIN)


if __name__ == "__main__":
    unittest.main()
