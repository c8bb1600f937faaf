"""SavedModels of several kinds: signatures run as in TensorFlow, variables carried from run to run; optimized or frozen they give the same."""
import os
import subprocess
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf

GRAPNEL = os.environ.get("GRAPNEL", "build/release/bin/grapnel")
L, tf1 = keras.layers, tf.compat.v1


def floats(*shape, seed=0):
    return np.random.RandomState(seed).randn(*shape).astype("f")


def network(path):
    """A convolutional network as Keras exports it: two signatures of one function, statistics that are not trained."""
    i = keras.Input((12, 12, 3), name="picture")
    x = L.Conv2D(4, 3, use_bias=False)(i)
    x = L.ReLU()(L.BatchNormalization()(x))
    model = keras.Model(i, L.Dense(5, "softmax")(L.GlobalAveragePooling2D()(x)))
    model.export(path, verbose=False)
    return [("serving_default", {"picture": floats(2, 12, 12, 3)})]


def trainer(path):
    """A Keras model and its optimizer held by a tf.Module: the saver knows none of their variables."""
    i = keras.Input((6,), dtype="int32")
    model = keras.Model(i, L.Dense(3)(L.GlobalAveragePooling1D()(L.Embedding(20, 4)(i))))
    module, optimizer = tf.Module(), keras.optimizers.Adam(0.1)
    optimizer.build(model.trainable_variables)
    module.model, module.optimizer = model, optimizer
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function(input_signature=[tf.TensorSpec([None, 6], tf.int32, "x"), tf.TensorSpec([None], tf.int32, "y")])
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return {"loss": loss}

    @tf.function(input_signature=[tf.TensorSpec([None, 6], tf.int32, "x")])
    def predict(x):
        return {"logits": model(x, training=False)}

    tf.saved_model.save(module, path, signatures={"step": step, "serving_default": predict})
    r = np.random.RandomState(3)
    x, y = r.randint(0, 20, (8, 6)).astype("i"), r.randint(0, 3, 8).astype("i")
    return [("serving_default", {"x": x})] + [("step", {"x": x, "y": y})] * 3 + [("serving_default", {"x": x})]


class Counter(tf.Module):
    """Branches and a loop that read and write variables; both are called of the object too, not of signatures alone."""

    def __init__(self):
        super().__init__()
        self.w, self.calls = tf.Variable(floats(4, 4), name="w"), tf.Variable(0, name="calls")

    @tf.function(input_signature=[tf.TensorSpec([None, 4], name="x"), tf.TensorSpec([], tf.bool, name="grow")])
    def __call__(self, x, grow):
        def bigger():
            self.calls.assign_add(1)
            return tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.tanh(v @ self.w)), (0, x))[1]
        y = tf.cond(grow, bigger, lambda: x - 1. + 1.)
        return {"y": y, "calls": self.calls.read_value()}


def counter(path):
    module = Counter()
    tf.saved_model.save(module, path, signatures=module.__call__)
    return [("serving_default", {"x": floats(3, 4), "grow": np.array(grow)}) for grow in (True, False, True)]


def old(path):
    """TensorFlow 1: the main graph is the model, with a table and a loop."""
    with tf.Graph().as_default(), tf1.Session() as session:
        words, n = tf1.placeholder(tf.string, [None], "words"), tf1.placeholder(tf.int32, [], "n")
        table = tf1.lookup.StaticHashTable(
            tf1.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64)), 2)
        w = tf1.get_variable("net/w", [3, 4], initializer=tf1.random_normal_initializer(seed=1))
        h = tf.nn.embedding_lookup(w, table.lookup(words))
        h = tf.while_loop(lambda i, h: i < n, lambda i, h: (i + 1, tf.tanh(h) * 2. * .5), [0, h])[1]
        out = tf.identity(h, "out")
        session.run([tf1.global_variables_initializer(), tf1.tables_initializer()])
        info = tf1.saved_model.build_tensor_info
        signature = tf1.saved_model.build_signature_def({"words": info(words), "n": info(n)}, {"out": info(out)}, "predict")
        builder = tf1.saved_model.Builder(path)
        builder.add_meta_graph_and_variables(session, ["serve"], {"predict": signature}, main_op=tf1.tables_initializer())
        builder.save()
    return [("predict", {"words": np.array([b"a", b"z"]), "n": np.int32(2)})]


class DeployedModelTest(unittest.TestCase):
    def setUp(self):
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        self.folder = tmp.name

    def made(self, make):
        """Path, calls, and what TensorFlow answers to them, one after the other."""
        keras.utils.set_random_seed(1)
        keras.backend.clear_session()
        path = os.path.join(self.folder, make.__name__)
        calls = make(path)
        return path, calls, self.answers(path, calls)

    def answers(self, path, calls):
        loaded = tf.saved_model.load(path)
        call = lambda signature, feeds: loaded.signatures[signature](**{k: tf.constant(v) for k, v in feeds.items()})
        return [{k: v.numpy() for k, v in call(*one).items()} for one in calls]

    def grapnel(self, *arguments, status=0):
        environment = {k: v for k, v in os.environ.items() if k != "TF_CPP_MIN_LOG_LEVEL"}  # it would hide warnings
        done = subprocess.run([GRAPNEL, *arguments], capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout + done.stderr

    def run_call(self, model, signature, feeds, keys, more=()):
        arguments = ["run", model, *(["--signature", signature] if signature else [])]
        for key, value in feeds.items():
            np.save(f"{self.folder}/{key}.npy", value)
            arguments += ["--feed", f"{key}={self.folder}/{key}.npy"]
        for key in keys:
            arguments += ["--fetch", f"{key}={self.folder}/got_{key}.npy"]
        self.grapnel(*arguments, *more)
        return {key: np.load(f"{self.folder}/got_{key}.npy") for key in keys}

    def same(self, got, want):
        self.assertEqual(set(got), set(want))
        for key, value in want.items():
            np.testing.assert_allclose(got[key], value, rtol=1e-4, atol=1e-5, err_msg=key)

    def test_runs_with_its_variables(self):
        for make in (network, trainer, counter, old):
            with self.subTest(make.__name__):
                path, calls, wanted = self.made(make)
                before = []
                for i, ((signature, feeds), want) in enumerate(zip(calls, wanted)):
                    after = f"{self.folder}/after_{i}"
                    self.same(self.run_call(path, signature, feeds, want, [*before, "--save-variables", after]), want)
                    before = ["--variables", after]
                # A checkpoint that grapnel wrote is one of TensorFlow's.
                self.assertTrue(tf.train.load_checkpoint(after).get_variable_to_shape_map())

    def test_reads_a_checkpoint_of_objects(self):
        module = Counter()
        tf.saved_model.save(module, self.folder + "/model", signatures=module.__call__)
        module.w.assign(floats(4, 4, seed=9))
        tf.train.Checkpoint(held=module).write(self.folder + "/other")
        feeds = {"x": floats(3, 4), "grow": np.array(True)}
        got = self.run_call(self.folder + "/model", "", feeds, ["y"], ["--variables", self.folder + "/other"])
        self.same(got, {"y": module(*map(tf.constant, feeds.values()))["y"].numpy()})

    def test_optimized_is_a_saved_model(self):
        for make in (network, trainer, counter, old):
            with self.subTest(make.__name__):
                path, calls, wanted = self.made(make)
                out = path + "_optimized"
                self.grapnel("opt", path, "-o", out)
                for got, want in zip(self.answers(out, calls), wanted):
                    self.same(got, want)
                self.assertLess(self.nodes(out), self.nodes(path))
                with open(out + "/saved_model.pb", "rb") as file:
                    first = file.read()
                self.grapnel("opt", path, "-o", out)
                with open(out + "/saved_model.pb", "rb") as file:
                    self.assertEqual(file.read(), first)

    def nodes(self, path):
        """Of the functions that signatures run, once inlined; in a model of TensorFlow 1, of the graph that they need."""
        loaded, count = tf.saved_model.load(path), 0
        for function in loaded.signatures.values():
            definitions = {f.signature.name: f for f in function.graph.as_graph_def().library.function}
            todo, seen = [list(function.graph.as_graph_def().node)], set()
            while todo:
                for node in todo.pop():
                    count += 1
                    for attr in node.attr.values():
                        for name in [attr.func.name] + [f.name for f in attr.list.func]:
                            if name in definitions and name not in seen:
                                seen.add(name)
                                todo.append(list(definitions[name].node_def))
        return count

    def test_objects_keep_their_functions(self):
        """Gradients are taken through what a loaded object has: no fused op may be in it."""
        path, _, _ = self.made(network)
        self.grapnel("opt", path, "-o", path + "_optimized")
        loaded = tf.saved_model.load(path + "_optimized")
        x = tf.constant(floats(2, 12, 12, 3))
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = loaded.serve(x)
        self.assertIsNotNone(tape.gradient(y, x))

    def test_frozen_is_a_graph_without_variables(self):
        for make, signature in ((network, ""), (trainer, "serving_default"), (old, "predict")):
            with self.subTest(make.__name__):
                path, calls, wanted = self.made(make)
                out = path + ".pb"
                self.grapnel("opt", path, "--freeze", "-o", out, *(["--signature", signature] if signature else []))
                graph = tf1.GraphDef()
                with open(out, "rb") as file:
                    graph.ParseFromString(file.read())
                self.assertFalse([n.name for n in graph.node if "Variable" in n.op or n.op == "VarHandleOp"])
                if make is old:
                    continue  # its table is not in the graph
                key = list(wanted[0])[0]
                fetch = [n.name for n in graph.node if n.name.startswith("StatefulPartitionedCall") and "/" not in n.name][0]
                feed = [n.name for n in graph.node if n.op == "Placeholder"][0]
                with tf.Graph().as_default() as g, tf1.Session(graph=g) as session:
                    tf.import_graph_def(graph, name="")
                    got = session.run(fetch + ":0", {feed + ":0": list(calls[0][1].values())[0]})
                np.testing.assert_allclose(got, wanted[0][key], rtol=1e-4, atol=1e-5)

    def test_what_is_written_cannot_be_frozen(self):
        path, _, _ = self.made(counter)
        said = self.grapnel("opt", path, "--freeze", "-o", path + ".pb", status=2)
        self.assertRegex(said, "variable 'calls' cannot be frozen: node '.*' .* writes the variable")

    def test_where_it_may_not_be_written(self):
        path, _, _ = self.made(network)
        os.mkdir(self.folder + "/other")
        with open(self.folder + "/other/notes.txt", "w") as file:
            file.write("mine")
        for out, why in ((path, "is the model itself"), (path + "/inside", "is the model itself or inside it"),
                         (self.folder + "/other", "contains 'notes.txt'"), (self.folder + "/other/notes.txt", "is a file")):
            self.assertIn(why, self.grapnel("opt", path, "-o", out, status=2))

    def test_plain_graph_says_what_it_lacks(self):
        path, _, _ = self.made(network)
        said = self.grapnel("opt", path, "-o", path + ".pb")
        self.assertIn("a GraphDef cannot hold the values of", said)
        self.assertIn("assumed to be on /device:CPU:0", said)


if __name__ == "__main__":
    unittest.main()
