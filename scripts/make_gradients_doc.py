#!/usr/bin/env python3
"""Writes docs/reference/gradients.md: the ops that have a gradient in grapnel, compared with TensorFlow's list.

usage: make_gradients_doc.py GRAPNEL            writes docs/reference/gradients.md
       make_gradients_doc.py GRAPNEL --check    exit 1 if docs/reference/gradients.md is not up to date
       make_gradients_doc.py --tensorflow       writes tests/reference/tensorflow_gradients.txt from TensorFlow's registry
                                                (in the .venv)

The comparison is tests/reference/gradient_comparison.json, made by `tests/python/gradient_test.py --table`.
"""

import json
import pathlib
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOC = ROOT / "docs" / "reference" / "gradients.md"
THEIRS = ROOT / "tests" / "reference" / "tensorflow_gradients.txt"
COMPARED = ROOT / "tests" / "reference" / "gradient_comparison.json"
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

A traced function computes gradients with these functions. [lib/trace/gradient.h](../../lib/trace/gradient.h) describes their options:
incoming gradients, tensors that count as constants, custom gradients, and the gradient of a tensor that the result does not depend on. To
add gradients to a graph from a file, begin with `Tracer t(std::move(module))` and `t.Find("loss")`.

Except for the cases under [Where graphs differ](#where-graphs-differ), a gradient has the nodes that TensorFlow's tape makes inside a
`tf.function`: the same ops, order, attributes and names. Each node has the source line of its forward op, the op of which it computes the
gradient. `grapnel check-gradients MODEL` compares the gradients of a model with finite differences.

- **Calls, branches and loops**: the gradient needs values from inside the called function, so grapnel calls a copy of the function instead,
  which also returns these values. A loop returns them as stacks: TensorListPushBack in the forward loop, TensorListPopBack in the
  gradient's loop. The gradients have TensorFlow's values, but the graphs are not the same, node for node: grapnel calls a gradient
  function, `__backward_...`, where TensorFlow inlines that function's nodes into the branch or loop.
- **Graphs of TensorFlow 1**: branches of Switch and Merge have a gradient, and so do TensorArrays of all versions. Loops of single nodes
  (Enter, NextIteration, Exit) have none; the error says how to build the graph instead.
- **Slices** (TensorFlow's IndexedSlices): the gradient of a gather stays a list of rows with their indices, until an op needs a dense
  tensor. `Gradients` and tapes make it dense when they return it; `SparseGradients` does not.
- **Errors**: it is an error, with the line of the op, if an op without a gradient lies on the path from an x to a y. So is the op
  PreventGradient, and in a graph from a file an op with a custom gradient of Python, because a file does not contain Python functions.

To add the gradient of an op, write a rule in one of the files of `lib/trace/gradients/`, as
[lib/trace/gradient_rule.h](../../lib/trace/gradient_rule.h) describes, and add a row to `tests/python/gradient_cases.py`.

## The ops

scripts/make_gradients_doc.py makes this table from the gradient rules of the binary and TensorFlow's registry. A case of an op is a choice
of dtypes, of shapes, and of which values are known while tracing. The column *compared* has the number of cases in which grapnel's gradient
has the values of TensorFlow's tape, of all cases that both run on a CPU. The column *graphs* has the number of cases in which the gradient
has the same ops, attributes and edges, of all cases that TensorFlow traces. The column *runs* says whether grapnel has a kernel for the op
itself. Cases with half-precision floats count if TensorFlow has kernels for them.

"""


FINITE = "TensorFlow's rule raises an error; compared with finite differences (tests/tools/gradients_alone.test)"
OLD = "TensorFlow 2.21 makes no graph with it; compared with finite differences (tests/tools/gradients_alone.test)"
REFERENCE = "for reference variables, which TensorFlow 2 does not make; the rule is that of the op without Ref"
# Ops with a rule that no case of tests/python/gradient_test.py compares, and why.
NOT_COMPARED = {
    "BatchNormWithGlobalNormalization": "TensorFlow 2.21 makes no graph with it, and neither TensorFlow nor grapnel runs it",
    "DebugGradientIdentity": "TensorFlow's rule looks up its debugger by the name of a Python op",
    "DebugGradientRefIdentity": "TensorFlow's rule looks up its debugger by the name of a Python op",
    "LoopCond": "it has no gradient of its own, and is inside a loop",
    "NcclBroadcast": "TensorFlow's rule takes apart a sum that its Python code makes of tensors on several GPUs",
    "PreventGradient": "it is an error in TensorFlow and in grapnel",
    "QuantizeAndDequantize": "TensorFlow 2.21 makes no graph with it; the rule is that of version 2",
    "QuantizeAndDequantizeV4Grad": FINITE, "SparseDenseCwiseAdd": FINITE, "SparseSparseMaximum": FINITE,
    "SparseSparseMinimum": FINITE,
    "RefIdentity": REFERENCE, "RefMerge": REFERENCE, "RefSwitch": REFERENCE,
    "TopK": OLD,
    **{f"TensorArray{what}{version}": OLD for what in ("Read", "Write", "Gather", "Scatter", "Concat", "Split")
       for version in ("", "V2")},
}


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


def cell(count, of):
    return f"{count} of {of}" if of else "-"


def by_reason(pairs):
    """One line for each reason, with its ops."""
    ops = {}
    for op, why in pairs:
        ops.setdefault(why, []).append(f"`{op}`")
    return "".join(textwrap.fill(f"- {', '.join(names)}: {why}.", 135, subsequent_indent="  ", break_on_hyphens=False) + "\n"
                   for why, names in ops.items())


def text(grapnel):
    listed = json.loads(subprocess.run([grapnel, "check-gradients", "--list", "--json"], capture_output=True, text=True,
                                       check=True).stdout)
    ours = {row["op"]: row["gradient"] for row in listed["ops"]}
    refusals = {row["op"]: row["refusal"] for row in listed["ops"] if "refusal" in row}
    unsupported = set(subprocess.run([grapnel, "ops", "--unsupported"], capture_output=True, text=True, check=True).stdout.split())
    theirs = [line.split() for line in THEIRS.read_text().splitlines()]
    compared = json.loads(COMPARED.read_text()) if COMPARED.exists() else {}
    differentiable = [op for op, kind in theirs if kind == "gradient"]
    with_rule = [op for op in differentiable if ours.get(op)]
    missing = [op for op in differentiable if not ours.get(op)]
    known = op_names()
    rows = ["| op | compared | graphs | runs |", "|---|---|---|---|"]
    all_ops = with_rule + sorted(op for op, has in ours.items() if has and op not in differentiable)
    for op in all_ops:
        counts = compared.get(op, {})
        values, graphs = cell(counts.get("values"), counts.get("run")), cell(counts.get("graphs"), counts.get("cases"))
        rows.append(f"| {op} | {values} | {graphs} | {'no' if op in unsupported else 'yes'} |")

    def count(of):
        return sum(1 for op in with_rule if of(compared.get(op, {"cases": 0, "run": 0, "values": 0, "graphs": 0})))
    with_values = count(lambda row: row["values"])
    graphs_alone = count(lambda row: row["cases"] and not row["run"])
    alike = count(lambda row: row["cases"] and row["graphs"] == row["cases"])
    none = sum(1 for op, has in ours.items() if not has and op not in refusals)
    summary = (f"TensorFlow has gradients for {len(differentiable)} ops; grapnel has them for {len(with_rule)} of these. {with_values} were "
               f"compared by value, {graphs_alone} more by graph only; the graphs of {alike} are the same in every case. {none} ops "
               "are known to have no gradient.\n")
    uncompared = [op for op in all_ops if not compared.get(op, {}).get("cases")]
    unsaid = sorted(set(uncompared) - set(NOT_COMPARED))
    if unsaid:
        raise SystemExit(f"not compared, and no reason in NOT_COMPARED: {', '.join(unsaid)}")
    differ = [(op, compared[op]["why"]) for op in all_ops if "why" in compared.get(op, {})]
    why_missing = [(op, refusals.get(op, "TensorFlow 2.21 has no such op" if op not in known else "it is not written yet"))
                   for op in missing]
    return (HEAD + summary + "\n" + "\n".join(rows) + "\n\n## Where graphs differ\n\n" + by_reason(differ) +
            "\n## Not compared with TensorFlow\n\n" + by_reason((op, NOT_COMPARED[op]) for op in uncompared) +
            "\n## Missing\n\nTensorFlow has gradients for these ops, and grapnel does not. If you ask for one, the error says so.\n\n" +
            by_reason(why_missing))


def main():
    if sys.argv[1:] == ["--tensorflow"]:
        return tensorflow_list()
    made = text(sys.argv[1])
    if "--check" not in sys.argv:
        DOC.write_text(made)
    elif made != DOC.read_text():
        print("docs/reference/gradients.md is not up to date: run scripts/make_gradients_doc.py GRAPNEL")
        return 1
    return 0


sys.exit(main())
