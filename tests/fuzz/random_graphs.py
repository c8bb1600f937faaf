#!/usr/bin/env python3
"""Makes random graphs from a seed, optimizes each with TensorFlow's Grappler and with `grapnel opt`, and compares graphs and values.

usage: random_graphs.py GRAPNEL SEED COUNT [--kind FAMILY] [--keep DIR] [--jobs N] [--expect N]

A line for each graph that has something to say, by what it is:
  graph    TensorFlow's result is another; what there is more or less of ('Const 3/2': TensorFlow 3, grapnel 2)
  stale    TensorFlow cannot import what grapnel made
  value    what grapnel made computes something else, in TensorFlow
  run      grapnel computes something else, of the graph as it was or of what it made
  error    grapnel refuses what TensorFlow takes
  tf       Grappler fails, or changes a value
  invalid  TensorFlow does not run the graph as it was made: the generator needs a fix
--keep DIR keeps there of each such graph: in.pb, tf.pb, grapnel.pb, differs.txt, and case folders for `grapnel replay`. Each graph is
made in a process of its own, so that a seed alone makes the same graph as among many, and one that ends TensorFlow ends no other. Exit
code 1 if there was a stale, value, run, error or invalid one, or more than --expect graphs that differ.
needs: tensorflow-cpu==2.21.0
"""
import argparse
import collections
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
import numpy as np
import tensorflow as tf
from tensorflow.core.framework import graph_pb2
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.framework import meta_graph
from tensorflow.python.grappler import tf_optimizer

import capture
import graph_likeness
import graph_pieces_formats  # the pieces register themselves
import graph_pieces_state
import graph_pieces_values
from graph_maker import PIECES, V1, Maker

FAMILIES = [*PIECES, "mixed"]
PATIENCE = 120                                                # seconds for one graph
BAD = ("stale", "value", "run", "error", "invalid")


# ---- one graph ----

def text_of(error):
    return " ".join(str(getattr(error, "message", None) or error).split())[:300]


def made(seed, family):
    """(MetaGraphDef, names of fetches, {name: value} of feeds)."""
    maker = Maker(seed)
    with tf.Graph().as_default() as graph:
        fetches = [t.name for t in maker.make(family, 15 + seed % 50)]
        meta = meta_graph.create_meta_graph_def(graph=graph)
    meta.collection_def.clear()                               # as in a file with only a graph
    meta.collection_def["train_op"].node_list.value.extend(fetches)
    return meta, fetches, maker.feeds


def optimized(meta):
    config = config_pb2.ConfigProto()
    config.graph_options.rewrite_options.min_graph_nodes = -1
    config.graph_options.rewrite_options.fail_on_optimizer_errors = True
    return tf_optimizer.OptimizeGraph(config, meta, graph_id=b"graph_to_optimize")


def computed(graph_def, fetches, feeds):
    """TensorFlow's values of the graph as it is."""
    config = config_pb2.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    config.graph_options.place_pruned_graph = True            # ops that are not fetched may lack a kernel
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = config_pb2.OptimizerOptions.L0
    names = {n.name for n in graph_def.node}
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        with V1.Session(graph=graph, config=config) as session:
            return session.run(fetches, {k: v for k, v in feeds.items() if k.split(":")[0] in names})


def write(path, graph_def):
    with open(path, "wb") as f:
        f.write(graph_def.SerializeToString(deterministic=True))


def case_of(folder, graph_def, feeds, fetches, values):
    names = {n.name for n in graph_def.node}
    finite = [np.abs(v[np.isfinite(v)]) if v.dtype.kind in "fc" else np.zeros(0) for v in map(graph_likeness.numbers, values)]
    rtol = graph_likeness.tolerance([*values, *feeds.values()])
    capture.write_case(folder, graph_def, {k: v for k, v in feeds.items() if k.split(":")[0] in names}, dict(zip(fetches, values)),
                       rtol=rtol,
                       atol=max(rtol / 10 * max(.01, float(f.max()) if f.size else 0) for f in finite))


def optimize_here(grapnel, folder, meta, fetches):
    """What grapnel makes of the graph; None and why where it does not."""
    write(folder + "/in.pb", meta.graph_def)
    command = [grapnel, "opt", folder + "/in.pb", "--device", "", "--fetch", ",".join(fetches), "-o", folder + "/grapnel.pb", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=PATIENCE // 2, check=False)
    if done.returncode:
        return None, " ".join(done.stderr.split())[-300:] or f"exit code {done.returncode}"
    with open(folder + "/grapnel.pb", "rb") as f:
        return graph_pb2.GraphDef.FromString(f.read()), None


def replayed(grapnel, *cases):
    """What grapnel's executor says of the cases, where not all is well."""
    done = subprocess.run([grapnel, "replay", "--json", *cases], capture_output=True, text=True, errors="replace", timeout=PATIENCE // 2,
                          check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if len(lines) < len(cases):
        return [f"replay ended with {done.returncode}: {done.stderr[-200:]}"]
    return [f"{os.path.basename(line['case'])}: {line.get('message', line['status'])[:300]}" for line in lines if line["status"] != "pass"]


def compared(grapnel, folder, seed, family):
    """[(kind, text)] of one graph."""
    meta, fetches, feeds = made(seed, family)
    said = []
    try:
        before = computed(meta.graph_def, fetches, feeds)
    except Exception as error:                                # pylint: disable=broad-except
        write(folder + "/in.pb", meta.graph_def)
        return [("invalid", text_of(error))]
    rtol = graph_likeness.tolerance([*before, *feeds.values()])
    got, why = optimize_here(grapnel, folder, meta, fetches)
    if got is None:
        said.append(("error", why))
    cases = [folder + "/before"]
    case_of(cases[0], meta.graph_def, feeds, fetches, before)
    if got is not None:
        try:
            text = graph_likeness.disagreement(fetches, before, computed(got, fetches, feeds), rtol)
            said += [("value", text)] if text else []
        except Exception as error:                            # pylint: disable=broad-except
            said.append(("stale" if isinstance(error, ValueError) else "value", text_of(error)))
        cases.append(folder + "/optimized")
        case_of(cases[1], got, feeds, fetches, before)
    said += [("run", text) for text in replayed(grapnel, *cases)]
    os.write(STATE, json.dumps(said).encode() + b"\n")        # the results so far, in case Grappler ends the process
    try:
        want = optimized(meta)
    except Exception as error:                                # pylint: disable=broad-except
        return said + [("tf", "Grappler fails: " + text_of(error))]
    write(folder + "/tf.pb", want)
    try:
        wrong = graph_likeness.disagreement(fetches, before, computed(want, fetches, feeds), rtol)
    except Exception as error:                                # pylint: disable=broad-except
        wrong = "does not run: " + text_of(error)
    if wrong:
        return said + [("tf", "of what Grappler makes: " + wrong)]
    if got is not None:
        text = graph_likeness.likeness(want, got)
        said.append(("same" if text in ("same", "renamed") else "graph", text))
        if text not in ("same", "renamed"):
            with open(folder + "/differs.txt", "w", encoding="utf-8") as f:
                f.write(graph_likeness.differing(want, got))
    return said


# ---- many ----

STATE = -1                                                    # where the process of one graph writes its results


class Child:
    """The process of one graph."""

    def __init__(self, args, seed):
        self.seed, self.family = seed, args.kind or FAMILIES[seed % len(FAMILIES)]
        self.folder = os.path.join(args.keep or args.scratch, f"{self.family}_{seed}")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        self.read, write_end = os.pipe()
        self.said = b""
        self.process = os.fork()
        if self.process:
            os.close(write_end)
            return
        global STATE                                          # pylint: disable=global-statement
        STATE = write_end
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 1)
        os.dup2(null, 2)
        signal.alarm(PATIENCE)
        try:
            said = compared(os.path.abspath(args.grapnel), self.folder, seed, self.family)
        except Exception as error:                            # pylint: disable=broad-except
            said = [("invalid", f"{type(error).__name__}: {text_of(error)}")]
        os.write(write_end, json.dumps(said).encode() + b"\n")
        os._exit(0)

    def result(self):
        """None while there is more to come."""
        data = os.read(self.read, 1 << 16)
        self.said += data
        if data:
            return None
        os.close(self.read)
        _, status = os.waitpid(self.process, 0)
        lines = [json.loads(line) for line in self.said.splitlines()]
        if status == 0:
            return lines[-1]
        if not lines:
            return [("invalid", f"the process ended with {status}")]
        how = "does not come to an end" if status == signal.SIGALRM else f"ends the process, signal {status & 127}"
        return lines[-1] + [("tf", "Grappler " + how)]


def results(args):
    """(Child, what it said) in the order of seeds."""
    seeds, running, done, following = iter(range(args.seed, args.seed + args.count)), {}, {}, args.seed
    while True:
        while len(running) < args.jobs and (seed := next(seeds, None)) is not None:
            child = Child(args, seed)
            running[child.read] = child
        if not running:
            return
        for ready in select.select(list(running), [], [])[0]:
            said = running[ready].result()
            if said is not None:
                child = running.pop(ready)
                done[child.seed] = child, said
        while following in done:
            yield done.pop(following)
            following += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("grapnel")
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--kind", choices=FAMILIES, help="pieces of one family, and numbers; else all in turn")
    parser.add_argument("--keep", help="a folder for what has something to say")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--expect", type=int, default=0, help="so many graphs may differ from TensorFlow's")
    args = parser.parse_args()
    counts, differences = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as args.scratch:
        for child, said in results(args):
            counts.update({kind for kind, _ in said})
            counts["renamed"] += ("same", "renamed") in map(tuple, said)
            worth = [f"{kind}: {text}" for kind, text in said if kind != "same"]
            if worth:
                print(f"{child.family} {child.seed}: {'; '.join(worth)}", flush=True)
                differences.update(re.sub(r"\d+", "#", line)[:100] for line in worth)
            if not worth or not args.keep:
                shutil.rmtree(child.folder)
    for line, count in differences.most_common(30):
        print(f"{count:5} {line}")
    said = ", ".join(f"{counts[k]} {k}" for k in ("graph", "stale", "value", "run", "error", "tf", "invalid"))
    print(f"{args.count} graphs: {counts['same']} same ({counts['renamed']} up to names), {said}")
    return 1 if any(counts[k] for k in BAD) or counts["graph"] > args.expect else 0


if __name__ == "__main__":
    sys.exit(main())
