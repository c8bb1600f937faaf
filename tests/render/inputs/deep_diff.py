#!/usr/bin/env python3
"""deep_diff.py FOLDER: two pairs of graphs that differ in constants deep inside: deep.gtxt in scopes, more than a diff opens, and
closed.gtxt in one of many functions, which stays closed."""

import pathlib
import sys

OPS = ("Relu", "Tanh", "Exp", "Neg", "Abs")


def deep(factor):
    lines, last = ["%x = Placeholder {dtype=float, shape=[2]}"], "x"
    for side in ("left", "right"):
        for i in range(16):
            scope = f"a/b/{side}/{OPS[i % 5].lower()}{i * i}"
            lines.append(f"%{scope}/k = Const [1.0,{i + (factor if side == 'right' else 1)}.0]")
            lines.append(f"%{scope}/mul = Mul(%{last}, %{scope}/k)")
            lines.append(f"%{scope}/op = {OPS[i * i % 5]}(%{scope}/mul)")
            last = f"{scope}/op"
    return lines


def closed(factor):
    lines = ["%x = Placeholder {dtype=float, shape=[2]}"]
    for k in range(10):
        lines.append(f"%call_{k} = PartitionedCall(%x) {{f=@f{k}}}")
    for k in range(10):
        ops = 3 if k == 9 else 30  # the largest functions are opened
        lines += [f"func @f{k}(%a: float) -> (r: float) {{", f"  %k = Const {factor if k == 9 else 1}.5", "  %n0 = Mul(%a, %k)"]
        lines += [f"  %n{i} = {OPS[i * (k + 1) % 5]}(%n{i - 1})" for i in range(1, ops)]
        lines += [f"  return %n{ops - 1}", "}"]
    return lines


def main(folder):
    for name, graph in (("deep", deep), ("closed", closed)):
        text = "\n".join([*graph(1), "--- after", *graph(2), ""])
        (pathlib.Path(folder) / f"{name}.gtxt").write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
