#!/usr/bin/env python3
"""Measures how far one machine goes: the tables of docs/guide/limits.md. Takes half an hour, 20 GB of memory and 40 GB of disk.

usage: limits.py GRAPNEL FOLDER [ROW...]      rows: nodes, weights, debug, models
Prints a table for each: CPU seconds, user and system, which other work on the machine hardly changes, and the peak of resident memory.
"""
import os
import pathlib
import resource
import shutil
import struct
import subprocess
import sys

import made_graphs

ROOT = pathlib.Path(__file__).resolve().parents[2]


def measure(*command, times=2):
    """(CPU seconds, peak MB, exit code) of a command; the faster of `times` runs."""
    best = None
    for _ in range(times):
        child = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        row = (usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3, os.waitstatus_to_exitcode(status))
        best = min(best or row, row)
    return best


def show(what, size, row):
    seconds, memory, code = row
    print(f"| {what} | {size} | {seconds:.2f} s | {memory:,.0f} MB |{'' if code == 0 else f' exit code {code}'}", flush=True)


def nodes(grapnel, folder):
    for count in (100_000, 1_000_000, 5_000_000, 10_000_000):
        graph = folder / f"blocks_{count}.pb"
        made_graphs.write("blocks", count, graph)
        size = f"{count:,} nodes, {graph.stat().st_size / 1e6:,.0f} MB"
        show("info", size, measure(grapnel, "info", graph))
        show("view -o x.html", size, measure(grapnel, "view", graph, "-o", folder / "x.html", times=1))
        if count <= 5_000_000:
            show("opt", size, measure(grapnel, "opt", graph, "-o", folder / "out.pb", times=1))
            show("diff with its result", size, measure(grapnel, "diff", graph, folder / "out.pb", "--quiet", times=1))
        graph.unlink()


def weights(grapnel, folder):
    """Constants of 64 MB each, 16 M floats, added one after the other."""
    block = struct.pack("<16777216f", *([0.5] * 16777216))
    for count in (16, 128):
        graph = folder / f"weights_{count}.pb"
        with open(graph, "wb") as file:
            file.write(made_graphs.node("x", "Placeholder", (), made_graphs.type_of("dtype") + made_graphs.attr("shape", made_graphs.field(7, made_graphs.shape(16777216)))))
            before = "x"
            for i in range(count):
                file.write(made_graphs.node(f"w{i}", "Const", (), made_graphs.tensor(made_graphs.FLOAT, (16777216,), block)))
                file.write(made_graphs.node(f"a{i}", "AddV2", (before, f"w{i}"), made_graphs.type_of("T")))
                before = f"a{i}"
        size = f"{count} constants, {graph.stat().st_size / 1e9:.1f} GB"
        show("info", size, measure(grapnel, "info", graph))
        show("opt", size, measure(grapnel, "opt", graph, "-o", folder / "out.pb", times=1))
        show("run", size, measure(grapnel, "run", graph, "--fetch", before, times=1))
        graph.unlink()
        (folder / "out.pb").unlink(missing_ok=True)


def debug(grapnel, folder):
    """A debug folder of a training step whose tensors are all recorded in full, run again and again."""
    case = ROOT / "testdata/models/transformer_block"
    for runs in (1_000, 100_000):
        logs = folder / "logs"
        subprocess.run([grapnel, "run", case, "--tap", "*", "--tap-mode", "FULL_TENSOR", "--logdir", logs, "--repeat", str(runs), "-q"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        size = sum(file.stat().st_size for file in logs.rglob("*") if file.is_file())
        show("blame", f"{runs:,} runs, {size / 1e9:.2f} GB", measure(grapnel, "blame", logs))
        show("info", f"{runs:,} runs, {size / 1e9:.2f} GB", measure(grapnel, "info", logs))
        shutil.rmtree(logs)


def models(grapnel, folder):
    """Models per minute of one core, one process each."""
    for name in ("testdata/models/lenet", "../shared/corpus/cases/mobilenet_v2"):
        model = ROOT / name
        for command in (["info", model], ["opt", model, "-o", folder / "out.pb"], ["check", model, "--policy", folder / "policy.toml"], ["replay", model]):
            if command[0] == "check":
                with open(folder / "policy.toml", "w") as policy:
                    policy.write(subprocess.run([grapnel, "check", model, "--init"], check=True, capture_output=True, text=True).stdout)
            seconds = sorted(measure(grapnel, *command, times=1)[0] for _ in range(21))[10]
            print(f"| {command[0]} | {model.name} | {60 / seconds:,.0f} a minute |", flush=True)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    grapnel, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    rows = {"nodes": nodes, "weights": weights, "debug": debug, "models": models}
    for row in sys.argv[3:] or rows:
        rows[row](grapnel, folder)


if __name__ == "__main__":
    main()
