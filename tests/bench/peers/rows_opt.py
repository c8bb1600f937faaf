"""`opt`: networks beside Grappler and the making of ONNX Runtime's session, and made graphs of growing size beside Grappler."""
import json
import os
import shutil
import time

import callgrind
import growing
from measure import Failed, peak_memory, run, take_turns
from results import Family, Goal, Row, number, ratio

PER_NODE = 300  # bytes


def memory_of(bench, graph, out, nodes):
    """(text of a cell, goal): at most twice the file and 300 bytes a node, beyond what a process has that does nothing."""
    most = peak_memory(bench.command("opt", graph, "-o", out, "--quiet"))
    limit = 2 * graph.stat().st_size + PER_NODE * nodes
    return f"{number(most / 1e6)} MB", Goal((most - bench.empty_memory()) / 1e6, limit / 1e6, "MB")


def nodes_of(bench, graph):
    return json.loads(bench.output("info", graph, "--json"))["graphs"][0]["nodes"]


def copying(path):
    """Seconds to write a file of that size, from memory."""
    data = path.read_bytes()
    begin = time.perf_counter()
    with open(path.with_suffix(".copy"), "wb") as file:
        file.write(data)
    took = time.perf_counter() - begin
    os.unlink(path.with_suffix(".copy"))
    return took


def session_side(bench, graph, feeds, fetches):
    """({name: function} of making a session, {name: why there is none})."""
    name = "ONNX Runtime"
    try:
        model = str(bench.onnx_model(graph, feeds, fetches))
        return {name: lambda: bench.onnx.ask("make", model=model)}, {}
    except Failed as error:
        return {}, {name: str(error)}


def against_peers(own, peers):
    """Goals: 30 times as fast as Grappler and 3 times as ONNX Runtime."""
    limits = {"Grappler": 1 / 30, "ONNX Runtime": 1 / 3}
    shares = {name: ratio(own, peers.get(name, "")) for name in limits}
    return [Goal(share, limits[name], f"of {name}") for name, share in shares.items() if share is not None]


def of_network(name, most):
    def measure_row(bench):
        graph, case, out = bench.network(name) / "graph.pb", bench.case(name), bench.folder / f"{name}.opt.pb"
        fetches = list(case["fetches"])
        session, missing = session_side(bench, graph, case["feeds"], fetches)
        found = take_turns({
            "grapnel": lambda: run(bench.command("opt", graph, "-o", out, "--quiet", "--fetch", ",".join(fetches))),
            "Grappler": lambda: bench.tensorflow.ask("grappler", graph=str(graph), fetches=fetches),
        } | session)
        own, peers = found.pop("grapnel"), found | missing
        nodes, time_goal = nodes_of(bench, graph), Goal(own, most, "s")
        if name == "resnet50":
            copy = take_turns({"copy": lambda: copying(out)}, 1)["copy"]
            time_goal = Goal(1e3 * (own - copy), 1e3 * most, "ms beyond copying the result")
        memory, memory_goal = memory_of(bench, graph, out, nodes)
        return Row(f"{name}, {nodes:,} nodes", own, peers, [time_goal, *against_peers(own, peers), memory_goal], memory)
    return measure_row


def of_made(kind, size):
    def measure_row(bench):
        graph, out = bench.graph(kind, size), bench.folder / f"{kind}.opt.pb"
        sides = {"grapnel": lambda: run(bench.command("opt", graph, "-o", out, "--quiet", "--fetch", "y"), limit=600),
                 "Grappler": lambda: bench.tensorflow.ask("grappler", graph=str(graph), fetches=["y:0"])}
        session, missing = session_side(bench, graph, ["x"], ["y"]) if size <= 10_000 else ({}, {})  # tf2onnx takes minutes for more
        sides |= session
        own, peers = growing.turns(bench, f"opt/{kind}", size, sides)
        memory, memory_goal = memory_of(bench, graph, out, size)
        shutil.copy(out, bench.optimized(kind, size))
        goals = [memory_goal]
        if size == 1_000_000:
            goals += growing.absolute(own, 1.5 if kind == "few" else None)
        if size == 100_000:
            goals += growing.absolute(own, 0.6 if kind == "blocks" else None)
        if size == 10_000:
            command = bench.command("opt", graph, "-o", out, "--quiet", "--fetch", "y", threads=1)
            profile = callgrind.count(command, bench.folder, bench.folder / "opt.callgrind")
            goals.append(Goal(profile.total / size, 20_000, "instructions a node"))
        return Row(f"{kind}, {size:,} nodes", own, peers | missing, goals, memory, size=size, start=bench.start())
    return measure_row


NETWORKS = Family(
    "opt", "`opt` of networks",
    "`opt MODEL -o FILE`: the whole process, including writing, on two threads. Grappler: the default pipeline on the graph in memory. ONNX "
    "Runtime: a default session with two threads on tf2onnx's conversion of the graph, not counting the import of the package. The "
    "memory goal, twice the file plus 300 bytes per node, is in addition to the memory of a process without work.",
    {name: of_network(name, most) for name, most in (("mobilenet_v2", 0.015), ("resnet50", 0.060), ("nasnet_mobile", 0.035))})

MADE = Family(
    "opt_size", "`opt` by size",
    "Generated graphs (tests/bench/made_graphs.py): `blocks` of MatMul, BiasAdd, Relu, two scalings, Reshape and a sum, nearly all rewritten, "
    "and elementwise ops of which `few` are rewritten. Instructions per node are callgrind's, on one thread; the exponent is that of time "
    "over size, without start-up. Memory as above.",
    {f"{kind}/{size}": of_made(kind, size) for kind in ("blocks", "few") for size in growing.SIZES},
    finish=lambda rows: growing.add_exponents(rows, goal_from=10_000, limit=1.05))

FAMILIES = [NETWORKS, MADE]
