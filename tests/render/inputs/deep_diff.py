#!/usr/bin/env python3
"""deep_diff.py FOLDER: two pairs of graphs that differ in constants deep inside, more than a diff opens: deep.gtxt in scopes, and
closed.gtxt in functions."""

import pathlib
import sys

OPS = ("Relu", "Tanh", "Exp", "Neg", "Abs")


def deep(factor):
    lines, last = ["%x = Placeholder {dtype=float, shape=[2]}"], "x"
    for side in ("left", "right"):
        for i in range(60):
            scope = f"a/b/{side}/{OPS[i % 5].lower()}{i * i}"
            lines.append(f"%{scope}/k = Const [1.0,{i + (factor if side == 'right' else 1)}.0]")
            lines.append(f"%{scope}/mul = Mul(%{last}, %{scope}/k)")
            lines.append(f"%{scope}/op = {OPS[i * i % 5]}(%{scope}/mul)")
            last = f"{scope}/op"
    return lines


def closed(factor):
    lines = ["%x = Placeholder {dtype=float, shape=[2]}"]
    names = [*(f"same{k}" for k in range(4)), *(f"other{k}" for k in range(15))]
    for name in names:
        lines.append(f"%call_{name} = PartitionedCall(%x) {{f=@{name}}}")
    for k, name in enumerate(names):
        lines += [f"func @{name}(%a: float) -> (r: float) {{", f"  %k = Const {factor if 'other' in name else 1}.5", "  %n0 = Mul(%a, %k)"]
        lines += [f"  %n{i} = {OPS[i * (k + 1) % 5]}(%n{i - 1})" for i in range(1, 30)]
        lines += ["  return %n29", "}"]
    return lines


def main(folder):
    for name, graph in (("deep", deep), ("closed", closed)):
        text = "\n".join([*graph(1), "--- after", *graph(2), ""])
        (pathlib.Path(folder) / f"{name}.gtxt").write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
