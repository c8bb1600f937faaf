#!/usr/bin/env python3
"""The cost of the Python package compared with the binary: importing, opening a large model, a run, a table of a million nodes.

usage: python_costs.py GRAPNEL RESNET50      in an environment with the wheel, NumPy and pyarrow: build/wheel/venv/bin/python
RESNET50: a frozen graph of 100 MB; its file is in the page cache

Prints the best of several measurements, since the machine may be busy.
"""

import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LENET = ROOT / "testdata" / "models" / "lenet"
RUNS = 20000


def seconds(function, times):
    best = 1e9
    for _ in range(times):
        begin = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - begin)
    return best


def resident(code):
    """The peak memory; getrusage's value would include the parent's."""
    code += "; print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    return int(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout) * 1024


def in_python():
    import json

    import numpy as np
    import tfgrapnel as tg

    case = json.loads((LENET / "case.json").read_text())
    feeds = {name: np.load(LENET / file) for name, file in case["feeds"].items()}
    graph, fetches = tg.load(LENET), list(case["fetches"])
    run = lambda: graph.run(feeds, fetches, threads=1)  # noqa: E731
    run()
    return seconds(lambda: [run() for _ in range(RUNS // 10)], 10) / (RUNS // 10)


def in_binary(grapnel):
    def repeated(times):
        subprocess.run([grapnel, "run", LENET, "--threads", "1", "--repeat", str(times), "-q"], check=True, stdout=subprocess.DEVNULL)

    return (seconds(lambda: repeated(RUNS + 1), 5) - seconds(lambda: repeated(1), 5)) / RUNS


def table_of_a_million():
    import pyarrow
    import tfgrapnel as tg

    with tempfile.TemporaryDirectory() as temporary:
        file = pathlib.Path(temporary) / "million.pb"
        subprocess.run([sys.executable, ROOT / "tests/bench/made_graphs.py", "few", "1000000", file], check=True)
        graph = tg.load(file)
        return seconds(lambda: pyarrow.table(graph.nodes), 5)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    grapnel, resnet50 = sys.argv[1:]
    import tfgrapnel as tg

    python = lambda code: lambda: subprocess.run([sys.executable, "-c", code], check=True)  # noqa: E731
    rows = [
        ("import", (seconds(python("import tfgrapnel"), 20) - seconds(python("pass"), 20)) * 1e3, 50, "ms"),
        ("import", (resident("import tfgrapnel") - resident("pass")) / 1e6, 30, "MB"),
        ("load of resnet50", seconds(lambda: tg.load(resnet50), 20) * 1e3, 20, "ms"),
        ("run of lenet, beyond the binary's", (in_python() - in_binary(grapnel)) * 1e6, 50, "us"),
        ("nodes of a million", table_of_a_million(), 0.3, "s"),
    ]
    for name, figure, limit, unit in rows:
        print(f"{name:40} {figure:8.3g} {unit:3} of {limit} {unit}{'' if figure <= limit else '  TOO MUCH'}")


if __name__ == "__main__":
    main()
