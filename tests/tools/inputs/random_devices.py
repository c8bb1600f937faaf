"""Copies cases, folders or archives, into folders and asks for a device, one of four CPUs by chance, for six of ten nodes of each graph and function.

usage: random_devices.py OUT SEED CASE...
Needs Python alone: a GraphDef is walked by its bytes, and of a NodeDef's field that is there twice the last counts.
"""
import os
import random
import shutil
import sys
import zipfile


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def encoded(value):
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def fields(data):
    """(number, bytes of the value or None, all its bytes) of each field."""
    at = 0
    while at < len(data):
        begin = at
        tag, at = varint(data, at)
        value = None
        if tag & 7 == 0:
            _, at = varint(data, at)
        elif tag & 7 == 2:
            size, at = varint(data, at)
            value = data[at:at + size]
            at += size
        else:
            at += 8 if tag & 7 == 1 else 4
        yield tag >> 3, value, data[begin:at]


def field(number, value):
    return encoded(number << 3 | 2) + encoded(len(value)) + value


def with_devices(message, pick, where):
    """A GraphDef, library or FunctionDef: `where` says what its fields hold, by number; a node is {}."""
    out = bytearray()
    for number, value, whole in fields(message):
        if number not in where:
            out += whole
        elif where[number]:
            out += field(number, with_devices(value, pick, where[number]))
        elif pick.random() < .6:
            out += field(number, value + field(4, b"/device:CPU:%d" % pick.randrange(4)))
        else:
            out += whole
    return out


FUNCTION = {3: {}}
GRAPH = {1: {}, 2: {1: FUNCTION}}


def main():
    out, seed = sys.argv[1], sys.argv[2]
    for case in sys.argv[3:]:
        name = os.path.basename(case.rstrip("/")).removesuffix(".zip")
        folder = os.path.join(out, name)
        graph = os.path.join(folder, "graph.pb")
        if os.path.isfile(case):
            with zipfile.ZipFile(case) as archive:
                archive.extractall(folder)
        elif os.path.exists(os.path.join(case, "graph.pb")):
            shutil.copytree(case, folder)
        else:
            continue
        with open(graph, "rb") as f:
            changed = with_devices(f.read(), random.Random(seed + name), GRAPH)
        with open(graph, "wb") as f:
            f.write(changed)


main()
