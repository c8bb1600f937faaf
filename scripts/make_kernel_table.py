#!/usr/bin/env python3
"""Writes lib/place/tensorflow_kernels*.txt: which ops TensorFlow has kernels for, on which kind of device, under which conditions.
lib/place/tensorflow_kernels.h has the grammar.

usage: scripts/make_kernel_table.py [--check]
--check writes nothing: it compares the existing files with the new ones.

Each table is the registry of that version's wheel `tensorflow` on PyPI, as listed by get_all_registered_kernels(). The wheel is a
CUDA build, which registers its GPU kernels even without a GPU. Creates a missing environment for each version (1.8 GB) under
build/versions.

The newest version's file holds every op. An older version's holds the ops that differ from the next newer one: its kernels of
the op, or the op alone where it has none.
"""
import argparse
import collections
import hashlib
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
VENVS = ROOT / "build" / "versions"
VERSIONS = ("2.21.0", "2.16.2", "2.13.1")  # newest first
DEVICES = ("CPU", "DEFAULT", "GPU")

# This program runs with the TensorFlow of the version; registered() reads its output.
LIST = """
import json, os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
from tensorflow.core.framework import types_pb2
from tensorflow.python.framework import kernels
from tensorflow.python.platform import build_info
def values(constraint):
    allowed = constraint.allowed_values.list
    return ([types_pb2.DataType.Name(t)[len("DT_"):].lower() for t in allowed.type] + ['"%s"' % s.decode() for s in allowed.s] +
            [str(i) for i in allowed.i] + [str(b).lower() for b in allowed.b])
print(json.dumps({"cuda": build_info.build_info["is_cuda_build"], "kernels": [
    [k.op, k.device_type, k.label, k.priority, list(k.host_memory_arg), [[c.name, values(c)] for c in k.constraint]]
    for k in kernels.get_all_registered_kernels().kernel]}))
"""


def table_of(version):
    """The path of the version's table: that of the newest is tensorflow_kernels.txt."""
    ending = "" if version == VERSIONS[0] else "_" + version.rpartition(".")[0]
    return ROOT / "lib" / "place" / f"tensorflow_kernels{ending}.txt"


def python_of(version):
    """The interpreter of an environment with the version's CUDA build."""
    folder = VENVS / f"cuda-{version}"
    if not (folder / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run([str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", f"tensorflow=={version}"],
                       check=True)
        (folder / "ready").touch()
    return folder / "bin" / "python"


def registered(version):
    """The version's kernels, each [op, device, label, priority, host arguments, [[attribute, values]]]."""
    listed = json.loads(subprocess.run([str(python_of(version)), "-c", LIST], check=True, stdout=subprocess.PIPE).stdout)
    if not listed["cuda"]:
        sys.exit(f"tensorflow {version} is not a CUDA build here: its registry lacks the GPU kernels")
    return [kernel for kernel in listed["kernels"] if kernel[1] in DEVICES]


def merge(rows):
    """rows: {attribute: frozenset of values}. Joins two rows that differ in one attribute, until no two rows do."""
    rows = list(dict.fromkeys(tuple(sorted(r.items())) for r in rows))
    changed = True
    while changed:
        changed = False
        for position in range(max((len(r) for r in rows), default=0)):
            groups = collections.OrderedDict()
            for row in rows:
                if position >= len(row):
                    groups.setdefault((row, None), set())
                    continue
                rest = row[:position] + ((row[position][0], None),) + row[position + 1:]
                groups.setdefault((rest, position), set()).update(row[position][1])
            joined = [key[0] if key[1] is None else
                      key[0][:position] + ((key[0][position][0], frozenset(values)),) + key[0][position + 1:]
                      for key, values in groups.items()]
            changed |= len(joined) < len(rows)
            rows = joined
    return rows


def lines_of(kernels):
    """{op: its line}."""
    alike = collections.defaultdict(list)
    for op, device, label, priority, host, constraints in kernels:
        row = {attr: frozenset(values) for attr, values in constraints}
        if not all(row.values()) or len(row) < len(constraints):
            sys.exit(f"{op} on {device}: this script does not support the constraint: {constraints}")
        alike[op, device, label, priority, tuple(host)].append(row)
    lines = {}
    for (op, device, label, priority, host), rows in sorted(alike.items()):
        ways = [f"host:{'|'.join(host)}"] if host else []
        ways += [f"label:{label}"] if label else []
        ways += [f"priority:{priority}"] if priority else []
        for row in sorted(merge(rows), key=lambda r: [(attr, sorted(values)) for attr, values in r]):
            fields = [f"{attr}={'|'.join(sorted(values))}" for attr, values in row]
            lines[op] = lines.get(op, op) + f" {device}({' '.join(fields + ways)})"
    return lines


def file_text(version, newer, kernels, lines):
    """The table's text. newer: None, or the version whose table this one extends; then `lines` are the lines that differ."""
    counts = collections.Counter(kernel[1] for kernel in kernels)
    counted = ", ".join(f"{counts[device]:,} {device}" for device in DEVICES)
    body = "".join(line + "\n" for _, line in sorted(lines.items(), key=lambda item: item[0].encode()))
    what = f"Ops whose kernels differ from TensorFlow {newer}'s. " if newer else ""
    return (f"# Kernels of TensorFlow {version}, the registry of PyPI's CUDA build ({counted}). {what}"
            "Made by scripts/make_kernel_table.py: do not edit. Grammar: lib/place/tensorflow_kernels.h. "
            f"sha256 of what follows: {hashlib.sha256(body.encode()).hexdigest()}\n" + body)


def texts():
    """{path: text} of all tables."""
    made, newer, newer_lines = {}, None, {}
    for version in VERSIONS:
        kernels = registered(version)
        lines = lines_of(kernels)
        differ = {op: lines.get(op, op) for op in lines.keys() | newer_lines.keys() if lines.get(op) != newer_lines.get(op)}
        made[table_of(version)] = file_text(version, newer, kernels, differ)
        newer, newer_lines = version, lines
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare the existing files, write nothing")
    check = parser.parse_args().check
    for path, text in texts().items():
        if not check:
            path.write_text(text, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != text:
            sys.exit(f"{path} is not what the wheel's registry says")
    if check:
        print(f"the tables of {len(VERSIONS)} versions are what the wheels' registries say")


if __name__ == "__main__":
    main()
