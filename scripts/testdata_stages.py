"""Makes testdata/stages/: dumps that TensorFlow wrote for small programs, and the expected findings at each stage.

needs: tensorflow-cpu==2.21.0        usage: scripts/testdata_stages.py [OUT_DIR [NAME...]]

NAME.tar.xz has the dumps and the log of a program. NAME.json lists for each dump: the functions that it may belong to, the previous dump
of the same function, new and removed names, what each node was merged into, and which nodes became constants. All of this is derived
from names and inputs in the dumps, and from the log; none of it comes from grapnel. Three kinds: several_* (Grappler's runs of several
functions), kept_* (what passes do to one function), opened_* (calls that are opened).
"""
import collections
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "programs"))


def several_pipeline(tf):
    """Functions of a dataset, in double precision and strings."""
    words = tf.data.Dataset.from_tensor_slices(["a b", "c", "d e f"]).map(lambda s: tf.size(tf.strings.split(s)) * 2 - 1)
    halves = words.map(lambda n: tf.cast(n, tf.float64) / 2.0 + 0.25).filter(lambda x: x * 1.0 > -x)
    total = halves.scan(tf.constant(0.0, tf.float64), lambda state, x: (state + x * x, state - x * 3.0))
    return total.reduce(tf.constant(0.0, tf.float64), lambda a, b: tf.maximum(a, b) + tf.abs(a - b) * 0.5)


def several_predictions(tf):
    """Keras: two models with a name in common, each of which predicts."""
    for units in (3, 5):
        model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(units, "gelu", name="head")])
        model.predict(tf.ones([6, 4]), verbose=0)


def several_traces(tf):
    """One function traced three times, and a method called like it."""
    @tf.function
    def rate(x, plus=True):
        y = tf.reduce_sum(x * x, -1) + tf.reduce_sum(x * x, -1)
        return (y + x[0, 0] if plus else y - x[0, 0]) * 2

    class Meter:
        @tf.function
        def rate(self, x):
            return tf.cumsum(x) + tf.cumsum(x) - 1

    rate(tf.ones([2, 3], tf.int64))
    rate(tf.ones([4, 3], tf.int64))
    rate(tf.ones([2, 3], tf.int64), plus=False)
    Meter().rate(tf.constant([1, 2, 3]))


def several_sessions(tf):
    """TensorFlow 1: two graphs and three sets of fetches, none of them a function."""
    for scope in ("tower", "head"):
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            with tf.name_scope(scope):
                x = tf.compat.v1.placeholder(tf.float32, [None, 4], name="x")
                y = tf.nn.relu(x * 2.0 + 1.0) * tf.nn.relu(x * 2.0 + 1.0)
                z = tf.exp(y) - tf.exp(y + 0.0)
            session.run(y, {x: [[1, 2, 3, 4]]})
            if scope == "head":
                session.run(z, {x: [[1, 2, 3, 4]]})


def several_loops(tf):
    """A loop and a condition, kept as functions of their own, beside the function that calls them."""
    @tf.function(autograph=False)
    def settle(x):
        def body(i, v):
            return i + 1, tf.tanh(v) * tf.tanh(v) + tf.cast(i, tf.float16)

        _, v = tf.while_loop(lambda i, v: i < 4, body, (0, x))
        return tf.cond(tf.reduce_sum(v) > 1, lambda: v - tf.reduce_mean(v), lambda: v + tf.reduce_max(v * 1.0))

    @tf.function
    def twice(x):
        return settle(x) + settle(x + 1)

    settle(tf.ones([3], tf.float16))
    twice(tf.ones([3], tf.float16))


def kept_twins(tf):
    """Equal nodes, some of which read each other in another order."""
    @tf.function
    def f(a, b):
        left, right = tf.sin(a) * tf.cos(b), tf.cos(b) * tf.sin(a)
        return tf.concat([left + right, right + left, tf.math.squared_difference(a, b), tf.math.squared_difference(a, b)], 0)

    f(tf.ones([2, 3], tf.float64), tf.ones([2, 3], tf.float64))


def kept_shapes(tf):
    """Arithmetic on shapes that becomes constants."""
    @tf.function
    def f(x):
        shape = tf.shape(x)
        rows = shape[0] * shape[1]
        flat = tf.reshape(x, tf.stack([rows, shape[2] // 2, 2]))
        scale = tf.cast(tf.fill([2], tf.rank(x)), tf.float32) * tf.constant([0.5, 0.25]) * 4.0
        return flat * scale + tf.zeros_like(flat)

    f(tf.ones([2, 3, 4]))


def kept_network(tf):
    """A convolution, a bias, an activation; a normalization in inference mode."""
    k, b = tf.Variable(tf.ones([3, 3, 2, 4])), tf.Variable(tf.zeros([4]))
    gamma = tf.Variable(tf.ones([4]))

    @tf.function
    def f(x):
        y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, k, 1, "SAME"), b))
        z, _, _ = tf.compat.v1.nn.fused_batch_norm(y, gamma, b, b, gamma, is_training=False)
        return tf.nn.max_pool2d(tf.nn.relu(z), 2, 2, "VALID")

    f(tf.ones([1, 6, 6, 2]))


def kept_words(tf):
    """Strings, a table, effects; control edges between them."""
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64)), -1)

    @tf.function
    def f(words):
        tf.debugging.assert_greater(tf.size(words), 0)
        low = tf.strings.lower(words)
        joined = tf.strings.join([low, tf.strings.lower(words)], "-")
        tf.print("seen", tf.size(joined) + 0)
        return table.lookup(low) + table.lookup(tf.strings.lower(words)), tf.identity(tf.identity(joined))

    f(tf.constant(["A", "B", "C"]))


def kept_transposes(tf):
    """Transposes and casts that cancel out, a chain of arithmetic, an unread branch."""
    @tf.function
    def f(x, y):
        t = tf.transpose(tf.transpose(x, [0, 2, 1]), [0, 2, 1])
        s = tf.add_n([t * y, t * y, x]) / 4.0
        tf.math.log(s + 7.0)
        u = -(-tf.cast(tf.cast(s, tf.float32), tf.float32))
        return tf.reshape(tf.reshape(u, [-1]), [3, 4]), tf.squeeze(tf.expand_dims(u, 0), 0)

    f(tf.ones([2, 3, 2]), tf.ones([2, 3, 2]))


def opened_nested(tf):
    """Three levels, the innermost called twice by the middle one."""
    @tf.function
    def double(x):
        return x + x

    @tf.function
    def quadruple(x):
        return double(double(x)) - 1

    @tf.function
    def program(x):
        return quadruple(x) * quadruple(x + 1)

    program(tf.constant([1, 2, 3], tf.int64))


def opened_gradient(tf):
    """Forward and backward functions of two layers."""
    v = tf.Variable([[0.5, 2.0], [1.0, 3.0]], dtype=tf.float64)

    @tf.function
    def scaled(x):
        return tf.tanh(tf.matmul(x, v))

    @tf.function
    def train(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(scaled(scaled(x)) ** 2)
        v.assign_sub(0.1 * tape.gradient(loss, v))
        return loss

    train(tf.ones([3, 2], tf.float64))


def opened_branches(tf):
    """Conditions and a Case whose branches call a function."""
    @tf.function
    def half(x):
        return x / 2

    @tf.function
    def pick(i, x):
        first = tf.cond(i > 0, lambda: half(x) + 1, lambda: half(half(x)))
        return tf.switch_case(i, [lambda: half(first), lambda: first * 3, lambda: first - x])

    pick(tf.constant(1), tf.constant([4.0, 6.0]))


def opened_loop(tf):
    """A loop in a loop, with a call in the inner body and one around both."""
    @tf.function
    def step(a, b):
        return tf.where(a > b, a - b, a + b)

    @tf.function
    def search(n):
        total = tf.constant(0)
        for i in tf.range(n):
            inner = i
            while inner > 0:
                total = step(total, inner)
                inner -= 2
        return total

    @tf.function
    def program(n):
        return search(n) + search(n + 1)

    program(tf.constant(4))


def opened_effects(tf):
    """Calls with effects: variables written, prints; a scope with odd characters around one."""
    count = tf.Variable(0, dtype=tf.int32)

    @tf.function
    def record(text):
        tf.print(text)
        return count.assign_add(tf.strings.length(text))

    @tf.function
    def program(text):
        with tf.name_scope("odd.name-1"):
            first = record(text)
        record(tf.strings.join([text, "!"]))
        return first, count.read_value()

    program(tf.constant("word"))


def opened_composed(tf):
    """A model called through a signature, as a function that a program wraps again."""
    class Model(tf.Module):
        def __init__(self):
            self.w = tf.Variable(tf.ones([2, 2]))

        @tf.function(input_signature=[tf.TensorSpec([None, 2])])
        def apply(self, x):
            return {"y": tf.matmul(x, self.w), "norm": tf.norm(x)}

    model = Model()
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(model, folder)
        loaded = tf.saved_model.load(folder)

        @tf.function
        def program(x):
            return loaded.signatures["serving_default"](x)["y"] + loaded.apply(x)["norm"]

        program(tf.ones([3, 2]))


PROGRAMS = {name: value for name, value in globals().items() if re.match("(several|kept|opened)_", name)}


def run(name, folder):
    """Dumps and log of a program."""
    dumps, log = os.path.join(folder, "dumps"), os.path.join(folder, "log.txt")
    os.makedirs(dumps)
    number = list(PROGRAMS).index(name)
    environment = os.environ | {
        "TF_DUMP_GRAPH_PREFIX": dumps, "TF_DUMP_GRAPH_NAME_FILTER": "*", "TF_DUMP_GRAPH_GROUPS": "main,graph_opt_pass",
        "TF_DUMP_GRAPH_FMT": ("BIN", "TXT")[number % 5 == 4], "TF_ENABLE_ONEDNN_OPTS": str(number % 2), "CUDA_VISIBLE_DEVICES": "",
        "TF_CPP_VMODULE": "dump_graph=1,meta_optimizer=4", "TF_CPP_MIN_LOG_LEVEL": "0", "PYTHONHASHSEED": "0"}
    with open(log, "w", encoding="utf-8") as out:
        subprocess.run([sys.executable, os.path.abspath(__file__), "--run", name], env=environment, stdout=out, stderr=subprocess.STDOUT,
                       check=True)
    return dumps, log


class Inputs:
    """Nodes of a dump's main graph with their ops and inputs, and its functions."""

    def __init__(self, path):
        from google.protobuf import text_format
        from tensorflow.core.framework import graph_pb2
        graph = graph_pb2.GraphDef()
        with open(path, "rb") as file:
            if path.endswith(".pb"):
                graph.ParseFromString(file.read())
            else:
                text_format.Merge(file.read(), graph)
        self.nodes = {n.name: n for n in graph.node}
        self.functions = {f.signature.name: f for f in graph.library.function}

    def bodies(self):
        return {name: {n.name for n in f.node_def} for name, f in self.functions.items()}

    def calls(self, node, path, prefixes):
        """(function, what its nodes' names begin with) for each function of a node that was opened as `path`."""
        if node.op in self.functions:
            return [(node.op, path)]
        if node.op in ("PartitionedCall", "StatefulPartitionedCall"):
            return [(node.attr["f"].func.name, path)]
        parts = {"then": node.attr["then_branch"].func, "else": node.attr["else_branch"].func} if node.op.endswith("If") else {}
        if node.op.endswith("While"):
            parts = {"cond": node.attr["cond"].func, "body": node.attr["body"].func}
        if node.op.endswith("Case"):
            parts = {f"branch{i}": f for i, f in enumerate(node.attr["branches"].list.func)}
        return [(f.name, prefix) for part, f in parts.items() for prefix in prefixes[f"{path}/{part}"]]

    def copies(self, opened):
        """{node of `opened`: FUNCTION/NODE} for what stands there in the place of calls, branches and loops of this graph."""
        prefixes, copies = collections.defaultdict(set), {}
        for name in opened.nodes:
            for found in re.finditer(r"/_\d+(?=/|$)", name):
                prefixes[name[:found.start()]].add(name[:found.end()])

        def walk(node, path):
            for function, prefix in self.calls(node, path, prefixes):
                for inner in self.functions[function].node_def:
                    copies[f"{prefix}/{inner.name}"] = f"{function}/{inner.name}"
                    walk(inner, f"{prefix}/{inner.name}")

        for name, node in self.nodes.items():
            walk(node, name)
        return {copy: body for copy, body in sorted(copies.items()) if copy in opened.nodes}


def merged(before, after):
    """{removed node: the one that all its readers read instead}, if the nodes show it."""
    into = collections.defaultdict(set)
    for name, node in after.nodes.items():
        was = before.nodes.get(name)
        if was is None or len(was.input) != len(node.input):
            continue
        lost = collections.Counter(was.input) - collections.Counter(node.input)
        got = collections.Counter(node.input) - collections.Counter(was.input)
        if len(lost) == len(got) == 1:
            (x,), (y,) = lost, got
            into[re.sub(r"^\^|:\d+$", "", x)].add(re.sub(r"^\^|:\d+$", "", y))
    return {x: y.pop() for x, y in sorted(into.items()) if x not in after.nodes and len(y) == 1}


def stage(before, now):
    """What case.json says of the step from one dump to the next."""
    says = {"new": sorted(now.nodes.keys() - before.nodes.keys()), "gone": sorted(before.nodes.keys() - now.nodes.keys())}
    for name in before.bodies().keys() & now.bodies().keys():
        x, y = before.bodies()[name], now.bodies()[name]
        says["new"] += sorted(f"{name}/{n}" for n in y - x)
        says["gone"] += sorted(f"{name}/{n}" for n in x - y)
    says["constant"] = sorted(n for n in now.nodes.keys() & before.nodes.keys()
                              if now.nodes[n].op == "Const" and before.nodes[n].op != "Const")
    return {key: value for key, value in says.items() if value}


def stages_of_runs(checked, graphs):
    """Yields (file, what is said of it) for all dumps of MetaOptimizer."""
    folder = checked.folder
    for i, run in enumerate(folder.runs):
        for file in run.files:
            befores = sorted(checked.right_befores(file), key=lambda f: (f is None, f))  # None: it may begin a story
            of, by_names = (sorted(owners & folder.functions()) for owners in folder.owners[i])
            says = {"of": of, "of_without_log": by_names, "before": befores}
            if befores[0]:
                before = graphs[befores[0]]
                says |= stage(before, graphs[file])
                if "common_subgraph_elimination" in file:
                    says["merged"] = merged(before, graphs[file])
            yield file, says


def stages_of_opening(checked, graphs):
    """As above, for the dump in which the calls of a graph are inlined."""
    for (graph, partition), files in checked.folder.series.items():
        at = next((i for i, f in enumerate(files) if "LowerFunctionalOps" in f), None)
        if partition or not at:
            continue
        before, now = graphs[files[at - 1]], graphs[files[at]]
        copies = before.copies(now)
        if copies:
            yield files[at], {"of": [graph], "of_without_log": [graph], "before": [files[at - 1]], "copies": copies} | stage(before, now)


def make(name, out):
    import check_stages
    import folder as programs
    with tempfile.TemporaryDirectory() as work:
        dumps, log = run(name, work)
        checked = check_stages.Checked(programs.Folder(dumps, log), [], with_log=True)
        graphs = {f: Inputs(os.path.join(dumps, f)) for f in checked.folder.files}
        stages = dict((stages_of_opening if name.startswith("opened_") else stages_of_runs)(checked, graphs))
        os.makedirs(out, exist_ok=True)
        pack(work, os.path.join(out, name + ".tar.xz"))
        with open(os.path.join(out, name + ".json"), "w", encoding="utf-8") as to:
            json.dump(stages, to, indent=1, sort_keys=True)
            to.write("\n")
    print(name, len(stages), "of", len(graphs), "dumps are judged")


def pack(folder, file):
    """The same bytes for the same dumps."""
    with tarfile.open(file, "w:xz") as archive:
        for path in sorted(os.path.join(root, f) for root, _, files in os.walk(folder) for f in files):
            entry = archive.gettarinfo(path, os.path.relpath(path, folder))
            entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = 0, 0, 0, "", ""
            with open(path, "rb") as content:
                archive.addfile(entry, content)


def main():
    if sys.argv[1:2] == ["--run"]:
        import tensorflow as tf
        PROGRAMS[sys.argv[2]](tf)
        return
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "testdata", "stages")
    for name in sys.argv[2:] or PROGRAMS:
        make(name, out)


if __name__ == "__main__":
    main()
