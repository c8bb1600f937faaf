#!/usr/bin/env python3
"""Runs the inputs that `grapnel_op_inputs SEED COUNT FOLDER... --save DIR` saved in TensorFlow, and compares what became of each.

usage: op_inputs_tensorflow.py DIR [--lines FILE] [--jobs N]
Prints how many ended alike and how many did not, then a line for each op and kind of difference with an example. Exit code 1 if
there was a difference that is listed nowhere: tests/reference/op_differences.txt has those that stay, with reasons.

TensorFlow runs in processes of its own, as some inputs end it; that is a refusal. Where the shape functions alone refuse, it
runs again with every constant fed and every shape unknown: in a function of unknown shapes the kernels decide.
"""
import argparse
import collections
import fnmatch
import glob
import json
import os
import re
import select
import signal
import sys
import tempfile
import zipfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow.core.framework import graph_pb2
from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LISTED = os.path.join(ROOT, "tests", "reference", "op_differences.txt")
PATIENCE = 5                                                  # seconds per run; a run that waits for others never ends
CONFIG = config_pb2.ConfigProto(
    intra_op_parallelism_threads=1, inter_op_parallelism_threads=1, operation_timeout_in_ms=1000 * PATIENCE,
    graph_options=config_pb2.GraphOptions(
        rewrite_options=rewriter_config_pb2.RewriterConfig(disable_meta_optimizer=True),
        optimizer_options=config_pb2.OptimizerOptions(opt_level=config_pb2.OptimizerOptions.L0)))


# ---- running one ----

def feed_of(path, dtype):
    value = np.load(path)
    kind = tf.DType(dtype)
    if kind == tf.string:
        return value.astype(object)
    wanted = np.dtype(kind.as_numpy_dtype)
    return value.view(wanted) if value.dtype.kind == "V" or wanted.fields else value


def without_shapes(graph):
    """The graph with constants that are fed, and their values."""
    feeds = {}
    for node in graph.node:
        if node.op == "Const" and node.attr["dtype"].type == node.attr["value"].tensor.dtype:
            feeds[node.name + ":0"] = tf.make_ndarray(node.attr["value"].tensor)
            node.op = "Placeholder"
            del node.attr["value"]
        if node.op == "Placeholder":
            node.attr["shape"].shape.Clear()
            node.attr["shape"].shape.unknown_rank = True
        for key in [k for k in node.attr if k.startswith("_")]:
            del node.attr[key]
    return feeds


def run(folder, case, is_shapeless):
    graph_def = graph_pb2.GraphDef.FromString(open(os.path.join(folder, "graph.pb"), "rb").read())
    fed = without_shapes(graph_def) if is_shapeless else {}
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
    for tensor, name in case["feeds"].items():
        fed[tensor] = feed_of(os.path.join(folder, name), graph.get_tensor_by_name(tensor).dtype.as_datatype_enum)
    with tf.compat.v1.Session(graph=graph, config=CONFIG) as session:
        names = list(case["fetches"])
        plain = [n for n in names if graph.get_tensor_by_name(n).dtype not in (tf.resource, tf.variant)]
        rest = [graph.get_tensor_by_name(n).op for n in names if n not in plain]
        return dict(zip(plain, session.run([*plain, *rest], fed)))


def outcome(folder, case):
    """('ran', values) or ('refused' or 'waits', why), and whether the shape functions alone refuse."""
    why = ""
    for is_shapeless in (False, True):
        try:
            return "ran", run(folder, case, is_shapeless), is_shapeless
        except tf.errors.DeadlineExceededError:
            return "waits", "never ends", False
        except Exception as error:                            # pylint: disable=broad-except
            text = f"{type(error).__name__}: {getattr(error, 'message', None) or error}"
            why = f"{why} | {text}" if why else text
            if "nvalidArgument" not in text and not text.startswith("ValueError"):
                break
            # The message comes from a kernel.
            if not is_shapeless and re.search(r"\[\[", text) and "with input shapes" not in text:
                break
    return "refused", why, False


# ---- comparing ----

def numbers(value):
    value = np.asarray(value)
    if value.dtype == np.dtype("V2"):                         # how NumPy reads a dtype that it does not have
        return value.view(tf.bfloat16.as_numpy_dtype)
    return value.view(value.dtype[0]) if value.dtype.fields else value


def special_values(graph, folder, case):
    """What is among the constants and the values fed: NaN, infinity or what is next to it, numbers below all normal ones, and
    finite ones beside which single precision keeps little of others."""
    values = [np.load(os.path.join(folder, name), allow_pickle=True) for name in case["feeds"].values()]
    values += [tf.make_ndarray(n.attr["value"].tensor) for n in graph.node if n.op == "Const" and
               n.attr["dtype"].type == n.attr["value"].tensor.dtype and n.attr["dtype"].type < 100]
    values = [numbers(v) for v in values if v.dtype.kind in "fcV" and v.size]
    sizes = [np.abs(v.astype(np.complex128 if v.dtype.kind == "c" else np.float64)) for v in values]
    found = "[not finite]" if any(not (s < 1e37).all() for s in sizes) else ""
    found += "[denormal]" if any(((s > 0) & (s < 1.18e-38)).any() for s in sizes) else ""
    return found + ("[large]" if any(((s > 1e9) & np.isfinite(s)).any() for s in sizes) else "")


def difference(got, expected, rtol, atol):
    """What is different, or None. `expected` is TensorFlow's."""
    expected = numbers(expected)
    if got.dtype.kind == "V":
        got = got.view(expected.dtype)
    if expected.dtype == object or expected.dtype.kind in "SU":
        same = got.shape == expected.shape and all(
            a == (b if isinstance(b, bytes) else str(b).encode()).rstrip(b"\0") for a, b in zip(got.flat, expected.flat))
        return None if same else "strings differ"
    if got.shape != expected.shape:
        return f"shapes differ: {list(got.shape)}, TensorFlow {list(expected.shape)}"
    if expected.dtype.kind in "biu":
        bad = got != expected
    else:
        wide = np.complex128 if got.dtype.kind == "c" else np.float64
        digits = np.finfo(got.dtype).eps if got.dtype.kind in "fc" else 2 ** (-7 if "bfloat" in str(got.dtype) else -10)
        a, b = got.astype(wide), expected.astype(wide)
        with np.errstate(all="ignore"):
            # Sums of large numbers are only as exact as the largest of them.
            finite = np.abs(b[np.isfinite(b)])
            scale = max(1, finite.max()) if finite.size else 1
            near = np.abs(a - b) <= np.maximum(max(atol, 8 * digits) * scale + rtol * np.abs(b), 2 * digits * np.abs(b))
        bad = ~((near & np.isfinite(b)) | (a == b) | (np.isnan(a) & np.isnan(b)))
    if not bad.any():
        return None
    at = np.unravel_index(np.argmax(bad), bad.shape)
    return f"{int(bad.sum())} of {bad.size} values differ: at {[int(i) for i in at]} {got[at]}, TensorFlow {expected[at]}"


def is_by_chance(graph):
    """Whether an op draws numbers that nothing fixes."""
    nodes = [*graph.node, *(n for f in graph.library.function for n in f.node_def)]
    return any("seed" in n.attr and "seed2" in n.attr and n.attr["seed"].i == n.attr["seed2"].i == 0 and
               n.op != "AnonymousSeedGenerator" for n in nodes)


KINDS = [("no kernel", r"[Nn]o OpKernel|no kernel|no CPU kernel|has no (CPU )?kernel|[Uu]nimplemented|not (yet )?support|unsupported"),
         ("too large", r"ResourceExhausted|OOM|memory|too large|cancelled|larger than")]


def kind_of(ours, theirs, why):
    if theirs == "ran" and ours:
        return next((f"grapnel: {kind}" for kind, pattern in KINDS if re.search(pattern, ours)), "grapnel refuses")
    return next((f"TensorFlow: {kind}" for kind, pattern in KINDS if re.search(pattern, why)), "TensorFlow refuses")


def blamed(graph, text, otherwise):
    found = re.search(r"\{\{node ([^}]+)\}\}|node '([^']+)'", text)
    names = {n.name: n.op for n in graph.node}
    return names.get((found[1] or found[2]) if found else "", otherwise)


def name_of(case):
    return os.path.basename(case).removesuffix(".zip")


def read_of_case(case, name):
    """A file of a case, which is a folder or an archive."""
    if os.path.isfile(case):
        with zipfile.ZipFile(case) as archive:
            return archive.read(name)
    with open(os.path.join(case, name), "rb") as f:
        return f.read()


def compare(folder):
    """Returns (kind, op, text); kind 'alike' means no difference."""
    with open(os.path.join(folder, "case.json"), encoding="utf-8") as f:
        case = json.load(f)
    with open(os.path.join(folder, "what.txt"), encoding="utf-8", errors="replace") as f:
        base, changes = f.readline().strip(), f.read().strip()
    changes = f"{name_of(base)}: {changes}"
    original = json.loads(read_of_case(base, "case.json"))
    graph = graph_pb2.GraphDef.FromString(open(os.path.join(folder, "graph.pb"), "rb").read())
    error = os.path.join(folder, "error.txt")
    ours = open(error, encoding="utf-8", errors="replace").read().strip() if os.path.exists(error) else ""
    state, result, is_shapeless = outcome(folder, case)
    op = name_of(base).split("_")[0] or name_of(base)
    if state != "ran":
        return ("both refuse", op, "") if ours else (kind_of(ours, state, result), blamed(graph, result, op), f"{result} <= {changes}")
    how = "shape functions alone refuse; " if is_shapeless else ""
    if ours:
        # If both reject a graph whose shapes are known, they agree.
        return ("both refuse", op, "") if how else (kind_of(ours, state, ""), blamed(graph, ours, op), f"{ours} <= {changes}")
    if is_by_chance(graph):
        return "by chance", op, ""
    for tensor, value in result.items():
        path = os.path.join(folder, case["fetches"][tensor])
        if not os.path.exists(path):
            continue                                          # a resource in grapnel
        atol = original.get("atol", 0)
        atol = atol.get(tensor, 0) if isinstance(atol, dict) else atol
        text = difference(np.load(path), value, original.get("rtol", 0), atol)
        if text:
            return "values differ", op, f"{special_values(graph, folder, case)}{how}{tensor}: {text} <= {changes}"
    return "alike" if not how else "alike, shape functions alone refuse", op, ""


# ---- many ----

class Worker:
    """A process that compares its share of the folders; where TensorFlow ends it, another goes on."""

    def __init__(self, folders):
        self.folders, self.at = folders, 0
        self.start()

    def start(self):
        self.read, write = os.pipe()
        self.rest = b""
        self.process = os.fork()
        if self.process:
            os.close(write)
            return
        os.close(self.read)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 1)
        os.dup2(null, 2)
        for folder in self.folders[self.at:]:
            signal.alarm(4 * PATIENCE)
            try:
                line = compare(folder)
            except Exception as failed:                       # pylint: disable=broad-except
                line = "could not be compared", "", f"{type(failed).__name__}: {failed}"
            os.write(write, json.dumps(line).encode() + b"\n")
        os._exit(0)

    def lines(self):
        """What is new; None at the end."""
        data = os.read(self.read, 1 << 16)
        *done, self.rest = (self.rest + data).split(b"\n")
        found = []
        for text in done:
            found.append((self.folders[self.at], *json.loads(text)))
            self.at += 1
        if data:
            return found
        os.close(self.read)
        os.waitpid(self.process, 0)
        if self.at == len(self.folders):
            return None
        folder = self.folders[self.at]
        self.at += 1
        self.start()
        refused = os.path.exists(os.path.join(folder, "error.txt"))
        op = name_of(open(os.path.join(folder, "what.txt"), encoding="utf-8", errors="replace").readline().strip())
        return [(folder, "both refuse" if refused else "TensorFlow ends its process", op.split("_")[0], "")]


def listed():
    """[(kind, op pattern, pattern of what is said)] of differences that stay."""
    with open(LISTED, encoding="utf-8") as f:
        rows = [line.rstrip("\n").split("\t") for line in f if line.strip() and not line.startswith("#")]
    return [(kind, op, re.compile(says, re.S)) for op, kind, says, _ in rows]


def is_listed(stays, kind, op, text):
    return any(kind == k and fnmatch.fnmatchcase(op, p) and says.search(text) for k, p, says in stays)


def compare_all(folders, jobs, log):
    """Prints the differences and how many there are of each kind, those that are not listed last; how many these are."""
    waiting = [Worker(folders[i::jobs]) for i in range(jobs)]
    counts, differences, examples, stays = collections.Counter(), collections.Counter(), {}, listed()
    while waiting:
        for reader in select.select([w.read for w in waiting], [], [])[0]:
            worker = next(w for w in waiting if w.read == reader)
            found = worker.lines()
            if found is None:
                waiting.remove(worker)
            for folder, kind, op, text in found or []:
                counts[kind] += 1
                if kind in ("both refuse", "by chance") or kind.startswith("alike"):
                    continue
                stay = is_listed(stays, kind, op, " ".join(text.split()))
                counts["that stay, for reasons listed"] += stay
                differences[kind, op, stay] += 1
                examples.setdefault((kind, op, stay), (os.path.basename(folder[:-1]), text))
                if log:
                    print(folder, kind, op, " ".join(text.split()), sep="\t", file=log)
    new = 0
    for (kind, op, stay), count in sorted(differences.items(), key=lambda d: (d[0][2], d[0][0], -d[1], d[0][1])):
        new += 0 if stay else count
        number, text = examples[kind, op, stay]
        print(f"{count:5} {kind:28} {'(listed) ' if stay else ''}{op}, as in {number}: {' '.join(text.split())[:180]}")
    print(", ".join(f"{count} {kind}" for kind, count in counts.most_common()))
    return new


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--lines", help="a file for all differences: folder, kind, op and text, separated by tabs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    folders = sorted(glob.glob(os.path.join(os.path.abspath(args.folder), "*/")), key=lambda p: int(os.path.basename(p[:-1])))
    log = open(args.lines, "w", encoding="utf-8") if args.lines else None
    with tempfile.TemporaryDirectory() as scratch:  # for ops that write files with random names
        os.chdir(scratch)
        new = compare_all(folders, args.jobs, log)
        os.chdir(ROOT)
    print(f"{len(folders)} inputs: {new} differences that tests/reference/op_differences.txt does not list")
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main())
