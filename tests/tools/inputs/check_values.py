#!/usr/bin/env python3
"""Compares what `grapnel info --values` and the table `statistics` say about variables with the values that the model's own saver
restores: those of the constants that `opt --freeze` makes of the variables.

usage: check_values.py FOLDER    compares those of all SavedModels in FOLDER
"""

import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

FORMATS = {"<f2": "e", "<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q", "|i1": "b", "|u1": "B", "<u4": "I", "<u8": "Q", "|b1": "?"}
TABLE = """SELECT s.node, n.name AS at, s.name, kind, s.layer, dtype, shape, elements, min, max, mean, deviation, nan, infinite, zeros, hash
FROM statistics s JOIN nodes n ON n.id = s.node ORDER BY s.node"""


def grapnel(*arguments):
    return subprocess.run(["grapnel", *arguments], capture_output=True, text=True, check=True).stdout


def crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE_OF_CRC = crc_table()


def checksum(data):
    """The masked CRC-32C of TensorFlow's checkpoints."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE_OF_CRC[(crc ^ byte) & 255]
    crc ^= 0xFFFFFFFF
    return f"{((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF:08x}"


def read_array(path):
    """The elements of an .npy file, and their bytes; None for dtypes that are not numbers."""
    data = path.read_bytes()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    header = eval(data[10:start].decode(), {"__builtins__": {}})
    if header["descr"] not in FORMATS:
        return None, b""
    code = FORMATS[header["descr"]]
    count = math.prod(header["shape"])
    return struct.unpack(f"<{count}{code}", data[start:]), data[start:]


def statistics(numbers):
    finite = [float(x) for x in numbers if math.isfinite(x)]
    mean = math.fsum(finite) / len(finite) if finite else None
    return {
        "elements": len(numbers),
        "min": min(finite, default=None),
        "max": max(finite, default=None),
        "mean": mean,
        "deviation": math.sqrt(math.fsum((x - mean) ** 2 for x in finite) / len(finite)) if finite else None,
        "nan": sum(math.isnan(x) for x in numbers),
        "infinite": sum(math.isinf(x) for x in numbers),
        "zeros": sum(x == 0 for x in finite),
    }


def differ(a, b):
    if a is None or b is None or isinstance(a, int) and isinstance(b, int):
        return a != b
    return not math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


def rows_of(model):
    """The rows of the table, by node, after a comparison with what `info` says."""
    columns, rows = (json.loads(grapnel("query", model, TABLE, "--json"))[key] for key in ("columns", "rows"))
    rows = [dict(zip(columns, row)) for row in rows]
    said = json.loads(grapnel("info", model, "--values", "--json"))["graphs"][0]["values"]
    keys = ("name", "kind", "layer", "dtype", "shape", "elements", "min", "max", "mean", "deviation", "nan", "infinite", "zeros", "hash")
    of_table = sorted([str(row[key]) for key in keys] for row in rows)
    of_info = sorted([str(one.get(key)) for key in keys] for one in said)
    return {row["node"]: row for row in rows}, of_table == of_info


def check(model, counts):
    faults = []
    rows, same = rows_of(model)
    if not same:
        faults.append("info and query differ")
    shown = grapnel("git-setup", "--show", model)
    with tempfile.TemporaryDirectory() as folder:
        frozen = f"{folder}/frozen.pb"
        try:
            grapnel("opt", model, "--freeze", "--passes", "dependency_optimizer", "-o", frozen, "-q")
        except subprocess.CalledProcessError:  # it writes a variable
            return faults
        counts["frozen"] += 1
        constants = json.loads(grapnel("query", frozen, "SELECT name FROM nodes WHERE op = 'Const' AND function IS NULL", "--json"))["rows"]
        there = {name for [name] in constants}
        files = {node: pathlib.Path(folder, f"{node}.npy") for node, row in rows.items() if row["kind"] == "variable" and row["at"] in there}
        if files:
            grapnel("run", frozen, "-q", *(word for node, file in files.items() for word in ("--fetch", f"{rows[node]['at']}={file}")))
        for node, path in files.items():
            numbers, data = read_array(path)
            if numbers is None:
                continue
            row = rows[node]
            counts["compared"] += 1
            counts["bytes"] += len(data)
            wanted = statistics(numbers)
            faults += [f"{row['name']}: {key} {row[key]}, not {value}" for key, value in wanted.items() if differ(row[key], value)]
            if len(data) <= 20000 and row["hash"] != checksum(data):
                faults.append(f"{row['name']}: hash {row['hash']}")
            if row["hash"] not in shown:
                faults.append(f"{row['name']}: hash {row['hash']} is not in the lines of git-setup")
    return faults


def main():
    counts = {"frozen": 0, "compared": 0, "bytes": 0}
    faults = 0
    models = sorted(path.parent for path in pathlib.Path(sys.argv[1]).rglob("saved_model.pb"))
    for model in models:
        for fault in check(str(model), counts):
            print(f"{model}: {fault}")
            faults += 1
    print(f"{len(models)} models, {counts['frozen']} of them frozen, {counts['compared']} variables of {counts['bytes']} bytes: {faults} faults")


if __name__ == "__main__":
    main()
