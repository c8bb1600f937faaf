#!/usr/bin/env python3
"""Writes lib/trace/op_families.txt: the TensorFlow module of generated functions (gen_math_ops: "math") that contains each op.

needs: tensorflow-cpu==2.21.0        usage: scripts/make_op_families.py [--check]

The headers of op builders are named after them. Ops that no module exports are omitted: they are the family "internal".
"""
import importlib.util
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILE = ROOT / "lib" / "trace" / "op_families.txt"
HEAD = "# Ops by the module of TensorFlow 2.21 that holds them, made by scripts/make_op_families.py: do not edit.\n"


def families():
    folder = pathlib.Path(importlib.util.find_spec("tensorflow").origin).parent / "python"
    held = {}
    for path in sorted(folder.rglob("gen_*_ops.py")):
        family = path.stem[len("gen_"):-len("_ops")]
        for op in re.findall(r"_apply_op_helper\(\s*\"(\w+)\"", path.read_text()):
            held.setdefault(op, family)
    by_family = {}
    for op, family in held.items():
        by_family.setdefault(family, []).append(op)
    return HEAD + "".join(f"{family}: {' '.join(sorted(ops))}\n" for family, ops in sorted(by_family.items()))


if __name__ == "__main__":
    text = families()
    if "--check" in sys.argv:
        sys.exit(0 if FILE.read_text() == text else f"{FILE} is not what would be written")
    FILE.write_text(text)
