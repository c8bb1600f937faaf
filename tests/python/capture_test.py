"""tools/capture.py: what it captures runs by itself and gives the same values; what it cannot capture it says in one line.

needs: tensorflow-cpu==2.21.0        usage: python -m unittest tests/python/capture_test.py
"""
import contextlib
import io
import json
import os
import sys
import tempfile
import unittest
import zipfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
import numpy as np
import tensorflow as tf

import capture

X = np.array([[1, 2, 4]], "f")


def read(folder):
    with open(os.path.join(folder, "case.json")) as f:
        case = json.load(f)
    graph = tf.compat.v1.GraphDef()
    with open(os.path.join(folder, "graph.pb"), "rb") as f:
        graph.ParseFromString(f.read())
    load = lambda files: {k: np.load(os.path.join(folder, v)) for k, v in files.items()}
    return case, graph, load(case["feeds"]), load(case["fetches"])


class CaptureTest(unittest.TestCase):
    def setUp(self):
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        self.out, self.model = os.path.join(tmp.name, "case"), os.path.join(tmp.name, "model")

    def replays(self):
        """The folder stands on its own: its graph, run on its feeds, gives its fetches."""
        case, graph, feeds, fetches = read(self.out)
        tensors = case.get("tensors", {})
        tensor = lambda group, key: tensors.get(group, tensors).get(key, key)
        with tf.Graph().as_default() as g, tf.compat.v1.Session(graph=g) as sess:
            tf.import_graph_def(graph, name="")
            results = sess.run([tensor("fetches", f) for f in fetches], {tensor("feeds", f): v for f, v in feeds.items()})
            for (name, want), got in zip(fetches.items(), results):
                if want.dtype.kind == "S":
                    np.testing.assert_array_equal(np.array(got, "S"), want)
                else:
                    np.testing.assert_allclose(got, want, case["rtol"], case["atol"][name])
                    self.zeros_fail(want, case["rtol"], case["atol"][name])
        return case, graph, feeds, fetches

    def zeros_fail(self, want, rtol, atol):
        """Zeros for the smallest fifth of the elements are not what was captured."""
        filled = np.flatnonzero(want)
        smallest = filled[np.argsort(np.abs(want.flat[filled]))[:(len(filled) + 4) // 5]]
        spoilt = want.copy()
        spoilt.flat[smallest] = 0
        self.assertEqual(np.allclose(spoilt, want, rtol, atol), len(filled) == 0)

    def command(self, *args):
        err, out = io.StringIO(), io.StringIO()
        with contextlib.redirect_stderr(err), contextlib.redirect_stdout(out):
            code = capture.main([*args])
        return code, out.getvalue(), err.getvalue()

    def save(self, f, *specs, variable=None):
        m = tf.Module()
        m.f, m.v = f, variable
        tf.saved_model.save(m, self.model, signatures=f.get_concrete_function(*specs))

    # A Python function of several arguments, nested ones and constants among them.
    def test_function(self):
        def f(x, pair, scale=1, *, bias):
            return {"sum": x + pair[0] * scale, "diff": pair["second"] if isinstance(pair, dict) else pair[1] - bias}
        capture.function(f, [X, (X * 2, X * 3)], self.out, {"scale": 3, "bias": X})
        _, _, feeds, fetches = self.replays()
        self.assertEqual(len(feeds), 4)
        self.assertEqual(sorted(v.sum() for v in fetches.values()), [14, 49])

    # A small network: its weights become constants, so that nothing but the input is fed.
    def test_keras_model(self):
        tf.keras.utils.set_random_seed(0)
        model = tf.keras.Sequential([tf.keras.Input((8, 8, 3)), tf.keras.layers.Conv2D(4, 3, activation="relu"),
                                     tf.keras.layers.BatchNormalization(), tf.keras.layers.Dropout(.5),
                                     tf.keras.layers.Flatten(), tf.keras.layers.Dense(5, activation="softmax")])
        capture.function(model, np.random.RandomState(0).rand(2, 8, 8, 3).astype("f"), self.out)
        case, graph, feeds, _ = self.replays()
        self.assertEqual(len(feeds), 1)
        self.assertFalse([n.op for n in graph.node if "Variable" in n.op])

    # Values of all magnitudes: none of them may be off by what is little beside the largest.
    def test_magnitudes(self):
        capture.function(tf.exp, np.linspace(-80, 80, 41, dtype="f"), self.out)
        case, *_ = self.replays()
        self.assertLess(list(case["atol"].values())[0], 1e-20)
        self.assertEqual(capture.function(tf.exp, X, self.out, atol=.5)["atol"], {"Identity:0": .5})

    # An older case is replaced; a folder of something else keeps what is in it, whatever that is called.
    def test_folder_of_something_else(self):
        capture.function(tf.exp, X, self.out)
        capture.function(tf.exp, X * 2, self.out)
        np.testing.assert_array_equal(*read(self.out)[2].values(), X * 2)
        os.remove(os.path.join(self.out, "case.json"))
        there = sorted(os.listdir(self.out))
        with self.assertRaisesRegex(capture.CaptureError, "contains other files and no case.json"):
            capture.function(tf.exp, X, self.out)
        self.assertEqual(sorted(os.listdir(self.out)), there)

    # A name that ends in .zip makes one file with the same contents; a second time replaces it, and other files stay.
    def test_one_file(self):
        capture.function(tf.exp, X * 2, self.out)
        archive = self.out + ".zip"
        for x in X, X * 2:
            capture.function(tf.exp, x, archive)
        with zipfile.ZipFile(archive) as z:
            self.assertEqual(z.namelist(), sorted(os.listdir(self.out)))
            for name in z.namelist():
                with open(os.path.join(self.out, name), "rb") as f:
                    self.assertEqual(z.read(name), f.read())
        with open(archive, "w") as f:
            f.write("not an archive")
        with self.assertRaisesRegex(capture.CaptureError, "is not a zip file"):
            capture.function(tf.exp, X, archive)
        with open(archive) as f:
            self.assertEqual(f.read(), "not an archive")

    # With freeze=False the variables stay, with the values they had before the call.
    def test_not_frozen(self):
        v = tf.Variable([1., 2.])
        capture.function(tf.function(lambda x: v.assign_add(x) * 2), np.array([1, 1], "f"), self.out, freeze=False)
        case, graph, _, fetches = read(self.out)
        self.assertIn("AssignAddVariableOp", [n.op for n in graph.node])
        file, = case["variables"].values()
        np.testing.assert_array_equal(np.load(os.path.join(self.out, file)), [1, 2])
        np.testing.assert_array_equal(list(fetches.values())[0], [4, 6])

    # Several calls in order, each on what the one before left; an effect that no output needs happens all the same.
    def test_steps(self):
        v = tf.Variable(1.)
        def f(x):
            v.assign_add(2.)
            return x + 1.
        def g(x):
            return v.assign_add(x)
        case = capture.function(tf.function(f), [X], self.out, steps=[[X * 2]])
        self.assertEqual(len(case["steps"]), 1)
        self.assertEqual(v.numpy(), 5)
        case = capture.function(tf.function(g), [np.float32(1)], self.out, steps=[[np.float32(2)], [np.float32(3)]])
        load = lambda files: [np.load(os.path.join(self.out, file)) for file in files.values()]
        self.assertEqual([load(s["fetches"])[0] for s in [case] + case["steps"]], [6, 8, 11])
        self.assertEqual(load(case["variables"]), [5])
        self.assertNotIn("init", case)
        with self.assertRaisesRegex(capture.CaptureError, "takes 1 tensors, but 2 were given"):
            capture.function(tf.function(g), [np.float32(1)], self.out, steps=[[X, X]])

    # Tables and iterators are made by a graph of their own.
    def test_tables_and_iterators(self):
        fixed = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1., 2.]), -1.)
        written = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, 0)
        written.insert(["x"], [9])
        numbers = iter(tf.data.Dataset.range(9).map(lambda i: i * 2).batch(2))
        def f(words):
            written.insert(words, written.lookup(words) + 1)
            return fixed.lookup(words), written.lookup(words), next(numbers)
        case = capture.function(tf.function(f), [np.array(["a", "x"])], self.out, steps=[[np.array(["b", "x"])]])
        with open(os.path.join(self.out, case["init"]), "rb") as file:
            init = tf.compat.v1.GraphDef.FromString(file.read())
        self.assertTrue({"InitializeTableV2", "LookupTableImportV2", "MakeIterator"} <= {n.op for n in init.node})
        last = case["steps"][0]["fetches"].values()
        self.assertEqual([np.load(os.path.join(self.out, file)).tolist() for file in last], [[2, -1], [1, 11], [4, 6]])

    # Not yet supported in a case.
    def test_other_resources(self):
        queue = tf.queue.FIFOQueue(3, [tf.float32])
        queue.enqueue(1.)
        dense = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, -1., empty_key=-1, deleted_key=-2)
        for f, x, text in ((lambda x: queue.dequeue() + x, X, "not a variable, table or iterator"),
                           (dense.lookup, np.array([1]), "a dense table")):
            with self.assertRaisesRegex(capture.CaptureError, text):
                capture.function(tf.function(f), [x], self.out)

    # In a session too: its initializers run again.
    def test_session_with_state(self):
        with tf.Graph().as_default() as g, tf.compat.v1.Session(graph=g) as sess:
            x = tf.compat.v1.placeholder(tf.string, [None], name="x")
            v = tf.compat.v1.get_variable("v", initializer=np.float32(0))
            table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1.]), -1.)
            numbers = tf.compat.v1.data.make_initializable_iterator(tf.data.Dataset.range(5))
            tf.add(table.lookup(x) + tf.cast(numbers.get_next(), tf.float32), v.assign_add(10.), name="y")
            sess.run([tf.compat.v1.global_variables_initializer(), tf.compat.v1.tables_initializer(),
                      numbers.initializer])
            case = capture.session(sess, {x: ["a", "z"]}, "y", self.out, steps=[{x: ["a"]}])
        self.assertEqual((list(case["variables"]), case["init"], len(case["steps"])), (["v"], "init.pb", 1))

    # TensorFlow's error is shown whole, the line of the program in it.
    def test_whole_error(self):
        with self.assertRaisesRegex(capture.CaptureError, r"(?s)cannot be traced: .*capture_test.py.*Cannot reshape"):
            capture.function(lambda x: tf.reshape(x, [5]), [X], self.out)

    # Strings go as fixed-width bytes.
    def test_strings(self):
        capture.function(tf.strings.upper, np.array(["a", "", "xyz"]), self.out)
        _, _, feeds, fetches = self.replays()
        self.assertEqual(list(feeds.values())[0].dtype, "S3")
        np.testing.assert_array_equal(list(fetches.values())[0], [b"A", b"", b"XYZ"])

    # A TF1 session with a variable of each kind and a fed tensor that is not a placeholder.
    def test_session(self):
        with tf.Graph().as_default() as g, tf.compat.v1.Session(graph=g) as sess:
            x = tf.compat.v1.placeholder(tf.float32, [1, 3], name="x")
            v = tf.compat.v1.get_variable("v", initializer=np.float32(3), use_resource=True)
            w = tf.compat.v1.get_variable("w", initializer=np.float32(4), use_resource=False)
            mid = tf.multiply(x, v, name="mid")
            tf.add(mid, w, name="y")
            tf.add(x, 1., name="unused")
            sess.run(tf.compat.v1.global_variables_initializer())
            capture.session(sess, {x: X}, "y", self.out)
            _, graph, _, fetches = self.replays()
            np.testing.assert_array_equal(fetches["y:0"], X * 3 + 4)
            self.assertNotIn("unused", [n.name for n in graph.node])
            capture.session(sess, {"mid:0": X}, ["y:0"], self.out)
            np.testing.assert_array_equal(self.replays()[3]["y:0"], X + 4)
            case = capture.session(sess, {x: X}, "y", self.out, freeze=False)
            self.assertEqual(set(case["variables"]), {"v", "w"})
            with self.assertRaisesRegex(capture.CaptureError, "nothere"):
                capture.session(sess, {}, "nothere", self.out)

    # The command, with a value given, and with random ones.
    def test_command(self):
        v = tf.Variable(2.)
        self.save(tf.function(lambda x, n: {"y": x * v + tf.cast(n, tf.float32)}),
                  tf.TensorSpec([None, 3], name="x"), tf.TensorSpec([], tf.int32, name="n"), variable=v)
        feed = self.model + ".npy"
        np.save(feed, X)
        code, out, _ = self.command(self.model, "--feed", "x=" + feed, "-o", self.out)
        self.assertEqual(code, 0)
        self.assertIn("2 feeds, 1 fetches, random inputs from seed 0", out)
        self.assertIn(X.shape, [v.shape for v in self.replays()[2].values()])
        self.assertEqual(self.command(self.model, "--dim", "5", "--seed", "7", "--no-freeze", "-o", self.out)[0], 0)
        case, _, feeds, _ = read(self.out)
        self.assertEqual(case["seed"], 7)
        self.assertIn((5, 3), [v.shape for v in feeds.values()])

    # A SavedModel's case has the signature's keys, in any order, however odd, and says what they are in its graph.
    def test_keys(self):
        v = tf.Variable(2.)
        held = tf.constant([1., 2., 3.])                      # not frozen, this is a feed that no key names
        self.save(tf.function(lambda zeta, Alpha: {"z": zeta * v + held, "a/odd key": zeta - Alpha, "b": Alpha * 3}),
                  tf.TensorSpec([None, 3], name="zeta"), tf.TensorSpec([None, 3], name="Alpha"), variable=v)
        for freeze in (True, False):
            case = capture.saved_model(self.model, {"zeta": X, "Alpha": X * 5}, self.out, freeze=freeze, steps=[{"zeta": X * 2}])
            _, _, feeds, fetches = read(self.out)
            self.assertEqual([k for k in feeds if k in case["tensors"]], ["Alpha", "zeta"])
            self.assertEqual(len(feeds), 2 if freeze else 3)
            np.testing.assert_array_equal(feeds["Alpha"], X * 5)
            self.assertEqual(list(fetches), ["a/odd key", "b", "z"])
            self.assertEqual(set(case["atol"]), set(fetches))
            self.assertEqual(set(case["tensors"]), {"Alpha", "zeta", *fetches})
            step, = case["steps"]
            self.assertEqual((list(step["feeds"]), list(step["fetches"])), (list(feeds), list(fetches)))
            for file, expected in ((case["fetches"]["z"], X * 2 + held), (step["fetches"]["z"], X * 4 + held),
                                   (step["fetches"]["a/odd key"], X * 2 - X * 5)):
                np.testing.assert_array_equal(np.load(os.path.join(self.out, file)), expected)
            if freeze:
                self.replays()
        self.assertEqual(capture.saved_model(self.model, {}, self.out, atol=.5)["atol"], {"a/odd key": .5, "b": .5, "z": .5})
        with self.assertRaisesRegex(capture.CaptureError, "no input of 'serving_default' named 'alpha': there is Alpha, zeta"):
            capture.saved_model(self.model, {}, self.out, steps=[{"alpha": X}])

    # Where an input and an output have one key, the feeds' tensors and the fetches' are told apart.
    def test_key_of_input_and_output(self):
        self.save(tf.function(lambda x: {"x": x * 2}), tf.TensorSpec([1, 3], name="x"))
        case = capture.saved_model(self.model, {"x": X}, self.out)
        self.assertEqual(set(case["tensors"]), {"feeds", "fetches"})
        np.testing.assert_array_equal(self.replays()[3]["x"], X * 2)

    # The same of TensorFlow 1, where two keys may name one output, and none may share an input.
    def test_keys_of_session(self):
        def save(folder, inputs):
            with tf.Graph().as_default() as g, tf.compat.v1.Session(graph=g) as sess:
                x = tf.compat.v1.placeholder(tf.float32, [None, 3], name="serving/x")
                w = tf.compat.v1.get_variable("w", initializer=np.float32(3))
                y = tf.multiply(x, w, name="y")
                sess.run(tf.compat.v1.global_variables_initializer())
                info = tf.compat.v1.saved_model.build_tensor_info
                builder = tf.compat.v1.saved_model.Builder(folder)
                signature = tf.compat.v1.saved_model.build_signature_def(
                    {key: info(x) for key in inputs}, {"score": info(y), "again": info(y)}, "tensorflow/serving/predict")
                builder.add_meta_graph_and_variables(sess, ["serve"], {"serving_default": signature})
                builder.save()
        save(self.model, ["features"])
        for freeze in (True, False):
            case = capture.saved_model(self.model, {"features": X}, self.out, freeze=freeze, steps=[{"features": X * 2}])
            self.assertEqual(case["tensors"], {"features": "serving/x:0", "again": "y:0", "score": "y:0"})
            self.assertEqual((list(case["feeds"]), list(case["steps"][0]["fetches"])), (["features"], ["again", "score"]))
            np.testing.assert_array_equal(read(self.out)[3]["score"], X * 3)
        save(self.model + "2", ["left", "right"])
        with self.assertRaisesRegex(capture.CaptureError, "inputs 'left' and 'right' of 'serving_default' are the same tensor"):
            capture.saved_model(self.model + "2", {}, self.out)

    # A result that is not the same again is told by its key.
    def test_differs_by_key(self):
        self.save(tf.function(lambda x: {"noise": x + tf.random.uniform([3])}), tf.TensorSpec([1, 3], name="x"))
        with self.assertRaisesRegex(capture.CaptureError, "output 'noise' differs"):
            capture.saved_model(self.model, {"x": X}, self.out)

    # Uncapturable models: one line that says what and why, exit code 2, no folder.
    def test_errors(self):
        self.save(tf.function(lambda s: {"n": tf.strings.length(s)}), tf.TensorSpec([None], tf.string, name="s"))
        for args, text in ((["/nowhere"], "/nowhere"), ([self.model, "--signature", "f"], "there is"),
                           ([self.model], "pass it with --feed s=FILE.npy"),
                           ([self.model, "--feed", "t=x"], "x: "), ([self.model, "--feed", "t"], "NAME=FILE.npy")):
            code, _, err = self.command(*args, "-o", self.out)
            self.assertEqual(code, 2)
            self.assertRegex(err, r"\Acapture.py: [^\n]*\n\Z")
            self.assertIn(text, err)
        for fn, args, text in ((tf.random.normal, [np.array([2])], "differs when the graph is run again"),
                               (lambda x: x + np.ones(7), [X], "cannot be traced"),
                               (lambda x: x, [X, X], "do not fit"), (lambda x: None, [X], "returns nothing")):
            with self.assertRaisesRegex(capture.CaptureError, text):
                capture.function(fn, args, self.out)
        self.assertFalse(os.path.exists(self.out))


if __name__ == "__main__":
    unittest.main()
