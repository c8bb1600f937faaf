#!/usr/bin/env python3
"""Writes docs/gradients.md: the ops that have a gradient, with TensorFlow's list beside.

usage: make_gradients_doc.py GRAPNEL            writes docs/gradients.md
       make_gradients_doc.py GRAPNEL --check    exit 1 when docs/gradients.md is not what would be written
       make_gradients_doc.py --tensorflow       writes scripts/tensorflow_gradients.txt from TensorFlow's registry
                                                (in the .venv)

What was compared is scripts/gradient_comparison.json, of `tests/python/gradient_test.py --table`.
"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOC = ROOT / "docs" / "gradients.md"
THEIRS = ROOT / "scripts" / "tensorflow_gradients.txt"
COMPARED = ROOT / "scripts" / "gradient_comparison.json"
OP_TABLE = ROOT / "lib" / "ir" / "op_table.txt"
HEAD = """# Gradients

```cpp
Values g = Gradients(t, {loss}, {w, b});         // d loss / d w, d loss / d b
Tape tape(t);                                    // as tf.GradientTape
tape.Watch(x);
Value y = Square(x);
Value dy_dx = tape.Gradient(y, x);
Values rows = Jacobian(t, y, {x});               // a While over the elements of y
```

[lib/trace/gradient.h](../lib/trace/gradient.h) has the rest: gradients that come in, tensors that count as constants, custom
gradients, what is not connected. A graph that was read can be gone on with: `Tracer t(std::move(module))`, `t.Find("loss")`.

The nodes are those that TensorFlow's tape makes inside a `tf.function`: ops, order, attributes, names, each with the line of its
forward op. `grapnel check-gradients MODEL` compares the gradients of a model with finite differences.

- **Calls, branches and loops** get a copy of their function that hands out what the gradient needs: more results, and in loops stacks
  (TensorListPushBack in the forward loop, TensorListPopBack in the one of the gradient). Values are TensorFlow's; the graphs are not
  the same, node for node: a gradient function is called, `__backward_...`, where TensorFlow writes its nodes into the branch or loop.
- **Slices** (IndexedSlices) stay slices from a gather on, until an op wants a dense tensor.
- **An op without a gradient** between a y and an x is an error at its line. So are PreventGradient, and a custom gradient of Python in
  a graph that was read: the graph does not hold it.

To add one: [lib/trace/gradient_rule.h](../lib/trace/gradient_rule.h), a place in `lib/trace/gradients/`, a row of
`tests/python/gradient_cases.py`.

## The ops

Made by scripts/make_gradients_doc.py from the rules that are linked in and TensorFlow's registry. *compared*: cases (dtypes, shapes,
known while tracing or not) whose values are those of TensorFlow's tape, of those that TensorFlow runs; *graphs*: where the ops,
attributes and edges behind the gradient are the same too. *runs*: the op itself has a kernel here.

"""


def op_names():
    return {line.split("(")[0] for line in OP_TABLE.read_text().splitlines() if line and not line.startswith("#")}


def tensorflow_list():
    from tensorflow.python.framework import ops
    import tensorflow  # fills the registry
    rows = []
    for op, entry in ops.gradient_registry._registry.items():
        fn = entry["type"] if isinstance(entry, dict) else entry
        rows.append(f"{op} {'none' if fn is None else 'gradient'}")
    THEIRS.write_text("\n".join(rows) + "\n")


def text(grapnel):
    ours = {row["op"]: row["gradient"] for row in json.loads(
        subprocess.run([grapnel, "check-gradients", "--list", "--json"], capture_output=True, text=True, check=True).stdout)}
    unsupported = set(subprocess.run([grapnel, "ops", "--unsupported"], capture_output=True, text=True, check=True).stdout.split())
    theirs = [line.split() for line in THEIRS.read_text().splitlines()]
    compared = json.loads(COMPARED.read_text()) if COMPARED.exists() else {}
    differentiable = [op for op, kind in theirs if kind == "gradient"]
    with_rule = [op for op in differentiable if ours.get(op)]
    missing = [op for op in differentiable if not ours.get(op)]
    known = op_names()
    rows = ["| op | compared | graphs | runs |", "|---|---|---|---|"]
    for op in with_rule + sorted(op for op, has in ours.items() if has and op not in differentiable):
        counts = compared.get(op, {})
        cases = counts.get("cases", 0) - counts.get("skipped", 0)
        values = f"{counts.get('values', 0)} of {cases}" if cases else "-"
        graphs = f"{counts.get('graphs', 0)} of {cases}" if cases else "-"
        rows.append(f"| {op} | {values} | {graphs} | {'no' if op in unsupported else 'yes'} |")
    counted = sum(1 for op in with_rule if compared.get(op, {}).get("values"))
    alike = sum(1 for op in with_rule if compared.get(op, {}).get("graphs") and compared[op]["graphs"] == compared[op]["values"])
    summary = (f"TensorFlow has a gradient for {len(differentiable)} ops; {len(with_rule)} of them have one here, {counted} were compared "
               f"with values, {alike} of these with graphs alike in each case. {sum(1 for has in ours.values() if not has)} ops are known "
               "to have none.\n")
    not_here = [f"{op}{'' if op in known else ' (no op of TensorFlow 2.21)'}" for op in missing]
    tail = "\n## Missing\n\nTensorFlow has a gradient for these, and grapnel has none: " + ", ".join(f"`{op}`" for op in not_here) + ".\n"
    return HEAD + summary + "\n" + "\n".join(rows) + "\n" + tail


def main():
    if sys.argv[1:] == ["--tensorflow"]:
        return tensorflow_list()
    made = text(sys.argv[1])
    if "--check" not in sys.argv:
        DOC.write_text(made)
    elif made != DOC.read_text():
        print("docs/gradients.md is not up to date: run scripts/make_gradients_doc.py GRAPNEL")
        return 1
    return 0


sys.exit(main())
