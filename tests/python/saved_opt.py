#!/usr/bin/env python3
"""What `grapnel opt MODEL -o FOLDER` makes of SavedModels, beside what TensorFlow's own run of the signature makes of them.

usage: saved_opt.py [NAME...]

For each model of saved_opt_models.py, with oneDNN and without: the default signature of the folder has the ops, by count, of
TensorFlow's after_graph_optimization dump of that signature; bodies of If, Case and While, which a SavedModel keeps as functions
and the runtime lowers first, and functions that stay calls are compared one by one. Then TensorFlow loads the folder in both of
its loaders and gives the values of the model as it was. Dumps are made here, by the TensorFlow of .venv; of Keras 2 in a venv with
tf_keras beside it (build/versions/keras2).
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GRAPNEL = os.environ.get("GRAPNEL", str(ROOT / "build/release/bin/grapnel"))
KERAS2 = ROOT / "build" / "versions" / "keras2"
# Ops that only pass on values and control.
PLUMBING = set(
    "_Arg _Retval Placeholder VarHandleOp ReadVariableOp Identity IdentityN NoOp Const _Recv _Send _HostSend _HostRecv HashTableV2 "
    "Enter Merge Switch NextIteration Exit LoopCond If StatelessIf Case StatelessCase While StatelessWhile _SwitchN".split())
# How the runtime names the nodes of a body that it inlines: "while/body/_6/add", "cond/then/_1/mul", "case/branch2/_7/neg".
INLINED = re.compile(r"/(body|cond|then|else|branch\d+)/_\d+/")
CALLS = ("PartitionedCall", "StatefulPartitionedCall")
# Models that differ in a mode, and why.
KNOWN = {
    ("k2_simple_rnn", "on"): "TensorFlow's remapper leaves a node without an op in the loop's body, and the runtime then keeps the graph "
    "as it was ('Ignoring multi-device function optimization failure')",
}


def python_with_keras2():
    if not (KERAS2 / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(KERAS2)], check=True)
        packages = subprocess.run([ROOT / ".venv/bin/python", "-c", "import tensorflow, pathlib; print(pathlib.Path(tensorflow.__file__).parent.parent)"],
                                  capture_output=True, text=True, check=True).stdout.strip()
        next(KERAS2.glob("lib/python*/site-packages")).joinpath("tensorflow.pth").write_text(packages + "\n")
        subprocess.run([KERAS2 / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "tf_keras==2.21.0"], check=True)
        (KERAS2 / "ready").touch()
    return str(KERAS2 / "bin/python")


def bodies_of_dump(graph):
    """Counts of ops by body: a body is the chain of nodes and branches that leads to it."""
    bodies = collections.defaultdict(collections.Counter)
    for node in graph.node:
        parts = INLINED.split(node.name)
        if parts[0].startswith("Func/"):  # what a call's arguments and results go through
            continue
        bodies[tuple(zip(parts[:-1:2], parts[1::2]))][node.op] += node.op not in PLUMBING
    return {path: +ops for path, ops in bodies.items()}


def bodies_of_function(library, name, path=(), at="", bodies=None, calls=None):
    """The same of a function of a library that keeps its branches and loops; `calls`: (path, node, function) of those that stay."""
    bodies = {} if bodies is None else bodies
    function = library[name]
    counts = collections.Counter()
    for node in function.node_def:
        attrs = node.attr
        if node.op in ("While", "StatelessWhile"):
            inner = [("cond", attrs["cond"].func.name), ("body", attrs["body"].func.name)]
        elif node.op in ("If", "StatelessIf"):
            inner = [("then", attrs["then_branch"].func.name), ("else", attrs["else_branch"].func.name)]
        elif node.op in ("Case", "StatelessCase"):
            inner = [(f"branch{i}", f.name) for i, f in enumerate(attrs["branches"].list.func)]
        else:
            inner = []
        for kind, callee in inner:
            bodies_of_function(library, callee, (*path, (node.name, kind)), at, bodies, calls)
        if node.op in CALLS and calls is not None:
            calls.append((path, node.name, attrs["f"].func.name))
        counts[node.op] += node.op not in PLUMBING
    bodies[path] = +counts
    return bodies


def compare(found, wanted, where):
    differences = []
    for path in sorted(set(found) | set(wanted), key=str):
        got, want = found.get(path, collections.Counter()), wanted.get(path, collections.Counter())
        if got != want:
            place = "/".join(f"{scope}.{kind}" for scope, kind in path) or where
            differences.append(f"{place}: TensorFlow alone has {dict(want - got)}, grapnel alone {dict(got - want)}")
    return differences


def ops_of_folder(folder, dumps):
    """What differs between the default signature of a SavedModel and TensorFlow's dumps."""
    from tensorflow.core.framework import graph_pb2
    from tensorflow.core.protobuf import saved_model_pb2

    saved = saved_model_pb2.SavedModel.FromString((folder / "saved_model.pb").read_bytes())
    graph = saved.meta_graphs[0].graph_def
    library = {f.signature.name: f for f in graph.library.function}
    output = next(iter(saved.meta_graphs[0].signature_def["serving_default"].outputs.values())).name.split(":")[0]
    wrapper = next(n for n in graph.node if n.name == output).attr["f"].func.name

    def dump_of(pattern):
        graphs = [graph_pb2.GraphDef.FromString(f.read_bytes()) for f in sorted(dumps.glob(pattern)) if "_partition_" not in f.name]
        return max(graphs, key=lambda g: len(g.node), default=None)

    top = dump_of("__inference_signature_wrapper_*.main.after_graph_optimization*")
    calls = []
    differences = compare(bodies_of_function(library, wrapper, calls=calls), bodies_of_dump(top), "the signature")
    theirs = {n.name: n.attr["f"].func.name for n in top.node if n.op in CALLS}
    for path, node, function in calls:
        # A call that stays is a graph of its own for the runtime.
        dump = dump_of(theirs[node] + ".*.main.after_graph_optimization*") if not path and node in theirs else None
        if dump:
            differences += [f"{node}: {text}" for text in compare(bodies_of_function(library, function), bodies_of_dump(dump), "its body")]
    return differences


RUN = """
import json, os, pathlib, sys
os.environ["TF_DUMP_GRAPH_FMT"], os.environ["TF_DUMP_GRAPH_NAME_FILTER"] = "BIN", "*"
os.environ["TF_DUMP_GRAPH_PREFIX"] = sys.argv[1]
import numpy as np, tensorflow as tf
tf.get_logger().setLevel("ERROR")
out, step, names = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
for name in names:
    folder = pathlib.Path(name)
    try:
        if step == "before":
            os.environ["TF_DUMP_GRAPH_PREFIX"] = str(out / folder.name)
            (out / folder.name).mkdir(parents=True)
        else:
            os.environ.pop("TF_DUMP_GRAPH_PREFIX", None)
        model = str(folder / "model" if step == "before" else out / folder.name / "optimized")
        signature = tf.saved_model.load(model).signatures["serving_default"]
        feeds = {k: np.load(folder / f"x_{k}.npy") for k in signature.structured_input_signature[1]}
        values = {k: v.numpy() for k, v in signature(**{k: tf.constant(v) for k, v in feeds.items()}).items()}
        if step == "before":
            np.savez(out / folder.name / "values.npz", **values)
            continue
        wanted = np.load(out / folder.name / "values.npz")
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            meta = tf.compat.v1.saved_model.loader.load(session, ["serve"], model)
            ends = meta.signature_def["serving_default"]
            again = session.run({k: v.name for k, v in ends.outputs.items()}, {ends.inputs[k].name: v for k, v in feeds.items()})
        for which, got in (("tf.saved_model.load", values), ("the v1 loader", again)):
            for key in wanted.files:
                if not np.allclose(got[key], wanted[key], rtol=1e-4, atol=1e-5):
                    raise ValueError(f"{which} gives another '{key}', off by {np.abs(got[key] - wanted[key]).max()}")
        print("GOOD", folder.name)
    except Exception as error:
        print("BAD", folder.name, json.dumps(str(error)[:600]))
"""


def run_tensorflow(python, onednn, *words):
    env = {**os.environ, "TF_ENABLE_ONEDNN_OPTS": onednn, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run([python, "-c", RUN, *map(str, words)], capture_output=True, text=True, env=env)
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])
    return [line.split(" ", 2) for line in done.stdout.splitlines() if line.startswith(("GOOD ", "BAD "))]


def main(*names):
    sys.path.insert(0, str(ROOT / ".venv/lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"))
    python = python_with_keras2()
    modes = os.environ.get("GRAPNEL_SAVED_OPT_MODES", "on off").split()
    status = 0
    with tempfile.TemporaryDirectory() as temporary:
        models = pathlib.Path(os.environ.get("GRAPNEL_SAVED_OPT_MODELS", temporary + "/models"))
        if not models.exists():
            subprocess.run([python, ROOT / "tests/python/saved_opt_models.py", models, *names], check=True, stderr=subprocess.DEVNULL)
        folders = sorted(folder for folder in models.iterdir() if not names or folder.name in names)
        for mode in modes:
            out = pathlib.Path(temporary) / mode
            onednn = "1" if mode == "on" else "0"
            run_tensorflow(python, onednn, out, "before", *folders)
            same = 0
            for folder in folders:
                flags = ["--onednn", mode] if has_onednn() else []
                done = subprocess.run([GRAPNEL, "opt", str(folder / "model"), "-o", str(out / folder.name / "optimized"), "-q", *flags],
                                      capture_output=True, text=True)
                differences = [done.stderr.strip()] if done.returncode else ops_of_folder(out / folder.name / "optimized", out / folder.name)
                same += not differences
                if differences and (folder.name, mode) in KNOWN:
                    print(f"{folder.name} ({mode}): known: {KNOWN[folder.name, mode]}")
                for text in differences:
                    print(f"{folder.name} ({mode}): {text}")
            results = run_tensorflow(python, onednn, out, "after", *folders)
            good = sum(result[0] == "GOOD" for result in results)
            for result in results:
                if result[0] == "BAD":
                    print(f"{result[1]} ({mode}): {json.loads(result[2])}")
            print(f"oneDNN {mode}: {same} of {len(folders)} the same, {good} load in both loaders with equal values")
            status |= same < len(folders) - 2 or good < len(folders)
    return int(status)


def has_onednn():
    return "--onednn" in subprocess.run([GRAPNEL, "opt", "--help"], capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
