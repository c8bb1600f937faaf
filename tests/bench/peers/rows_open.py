"""`info`, `place` and `diff` of made graphs of growing size, beside TensorFlow's parsing, importing and placing."""
import growing
from measure import peak_memory, run
from results import Family, Goal, Row, number

MOST = {"info/1000000": 0.5, "place/100000": 0.1, "place/1000000": 1.0, "diff/1000000": 3.0}


def row(work, size, command_of, peer):
    """`command_of(bench)`: the arguments; `peer(bench)`: TensorFlow's side, or None."""
    def measure_row(bench):
        command = bench.command(*command_of(bench))
        sides = {"grapnel": lambda: run(command, limit=600, fine=(0, 1))}
        if peer:
            sides["TensorFlow"] = peer(bench)
        own, peers = growing.turns(bench, f"open/{work}", size, sides)
        memory = peak_memory(command, limit=600, fine=(0, 1))
        goals = growing.absolute(own, MOST.get(f"{work}/{size}"))
        if work == "info" and size == 1_000_000:
            goals.append(Goal(memory / 1e6, 250, "MB"))
        return Row(f"`{work}`, {size:,} nodes", own, peers, goals, f"{number(memory / 1e6)} MB", size=size, start=bench.start())
    return measure_row


def info(size):
    return row("info", size, lambda bench: ["info", bench.graph("few", size)],
               lambda bench: lambda: bench.tensorflow.ask("opened", graph=str(bench.graph("few", size))))


def place(size):
    return row("place", size, lambda bench: ["place", bench.graph("requests", size), "--devices", "cpu:4"],
               lambda bench: lambda: bench.tensorflow.ask("placed", graph=str(bench.graph("requests", size))))


def diff(kind, size):
    work = "diff" if kind == "few" else f"diff of {kind}"
    return row(work, size, lambda bench: ["diff", bench.graph(kind, size), bench.optimized(kind, size)], None)


ROWS = {f"info/{size}": info(size) for size in growing.SIZES}
ROWS |= {f"place/{size}": place(size) for size in growing.SIZES}
ROWS |= {f"{'diff' if kind == 'few' else 'diff_' + kind}/{size}": diff(kind, size) for kind in ("few", "blocks") for size in growing.SIZES}

FAMILIES = [Family(
    "open", "`info`, `place`, `diff` by size",
    "Whole processes; their output is discarded. `info` of the graphs with few rewritten nodes; TensorFlow: parse and import_graph_def. "
    "`place --devices cpu:4` of graphs in which a fifth of the nodes ask for a device and a twentieth name another node; TensorFlow: "
    "parse, import and make a session's graph, which places it. `diff` of a graph and the result of `opt` on it.",
    ROWS, finish=growing.add_exponents)]
