"""Runs ops on valid inputs, and on the same inputs with one of another rank; op_ranks.py explains why."""
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tools"))
import case_archive
from op_questions import RANKS, TYPES, dtype_number, input_of, make, slots, value_of
import numpy as np
import tensorflow as tf
from tensorflow.core.framework import graph_pb2, types_pb2
from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2

CONFIG = config_pb2.ConfigProto(
    intra_op_parallelism_threads=1, inter_op_parallelism_threads=1,
    graph_options=config_pb2.GraphOptions(
        rewrite_options=rewriter_config_pb2.RewriterConfig(disable_meta_optimizer=True),
        optimizer_options=config_pb2.OptimizerOptions(opt_level=config_pb2.OptimizerOptions.L0)))


def without_first_axis(value):
    if value.shape[0]:
        return value[:1].reshape(value.shape[1:])
    return np.full(value.shape[1:], b"" if value.dtype == object else 0, value.dtype)


def of_rank(value, rank):
    """The value in another rank: with axes of size 1 added before or after its own, or without its first ones."""
    while value.ndim > rank:
        value = without_first_axis(value)
    more = (1,) * (rank - value.ndim)
    found = [value.reshape(more + value.shape), value.reshape(value.shape + more)]
    # In some ranks an op accepts only certain numbers: -1 for an unknown shape, for example.
    return found + [np.full_like(found[0], n) for n in (-1, 0) if value.dtype.kind == "i"]


class Facts:
    """{argument: [lowest rank, highest rank, whether a kernel accepted it]}; ranks are added if a kernel accepts more."""

    def __init__(self, taken):
        self.of = {a: [min(ranks), max(ranks), False] for a, ranks in taken.items() if ranks}
        self.first = {a: fact[:2] for a, fact in self.of.items()}
        self.scalars = {}                                     # arguments without a rank that must be scalars for kernels

    def is_asked(self, argument):
        return argument in self.of and (self.wrong(argument) or self.scalars.get(argument) is not False)

    def wrong(self, argument):
        low, high, _ = self.of.get(argument, (0, max(RANKS), False))
        return [*range(low - 1, -1, -1), *([high + 1, high + 2] if high < max(RANKS) else [])]

    def take(self, argument, rank):
        fact = self.of[argument]
        fact[0], fact[1] = min(fact[0], rank), max(fact[1], rank)
        if fact[1] > self.first[argument][1] + 1:
                        fact[1] = max(RANKS)  # it accepts every rank


def try_wrong(questions, key, facts, argument, value, run):
    """Runs a valid sample with one input in rejected ranks; scalars of any-rank arguments as vectors."""
    if not facts.wrong(argument):
        facts.scalars[argument] = facts.scalars.get(argument) is not False and value.ndim == 0 and all(
            questions.ask(f"{key} scalar {rank}", lambda: run(value.reshape((1,) * rank))) == "scalar" for rank in (1, 2))
        return
    for rank in facts.wrong(argument):
        answers = [questions.ask(f"{key} {rank} {i}", lambda: run(other)) for i, other in enumerate(of_rank(value, rank))]
        if True in answers:
            facts.take(argument, rank)
    facts.of[argument][2] = True


def ask_case(op, case, questions, facts):
    """The op's nodes in a case, with the values of their inputs in that case."""
    with case_archive.unpacked(case) as folder:
        with open(os.path.join(folder, "case.json"), encoding="utf-8") as f:
            files = json.load(f).get("feeds", {})
        with open(os.path.join(folder, "graph.pb"), "rb") as f:
            graph_def = graph_pb2.GraphDef.FromString(f.read())
        feeds = {k: np.load(os.path.join(folder, v), allow_pickle=True) for k, v in files.items()}
    left = 8
    for n, node in enumerate(graph_def.node):
        if node.op != op.name:
            continue
        attrs = {a.name: node.attr[a.name] if a.name in node.attr else a.default_value for a in op.attr}
        for slot, (number, dtype) in enumerate(slots(op, attrs)):
            is_plain = dtype < 100 and dtype not in (types_pb2.DT_RESOURCE, types_pb2.DT_VARIANT)
            if left and is_plain and facts.is_asked(number):
                left -= 1
                ask_node(questions, f"{os.path.basename(case)} {n} {slot}", facts, number, graph_def, n, slot, dtype, feeds)


def ask_node(questions, key, facts, number, graph_def, n, slot, dtype, feeds):
    changed = graph_pb2.GraphDef()
    changed.CopyFrom(graph_def)
    node = changed.node[n]
    source = node.input[slot]
    if source.startswith("^"):
        return
    changed.node.add(name="rank_probe", op="Placeholder").attr["dtype"].type = dtype
    node.input[slot] = "rank_probe:0"
    try:
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(changed, name="")
        with tf.Graph().as_default() as whole:
            tf.import_graph_def(graph_def, name="")
        value = np.asarray(tf.compat.v1.Session(graph=whole, config=CONFIG).run(
            source if ":" in source else source + ":0", {k: v for k, v in feeds.items()}))
    except Exception:                                         # pylint: disable=broad-except
        return
    session = tf.compat.v1.Session(graph=graph, config=CONFIG)
    operation = graph.get_operation_by_name(node.name)

    def run(other):
        session.run(operation, {**{k: v for k, v in feeds.items() if not k.startswith("rank_probe")}, "rank_probe:0": other})

    if questions.ask(f"{key} good", lambda: run(value)) is True:
        try_wrong(questions, key, facts, number, value, run)


def made_up(dtype, dims, choice):
    kind = tf.DType(dtype)
    if kind == tf.string:
        return np.full(dims, [b"a", b"1", b""][choice], object)
    return np.full(dims, choice).astype(kind.as_numpy_dtype)


def ask_made_up(op, good, questions, facts):
    """Tries inputs of ones, with ranks that the shape function accepts, until the kernel accepts some."""
    choose = random.Random(op.name)
    found = left = 0
    for v, base in enumerate(good[:12]):
        for t in TYPES:
            attrs = dict(base)
            for a in op.attr:
                if a.type == "type" and not a.HasField("default_value"):
                    attrs[a.name] = value_of(a, "type", dtype_number(t), 1)
            if not any(a.type == "type" and not a.HasField("default_value") for a in op.attr) and t != TYPES[0]:
                continue
            found += ask_with(op, attrs, f"m{v} {t}", choose, questions, facts)
            left += 1
            if found >= 3 or left > 40:
                return


def ask_with(op, attrs, key, choose, questions, facts):
    with tf.Graph().as_default() as graph:
        inputs, feeds, initial = [], [], []
        try:
            kinds = list(slots(op, attrs))
            for _, dtype in kinds:
                if dtype == types_pb2.DT_RESOURCE:
                    shape = [[], [1], [1, 1]][choose.randrange(3)]
                    kind = attrs["T"].type if "T" in attrs else attrs["dtype"].type if "dtype" in attrs else types_pb2.DT_FLOAT
                    inputs.append(tf.raw_ops.VarHandleOp(dtype=kind, shape=shape, shared_name=f"v{len(inputs)}"))
                    initial.append(tf.raw_ops.AssignVariableOp(resource=inputs[-1], value=tf.ones(shape, kind)))
                elif dtype == types_pb2.DT_VARIANT:
                    inputs.append(tf.raw_ops.RangeDataset(start=np.int64(0), stop=np.int64(3), step=np.int64(1), output_types=[tf.int64],
                                                          output_shapes=[[]]))
                elif dtype > 100:
                    return 0
                else:
                    inputs.append(input_of(dtype, None))
            node = make(op, attrs, inputs)
        except Exception:                                     # pylint: disable=broad-except
            return 0
    session = tf.compat.v1.Session(graph=graph, config=CONFIG)
    feeds = [(i, number, dtype) for i, (number, dtype) in enumerate(kinds)
             if dtype not in (types_pb2.DT_RESOURCE, types_pb2.DT_VARIANT)]

    def run(values):
        if initial:
            session.run(initial)
        session.run(node, {inputs[i]: value for (i, _, _), value in zip(feeds, values)})

    for attempt in range(24):
        size, same = choose.choice([1, 1, 2, 3]), choose.randrange(3)
        values = []
        for _, number, dtype in feeds:
            low, high, _ = facts.of.get(number, (0, 8, False))
            rank = choose.randint(low, min(high, low + choose.choice([0, 1, 4])))
            values.append(made_up(dtype, [size] * rank, choose.choice([same, same, choose.randrange(3)])))
        answer = questions.ask(f"{key} {attempt}", lambda: run(values))
        if answer == "hang":
            return 3                                          # it waits for others, whatever its input
        if answer is None:
            return 0                                          # no kernel for this dtype
        if answer is True:
            for at, (_, number, _) in enumerate(feeds):
                if facts.is_asked(number):
                    try_wrong(questions, f"{key} {attempt} {at}", facts, number, values[at],
                              lambda other: run([*values[:at], other, *values[at + 1:]]))
            return 1
    return 0
