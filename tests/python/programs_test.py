"""Programs that are written twice: tests/trace/programs/*.cpp against programs.py. TensorFlow imports the graph of each C++
program, runs it on random feeds, and compares outputs and gradients with those of its tf.function; so do grapnel's executor and eager mode.
Graphs are compared node for node, and `grapnel diff` finds the differences: docs/internals/programs.md has the table.

  programs_test.py                 as a test, with $GRAPNEL
  programs_test.py --only A,B      these, and says more
"""

import argparse
import collections
import difflib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import numpy as np
import tensorflow as tf

from programs import PROGRAMS

# Whose graphs are TensorFlow's but for the names of functions. Chosen before the first was compared, over all families.
EQUAL = """Polynomial MeanAndVariance Slicing NestedLoops CollectSquares CaseOfPredicates GradientOfDense SecondDerivative ConvNet
Attention CrossEntropy LogSumExp JoinAndLower SumOfDataset AssertAllPositive PrintInLoop StatelessDraws SolveAndDet SegmentMeans
Colors""".split()

# Whose graphs differ, and why.
OTHER = {
    "GradientOfLoop": "the gradient of the loop's body is a call of a function; TensorFlow inlines its nodes into the loop",
    "JacobianOfSoftmax": "both loop over the elements of y, with other nodes: grapnel makes a seed for each, TensorFlow gathers each from y",
    "ResidualGelu": "TensorFlow's silu is behind an IdentityN with a gradient in Python, which the graph does not contain; grapnel's is\n"
                    "  plain ops, whose gradient every graph has",
}

GRAPNEL = os.environ.get("GRAPNEL", "build/release/bin/grapnel")
PLUGIN = pathlib.Path(GRAPNEL).resolve().parent.parent / "plugins/programs.so"
DOC = "docs/internals/programs.md"
TOLERANCE = {np.dtype("float32"): 3e-5, np.dtype("float64"): 1e-12}
# Numbers that differ from run to run, or that only one of the two says.
UNNAMED = {"_gradient_op_type"}


class Compared:
    """What came of one program."""
    def __init__(self, program):
        self.program, self.problems = program, []
        self.nodes = self.their_nodes = 0
        self.equal, self.difference, self.diff = False, "", None
        self.outputs = self.gradients = 0


def run(*arguments):
    return subprocess.run([GRAPNEL, *map(str, arguments)], capture_output=True, text=True)


def traced(name, folder):
    path = pathlib.Path(folder, f"{name}.pb")
    done = run("trace", "--plugin", PLUGIN, name, "-o", path)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return path, tf.compat.v1.GraphDef.FromString(path.read_bytes())


def results_of(graph, count):
    """The Identity nodes of the function's results: of those without readers, the last by the number in their name."""
    read = {text.lstrip("^").split(":")[0] for node in graph.node for text in node.input}
    names = [node.name for node in graph.node if node.op == "Identity" and node.name not in read and "/" not in node.name]
    return names[-count:] if count else []


# --- Graphs, node for node.

def attribute(value, names):
    kind = value.WhichOneof("value")
    if kind == "func":
        return (names(value.func.name), attributes(value.func.attr, names))
    if kind == "list" and value.list.func:
        return [names(one.name) for one in value.list.func]
    if kind == "tensor":
        array = tf.make_ndarray(value.tensor)
        return (str(array.dtype), array.shape, array.tobytes() if array.dtype != object else str(array.tolist()))
    return value.SerializeToString(deterministic=True)


def attributes(attrs, names):
    return [(key, attribute(attrs[key], names)) for key in sorted(attrs) if key not in UNNAMED]


class Lines:
    """A graph as lines that are alike where graphs are equal but for the names of functions."""
    def __init__(self, graph):
        self.functions = {function.signature.name: function for function in graph.library.function}
        self.known, self.order = {}, []
        self.lines = [self.line(node) for node in graph.node]
        for name in self.order:  # grows meanwhile
            self.lines += self.function(self.functions[name])

    def named(self, name):
        if name in self.functions and name not in self.known:
            self.known[name] = f"function_{len(self.known)}"
            self.order.append(name)
        return self.known.get(name, name)

    def text(self, text):
        """Arguments that nothing reads are named after their function."""
        for name, stands_for in self.known.items():
            text = text.replace(name, stands_for)
        return text

    def line(self, node):
        attrs = attributes(node.attr, self.named)
        return self.text(f"{node.name} = {node.op}({', '.join(node.input)}) {attrs} {node.device}")

    def function(self, function):
        signature = function.signature
        arguments = [(arg.name, arg.type, attributes(function.arg_attr[i].attr, self.named))
                     for i, arg in enumerate(signature.input_arg)]
        results = [(arg.name, arg.type, function.ret[arg.name]) for arg in signature.output_arg]
        head = f"{self.named(signature.name)} {arguments} {results} {dict(function.control_ret)} " \
               f"{list(signature.control_output)} {signature.is_stateful} {attributes(function.attr, self.named)}"
        return [self.text(head), *(self.line(node) for node in function.node_def)]


def compare_graphs(compared, ours, theirs, folder):
    ours_as_lines, theirs_as_lines = Lines(ours).lines, Lines(theirs).lines
    count = lambda graph: len(graph.node) + sum(len(function.node_def) for function in graph.library.function)
    compared.nodes, compared.their_nodes = count(ours), count(theirs)
    compared.equal = ours_as_lines == theirs_as_lines
    lines = difflib.unified_diff(theirs_as_lines, ours_as_lines, "TensorFlow", "here", lineterm="", n=0)
    compared.difference = "\n".join(lines)
    path = pathlib.Path(folder, f"{compared.program.name}_theirs.pb")
    path.write_bytes(theirs.SerializeToString())
    done = run("diff", "--json", pathlib.Path(folder, f"{compared.program.name}.pb"), path)
    compared.diff = json.loads(done.stdout) if done.returncode in (0, 1) else None
    if compared.diff is None:
        compared.problems.append(f"diff: {done.stderr}")


# --- Values.

def with_own_functions(graph, prefix):
    """Functions are TensorFlow's for the whole process: two graphs may not have two of one name."""
    own = tf.compat.v1.GraphDef.FromString(graph.SerializeToString())
    names = {function.signature.name for function in own.library.function}
    for nodes in [own.node, *(function.node_def for function in own.library.function)]:
        for node in nodes:
            if node.op in names:
                node.op = prefix + node.op
            for value in node.attr.values():
                for func in [value.func, *value.list.func] if value.WhichOneof("value") in ("func", "list") else []:
                    if func.name in names:
                        func.name = prefix + func.name
    for function in own.library.function:
        function.signature.name = prefix + function.signature.name
    return own


def imported(graph, inputs, outputs):
    wrapped = tf.compat.v1.wrap_function(lambda: tf.graph_util.import_graph_def(graph, name=""), [])
    return wrapped.prune([f"{name}:0" for name in inputs], [f"{name}:0" for name in outputs])


def run_here(command, feeds, outputs, folder):
    """Of the graph, or, with `trace NAME --eager`, of the program op by op."""
    arguments = []
    for i, (name, value) in enumerate(feeds.items()):
        file = f"{folder}/feed_{i}.npy"
        np.save(file, value.astype("S") if value.dtype == object else value)
        arguments.append(f"--feed={name}={file}")
    files = [f"{folder}/out_{i}.npy" for i in range(len(outputs))]
    done = run(*command, *arguments, *(f"--fetch={name}={file}" for name, file in zip(outputs, files)))
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return [np.load(file) for file in files]


def is_near(got, want):
    got, want = np.asarray(got), np.asarray(want)
    if want.dtype == object or want.dtype.kind == "S":
        return got.shape == want.shape and np.array_equal(got.astype("S"), want.astype("S"))
    if got.dtype != want.dtype or got.shape != want.shape:
        return False
    if want.dtype not in TOLERANCE:
        return np.array_equal(got, want)
    scale = max(1.0, np.max(np.abs(want), initial=0, where=np.isfinite(want)))
    return np.allclose(got, want, rtol=0, atol=TOLERANCE[want.dtype] * scale, equal_nan=True)


def compare_values(compared, what, graph, path, feeds, wanted, folder):
    names = results_of(graph, len(wanted))
    if len(names) != len(wanted):
        compared.problems.append(f"{what}: {len(names)} results, TensorFlow has {len(wanted)}")
        return 0
    try:
        own = with_own_functions(graph, f"{path.stem}_")
        made = imported(own, feeds, names)(*[tf.constant(value) for value in feeds.values()])
        runs = {"imported by TensorFlow": [value.numpy() for value in made],
                "run here": run_here(["run", path], feeds, names, folder)}
        eager = [f"Identity_{i}" if i else "Identity" for i in range(len(names))]
        runs["op by op"] = run_here(["trace", path.stem, "--plugin", PLUGIN, "--eager"], feeds, eager, folder)
    except Exception as error:  # of any kind: it says which program
        compared.problems.append(f"{what}: {str(error)[:600]}")
        return 0
    good = len(wanted)
    for how, values in runs.items():
        for i, (got, want) in enumerate(zip(values, wanted)):
            if not is_near(got, want):
                compared.problems.append(f"{what} {i} {how}:\n{got}\nTensorFlow:\n{want}")
                good -= 1
    return max(good, 0)


def tape_gradients(function, inputs):
    reals = [x for x in inputs if x.dtype.is_floating]
    with tf.GradientTape() as tape:
        for x in reals:
            tape.watch(x)
        made = tf.nest.flatten(function(*inputs))
        ys = [y for y in made if y.dtype.is_floating]
    if not reals or not ys:
        return []
    return [tf.convert_to_tensor(g).numpy() for g in tape.gradient(ys, reals, unconnected_gradients="zero")]


def compare(program, folder):
    compared = Compared(program)
    try:
        concrete = program.trace()
        path, ours = traced(program.name, folder)
        compare_graphs(compared, ours, concrete.graph.as_graph_def(), folder)
        values = program.feeds()
        feeds = {spec.name: value for spec, value in zip(program.specs, values)}
        inputs = [tf.constant(value) for value in values]
        outputs = [y.numpy() for y in tf.nest.flatten(concrete(*inputs))]
        # A random op goes on from call to call: the second one is another start.
        compared.outputs = compare_values(compared, "output", ours, path, feeds, outputs, folder)
        gradients = tape_gradients(program.trace(), inputs)
        if gradients:
            path, ours = traced(program.name + "Gradient", folder)
            compared.gradients = compare_values(compared, "gradient", ours, path, feeds, gradients, folder)
    except RuntimeError as error:
        compared.problems.append(str(error))
    return compared


def all_compared(only=()):
    with tempfile.TemporaryDirectory() as folder:
        return [compare(program, folder) for program in PROGRAMS.values() if not only or program.name in only]


# --- The document.

def what_differs(compared):
    """The differences that `grapnel diff` finds: node counts on each side and the first changed nodes."""
    if compared.equal:
        return "equal"
    diff = compared.diff
    if diff is None:
        return "not compared"
    if diff["same"]:
        return "names or order only"
    sides = []
    for side, word in (("removed", "grapnel"), ("added", "TensorFlow")):
        if diff[side]:
            sides.append(f"{len(diff[side])} nodes only in {word}")
    changed = [match["b"] for match in diff["matched"] if match["changed"]]
    if changed:
        sides.append(f"{len(changed)} changed: " + ", ".join(f"`{name}`" for name in changed[:2])
                     + (", ..." if len(changed) > 2 else ""))
    return "; ".join(sides) or "names or order only"


def document(results):
    head = """# Programs that are written twice

Each program is a function in C++ ([tests/trace/programs](../../tests/trace/programs)) and the same function in Python for `tf.function`
([tests/python/programs.py](../../tests/python/programs.py)). TensorFlow imports the C++ graph and computes the same outputs and gradients
as for the Python function, and so do grapnel's executor and eager mode. In the column graph, *equal* means that the GraphDefs are the
same, node for node and in the same order, except for the numbers in function names; otherwise the column has what `grapnel diff` finds.
scripts/make_programs_doc.py makes this page.

"""
    equal = sum(compared.equal for compared in results)
    head += f"{len(results)} programs, {equal} of them equal.\n\n"
    rows = ["| program | family | nodes | TensorFlow's | graph | outputs | gradients |", "|---|---|---|---|---|---|---|"]
    for compared in results:
        program = compared.program
        rows.append(f"| {program.name}{' *' if program.name in EQUAL else ''} | {program.family} | {compared.nodes} | "
                    f"{compared.their_nodes} | {what_differs(compared)} | {compared.outputs} | {compared.gradients or '-'} |")
    why = {name: reason for name, reason in OTHER.items() if any(c.program.name == name and not c.equal for c in results)}
    return (head + "\n".join(rows) + "\n\n\\* must be equal: selected before the first comparison.\n\n" +
            "".join(f"- {name}: {reason}.\n" for name, reason in why.items()))


class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.results = all_compared()

    def test_values_and_gradients(self):
        for compared in self.results:
            with self.subTest(compared.program.name):
                self.assertFalse(compared.problems, "\n".join(compared.problems))
                self.assertGreater(compared.outputs, 0)

    def test_graphs_that_are_equal(self):
        self.assertEqual(len(EQUAL), 20)
        self.assertEqual({PROGRAMS[name].family for name in EQUAL}, {program.family for program in PROGRAMS.values()})
        for compared in self.results:
            if compared.program.name in EQUAL:
                with self.subTest(compared.program.name):
                    self.assertTrue(compared.equal, compared.difference[:3000])
                    self.assertTrue(compared.diff["same"], compared.diff)

    def test_enough(self):
        self.assertGreaterEqual(len(PROGRAMS), 60)
        done = run("trace", "--plugin", PLUGIN, "--json")
        names = {entry["name"] for entry in json.loads(done.stdout)["functions"]}
        self.assertEqual({name for name in names if name + "Gradient" in names}, set(PROGRAMS))

    def test_document_is_fresh(self):
        self.assertEqual(pathlib.Path(DOC).read_text(), document(self.results),
                         "run scripts/make_programs_doc.py")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    options, rest = parser.parse_known_args()
    if not options.only:
        unittest.main(argv=[sys.argv[0], *rest])
    for compared in all_compared(set(filter(None, options.only.split(",")))):
        print(f"{compared.program.name}: {what_differs(compared)}; {compared.outputs} outputs, {compared.gradients} gradients")
        print("\n".join(compared.problems))
        print(compared.difference[:4000])
