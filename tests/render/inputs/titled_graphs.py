#!/usr/bin/env python3
"""titled_graphs.py FOLDER SEED COUNT: writes graphs whose scopes do not fit the data flow, and COUNT random ones, for check_titles.py.

In each, a scope's box would hold nodes of another scope, or groups of siblings need titles.
"""

import pathlib
import random
import sys

INPUT = "%x = Placeholder {dtype=float, shape=[2,3]}"
OPS = ("Relu", "Tanh", "Exp", "Neg", "Abs", "Sqrt", "Sin")
GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omikron pi rho sigma tau upsilon phi chi psi omega".split()


class Graph:
    """A chain of nodes, each of which reads the one before it."""

    def __init__(self):
        self.lines, self.last = [INPUT], "x"

    def add(self, name, op, *others):
        reads = ", ".join(f"%{one}" for one in (self.last, *others))
        self.lines.append(f"%{name} = {op}({reads})")
        self.last = name

    def text(self):
        return "\n".join([*self.lines, f"%out = Identity(%{self.last})", ""])


def late_relus(scope=""):
    """Each layer's activation, in a scope of its own, comes right before the next layer, as in MobileNetV2."""
    graph = Graph()
    for i, word in enumerate(GREEK):
        for k in range(2 + i % 3):
            graph.add(f"{scope}{word}_project/op{k}", OPS[(i + k) % 7])
        graph.add(f"{scope}{word}_depthwise_relu/Relu6", "Relu6")
    return graph.text()


def taken():
    """Sums in no scope, between the ops of a tape."""
    graph = Graph()
    for i in range(16):
        graph.add(f"tape/grad_{i}", OPS[i % 7])
        if i in (3, 9):
            graph.add(f"AddN_{i}", "Neg")
    return graph.text()


def pairs():
    """A scope and an op, again and again: a series whose repeats hold both."""
    graph = Graph()
    for word in GREEK:
        graph.add(f"{word}_project/kernel", "Sqrt")
        graph.add(f"{word}_project/mul", "Exp")
        graph.add(f"{word}_relu", "Relu")
    return graph.text()


def interleaved():
    """Two scopes that the flow visits in turn: neither is a box, and their nodes are siblings of one another."""
    graph = Graph()
    for i in range(40):
        graph.add(f"net/{'left' if i % 2 else 'right'}/{GREEK[i % 24]}{i}", OPS[i * i % 7])
    return graph.text()


def words():
    """Parts in which most names, but not all, begin with block_N_."""
    graph = Graph()
    for block in range(9):
        for k in range(3 + block % 2):
            graph.add(f"block_{block}_{GREEK[k]}/op", OPS[(block + k) % 7])
        graph.add(f"{GREEK[block]}/add", "Abs")
    return graph.text()


def chance(seed):
    """Nodes in random scopes, up to four deep, in random order, with random inputs."""
    rng = random.Random(seed)
    scopes = [""]
    while len(scopes) < rng.randrange(2, 12):
        above = rng.choice(scopes)
        if above.count("/") < 4:
            scopes.append(f"{above}{rng.choice(GREEK)}{rng.choice(('', '_1', '_2'))}/")
    graph, names = Graph(), ["x"]
    for i in range(rng.randrange(10, 160)):
        name = f"{rng.choice(scopes)}{rng.choice(OPS).lower()}_{i}"
        graph.last = names[-1] if rng.random() < 0.6 else rng.choice(names)
        if rng.random() < 0.2:
            graph.add(name, "AddV2", rng.choice(names))
        else:
            graph.add(name, rng.choice(OPS))
        names.append(name)
    return graph.text()


def main(folder, seed, count):
    graphs = {"late_relus": late_relus(), "nested": late_relus("outer/net/"), "taken": taken(), "pairs": pairs(),
              "interleaved": interleaved(), "words": words()}  # fmt: skip
    graphs.update({f"random_{i}": chance(i) for i in range(int(seed), int(seed) + int(count))})
    path = pathlib.Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    for name, text in graphs.items():
        (path / f"{name}.gtxt").write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
