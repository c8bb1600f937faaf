"""`place SAVED_MODEL` says what TensorFlow's log of placements says when the signature runs: node by node, in its order.

The models run over four CPUs: nested functions, branches and loops, variables and tables on devices, colocation, calls that stay.
"""
import fnmatch
import os
import re
import subprocess
import sys
import tempfile
import unittest

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "0"
import tensorflow as tf

GRAPNEL = os.environ.get("GRAPNEL", "build/release/bin/grapnel")
STAYS = {"_noinline": True}
X = tf.TensorSpec([2, 2], tf.float32, name="x")
N = tf.TensorSpec([], tf.int32, name="n")


class Nested(tf.Module):
    """A function called in three places, on devices that differ."""

    @tf.function
    def inner(self, x):
        with tf.device("/cpu:1"):
            y = tf.sin(x, name="sine")
        return y + 1.

    @tf.function
    def middle(self, x):
        with tf.device("/cpu:2"):
            a = self.inner(x)
        return self.inner(a) * 2.

    @tf.function(input_signature=[X])
    def serve(self, x):
        return {"y": self.middle(x) + self.inner(x)}


class Control(tf.Module):
    """Branches and loops over devices, one in the other."""

    @tf.function(input_signature=[X])
    def serve(self, x):
        if tf.reduce_sum(x) > 2.:
            with tf.device("/cpu:1"):
                y = tf.exp(x)
        else:
            y = tf.negative(x)
        i = tf.constant(0)
        while i < 3:
            with tf.device("/cpu:2"):
                y = tf.sqrt(y + 1.)
            if tf.reduce_max(y) > 1.:
                y = y - 0.5
            i += 1
        return {"y": y}


class Variables(tf.Module):
    """Variables that were made on devices, written and read by nodes on others."""

    def __init__(self):
        with tf.device("/cpu:1"):
            self.v = tf.Variable(tf.ones([2, 2]), name="v")
        with tf.device("/cpu:2"):
            self.w = tf.Variable(tf.ones([2, 2]), name="w")
        self.c = tf.Variable(0., name="c")

    @tf.function(input_signature=[X])
    def serve(self, x):
        self.c.assign_add(1.)
        with tf.device("/cpu:3"):
            y = tf.matmul(x, self.v)
        z = tf.matmul(y, self.w)
        self.w.assign_add(z)
        return {"y": z + self.c, "w": self.w.read_value()}


class Colocated(tf.Module):
    """Colocation in a function and with its argument, shapes and sizes, an argument handed straight on."""

    @tf.function
    def inner(self, p, q):
        with tf.device("/cpu:1"):
            r = tf.cos(p, name="r")
        with tf.compat.v1.get_default_graph().colocate_with(r.op):
            s = tf.add(r, q, name="s")
        return tf.reshape(s, tf.shape(p)), tf.size(q)

    @tf.function(input_signature=[X])
    def serve(self, x):
        with tf.device("/cpu:2"):
            a = tf.nn.relu(x, name="a")
        b = tf.raw_ops.Tanh(x=x)
        with tf.compat.v1.get_default_graph().colocate_with(a.op):
            c = tf.sigmoid(b, name="c")
        u, n = self.inner(c, a)
        return {"u": u, "n": n, "x": tf.identity(x)}


class Stays(tf.Module):
    """Calls that stay: on two devices, with unread results, with a handle as result."""

    def __init__(self):
        self.v = tf.Variable(tf.ones([2, 2]))

    @tf.function(experimental_attributes=STAYS)
    def several(self, a, n):
        with tf.device("/cpu:1"):
            b = a * 2. + self.v
        with tf.device("/gpu:0"):
            c = a + 1.
        with tf.device("/job:localhost/cpu:*"):
            d = tf.cos(a)
        return b, c, d, a, n + 1

    @tf.function(experimental_attributes=STAYS)
    def pick(self, a):
        return self.v.handle, a + 1.

    @tf.function
    def noise(self, a):
        with tf.device("/cpu:3"):
            return a + tf.random.uniform([2, 2])

    @tf.function(input_signature=[X, N])
    def serve(self, x, n):
        with tf.device("/cpu:3"):
            r = self.several(x, n)
        with tf.device("/gpu:1"):
            q = self.several(r[0], r[4])
        with tf.device("/cpu:1"):
            handle, b = self.pick(self.noise(q[1]))
        y = tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)
        tf.print(y)
        return {"b": q[0], "y": tf.matmul(y, b), "d": q[2], "x": x, "n": q[4]}


class Deep(tf.Module):
    """All of it in a loop: calls, branches, a switch of cases, a tensor array, a variable that is written."""

    def __init__(self):
        with tf.device("/cpu:1"):
            self.v = tf.Variable(tf.ones([2, 2]), name="v")

    @tf.function
    def half(self, x):
        with tf.device("/cpu:2"):
            return x / 2.

    @tf.function
    def step(self, x, i):
        with tf.device("/cpu:3"):
            x = x * 0.5
        cases = [lambda: x + 1., lambda: x * self.v, lambda: self.half(x)]
        return tf.cond(tf.equal(i % 2, 0), lambda: self.half(x), lambda: tf.switch_case(i, cases))

    @tf.function(input_signature=[X, N])
    def serve(self, x, n):
        made = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        for i in tf.range(n):
            x = self.step(x, i)
            j = 0
            while j < 2:
                with tf.device("/cpu:1"):
                    x = x + tf.cast(j, tf.float32)
                self.v.assign_add(x)
                j += 1
            made = made.write(i, x)
        return {"s": made.stack(), "x": x}


class Gradient(tf.Module):
    """A step of training: gradients of branches and loops over devices."""

    def __init__(self):
        self.v = tf.Variable(tf.ones([2, 2]), name="v")

    @tf.function
    def net(self, x):
        with tf.device("/cpu:2"):
            h = tf.tanh(x @ self.v)
        for _ in tf.range(3):
            with tf.device("/cpu:3"):
                h = h * tf.sigmoid(h)
            if tf.reduce_sum(h) > 0.:
                h = h + x
        return h

    @tf.function(input_signature=[X])
    def serve(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(self.net(x)**2)
        gradient = tape.gradient(loss, self.v)
        self.v.assign_sub(gradient * 0.1)
        return {"loss": loss, "gradient": gradient}


MODELS = (Nested, Control, Variables, Colocated, Stays, Deep, Gradient)


def save(folder):
    for model in MODELS:
        module = model()
        tf.saved_model.save(module, os.path.join(folder, model.__name__), signatures=module.serve.get_concrete_function(),
                            options=tf.saved_model.SaveOptions(experimental_variable_policy="save_variable_devices"))


def run(folder, policy):
    """Runs each signature; stderr has the log, with a line before and after each."""
    tf.debugging.set_log_device_placement(True)
    options = tf.saved_model.LoadOptions(experimental_variable_policy=policy) if policy else None
    for model in MODELS:
        loaded = tf.saved_model.load(os.path.join(folder, model.__name__), options=options)
        serve = loaded.signatures["serving_default"]
        feeds = {"x": tf.ones([2, 2]), "n": tf.constant(3)}
        print("begin", model.__name__, file=sys.stderr, flush=True)
        results = serve(**{key: feeds[key] for key in serve.structured_input_signature[1]})
        for value in results.values():
            value.numpy()  # waits
        print("end", model.__name__, file=sys.stderr, flush=True)


def node_lines(text):
    return re.findall(r"^(?:\w\d{4} .*placer\.cc:\d+\] )?(\S+: \(\w+\): /job:\S+)$", text, re.M)


class PlacementTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        subprocess.run([sys.executable, __file__, "save", cls.folder.name], check=True, capture_output=True)

    def place(self, model, *flags):
        path = os.path.join(self.folder.name, model)
        done = subprocess.run([GRAPNEL, "place", path, "--devices", "cpu:4", *flags], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def check_lines(self, lines, theirs):
        """The lines are the same, but for the names: a name may be the end of TensorFlow's, perhaps with * for a part; in a function
        it may begin with the path of calls to it."""
        parts = [[re.fullmatch(r"(\S+)(: \(\w+\): \S+)", line).groups() for line in one] for one in (lines, theirs)]
        self.assertEqual([rest for _, rest in parts[0]], [rest for _, rest in parts[1]])
        for (name, _), (whole, _) in zip(*parts):
            is_end, is_path = fnmatch.fnmatchcase("/" + whole, "*/" + name), name.endswith("/" + whole)
            self.assertTrue(is_end or is_path, f"{name} is not {whole}")

    def compare(self, policy, *flags):
        command = [sys.executable, __file__, "run", self.folder.name, policy]
        log = subprocess.run(command, check=True, capture_output=True, text=True).stderr
        runs = dict(re.findall(r"^begin (\w+)\n(.*?)^end ", log, re.M | re.S))
        for model in MODELS:
            with self.subTest(model=model.__name__, policy=policy):
                theirs = node_lines(runs[model.__name__])
                self.assertGreater(len(theirs), 20)
                self.check_lines(node_lines(self.place(model.__name__, *flags)), theirs)
        return log

    def test_as_logged(self):
        log = self.compare("")
        # The log of the whole program, of all models, loading and eager ops, goes on each graph.
        path = os.path.join(self.folder.name, "all.log")
        with open(path, "w", encoding="utf-8") as f:
            f.write(log)
        for model in MODELS:
            with self.subTest(model=model.__name__):
                said = self.place(model.__name__, "--log", path)
                for spoken, nodes, other in re.findall(r"speaks of (\d+) nodes of (\d+); (\d+) of them on another", said):
                    self.assertEqual((spoken, other), (nodes, "0"), said)
                self.assertRegex(said, r"\nnot of this model: [\d,]+ lines of other graphs, [\d,]+ eager ops\n")

    def test_variables_where_they_were_saved(self):
        self.compare("save_variable_devices", "--saved-variable-devices")

    def test_explains_each_instance(self):
        said = self.place("Nested", "--explain", "sine")
        self.assertIn("'sine' is 3 nodes here\n", said)
        self.assertIn("'PartitionedCall/PartitionedCall/PartitionedCall_1/sine' (Sin) runs on", said)


if __name__ == "__main__":
    if sys.argv[1:2] in (["save"], ["run"]):
        cpu, = tf.config.list_physical_devices("CPU")
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 4)
        {"save": save, "run": run}[sys.argv[1]](*sys.argv[2:])
    else:
        unittest.main()
