"""What a folder of dumps holds, and which story each dump is part of: the truth that the checks compare with."""
import collections
import functools
import os
import re

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
from tensorflow.core.framework import graph_pb2  # noqa: E402

NUMBERED = re.compile(r"(?P<name>.+?)(?P<partition>_partition__.+?)?\.(?P<order>\d{4})\.(?:main|graph_opt_pass)\.(?P<tag>.+)\.(pb|pbtxt)$")
META = re.compile(r"(before|after)_MetaOptimizer.*?(?P<address>\d{9,})(_\d+)?\.(pb|pbtxt)$")
# A name in the text that TensorFlow writes, by its indentation.
LINES = re.compile(rb'^node \{\n  name: "(?P<node>[^"]*)"|^  (?P<edge>input): "'
                   rb'|^    signature \{\n      name: "(?P<function>[^"]*)"|^    node_def \{\n      name: "(?P<inner>[^"]*)"'
                   rb'|^      (?:input_arg|output_arg) \{\n        name: "(?P<end>[^"]*)"'
                   rb'|^      control_output: "(?P<control>[^"]*)"', re.M)

# names and number of edges of the main graph; {function: (names of its nodes, names of its arguments and results)}
Graph = collections.namedtuple("Graph", "nodes edges bodies")
# Dumps of one run of Grappler's passes over one graph, in order. `item` is what the log calls it, and may be None.
Run = collections.namedtuple("Run", "item outer files")


@functools.lru_cache(2048)
def read(path):
    return read_text(path) if path.endswith(".pbtxt") else read_binary(path)


def read_binary(path):
    graph = graph_pb2.GraphDef()
    with open(path, "rb") as file:
        graph.ParseFromString(file.read())
    bodies = {}
    for f in graph.library.function:
        s = f.signature
        ends = ends_of([a.name for a in [*s.input_arg, *s.output_arg]] + list(s.control_output))
        bodies[s.name] = frozenset(n.name for n in f.node_def), frozenset(ends)
    return Graph(frozenset(n.name for n in graph.node), sum(len(n.input) for n in graph.node), bodies)


def ends_of(names):
    """A body that becomes a graph has nodes for its results that are called so."""
    return {*names, *(f"{n}_RetVal" for n in names)}


def read_text(path):
    with open(path, "rb") as file:
        text = file.read()
    nodes, edges, bodies = set(), 0, {}
    for line in LINES.finditer(text):
        kind, name = line.lastgroup, line[line.lastgroup].decode()
        if kind == "node":
            nodes.add(name)
        elif kind == "edge":
            edges += 1
        elif kind == "function":
            inner, ends = bodies.setdefault(name, (set(), set()))
        else:
            inner.add(name) if kind == "inner" else ends.update(ends_of([name]))
    return Graph(frozenset(nodes), edges, bodies)


class Folder:
    """`order`: the files as they were written. `runs`: what MetaOptimizer did. `sizes`: {file: (nodes, edges) in Grappler's log}."""

    def __init__(self, dumps, log):
        self.dumps = dumps
        self.files = {f for f in os.listdir(dumps) if f.endswith((".pb", ".pbtxt")) and (NUMBERED.match(f) or META.match(f))}
        self.sizes = {}
        self.items = {}  # file: (what the log calls the graph, the number of its run)
        self.order = self.order_of_log(log)
        self.logged = len(self.order) == len(self.files)
        if not self.logged:
            self.order = sorted(self.files, key=lambda f: os.stat(self.path(f)).st_mtime_ns)
        self.at = {f: i for i, f in enumerate(self.order)}
        self.series = self.numbered()
        self.runs = self.runs_of_order()
        self.owners = [self.owners_of(i) for i in range(len(self.runs))]

    def path(self, file):
        return os.path.join(self.dumps, file)

    def graph(self, file):
        return read(self.path(file))

    def order_of_log(self, log):
        order, item, size, number = [], {}, {}, 0
        line = re.compile(r"I0000 \S+ +(\d+) (?:dump_graph\.cc:\d+\] Dumped Graph to (?:\S*/)?(?P<file>[^/]+)$"
                          r"|meta_optimizer\.cc:\d+\] (?:Starting optimization for grappler item: (?P<outer>\S+)"
                          r"|Optimize GrapplerItem: item.id=(?P<item>\S+)"
                          r"|\S+: Graph size after: (?P<nodes>\d+) nodes \([^)]*\), (?P<edges>\d+) edges))")
        outer = {}
        for text in open(log, errors="replace"):
            found = line.search(text.rstrip("\n"))
            if not found:
                continue
            thread, kind = found[1], found.groupdict()
            if kind["outer"]:
                outer[thread] = kind["outer"]
            elif kind["item"]:
                number += 1
                item[thread] = kind["item"], number, outer.get(thread)
            elif kind["nodes"]:
                size[thread] = int(kind["nodes"]), int(kind["edges"])
            elif kind["file"] in self.files:
                order.append(kind["file"])
                if META.match(kind["file"]):
                    self.items[kind["file"]] = item.get(thread)
                    if thread in size and "_iteration_" in kind["file"]:
                        self.sizes[kind["file"]] = size.pop(thread)
        return order

    def numbered(self):
        """{(name, partition or None): its files by their numbers}"""
        series = collections.defaultdict(list)
        for f in self.files:
            if m := NUMBERED.match(f):
                series[m["name"], m["partition"]].append((int(m["order"]), f))
        return {key: [f for _, f in sorted(files)] for key, files in series.items()}

    def runs_of_order(self):
        """A run begins with before_MetaOptimizer_iteration_0; the rest of its address belongs to it."""
        runs, open_runs = [], {}
        for f in self.order:
            if not (m := META.match(f)):
                continue
            if f.startswith("before_MetaOptimizer_iteration_0_") or m["address"] not in open_runs:
                name, _, outer = self.items.get(f) or (None, None, None)
                open_runs[m["address"]] = Run(name, outer, [])
                runs.append(open_runs[m["address"]])
            open_runs[m["address"]].files.append(f)
        return runs

    def functions(self):
        return {name for name, _ in self.series}

    def owners_of(self, i):
        """Functions that a run may belong to: by the log's name of it, and by names alone. None stands for a story of its own."""
        run = self.runs[i]
        strict = set()
        if run.item:
            strict = {run.item, run.outer} & self.functions() or {run.item}
        start = self.graph(run.files[0]).nodes
        by_name = {name for (name, partition), files in self.series.items() if not partition
                   for f in files if "before_graph_optimization" in f and self.graph(f).nodes == start}
        previous = self.previous_of(i)
        if previous is not None:
            by_name |= self.owners[previous][1] if hasattr(self, "owners") else self.owners_of(previous)[1]
        return strict, by_name | strict

    def previous_of(self, i):
        """The run of the same graph before this one: Grappler goes over a graph again when its functions are done."""
        run = self.runs[i]
        address = META.match(run.files[0])["address"]
        for j in range(i - 1, -1, -1):
            other = self.runs[j]
            if META.match(other.files[0])["address"] == address:
                is_over = "_iteration_" not in other.files[-1]  # it has its result: this is another call of Grappler
                return j if not is_over and self.graph(other.files[-1]).nodes == self.graph(run.files[0]).nodes else None
        return None
