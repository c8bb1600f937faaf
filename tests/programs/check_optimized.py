"""Does `opt` make of before_graph_optimization what TensorFlow makes of it?

check_optimized.py GRAPNEL ROOT [-v] [--only NAME...] [--fetch-ends] [--config] [--onednn on|off] [--keep FOLDER]

ROOT/NAME/dumps is a folder of dumps, as dump.py makes it. For each X.NNNN.main.before_graph_optimization it runs
`opt X --onednn on|off` and compares the result with the after_graph_optimization that follows, names aside. Whether TensorFlow had
oneDNN is in the folder's name (onednn0, onednn1), else in its log. "placed" are functions that differ in devices alone; they count
as the same.

--fetch-ends   names the results of the function and its effects with --fetch: how far off the rest is, where opt takes other ends
--config       gives opt the configuration that was in effect, where it was not TensorFlow's default: tf.data and iterators on
               several devices instantiate their functions without constant_folding and layout
--keep FOLDER  keeps what opt made

Prints 'NAME same N of M' for each program, with -v each function that differs, then how often which ops do, and last
'N of M functions'.
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "fuzz"))
from google.protobuf import text_format  # noqa: E402
from graph_likeness import likeness  # noqa: E402
from tensorflow.core.framework import graph_pb2  # noqa: E402
from tensorflow.python.framework import op_def_registry  # noqa: E402

SMALLER = "constant_folding: OFF layout_optimizer: OFF"


def read(path):
    graph = graph_pb2.GraphDef()
    data = pathlib.Path(path).read_bytes()
    if str(path).endswith(".pbtxt"):
        text_format.Parse(data, graph)
    else:
        graph.ParseFromString(data)
    return graph


def reachable(graph):
    """The graph with the functions that it calls alone."""
    library = {f.signature.name: f for f in graph.library.function}
    wanted, seen = [graph.node], {}
    while wanted:
        for node in wanted.pop():
            called = [node.op, *(v.func.name for v in node.attr.values()), *(f.name for v in node.attr.values() for f in v.list.func)]
            for name in called:
                if name in library and name not in seen:
                    seen[name] = library[name]
                    wanted.append(library[name].node_def)
    result = graph_pb2.GraphDef(node=graph.node)
    result.library.function.extend(seen[name] for name in sorted(seen))
    return result


def without_devices(graph):
    result = graph_pb2.GraphDef()
    result.CopyFrom(graph)
    for nodes in (result.node, *(f.node_def for f in result.library.function)):
        for node in nodes:
            node.device = ""
    return result


def ends(graph):
    """Nodes that a function graph is run for: its results and its own effects. A call with effects that was inlined has left a NoOp
    with its name: that is the effect, and not what stands in the NoOp's scope."""
    library = {f.signature.name: f.signature.is_stateful for f in graph.library.function}
    no_ops = {n.name for n in graph.node if n.op == "NoOp"}
    found = []
    for n in graph.node:
        op = op_def_registry.get(n.op)
        has_effect = (op.is_stateful if op else library.get(n.op, False)) and n.op not in ("_Arg", "_DeviceArg", "VarHandleOp")
        calls = [n.name[:slash.start()] for slash in re.finditer("/", n.name) if n.name[:slash.start()] in no_ops]
        if n.op in ("_Retval", "_DeviceRetval") or has_effect:
            found.append(calls[0] if calls else n.name)
    return list(dict.fromkeys(found))


def compared(want, got):
    """"same", "placed" or how they differ."""
    want, got = reachable(want), reachable(got)
    said = likeness(want, got)
    if said in ("same", "renamed"):
        return "same"
    return "placed" if likeness(without_devices(want), without_devices(got)) in ("same", "renamed") else said


def onednn_of(place, asked):
    if asked:
        return asked
    if found := re.search(r"onednn([01])", str(place)):
        return "on" if found[1] == "1" else "off"
    return "on" if "oneDNN custom operations are on" in (place / "log.txt").read_text(errors="replace") else "off"


def optimizers(place):
    """{function: how many optimizers Grappler ran on it}, of the log."""
    found = re.findall(r"Optimize GrapplerItem: item.id=(\S+) num_optimizers=(\d+)", (place / "log.txt").read_text(errors="replace"))
    return {name: int(n) for name, n in reversed(found) if n != "1"}


def pairs(dumps):
    """(before, after, function) of each time that a function was optimized."""
    numbered = collections.defaultdict(dict)
    for file in dumps.iterdir():
        if m := re.match(r"(.+)\.(\d{4})\.main\.(before|after)_graph_optimization\.(pb|pbtxt)$", file.name):
            numbered[m[1]][int(m[2])] = m[3], file
    for name, files in sorted(numbered.items()):
        order = sorted(files.items())
        for (_, (kind, file)), (_, (then, after)) in zip(order, order[1:]):
            if (kind, then) == ("before", "after"):
                yield file, after, name


def difference(grapnel, before, after, options, out):
    done = subprocess.run([grapnel, "opt", before, *options, "-q", "-o", out], capture_output=True, text=True, timeout=120)
    if done.returncode:
        return "failed: " + (done.stderr.strip().splitlines() or ["no message"])[-1][:200]
    return compared(read(after), read(out))


def check(grapnel, place, wanted, differing, folder):
    counted, lines, small = collections.Counter(), [], set()
    sizes = optimizers(place)
    for before, after, name in pairs(place / "dumps"):
        options = ["--onednn", onednn_of(place.resolve(), wanted.onednn)]
        if wanted.fetch_ends:
            options += [f"--fetch={','.join(ends(read(before)))}"]
        if sizes.get(name, 13) == 11:
            small.add(name)
            options += ["--rewriter-config", SMALLER] if wanted.config else []
        said = difference(grapnel, before, after, options, folder / f"{place.name}.{before.name.rsplit('.', 1)[0]}.pb")
        kind = said if said in ("same", "placed") else "other"
        counted[kind] += 1
        if kind == "other":
            lines.append(f"    {before}: {said}")
            for part in re.findall(r"failed: .*|(?:a call|\S+) \d+/\d+|the same ops", said):
                differing[re.sub(r" (\d+)/(\d+)", lambda m: " more" if int(m[2]) > int(m[1]) else " fewer", part)].append(before)
    same = counted["same"] + counted["placed"]
    print(place.name, "same", same, "of", sum(counted.values()),
          *([f"({counted['placed']} but for devices)"] if counted["placed"] else []),
          *([f"({len(small)} functions were optimized without constant_folding and layout)"] if small else []), flush=True)
    if wanted.verbose:
        print(*lines, sep="\n")
    return same, sum(counted.values())


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("grapnel")
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--fetch-ends", action="store_true")
    parser.add_argument("--config", action="store_true")
    parser.add_argument("--onednn", choices=["on", "off"])
    parser.add_argument("--keep", type=pathlib.Path)
    wanted = parser.parse_args()
    right = total = 0
    differing = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as scratch:
        folder = wanted.keep or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for place in sorted(wanted.root.iterdir()):
            if (place / "dumps").is_dir() and (not wanted.only or place.name in wanted.only):
                good, of = check(wanted.grapnel, place, wanted, differing, folder)
                right, total = right + good, total + of
    for kind, files in sorted(differing.items(), key=lambda item: -len(item[1])):
        print(f"{len(files):5} {kind}: {', '.join(str(f) for f in files[:2])}")
    print(f"{right} of {total} functions")
    return 0 if right == total else 1


if __name__ == "__main__":
    sys.exit(main())
