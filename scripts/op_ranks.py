"""The ranks that TensorFlow accepts for each input of each op, found with its shape functions and then its kernels.

A shape function is called with inputs of unknown shape except one, of rank 0 to 8, with various attributes: defaults, each allowed
string, lists of each length, and those of the nodes in testdata. Every rank that is accepted with any of them counts. A kernel may
accept more than the shape function of its op, and in a function with unknown shapes it alone decides: so valid inputs of an op (from
testdata, else made up) are run again with one of them in a rank that its shape function rejects, and ranks that run count too. If a
shape function accepts every rank, a kernel that requires a scalar shows that when it gets the same number as a vector.

TensorFlow aborts the process on some of these questions: each op has its own process, and another one continues after a question
that aborted it.
"""
import glob
import itertools
import json
import os
import select
import shutil
import signal
import tempfile
import time

from op_questions import PATIENCE, RANKS, Questions, input_of, make, slots, variants
from op_rank_samples import Facts, ask_case, ask_made_up, case_archive
import tensorflow as tf
from tensorflow.core.framework import graph_pb2, types_pb2

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The ranks that these ops accept depend on an attribute without a list of values.
FREE = {"Einsum", "XlaEinsum", "UniformQuantizedDot", "XlaDot", "XlaDotV2", "XlaConv", "XlaConvV2", "_FusedBatchMatMulV2"}


def shape_ranks(op, nodes, questions):
    """{argument: ranks that a shape function accepted}; and the attributes that it accepted."""
    taken, good = {}, []
    for v, attrs in enumerate(itertools.islice(variants(op, nodes), 200)):
        with tf.Graph().as_default():
            try:
                kinds = list(slots(op, attrs))
                unknown = [input_of(t, None) for _, t in kinds]
            except Exception:                                 # pylint: disable=broad-except
                continue
            if questions.ask(f"v{v}", lambda: make(op, attrs, unknown)) is not True:
                continue
            good.append(attrs)
            tensors = {}
            counts = {}
            for slot, (number, dtype) in enumerate(kinds):
                counts[number] = counts.get(number, 0) + 1
                if counts[number] > 2:
                    continue
                for rank in set(RANKS) - taken.setdefault(number, set()):
                    if (dtype, rank) not in tensors:
                        tensors[dtype, rank] = input_of(dtype, rank)
                    inputs = [*unknown[:slot], tensors[dtype, rank], *unknown[slot + 1:]]
                    if questions.ask(f"v{v} {slot} {rank}", lambda: make(op, attrs, inputs)) in (True, None):
                        taken[number].add(rank)
                    elif dtype in (types_pb2.DT_INT32, types_pb2.DT_INT64):
                        # Some ops accept a scalar whose value is known to be -1.
                        inputs[slot] = tf.constant(-1, tf.DType(dtype), [1] * rank)
                        if questions.ask(f"v{v} {slot} {rank} known", lambda: make(op, attrs, inputs)) is True:
                            taken[number].add(rank)
    return taken, good


def child(op, nodes, cases, known, pipe):
    questions = Questions(known, pipe)
    taken, good = shape_ranks(op, nodes, questions)
    for number, arg in enumerate(op.input_arg):
        # A reference has the rank of its variable, and handles are scalars that ops make.
        if arg.is_ref or arg.type == types_pb2.DT_RESOURCE:
            taken.pop(number, None)
    facts = Facts(taken)
    if facts.of:
        for case in cases[:6]:
            ask_case(op, case, questions, facts)
        ask_made_up(op, good, questions, facts)
    # A condition of any rank is allowed, and other errors in a function say nothing about the op
    # that calls it.
    calls = any(attr.type in ("func", "list(func)") for attr in op.attr)
    for argument in (a for a, is_scalar in facts.scalars.items() if is_scalar and not calls):
        facts.of[argument] = [0, 0, True]
    questions.tell({a: [*fact, fact[:2] != facts.first[a]] for a, fact in sorted(facts.of.items())})
    os._exit(0)


# ---- processes ----

def testdata():
    """{op: nodes}, {op: cases}."""
    nodes, cases = {}, {}
    folders = [os.path.dirname(p) for depth in ("*", "*/*") for p in glob.glob(os.path.join(ROOT, "testdata", depth, "graph.pb"))]
    for case in sorted([*folders, *glob.glob(os.path.join(ROOT, "testdata", "ops", "*.zip"))]):
        with case_archive.unpacked(case) as folder, open(os.path.join(folder, "graph.pb"), "rb") as f:
            graph = graph_pb2.GraphDef.FromString(f.read())
        for node in itertools.chain(graph.node, *(f.node_def for f in graph.library.function)):
            nodes.setdefault(node.op, []).append(node)
        for op in sorted({node.op for node in graph.node}):
            cases.setdefault(op, []).append(case)
    return nodes, cases


class Asked:
    """An op whose nodes are tested by one process after another."""

    def __init__(self, op, nodes, cases):
        self.op, self.nodes, self.cases = op, nodes, cases
        self.known, self.ranks, self.open, self.ends = {}, None, None, 0
        self.start()

    def start(self):
        self.read, write = os.pipe()
        self.rest, self.heard = b"", time.monotonic()
        self.process = os.fork()
        if self.process:
            os.close(write)
            return
        os.close(self.read)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        try:
            child(self.op, self.nodes, self.cases, self.known, write)
        finally:
            os._exit(3)

    def go_on(self):
        """Reads available output of the process. Returns False when the op is done."""
        self.heard = time.monotonic()
        data = os.read(self.read, 1 << 16)
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in map(json.loads, lines):
            if isinstance(line, dict):
                self.ranks = line["ranks"]
            elif len(line) == 1:
                self.open = line[0]
            else:
                self.known[line[0]], self.open = line[1], None
        if data:
            return True
        os.close(self.read)
        _, status = os.waitpid(self.process, 0)
        if self.ranks is not None or self.open is None or self.ends > 60:
            return False
        self.ends += 1
        self.known[self.open] = "hang" if os.WTERMSIG(status) == signal.SIGALRM else "end"
        self.open = None
        self.start()
        return True


def ranks_of(ops, say=lambda text: None):
    """{op: {argument's number: (lowest, highest or None for no limit)}} for arguments that do not accept every rank."""
    nodes, cases = testdata()
    waiting, running, out = sorted(ops, reverse=True), [], {}
    agreed = widened = facts = ended = failed = 0
    home, scratch = os.getcwd(), tempfile.mkdtemp()
    os.chdir(scratch)                                         # ops write files there
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            name = waiting.pop()
            running.append(Asked(ops[name], nodes.get(name, []), cases.get(name, [])))
        for asked in running[:]:
            if time.monotonic() - asked.heard > 10 * PATIENCE:
                os.kill(asked.process, signal.SIGKILL)        # a session may hang at its end
            if not select.select([asked.read], [], [], 0.01)[0] or asked.go_on():
                continue
            running.remove(asked)
            ended += asked.ends
            failed += asked.ranks is None
            for number, (low, high, is_agreed, is_wider) in (asked.ranks or {}).items():
                widened += is_wider
                if (low, high) == (0, max(RANKS)) or asked.op.name in FREE:
                    continue
                facts, agreed = facts + 1, agreed + is_agreed
                out.setdefault(asked.op.name, {})[int(number)] = (low, high if high < max(RANKS) else None)
    os.chdir(home)
    shutil.rmtree(scratch, ignore_errors=True)
    say(f"{facts} facts of ranks of {len(out)} ops; kernels refused the other ranks of {agreed}, took more for {widened} inputs; "
        f"TensorFlow ended {ended} processes; {failed} ops gave no answer")
    return out
