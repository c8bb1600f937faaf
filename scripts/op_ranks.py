"""The ranks that TensorFlow takes for each input of each op: asked of its shape functions, then of its kernels.

A shape function is asked with inputs of unknown shape but one, of rank 0 to 8, under every kind of attributes: defaults, each
allowed string, lists of each length, and those of the nodes in testdata. What any of them takes is taken. A kernel may take more
than the shape function of its op, and in a function whose shapes are unknown it alone decides: so inputs that an op accepts (of
testdata, else made up) are run again with one of them in a rank that its shape function refuses, and what runs is taken too.
Where a shape function takes every rank, a kernel that wants a scalar says so when it is given the same number as a vector.

TensorFlow ends the process on some of these questions: each op is asked in a process of its own, which another continues behind
a question that ended it.
"""
import glob
import itertools
import json
import os
import random
import re
import select
import shutil
import signal
import tempfile
import time

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"                     # oneDNN's kernels look at less than TensorFlow's own
import numpy as np
import tensorflow as tf
from tensorflow.core.framework import attr_value_pb2, graph_pb2, node_def_pb2, types_pb2
from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RANKS = range(9)                                              # what is taken in rank 8 is in any
PATIENCE = 4                                                  # seconds for one question
TYPES = ["FLOAT", "INT32", "STRING", "HALF", "DOUBLE", "INT64", "UINT8", "COMPLEX64", "QINT8", "QUINT8", "QINT32", "BOOL"]
LAYOUTS = ["NHWC", "NCHW", "NDHWC", "NCDHW", "NWC", "NCHW_VECT_C", "NHWC_VECT_W"]
LENGTHS = [1, 2, 3, 4, 5]                                     # of lists of numbers: strides, sizes of windows
# The ranks of these follow from an attribute that has no list of values.
FREE = {"Einsum", "XlaEinsum", "UniformQuantizedDot", "XlaDot", "XlaDotV2", "XlaConv", "XlaConvV2", "_FusedBatchMatMulV2"}


def dtype_number(name):
    return types_pb2.DataType.Value("DT_" + name)


# ---- attributes ----

def value_of(attr, kind, prefer, length):
    """An attribute's value where it has no default."""
    out = attr_value_pb2.AttrValue()
    allowed = attr.allowed_values.list
    if kind == "type":
        out.type = prefer if not allowed.type or prefer in allowed.type else allowed.type[0]
    elif kind == "string":
        out.s = allowed.s[0] if allowed.s else b""
    elif kind == "int":
        out.i = max(attr.minimum, 1) if attr.has_minimum else 1
    elif kind == "float":
        out.f = 1
    elif kind == "bool":
        out.b = False
    elif kind == "shape":
        out.shape.unknown_rank = True
    elif kind.startswith("list("):
        element = kind[5:-1]
        field = {"type": "type", "string": "s", "int": "i", "float": "f", "bool": "b", "shape": "shape"}.get(element)
        if not field:
            return None
        out.list.SetInParent()
        one = value_of(attr, element, prefer, length)
        for _ in range(length if element in ("int", "float") else max(1, attr.minimum)):
            target = getattr(out.list, field)
            target.add().CopyFrom(one.shape) if element == "shape" else target.append(getattr(one, field))
    else:
        return None                                           # a function, a tensor
    return out


def one_change(attr, base):
    """Values of one attribute that may change which ranks are taken."""
    new = attr_value_pb2.AttrValue
    if attr.type == "string":
        free = [x.encode() for x in LAYOUTS] if "format" in attr.name else []
        return [new(s=s) for s in attr.allowed_values.list.s or free]
    if attr.type == "bool":
        return [new(b=not base.b)]
    if attr.type == "int":
        return [new(i=i) for i in (-1, 0, 1, 2, 3) if not attr.has_minimum or i >= attr.minimum]
    if attr.type == "shape":
        dims = [[], [1], [1, 1], [1, 1, 1], [1, 1, 1, 1]]
        return [new(shape=tf.TensorShape(d).as_proto()) for d in dims]
    if attr.type == "list(int)":
        lists = ([1] * n for n in range(7))
        return [new(list=attr_value_pb2.AttrValue.ListValue(i=x)) for x in lists]
    if attr.type == "list(type)":
        pairs = ([t] * n for t in ("FLOAT", "STRING") for n in (0, 1, 2) if n >= attr.minimum)
        return [new(list=attr_value_pb2.AttrValue.ListValue(type=map(dtype_number, x))) for x in pairs]
    return []


def variants(op, nodes):
    """Attributes to try: those of testdata's nodes, and defaults with one or the other changed."""
    seen = set()

    def is_new(attrs):
        key = json.dumps({k: v.SerializeToString().hex() for k, v in attrs.items()}, sort_keys=True)
        return key not in seen and not seen.add(key)

    names = {a.name for a in op.attr}
    for node in nodes:
        attrs = {a.name: a.default_value for a in op.attr if a.HasField("default_value")}
        attrs.update({k: v for k, v in node.attr.items() if k in names})
        if len(attrs) == len(names) and is_new(attrs):
            yield attrs
    for length in LENGTHS if any(a.type in ("list(int)", "list(float)") for a in op.attr) else [1]:
        base = {a.name: a.default_value if a.HasField("default_value") else
                value_of(a, a.type, dtype_number("FLOAT"), length) for a in op.attr}
        if None in base.values():
            return
        for attr in op.attr:
            for other in [base[attr.name], *one_change(attr, base[attr.name])]:
                attrs = dict(base, **{attr.name: other})
                if is_new(attrs):
                    yield attrs
        if not op.attr and is_new(base):
            yield base


def slots(op, attrs):
    """(argument, dtype) of each input of a node with these attributes."""
    for number, arg in enumerate(op.input_arg):
        if arg.type_list_attr:
            yield from ((number, t) for t in attrs[arg.type_list_attr].list.type)
            continue
        count = attrs[arg.number_attr].i if arg.number_attr else 1
        kind = attrs[arg.type_attr].type if arg.type_attr else arg.type
        yield from ((number, kind + 100 * arg.is_ref) for _ in range(min(count, 64)))


# ---- asking ----

class Questions:
    """Asks in this process; an answer that is known from one before it is not asked for again."""

    def __init__(self, known, pipe):
        self.known, self.pipe = known, pipe

    def ask(self, key, do):
        """True, False ("scalar": for want of one), or None where there was another end than a yes or a no."""
        if key in self.known:
            return self.known[key]
        os.write(self.pipe, json.dumps([key]).encode() + b"\n")
        signal.alarm(PATIENCE)
        try:
            do()
            answer = True
        except (ValueError, tf.errors.InvalidArgumentError, tf.errors.FailedPreconditionError, tf.errors.OutOfRangeError) as error:
            answer = "scalar" if re.search(r"\bscalar\b", str(error)) and not re.search(r"\bvector|same", str(error)) else False
        except Exception as error:                            # pylint: disable=broad-except
            answer = False if "nvalid" in type(error).__name__ else None
        signal.alarm(0)
        os.write(self.pipe, json.dumps([key, answer]).encode() + b"\n")
        self.known[key] = answer
        return answer

    def tell(self, what):
        os.write(self.pipe, json.dumps({"ranks": what}).encode() + b"\n")


def input_of(dtype, rank):
    """A tensor of a graph, of unknown dimensions; rank None: of an unknown rank."""
    dims = None if rank is None else [None] * rank
    if dtype > 100:                                           # a reference
        shape = tf.TensorShape(dims).as_proto()
        attrs = {"dtype": attr_value_pb2.AttrValue(type=dtype - 100), "shape": attr_value_pb2.AttrValue(shape=shape),
                 "container": attr_value_pb2.AttrValue(s=b""), "shared_name": attr_value_pb2.AttrValue(s=b"")}
        return tf.compat.v1.get_default_graph()._create_op_internal("VariableV2", [], attrs=attrs).outputs[0]
    return tf.compat.v1.placeholder(tf.DType(dtype), dims)


def make(op, attrs, inputs):
    graph = tf.compat.v1.get_default_graph()
    return graph._create_op_internal(op.name, inputs, attrs=attrs)


def shape_ranks(op, nodes, questions):
    """{argument: ranks that a shape function took}; and the attributes that it took."""
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
                        # Some take a scalar that they know to be -1.
                        inputs[slot] = tf.constant(-1, tf.DType(dtype), [1] * rank)
                        if questions.ask(f"v{v} {slot} {rank} known", lambda: make(op, attrs, inputs)) is True:
                            taken[number].add(rank)
    return taken, good


# ---- what kernels take ----

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
    """The value in another rank: with axes of 1 put before or after its own, or its first ones left out."""
    while value.ndim > rank:
        value = without_first_axis(value)
    more = (1,) * (rank - value.ndim)
    found = [value.reshape(more + value.shape), value.reshape(value.shape + more)]
    # Some numbers are taken in a rank where others are not: -1 for an unknown shape, say.
    return found + [np.full_like(found[0], n) for n in (-1, 0) if value.dtype.kind == "i"]


class Facts:
    """{argument: [lowest, highest, whether a kernel agreed]}; grows where a kernel takes more."""

    def __init__(self, taken):
        self.of = {a: [min(ranks), max(ranks), False] for a, ranks in taken.items() if ranks}
        self.first = {a: fact[:2] for a, fact in self.of.items()}
        self.scalars = {}                                     # arguments without a rank that kernels want to be scalars

    def is_asked(self, argument):
        return argument in self.of and (self.wrong(argument) or self.scalars.get(argument) is not False)

    def wrong(self, argument):
        low, high, _ = self.of.get(argument, (0, max(RANKS), False))
        return [*range(low - 1, -1, -1), *([high + 1, high + 2] if high < max(RANKS) else [])]

    def take(self, argument, rank):
        fact = self.of[argument]
        fact[0], fact[1] = min(fact[0], rank), max(fact[1], rank)
        if fact[1] > self.first[argument][1] + 1:
            fact[1] = max(RANKS)                              # it takes whatever it is given


def try_wrong(questions, key, facts, argument, value, run):
    """Runs a sample that is known to be good with one input in ranks that were refused; a scalar of any as a vector."""
    if not facts.wrong(argument):
        facts.scalars[argument] = facts.scalars.get(argument) is not False and value.ndim == 0 and all(
            questions.ask(f"{key} scalar {rank}", lambda: run(value.reshape((1,) * rank))) == "scalar" for rank in (1, 2))
        return
    for rank in facts.wrong(argument):
        answers = [questions.ask(f"{key} {rank} {i}", lambda: run(other)) for i, other in enumerate(of_rank(value, rank))]
        if True in answers:
            facts.take(argument, rank)
    facts.of[argument][2] = True


def ask_case(op, folder, questions, facts):
    """The op's nodes in a case folder, with what they are given there."""
    with open(os.path.join(folder, "case.json"), encoding="utf-8") as f:
        case = json.load(f)
    graph_def = graph_pb2.GraphDef.FromString(open(os.path.join(folder, "graph.pb"), "rb").read())
    feeds = {k: np.load(os.path.join(folder, v), allow_pickle=True) for k, v in case.get("feeds", {}).items()}
    left = 8
    for n, node in enumerate(graph_def.node):
        if node.op != op.name:
            continue
        attrs = {a.name: node.attr[a.name] if a.name in node.attr else a.default_value for a in op.attr}
        for slot, (number, dtype) in enumerate(slots(op, attrs)):
            is_plain = dtype < 100 and dtype not in (types_pb2.DT_RESOURCE, types_pb2.DT_VARIANT)
            if left and is_plain and facts.is_asked(number):
                left -= 1
                ask_node(questions, f"{os.path.basename(folder)} {n} {slot}", facts, number, graph_def, n, slot, dtype, feeds)


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
    """Inputs of ones, of ranks that the shape function takes, until the kernel takes some of them."""
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
            return 3                                          # it waits for others, whatever it is given
        if answer is None:
            return 0                                          # no kernel for this dtype
        if answer is True:
            for at, (_, number, _) in enumerate(feeds):
                if facts.is_asked(number):
                    try_wrong(questions, f"{key} {attempt} {at}", facts, number, values[at],
                              lambda other: run([*values[:at], other, *values[at + 1:]]))
            return 1
    return 0


def child(op, nodes, folders, known, pipe):
    questions = Questions(known, pipe)
    taken, good = shape_ranks(op, nodes, questions)
    for number, arg in enumerate(op.input_arg):
        # A reference is of its variable's rank, and handles are scalars that ops make.
        if arg.is_ref or arg.type == types_pb2.DT_RESOURCE:
            taken.pop(number, None)
    facts = Facts(taken)
    if facts.of:
        for folder in folders[:6]:
            ask_case(op, folder, questions, facts)
        ask_made_up(op, good, questions, facts)
    for argument in (a for a, is_scalar in facts.scalars.items() if is_scalar):
        facts.of[argument] = [0, 0, True]
    questions.tell({a: [*fact, fact[:2] != facts.first[a]] for a, fact in sorted(facts.of.items())})
    os._exit(0)


# ---- processes ----

def testdata():
    """{op: nodes}, {op: case folders}."""
    nodes, folders = {}, {}
    paths = [p for depth in ("*", "*/*") for p in glob.glob(os.path.join(ROOT, "testdata", depth, "graph.pb"))]
    for path in sorted(paths):
        graph = graph_pb2.GraphDef.FromString(open(path, "rb").read())
        for node in itertools.chain(graph.node, *(f.node_def for f in graph.library.function)):
            nodes.setdefault(node.op, []).append(node)
        for op in sorted({node.op for node in graph.node}):
            folders.setdefault(op, []).append(os.path.dirname(path))
    return nodes, folders


class Asked:
    """An op whose questions are being asked, by one process after the other."""

    def __init__(self, op, nodes, folders):
        self.op, self.nodes, self.folders = op, nodes, folders
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
            child(self.op, self.nodes, self.folders, self.known, write)
        finally:
            os._exit(3)

    def go_on(self):
        """Reads what there is. False: the op is done with."""
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
    """{op: {argument's number: (lowest, highest or None for any above)}} of those that not every rank is taken for."""
    nodes, folders = testdata()
    waiting, running, out = sorted(ops, reverse=True), [], {}
    agreed = widened = facts = ended = failed = 0
    home, scratch = os.getcwd(), tempfile.mkdtemp()
    os.chdir(scratch)                                         # ops that write files do it there
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            name = waiting.pop()
            running.append(Asked(ops[name], nodes.get(name, []), folders.get(name, [])))
        for asked in running[:]:
            if time.monotonic() - asked.heard > 10 * PATIENCE:
                os.kill(asked.process, signal.SIGKILL)        # a session may wait for ever as it ends
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
