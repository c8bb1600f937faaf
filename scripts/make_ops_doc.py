#!/usr/bin/env python3
"""Writes docs/reference/ops.md: the ops that run, by dtype and device, and the cases from TensorFlow that test them.

usage: make_ops_doc.py GRAPNEL            writes docs/reference/ops.md
       make_ops_doc.py GRAPNEL --check    exit 1 if docs/reference/ops.md is not up to date
"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOC = ROOT / "docs" / "reference" / "ops.md"
HEAD = """# Ops that run

scripts/make_ops_doc.py makes this page from the kernels of the binary. `grapnel info --unsupported MODEL` lists the ops of a model that
grapnel cannot run. The table does not list constants, placeholders, _Send, _Recv and TensorFlow 1's control flow (Switch, Merge, Enter,
Exit, NextIteration, LoopCond): the executor runs these without kernels. A case is a folder or zip file of testdata with a graph that contains the op,
inputs, and TensorFlow's outputs; every `./x test` compares grapnel's outputs with these.
"""
DIFFERENCES = ROOT / "tests" / "reference" / "op_differences.txt"
DIFFERENCES_HEAD = """
## Where grapnel differs

`tests/fuzz/op_inputs.cpp` changes values, shapes, dtypes and attributes of the cases above at random and runs them in grapnel;
`tests/fuzz/op_inputs_tensorflow.py` runs the same inputs in TensorFlow. Of 20,000 such inputs, 97 in 100 gave the same result, or an error
in both. The table lists the differences with a known reason; others are not analyzed yet. TensorFlow has two sets of CPU kernels for some
ops: by default it uses oneDNN's if the processor has AVX-512 VNNI or a similar extension, and its own otherwise (`TF_ENABLE_ONEDNN_OPTS`
overrides this). If the two give different results, grapnel gives oneDNN's.

| op | kind | why |
|---|---|---|
"""


PASSED_ON = ROOT / "tests" / "reference" / "ops_passed_on.txt"
PASSED_ON_HEAD = """
## Ops that pass their input on

In grapnel, each of these ops outputs its input unchanged. In TensorFlow, the op has an additional effect, which the table describes.

| op | what TensorFlow does, and why grapnel does not |
|---|---|
"""


def rows_of(path):
    return [row.split("\t") for row in path.read_text().splitlines() if row and not row.startswith("#")]


def run(grapnel, *arguments):
    return json.loads(subprocess.run([grapnel, *arguments, "--json"], capture_output=True, text=True, check=True).stdout)


def cases(grapnel):
    """{op: names of the cases that contain it}."""
    found, testdata = {}, ROOT / "testdata"
    folders = [path.parent for path in [*testdata.glob("*/*/graph.pb"), *testdata.glob("*/graph.pb")]]
    for case in sorted([*folders, *testdata.glob("ops/*.zip")], key=lambda path: path.with_suffix("")):
        if case.parent.name == "doctor":  # training steps, which the tests of ops do not replay
            continue
        for op in run(grapnel, "info", str(case), "--all")["graphs"][0]["ops"]:
            found.setdefault(op["op"], []).append(case.name.removesuffix(".zip"))
    return found


def main():
    kernels, tested = run(sys.argv[1], "info", "--kernels")["kernels"], cases(sys.argv[1])
    table = {}
    for kernel in kernels:
        if kernel["op"] == "(function)":  # not an op: a call with its function's name as op
            continue
        types = table.setdefault(kernel["op"], {}).setdefault(kernel["device"], [])
        types += [t for t in kernel["types"] if t not in types] or ["any"]
    passed_on = dict(rows_of(PASSED_ON))
    passes = {op for op in table if op.removeprefix("Experimental") in passed_on}
    if unknown := set(passed_on) - set(table):
        sys.exit(f"{PASSED_ON}: no kernel has {', '.join(sorted(unknown))}")
    lines = [HEAD, f"{len(table) - len(passes)} ops, and {len(passes)} that only pass their input on (below).", "",
             "| op | CPU | GPU | cases |", "|---|---|---|---|"]
    for op in sorted(table):
        by_case = tested.get(op, [])
        shown = ", ".join(by_case[:3]) + (f" and {len(by_case) - 3} more" if len(by_case) > 3 else "")
        on_cpu = "passes its input on" if op in passes else ", ".join(table[op].get("CPU", []))
        lines.append(f"| {op} | {on_cpu} | {', '.join(table[op].get('GPU', []))} | {shown} |")
    told = "".join(f"| `{op}` | {kind} | {why} |\n" for op, kind, _, why in rows_of(DIFFERENCES))
    told += PASSED_ON_HEAD + "".join(f"| `{op}` | {why} |\n" for op, why in passed_on.items())
    wanted = "\n".join(lines) + "\n" + DIFFERENCES_HEAD + told
    if "--check" not in sys.argv:
        DOC.write_text(wanted)
        return 0
    if DOC.exists() and DOC.read_text() == wanted:
        return 0
    print("docs/reference/ops.md is not up to date: run scripts/make_ops_doc.py GRAPNEL")
    return 1


sys.exit(main())
