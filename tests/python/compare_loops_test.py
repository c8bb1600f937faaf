"""`compare` of a graph whose loops and branches are functions with the same one made of Enter, Merge and Switch, by TensorFlow's lowering and by its first version.

The op that is put wrong is named, with the iterations it was in on both sides, whichever of the two graphs is A.
"""
import json
import os
import subprocess
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

GRAPNEL = os.environ.get("GRAPNEL", "build/release/bin/grapnel")
v1 = tf.compat.v1
X = np.array([1, 0.5], "f4")


def grow(y):
    """Doubles: Relu6 in the place of this Relu shows from the third time on."""
    return tf.nn.relu(y * 2.0)


def plain_loop(x):
    return tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, grow(y)), [0, x])[1]


def nested_loops(x):
    def body(i, y):
        y = tf.while_loop(lambda j, z: j < 2, lambda j, z: (j + 1, grow(z)), [0, y])[1]
        return i + 1, y + 0.25
    return tf.while_loop(lambda i, y: i < 3, body, [0, x])[1]


def two_loops(x):
    y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.tanh(y) + 0.5), [0, x])[1]
    return tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, grow(y)), [0, y])[1]


def loop_in_branch(x):
    return tf.cond(tf.reduce_sum(x) > 0, lambda: plain_loop(x + 0.0), lambda: x - 1.0)


def branch_in_loop(x):
    def body(i, y):
        y = tf.cond(tf.equal(i % 2, 0), lambda: tf.sqrt(y + 3.0) + 1.0, lambda: grow(y) + 1.0 - 0.5)
        return i + 1, y
    return tf.while_loop(lambda i, y: i < 6, body, [0, x])[1]


def both_branches_alike(x):
    """The names in both branches are the same: each is what it is in its own."""
    def body(i, y):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: y * 3.0 + 1.0, lambda: grow(y) * 0.5 + 2.0)
    return tf.while_loop(lambda i, y: i < 4, body, [0, x])[1]


def scopes(x):
    with tf.name_scope("model"):
        with tf.name_scope("body"):
            def body(i, y):
                with tf.name_scope("cond/inner"):
                    y = grow(y)
                with tf.name_scope("body"):
                    return i + 1, y + 0.125
            return tf.while_loop(lambda i, y: i < 4, body, [0, x], name="then")[1]


def passed_through(x):
    """Of the loop's variables some stay, two begin alike, two change places."""
    scale, shift = x * 0.0 + 1.0, tf.constant([0.5, 0.5])
    def body(i, a, b, scale, shift, again):
        return i + 1, b, grow(a) * scale + shift, scale, shift, again + 1.0
    y = tf.while_loop(lambda i, *_: i < 6, body, [0, x, x, scale, shift, shift])
    return y[1] + y[2] + y[5]


def condition_computes(x):
    """The condition has ops of the names that the body has."""
    return tf.while_loop(lambda i, y: tf.reduce_sum(y * 2.0 + 1.0) < 28.0, lambda i, y: (i + 1, grow(y) + 1.0), [0, x])[1]


def element_lists(x):
    def body(i, y, all):
        y = grow(y)
        return i + 1, y, all.write(i, y)
    all = tf.TensorArray(tf.float32, size=4, element_shape=[2])
    return tf.reduce_sum(tf.while_loop(lambda i, *_: i < 4, body, [0, x, all])[2].stack())


def many_branches(x):
    def body(i, y):
        y = tf.switch_case(i % 3, [lambda: y + 1.0, lambda: y * 1.0, lambda: grow(y) + 0.5])
        return i + 1, y
    return tf.while_loop(lambda i, y: i < 9, body, [0, x])[1]


def three_deep(x):
    def outer(i, y):
        def middle(j, y):
            y = tf.cond(j > 0, lambda: tf.while_loop(lambda k, z: k < 2, lambda k, z: (k + 1, grow(z)), [0, y])[1], lambda: y + 0.125)
            return j + 1, y
        return i + 1, tf.while_loop(lambda j, y: j < 2, middle, [0, y])[1]
    return tf.while_loop(lambda i, y: i < 2, outer, [0, x])[1]


def branch_alone(x):
    return tf.cond(tf.reduce_sum(x) > 0, lambda: grow(x * 4.0) + 1.0, lambda: x * 2.0 + 1.0)


# By model the iterations in which Relu6 shows first, outermost first.
CASES = {
    plain_loop: [2], nested_loops: [1, 0], two_loops: [2], loop_in_branch: [2], branch_in_loop: [3], both_branches_alike: [1], scopes: [2],
    passed_through: [4], condition_computes: [2], element_lists: [2], many_branches: [5], three_deep: [1, 1, 0], branch_alone: [],
}


def functions_of(model):
    """As tf.function has it, then with variables frozen and loops lowered."""
    function = tf.function(lambda x: tf.identity(model(x), "y"), input_signature=[tf.TensorSpec([2], tf.float32, "x")])
    concrete = function.get_concrete_function()
    return [convert_variables_to_constants_v2(concrete, lower_control_flow=lower).graph.as_graph_def() for lower in (False, True)]


def session_graph(model, has_functions):
    (v1.enable_control_flow_v2 if has_functions else v1.disable_control_flow_v2)()
    try:
        with tf.Graph().as_default() as graph:
            tf.identity(model(v1.placeholder(tf.float32, [2], name="x")), "y")
        return graph.as_graph_def()
    finally:
        v1.enable_control_flow_v2()


def with_fault(graph):
    changed = type(graph).FromString(graph.SerializeToString())
    nodes = [n for body in [changed, *changed.library.function] for n in (body.node if body is changed else body.node_def) if n.op == "Relu"]
    assert len(nodes) == 1, [n.name for n in nodes]
    nodes[0].op = "Relu6"
    return changed


def iterations(calls):
    return [c["iteration"] for c in calls if c["iteration"] is not None]


class CompareLoops(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.feed = os.path.join(self.folder, "x.npy")
        np.save(self.feed, X)

    def compare(self, a, b):
        paths = []
        for name, graph in (("a.pb", a), ("b.pb", b)):
            paths.append(os.path.join(self.folder, name))
            with open(paths[-1], "wb") as file:
                file.write(graph.SerializeToString())
        run = subprocess.run([GRAPNEL, "compare", *paths, "--feed", "x=" + self.feed, "--fetch", "y", "--json", "--timeout", "20"], capture_output=True, text=True)
        self.assertIn(run.returncode, (0, 1), run.stderr)
        return json.loads(run.stdout)

    def check(self, left, right, expected, least):
        for a, b in ((left, right), (right, left)):
            well = self.compare(a, b)
            self.assertEqual(well["verdict"], "agree", well["first"])
            ran = sum(n.op in ("Relu", "Mul", "AddV2", "Tanh", "Sqrt", "Sub") for n in a.node)
            self.assertGreaterEqual(well["paired"], max(least, ran), well)
            found = self.compare(a, with_fault(b))
            first = found["first"]
            self.assertEqual([first["op"], first["op_b"]], ["Relu", "Relu6"], first["text"])
            self.assertEqual([iterations(first["calls"]), iterations(first["calls_b"])], [expected, expected], first["text"])
            self.assertTrue(all(i["agreement"] == "same" for i in first["inputs"]), first)

    def test_lowered_by_tensorflow(self):
        for model, expected in CASES.items():
            with self.subTest(model.__name__):
                self.check(*functions_of(model), expected, 5)

    def test_first_version_of_loops(self):
        for model, expected in CASES.items():
            with self.subTest(model.__name__):
                self.check(session_graph(model, True), session_graph(model, False), expected, 5)

    def test_one_of_each(self):
        """But for Case, which TensorFlow lowers in the one and leaves as it is in the other: what reads its result is named."""
        for model, expected in CASES.items():
            for graph in functions_of(model):
                with self.subTest(model.__name__):
                    session = session_graph(model, False)
                    if model is not many_branches:
                        self.check(graph, session, expected, 5)
                        continue
                    self.assertEqual(self.compare(graph, session)["verdict"], "agree")
                    self.assertIn("has no counterpart in A", self.compare(graph, with_fault(session))["first"]["text"])


if __name__ == "__main__":
    unittest.main()
