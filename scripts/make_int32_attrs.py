"""Writes lib/ir/int32_attrs.txt: the integer attributes that TensorFlow reads as 32 bits, rejecting larger values. Its registry does not
tell; kernels do, when they are created with a number that is too large.

needs: tensorflow-cpu==2.21.0        usage: scripts/make_int32_attrs.py

One line per op: its name and its attributes. Creates a node of each op with various attributes, and then with a 41-bit number in each
integer attribute in turn; if the kernel of a case (testdata/ops) can be created, it is tried too. TensorFlow aborts the process for
some ops, so each op has its own process.
"""
import glob
import os
import signal
import sys
import zipfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
from op_questions import TYPES, dtype_number, slots, variants  # before TensorFlow, because it disables oneDNN
import tensorflow as tf
from make_op_table import registry
from tensorflow.core.framework import attr_value_pb2, graph_pb2
from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OUT = os.path.join(ROOT, "lib", "ir", "int32_attrs.txt")
HEAD = "# Attributes that TensorFlow 2.21.0 reads in 32 bits, by op; made by scripts/make_int32_attrs.py: do not edit.\n"
LARGE = 1 << 40
PATIENCE = 15                                                 # seconds per op; some wait forever
CONFIG = config_pb2.ConfigProto(
    intra_op_parallelism_threads=1, inter_op_parallelism_threads=1, operation_timeout_in_ms=3000,
    graph_options=config_pb2.GraphOptions(
        rewrite_options=rewriter_config_pb2.RewriterConfig(disable_meta_optimizer=True),
        optimizer_options=config_pb2.OptimizerOptions(opt_level=config_pb2.OptimizerOptions.L0)))


def is_refused(graph_def, node, attr):
    """True if TensorFlow reports that the attribute's number is too large for 32 bits."""
    try:
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(graph_def, name="")
        tf.compat.v1.Session(graph=graph, config=CONFIG).run(graph.get_operation_by_name(node))
    except Exception as error:                                # pylint: disable=broad-except
        return f"Attr {attr} has value {LARGE} out of range for an int32" in str(error)
    return False


def with_large(attr, value):
    changed = attr_value_pb2.AttrValue()
    changed.CopyFrom(value)
    if attr.type == "int":
        changed.i = LARGE
    elif changed.list.i:
        changed.list.i[-1] = LARGE
    else:
        changed.list.i.append(LARGE)
    return changed


def made_up(op):
    """Graphs of one node with unknown inputs."""
    for count, attrs in enumerate(variants(op, [])):
        for t in TYPES[:6]:
            graph = graph_pb2.GraphDef()
            node = graph.node.add(name="probe", op=op.name)
            for attr in op.attr:
                node.attr[attr.name].CopyFrom(attrs[attr.name])
                if attr.type == "type" and not attr.HasField("default_value"):
                    allowed = attr.allowed_values.list.type
                    if not allowed or dtype_number(t) in allowed:
                        node.attr[attr.name].type = dtype_number(t)
            for i, (_, dtype) in enumerate(slots(op, node.attr)):
                if dtype > 100:
                    return
                graph.node.add(name=f"in{i}", op="Placeholder").attr["dtype"].type = dtype
                node.input.append(f"in{i}:0")
            yield graph, node
        if count == 2:
            return


def graph_of(case):
    with zipfile.ZipFile(case) as archive:
        return graph_pb2.GraphDef.FromString(archive.read("graph.pb"))


def of_cases(op, cases):
    for graph in map(graph_of, cases):
        for node in graph.node:
            if node.op == op.name:
                yield graph, node
                break


def find(op, cases, tell):
    for attr in op.attr:
        if attr.type not in ("int", "list(int)") or any(a.number_attr == attr.name for a in [*op.input_arg, *op.output_arg]):
            continue
        for graph, node in [*of_cases(op, cases), *made_up(op)]:
            before = attr_value_pb2.AttrValue()
            before.CopyFrom(node.attr[attr.name])
            node.attr[attr.name].CopyFrom(with_large(attr, before))
            refused = is_refused(graph, node.name, attr.name)
            node.attr[attr.name].CopyFrom(before)
            if refused:
                tell(attr.name)
                break


class Asked:
    """An op whose attributes are tried in a separate process."""

    def __init__(self, op, cases):
        self.op = op
        self.read, write = os.pipe()
        self.child = os.fork()
        if self.child:
            os.close(write)
            return
        os.close(self.read)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 1)
        os.dup2(null, 2)
        signal.alarm(PATIENCE)
        try:
            find(op, cases, lambda name: os.write(write, (name + " ").encode()))
        finally:
            os._exit(0)

    def line(self):
        with os.fdopen(self.read) as pipe:
            names = pipe.read().split()
        os.waitpid(self.child, 0)
        return f"{self.op.name} {' '.join(names)}\n" if names else ""


def main():
    by_op = {}
    for case in sorted(glob.glob(os.path.join(ROOT, "testdata", "ops", "*.zip"))):
        for name in {n.op for n in graph_of(case).node}:
            by_op.setdefault(name, []).append(case)
    ops = [op for name, op in registry().items() if not name.startswith("_") and any(a.type in ("int", "list(int)") for a in op.attr)]
    lines, waiting = [], []
    for op in [*ops, *[None] * os.cpu_count()]:
        waiting += [Asked(op, by_op.get(op.name, [])[:4])] if op else []
        if waiting and (not op or len(waiting) == os.cpu_count()):
            lines.append(waiting.pop(0).line())
    with open(OUT, "w", encoding="utf-8") as f:
        f.write(HEAD + "".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
