"""Starting up, and pictures: the page's first, and `view` beside Graphviz."""
import os
import re
import subprocess
import tempfile

import page_bench
from measure import Failed, run, take_turns
from results import Family, Goal, Row
from rows_opt import nodes_of

TINY = "testdata/harmonic_mean/graph.pb"


def start(arguments, peer=None):
    def measure_row(bench):
        sides = {"grapnel": lambda: run([bench.grapnel, *arguments])}
        if peer:
            sides |= peer(bench)
        found = take_turns(sides, 1.0, most=41)
        own = found.pop("grapnel")
        return Row("`" + " ".join(arguments) + "`", own, found, [Goal(own, 0.003, "s")])
    return measure_row


def with_import(bench):
    return {"empty process": lambda: run(["/bin/true"]),
            "import tensorflow": lambda: run([bench.python, "-c", "import tensorflow"]),
            "import onnxruntime": lambda: run([bench.peers_python, "-c", "import onnxruntime"])}


def picture(model, label):
    """`model(bench)`: the file. Seconds from navigation to a drawn page of a server that is up, in a browser of its own."""
    def measure_row(bench):
        process = subprocess.Popen([bench.grapnel, "serve", "--quiet", model(bench)], stdout=subprocess.PIPE, text=True)
        try:
            url = process.stdout.readline().strip()

            def draw():
                drawn = page_bench.time_one("grapnel", url, 60)
                if not drawn:
                    raise Failed("no picture in 60 s")
                return drawn[0]

            found = take_turns({"grapnel": draw}, 10.0, most=5)
        finally:
            process.terminate()
            process.wait()
        own = found["grapnel"]
        return Row(label, own, {}, [Goal(own, 0.3, "s")])
    return measure_row


def flat_dot(bench, model):
    """The whole graph as Graphviz's text: a box a node, a line an input."""
    def quoted(name):
        return '"' + name.replace('"', '\\"') + '"'

    text = bench.output("convert", model, "--to", "pbtxt", "-o", "-")
    lines, name = ["digraph g {"], ""
    for key, value in re.findall(r'^  (name|input): "((?:[^"\\]|\\.)*)"', text, re.MULTILINE):
        if key == "name":
            name = value
            lines.append(f"{quoted(name)} [shape=box]")
        else:
            lines.append(f"{quoted(re.sub('^[^a-zA-Z0-9._]', '', value).split(':')[0])} -> {quoted(name)}")
    return "\n".join(lines + ["}"])


def view(name):
    """What a user asks for: scopes folded."""
    def measure_row(bench):
        with tempfile.TemporaryDirectory() as folder:
            command = bench.command("view", bench.network(name) / "graph.pb", "-o", os.path.join(folder, "graph.svg"))
            return Row(f"{name}, scopes folded", take_turns({"grapnel": lambda: run(command)}, 2.0)["grapnel"])
    return measure_row


def view_whole(name):
    """All nodes as boxes, which is the only way that Graphviz has."""
    def measure_row(bench):
        graph = bench.network(name) / "graph.pb"
        with tempfile.TemporaryDirectory() as folder:
            dot, svg = os.path.join(folder, "graph.dot"), os.path.join(folder, "graph.svg")
            with open(dot, "w", encoding="utf-8") as file:
                file.write(flat_dot(bench, graph))
            whole = ["--depth", "20", "--show-constants", "--show-control", "--max-boxes", "2000"]
            found = take_turns({"grapnel": lambda: run(bench.command("view", graph, *whole, "-o", svg)),
                                "Graphviz": lambda: run(["dot", "-Tsvg", dot, "-o", svg])}, 5.0)
        return Row(f"{name}, {nodes_of(bench, graph):,} boxes", found.pop("grapnel"), found)
    return measure_row


def page_of_network(name):
    return picture(lambda bench: bench.network(name) / "graph.pb", name)


FAMILIES = [
    Family("start", "Starting up", "Whole processes, from creation to exit.",
           {"version": start(["--version"], with_import), "info": start(["info", TINY])}),
    Family("picture", "The page's first picture",
           "Seconds from navigation until all boxes are drawn, each in a new browser; `serve` is already running. "
           "`tests/bench/page_bench.py` measures other viewers.",
           {name: page_of_network(name) for name in ("mobilenet_v2", "nasnet_mobile", "resnet50_train")}
           | {"blocks": picture(lambda bench: bench.graph("blocks", 108_000), "108,000 nodes in blocks")}),
    Family("view", "`view` compared with Graphviz",
           "`view MODEL -o FILE.svg`, and the same with a box for every node, which is also the input of `dot -Tsvg`.",
           {f"{name}{part}": row(name) for name in ("lenet", "transformer_small", "unet", "mobilenet_v2")
            for part, row in (("", view), ("/boxes", view_whole))}),
]
