"""Gradients against TensorFlow's tape: each row of gradient_cases.py, in each of its dtypes, with shapes that are known while
tracing and without. One graph holds all cases; grapnel adds the gradients to it and runs them, TensorFlow's tape does the same.

What is compared is the values, and the graph behind each gradient: ops, attributes, constants and edges, whatever the names.

  gradient_test.py                 as a test, with $GRAPNEL
  gradient_test.py --table FILE    also writes what came of each op, as JSON (scripts/make_gradients_doc.py reads it)
  gradient_test.py --only OP,OP    these, and says more
"""

import argparse
import collections
import difflib
import functools
import hashlib
import inspect
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
from tensorflow.python.framework import op_def_registry

import ml_dtypes
from tensorflow.python.framework import kernels

import gradient_cases
import gradient_programs

GRAPNEL = os.environ.get("GRAPNEL", "build/release/bin/grapnel")
TOLERANCE = {"bfloat16": 1e-1, "float16": 2e-2, "float32": 2e-4, "float64": 1e-7, "complex64": 2e-4, "complex128": 1e-7}
REAL = {"complex64": "float32", "complex128": "float64"}
# Where the graphs are not the same in each case, and why.
CALLS = "the gradient of a function is a call of a function; TensorFlow inlines its nodes into the branch or loop"
OTHER_GRAPHS = {
    "PartitionedCall": CALLS, "StatefulPartitionedCall": CALLS, "If": CALLS, "StatelessIf": CALLS, "Case": CALLS,
    "StatelessCase": CALLS, "While": CALLS, "StatelessWhile": CALLS,
    "CompositeTensorVariantToComponents": "Python gives the components the shapes of their type, which a GraphDef does not contain",
    "Conv2DBackpropInput": "grapnel infers the whole shape of the result from the sizes",
}


class Case:
    def __init__(self, name, row, dtype, dynamic):
        self.name, self.row, self.dtype, self.dynamic = name, row, dtype, dynamic
        self.xs, self.ys, self.theirs, self.ours = [], [], [], []
        # Halves and complex numbers are skipped if TensorFlow cannot run them.
        is_row = not isinstance(row, gradient_programs.Program)
        self.is_optional = dtype in gradient_cases.HALVES or (is_row and dtype in gradient_cases.COMPLEX)
        self.problem = None  # what kept it from being compared
        self.not_run = None  # why the graphs alone are
        self.same_values = self.same_graph = False
        self.difference = ""
        self.assignments = []  # of variables, before the ops

    def __str__(self):
        return f"{self.name} {self.row.op} {self.dtype}{' dynamic' if self.dynamic else ''}"


def tensor_of(case, value):
    """A constant, or a tensor to differentiate by."""
    if isinstance(value, list):
        return [tensor_of(case, one) for one in value]
    if not isinstance(value, gradient_cases.Input):
        return tf.constant(value)
    values = value.of(case.dtype)
    if isinstance(value, gradient_programs.Variable):
        handle = tf.raw_ops.VarHandleOp(shared_name=f"{case.name}_{len(case.xs)}", dtype=values.dtype, shape=values.shape)
        case.assignments.append(tf.raw_ops.AssignVariableOp(resource=handle, value=tf.constant(values)))
        case.xs.append(handle)
        return handle
    shape = [None] * values.ndim if case.dynamic else values.shape
    x = tf.raw_ops.PlaceholderWithDefault(input=tf.constant(values), shape=tf.TensorShape(shape))
    case.xs.append(x)
    return x


def make_cases(only):
    cases = []
    for number, row in enumerate([*gradient_cases.rows(), *gradient_programs.rows()]):
        if only and not only & set(row.ops):
            continue
        for dtype in row.dtypes:
            has_both = row.dynamic and dtype not in ("complex128", *gradient_cases.HALVES)  # for each kernel once
            for dynamic in (False, True) if has_both else (False,):
                cases.append(Case(f"c{number}_{dtype}{'_dynamic' if dynamic else ''}", row, dtype, dynamic))
    return cases


def build(cases):
    """All forward graphs in one, then their gradients in a copy. Returns both graphs."""
    graph = tf.Graph()
    with graph.as_default():
        tapes = {}
        for case in cases:
            with tf.name_scope(case.name), tf.device(case.row.device):
                try:
                    with tf.GradientTape() as tape:
                        forward(case, tape)
                    tapes[case.name] = tape
                except Exception as error:  # of any kind: the op does not take that dtype
                    case.problem = f"TensorFlow does not make it: {first_line(error)}"
        forward_graph = graph.as_graph_def()
        for case in cases:
            if case.problem:
                continue
            with tf.name_scope(case.name + "/"), tf.device(case.row.device):
                try:
                    gradient = gradients_of_v1 if case.row.v1 else tapes[case.name].gradient
                    case.theirs = gradient(case.ys, case.xs)
                except Exception as error:
                    case.problem = f"TensorFlow has no gradient: {type(error).__name__} {first_line(error)}"
    return forward_graph, graph


def gradients_of_v1(ys, xs):
    """tf.gradients, which needs the control flow of its time for TensorArrays."""
    tf.compat.v1.disable_control_flow_v2()
    try:
        seeds = [tf.ones(y.shape, y.dtype) if y.shape.is_fully_defined() else None for y in ys]
        return tf.compat.v1.gradients(ys, xs, grad_ys=seeds)
    finally:
        tf.compat.v1.enable_control_flow_v2()


# --- Which kernels there are.

@functools.cache
def their_kernels(op):
    """The allowed attributes of each TensorFlow kernel for the CPU; None: the op has no listed kernel."""
    try:
        found = kernels.get_registered_kernels_for_op(op).kernel
    except Exception:
        return []
    return [{one.name: set(one.allowed_values.list.type) for one in kernel.constraint} for kernel in found
            if kernel.device_type in ("CPU", "DEFAULT")]


@functools.cache
def our_unsupported():
    return set(run("ops", "--unsupported").stdout.split())


def runs_there(node):
    if node.op == "AccumulateNV2":  # becomes other ops
        return True

    def fits(kernel):
        return all(not allowed or node.attr[name].type in allowed or set(node.attr[name].list.type) & allowed
                   for name, allowed in kernel.items())
    return any(fits(kernel) for kernel in their_kernels(node.op))


def case_of(node, cases):
    """The case that a node is of: its name is a scope."""
    for part in node.name.split("/"):
        if part in cases:
            return cases[part]
    return None


def note_their_kernels(graph, cases):
    by_name = {case.name: case for case in cases}
    for node in graph.as_graph_def().node:
        case = case_of(node, by_name)
        if case is None or case.problem or case.not_run or runs_there(node):
            continue
        reason = f"TensorFlow has no kernel: {node.op} {case.dtype}"
        if case.is_optional:
            case.problem = reason
        else:
            case.not_run = reason


def note_our_kernels(path, cases):
    by_name = {case.name: case for case in cases}
    for node in tf.compat.v1.GraphDef.FromString(path.read_bytes()).node:
        case = case_of(node, by_name)
        if case and node.op in our_unsupported():
            case.not_run = case.not_run or f"grapnel: no CPU kernel: {node.op}"


def forward(case, tape):
    """The op, and each floating-point output times random numbers. The tape sees what is watched before it is used."""
    row = case.row
    values = []
    for place, value in enumerate(row.inputs):
        before = len(case.xs)
        values.append(tensor_of(case, value))
        if row.by is None or place in row.by:
            tape.watch(case.xs[before:])
        else:
            del case.xs[before:]
    with tf.control_dependencies(case.assignments):
        if isinstance(row, gradient_programs.Program):
            made = row.function(*values)
        else:
            made = getattr(tf.raw_ops, row.op)(**arguments(row.op, values), **attributes(case))
    outputs = []
    for part in made if isinstance(made, (list, tuple)) else [made]:
        outputs += part if isinstance(part, list) else [part]
    for i, y in enumerate(outputs):
        if row.outputs is not None and i not in row.outputs:
            continue
        if y.dtype.is_floating or y.dtype.is_complex:
            case.ys.append(tf.raw_ops.Mul(x=y, y=weights_for(y)))


def weights_for(y):
    """Numbers between -1 and 1.5, exact in every dtype."""
    numbers = tf.reshape(tf.range(tf.size(y)) * 7 % 11 - 4, tf.shape(y))
    return tf.cast(numbers, y.dtype) / tf.constant(4, y.dtype)


def arguments(op, values):
    """The inputs by the names that Python has for them, which are not always those of the op's definition."""
    parameters = inspect.signature(getattr(tf.raw_ops, op)).parameters
    op_def = op_def_registry.get(op)
    attrs = {attr.name for attr in op_def.attr}
    others = [name for name in parameters if name not in attrs | {"name"} | {arg.name for arg in op_def.input_arg}]
    names = [arg.name if arg.name in parameters else others.pop(0) for arg in op_def.input_arg]
    return dict(zip(names, values))


def attributes(case):
    attrs = dict(case.row.attrs)
    for name, value in attrs.items():
        if value is None:  # depends on the dtype
            complex_of = {"float32": "complex64", "float64": "complex128"}
            makes_complex = case.row.op in ("Complex", "Eig") or name == "Tcomplex"
            attrs[name] = complex_of[case.dtype] if makes_complex else REAL.get(case.dtype, case.dtype)
    return attrs


def first_line(error):
    return str(error).split("\n")[0][:160]


# --- Comparing graphs.

@functools.cache
def is_stateful(op):
    definition = op_def_registry.get(op)
    return definition is not None and definition.is_stateful


def plain_attrs(node):
    attrs = {}
    for key, value in node.attr.items():
        if key == "value" and node.op == "Const":
            array = tf.make_ndarray(value.tensor)
            attrs[key] = (str(array.dtype), array.shape, array.tobytes() if array.dtype != object else str(array))
        elif key == "_class":
            attrs[key] = "colocated"
        elif key == "source":  # of a gradient's TensorArray: the name of the scope that asks
            attrs[key] = "gradients"
        elif not key.startswith("_"):
            attrs[key] = value.SerializeToString(deterministic=True)
    return sorted(attrs.items())


class Shapes:
    """The form of what is behind a tensor, whatever the names: a hash of ops, attributes and edges. Forward nodes are leaves."""
    def __init__(self, graph_def, leaves):
        self.nodes = {node.name: node for node in graph_def.node}
        self.leaves, self.known = leaves, {}

    def of(self, name, is_v1=False):
        self.is_v1 = is_v1  # made by tf.gradients
        stack = [name]
        while stack:
            top = stack[-1]
            if top in self.known:
                stack.pop()
            elif top in self.leaves and self.nodes[top].op != "Const":
                self.known[top] = top
                stack.pop()
            else:
                inputs = [i.lstrip("^").split(":")[0] for i in self.nodes[top].input]
                missing = [i for i in inputs if i not in self.known]
                if missing:
                    stack += missing
                else:
                    self.known[top] = self.hash(self.nodes[top])
                    stack.pop()
        return self.known[name]

    def hash(self, node):
        if self.is_v1 and node.op == "Identity" and self.nodes[node.input[0].split(":")[0]].op == "Const":
            return self.known[node.input[0]]  # a gradient that comes in
        edges, controls = [], []
        for text in node.input:
            base, _, port = text.lstrip("^").partition(":")
            # Finish() orders effects, as tf.function does, and a tf.Graph does not.
            if text.startswith("^") and is_stateful(node.op):
                continue
            (controls if text.startswith("^") else edges).append((self.known[base], port or "0"))
        attrs = plain_attrs(node)
        if self.is_v1:  # tf.gradients has another order of sums, and puts nodes beside those of the forward ops
            edges = sorted(edges) if node.op == "AddN" else edges
            attrs = [attr for attr in attrs if attr[0] != "_class"]
        text = repr((node.op, attrs, edges, sorted(controls)))
        return hashlib.sha1(text.encode()).hexdigest()

    def lines(self, name):
        """The nodes behind it, a line each, with the ops that they read."""
        lines, seen, stack = [], set(), [name]
        while stack:
            top = stack.pop()
            if top in seen or (top in self.leaves and self.nodes[top].op != "Const"):
                continue
            seen.add(top)
            node = self.nodes[top]
            bases = [i.lstrip("^").split(":")[0] for i in node.input]
            value = node.attr["value"].tensor.dtype and np.array2string(tf.make_ndarray(node.attr["value"].tensor), threshold=8)
            attrs = {key: value for key, value in plain_attrs(node) if key != "value"}
            lines.append(f"{node.op}({', '.join(('^' if i[0] == '^' else '') + self.nodes[b].op for i, b in zip(node.input, bases))}) "
                         f"{str(value or '')} {attrs}".replace("\n", ""))
            stack += reversed(bases)
        return lines


def run(*arguments):
    return subprocess.run([GRAPNEL, *arguments], capture_output=True, text=True)


def ask_for_gradients(folder, cases):
    ys = [f"--fetch={y.name}" for case in cases for y in case.ys]
    xs = [f"--by={x.name}" for case in cases for x in case.xs]
    return run("check-gradients", f"{folder}/forward.pb", *ys, *xs, "-o", f"{folder}/ours.pb")


def add_gradients(folder, cases):
    """Our gradients of all cases: adds to each the names of its own. Cases that fail are said, and done without."""
    while True:
        live = [case for case in cases if not case.problem]
        done = ask_for_gradients(folder, live)
        if done.returncode == 0:
            names = dict(line.split(" ") for line in done.stdout.splitlines())
            for case in live:
                case.ours = [names[x.name] for x in case.xs]
            return
        for case in live:
            alone = ask_for_gradients(folder, [case])
            if alone.returncode != 0:
                case.problem = "grapnel: " + first_line(alone.stderr)


def run_ours(folder, cases):
    """The values of our gradients, by name."""
    values = {}
    live = [case for case in cases if not case.problem and not case.not_run]

    def fetch(some):
        names = [name for case in some for name in case.ours if name != "none"]
        if not names:
            return
        files = {name: f"{folder}/{len(values) + i}.npy" for i, name in enumerate(names)}
        done = run("run", f"{folder}/ours.pb", *(f"--fetch={name}={file}" for name, file in files.items()))
        if done.returncode == 0:
            for name, file in files.items():
                value = np.load(file)
                values[name] = value.view(ml_dtypes.bfloat16) if value.dtype.kind == "V" else value
        elif len(some) == 1:
            kind = "not_run" if "no CPU kernel" in done.stderr else "problem"
            setattr(some[0], kind, "grapnel run: " + first_line(done.stderr))
        else:
            fetch(some[:len(some) // 2])
            fetch(some[len(some) // 2:])
    if live:
        fetch(live)
    return values


def run_theirs(graph, cases):
    """The values of TensorFlow's gradients, by case and place: of the part of the graph that all of them need, since a session
    refuses a whole graph for one node that does not run."""
    graph_def = graph.as_graph_def()
    while True:
        wanted = {(case.name, i): g.name for case in cases if not case.problem and not case.not_run
                  for i, g in enumerate(case.theirs) if g is not None}
        if not wanted:
            return {}
        part = tf.compat.v1.graph_util.extract_sub_graph(graph_def, [name.split(":")[0] for name in wanted.values()])
        with tf.Graph().as_default():
            tf.import_graph_def(part, name="")
            with tf.compat.v1.Session() as session:
                try:
                    return dict(zip(wanted, session.run(list(wanted.values()))))
                except tf.errors.OpError as error:
                    note_failed(str(error), cases)


def note_failed(text, cases):
    failed = [case for case in cases if not case.problem and not case.not_run and f"{case.name}/" in text]
    if not failed:
        raise AssertionError(text[:2000])
    lines = [line for line in text.splitlines() if line and line != "Graph execution error:"]
    reason = "TensorFlow does not run it: " + lines[-1 if "detected at" in lines[0].lower() else 0][:160]
    for case in failed:
        if case.is_optional:
            case.problem = reason
        else:
            case.not_run = reason


def near(want, got, tolerance):
    scale = max(1.0, np.max(np.abs(want.astype(np.complex128)), initial=0)) if want.size else 1
    return want.shape == got.shape and np.allclose(want.astype(np.complex128), got.astype(np.complex128), rtol=0,
                                                   atol=tolerance * scale, equal_nan=True)


def worst(want, got):
    if want.shape != got.shape:
        return f"TensorFlow's shape is {want.shape}, here {got.shape}"
    error = np.abs(want.astype(np.complex128) - got.astype(np.complex128)).ravel()
    at = int(np.argmax(np.where(np.isnan(error), np.inf, error)))
    return f"element {at} of {want.size}: TensorFlow {want.ravel()[at]}, here {got.ravel()[at]}"


def compare(folder, cases, graph, theirs, ours):
    our_graph = tf.compat.v1.GraphDef.FromString(pathlib.Path(folder, "ours.pb").read_bytes())
    leaves = {node.name for node in tf.compat.v1.GraphDef.FromString(pathlib.Path(folder, "forward.pb").read_bytes()).node}
    our_shapes, their_shapes = Shapes(our_graph, leaves), Shapes(graph.as_graph_def(), leaves)
    for case in cases:
        if case.problem:
            continue
        case.same_values = case.same_graph = True
        for i, (x, theirs_is, ours_is) in enumerate(zip(case.xs, case.theirs, case.ours)):
            if theirs_is is None or ours_is == "none":
                if (theirs_is is None) != (ours_is == "none"):
                    case.same_values = False
                    case.difference += f"  {x.name}: TensorFlow {theirs_is}, here {ours_is}\n"
                continue
            if not case.not_run and not near(theirs[case.name, i], ours[ours_is], TOLERANCE[case.dtype]):
                case.same_values = False
                case.difference += f"  {x.name}: {worst(theirs[case.name, i], ours[ours_is])}\n"
            their_name = theirs_is.op.name
            if their_shapes.of(their_name, case.row.v1) != our_shapes.of(ours_is.split(":")[0], case.row.v1):
                case.same_graph = False
                lines = difflib.unified_diff(their_shapes.lines(their_name), our_shapes.lines(ours_is.split(":")[0]), "TensorFlow",
                                             "here", lineterm="", n=1)
                case.difference += f"  {x.name}: graphs differ\n" + "\n".join("    " + line for line in lines) + "\n"


def densify(graph, cases):
    with graph.as_default():
        for case in cases:
            for i, gradient in enumerate(case.theirs or []):
                if isinstance(gradient, tf.IndexedSlices):
                    with tf.name_scope(case.name):
                        case.theirs[i] = tf.convert_to_tensor(gradient)


def all_compared(only=()):
    """In graphs of a hundred cases: one that fails costs the others of its graph a run."""
    cases = make_cases(only)
    for begin in range(0, len(cases), 100):
        compare_some(cases[begin:begin + 100])
    return cases


def compare_some(cases):
    with tempfile.TemporaryDirectory() as folder:
        forward_graph, graph = build(cases)
        densify(graph, cases)
        note_their_kernels(graph, cases)
        theirs = run_theirs(graph, cases)
        pathlib.Path(folder, "forward.pb").write_bytes(forward_graph.SerializeToString())
        add_gradients(folder, cases)
        note_our_kernels(pathlib.Path(folder, "ours.pb"), cases)
        compare(folder, cases, graph, theirs, run_ours(folder, cases))


def table_of(cases):
    """By op: cases of which TensorFlow makes the gradient, those that both run, and those that are alike."""
    table = collections.defaultdict(lambda: collections.Counter())
    for case in cases:
        for op in case.row.ops:
            row = table[op]
            made = not (case.problem or "").startswith("TensorFlow")
            row["cases"] += made
            row["run"] += made and not case.not_run
            row["values"] += case.same_values and not case.not_run
            row["graphs"] += case.same_graph
            if made and not case.same_graph:
                table[op]["why"] = next((OTHER_GRAPHS[name] for name in [op, *case.row.ops] if name in OTHER_GRAPHS), "unknown")
    return {op: dict(row) for op, row in sorted(table.items())}


class Gradients(unittest.TestCase):
    def test_as_tensorflows_tape(self):
        cases = all_compared()
        wrong = [f"{case}: {case.problem or ''}\n{case.difference}" for case in cases
                 if not case.same_values and not (case.problem or "").startswith("TensorFlow")]
        self.assertFalse(wrong, "\n".join(wrong[:10]))
        self.assertGreater(sum(case.same_values and not case.not_run for case in cases), 4500)
        other = sorted({case.row.op for case in cases if case.same_values and not case.same_graph
                        and not set(OTHER_GRAPHS) & set(case.row.ops)})
        self.assertFalse(other, f"graphs differ from TensorFlow's: {other}")

    def test_control_flow(self):
        """Calls, branches and loops, one in the other, against finite differences."""
        for name, function, shapes in control_flow():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                specs = [tf.TensorSpec(shape, tf.float64) for shape in shapes]
                made = tf.function(function).get_concrete_function(*specs)
                path = pathlib.Path(folder, "graph.pb")
                path.write_bytes(made.graph.as_graph_def().SerializeToString())
                done = run("check-gradients", str(path), f"--fetch={made.outputs[0].name}")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertEqual(done.stdout.count("ok "), len(shapes))


def control_flow():
    @tf.function
    def inner(a, b):
        return tf.tanh(a * b) + a, tf.sin(a)

    def call(x, y):
        p, q = inner(x, y)
        return p * q

    def branch(limit):
        return lambda x, y: tf.cond(tf.reduce_sum(x) > limit, lambda: tf.tanh(x) * y, lambda: x * x)

    def case(x, y):
        index = tf.constant(1) + tf.cast(tf.reduce_sum(x) * 0.0, tf.int32)
        return tf.switch_case(index, [lambda: x * y, lambda: tf.sin(x) * y, lambda: y])

    def loop(x, y):
        return tf.while_loop(lambda i, v: i < 4, lambda i, v: (i + 1, tf.tanh(v * y) + x), [tf.constant(0), x])[1]

    def products(x, w):
        return tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.sigmoid(tf.matmul(v, w))), [tf.constant(0), x])[1]

    def nested(x, y):
        def body(i, v):
            v = tf.cond(i % 2 == 0, lambda: tf.sin(v) * y, lambda: v + tf.cos(y * v))
            return i + 1, tf.while_loop(lambda j, u: j < 2, lambda j, u: (j + 1, u * tf.cos(u)), [tf.constant(0), v])[1]
        return tf.while_loop(lambda i, v: i < 3, body, [tf.constant(0), x])[1]

    def arrays(x, w):
        rows = tf.TensorArray(tf.float64, size=4, element_shape=[3]).unstack(x)

        def body(i, h, outputs):
            h = tf.tanh(tf.linalg.matvec(w, h) + rows.read(i))
            return i + 1, h, outputs.write(i, h)
        start = [tf.constant(0), tf.zeros([3], tf.float64), tf.TensorArray(tf.float64, size=4, element_shape=[3])]
        return tf.while_loop(lambda i, h, outputs: i < 4, body, start)[2].stack()

    yield "call", call, ((3,), (3,))
    yield "branch", branch(-100.0), ((3,), (3,))
    yield "other branch", branch(100.0), ((3,), (3,))
    yield "case", case, ((3,), (3,))
    yield "loop", loop, ((3,), (3,))
    yield "products", products, ((2, 3), (3, 3))
    yield "nested", nested, ((3,), (3,))
    yield "arrays", arrays, ((4, 3), (3, 3))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--table")
    parser.add_argument("--only", default="")
    options, rest = parser.parse_known_args()
    if not options.table and not options.only:
        unittest.main(argv=[sys.argv[0], *rest])
    found = all_compared(set(filter(None, options.only.split(","))))
    said = collections.Counter()
    for case in found:
        problem = case.problem or "".join(("values " * (not case.same_values), "graph " * (not case.same_graph)))
        problem = problem or (case.not_run if options.only else "")
        said[case.row.op, problem] += 1
        if problem and said[case.row.op, problem] <= (2 if options.only else 1):
            print(f"{case}: {problem}")
            print(case.difference[:2500 if options.only else 400])
    print(len(found), "cases;", sum(c.same_values and not c.not_run for c in found), "values,", sum(c.same_graph for c in found), "graphs alike")
    if options.table:
        pathlib.Path(options.table).write_text(json.dumps(table_of(found), indent=1) + "\n")
