"""Checks whether the boxes of a network's picture are its layers, blocks of layers, or series of these.

usage: scripts/picture_layers.py GRAPNEL FOLDER [NAME...]        FOLDER: the output of scripts/network_graphs.py

Prints each box of `grapnel view NAME.pb` that contains nodes of layers, and what it is. A box is right if each of its parts (one; for a
series as many as it has) is, up to 10 % of the part's nodes, exactly one of these:
- a layer of the Python model;
- a run of consecutive layers of model.operations that no merge (Add, Concatenate, Multiply ...) interrupts, but may end;
- such runs one after the other, from behind a merge or the first layer on, or to a merge or the last layer.
Consecutive layers between two merges may stand in another order in the model than in the graph, branches mixed: that is what makes
slices of an order of the graph fail. To show it the same is asked of as many equal slices of a topological order as there are boxes.
At least 80 % of the boxes must be right, and fewer of the slices: exit code 1 says that one of both does not hold.
"""
import json
import os
import subprocess
import sys

OFF = 0.1


class Model:
    """The layers of a model in order, and the layer that made each node."""

    def __init__(self, described):
        self.layers = [name for name, _, _ in described["layers"]]
        self.merges = {i for i, (_, _, merges) in enumerate(described["layers"]) if merges}
        number = {name: i for i, name in enumerate(self.layers)}
        self.layer_of = {node: number[layer] for node, layer in described["nodes"].items()}

    def sizes(self, shown):
        sizes = [0] * len(self.layers)
        for node in shown:
            if node in self.layer_of:
                sizes[self.layer_of[node]] += 1
        return sizes

    def what(self, nodes, sizes):
        """A description of a part; None if the part is neither a layer nor a run of consecutive layers."""
        held = [0] * len(self.layers)
        for node in nodes:
            if node in self.layer_of:
                held[self.layer_of[node]] += 1
        spare = OFF * len(nodes)
        best = max(range(len(held)), key=held.__getitem__)
        if len(nodes) - held[best] + sizes[best] - held[best] <= spare:
            return self.layers[best]
        # The best run has the largest number of the part's nodes, minus its nodes that the part
        # lacks.
        mass = [2 * h - s for h, s in zip(held, sizes)]
        best, best_run, total = None, None, 0
        prefix = [0]
        for m in mass:
            prefix.append(prefix[-1] + m)
        last = len(mass) - 1
        for begin in range(last + 1):
            if not held[begin]:
                continue
            crossed = False
            opens = begin == 0 or begin - 1 in self.merges
            for end in range(begin, last + 1):
                ends = end == last or end in self.merges
                if held[end] and (not crossed or opens or ends) and (best is None or prefix[end + 1] - prefix[begin] > best):
                    best, best_run = prefix[end + 1] - prefix[begin], (begin, end)
                crossed = crossed or end in self.merges
        if best is None:
            return None
        begin, end = best_run
        wrong = len(nodes) - sum(held[begin:end + 1]) + sum(sizes[begin:end + 1]) - sum(held[begin:end + 1])
        return f"{self.layers[begin]} .. {self.layers[end]}" if wrong <= spare else None


def slices(nodes, count):
    return [nodes[len(nodes) * i // count:len(nodes) * (i + 1) // count] for i in range(count)]


def topological(graph_file, grapnel):
    """The nodes, each after its inputs; depth first, in file order."""
    asked = subprocess.run([grapnel, "query", graph_file, "SELECT s.name, t.name FROM edges e JOIN nodes s ON s.id = e.source JOIN nodes t ON t.id = e.target", "--csv"], capture_output=True, text=True, check=True)
    reads, order, seen = {}, [], set()
    for line in asked.stdout.splitlines()[1:]:
        source, to = line.split(",")
        reads.setdefault(to, []).append(source)
        reads.setdefault(source, [])
    for root in reads:
        work = [root]
        while work:
            node = work[-1]
            left = [r for r in reads[node] if r not in seen] if node not in seen else []
            if left:
                work.append(left[0])
                continue
            work.pop()
            if node not in seen:
                seen.add(node)
                order.append(node)
    return order


def judge(name, boxes, model, sizes, quiet=False):
    right = 0
    for title, parts in boxes:
        told = [model.what(part, sizes) for part in parts]
        good = all(told)
        right += good
        if not quiet:
            times = f" \u00d7{len(parts)}" if len(parts) > 1 else ""
            print(f"  {'right' if good else 'WRONG'}  {title}{times}: {'; '.join(t or 'no run of layers' for t in told)[:150]}")
    return right


def check(grapnel, folder, name):
    graph_file = os.path.join(folder, name + ".pb")
    model = Model(json.load(open(os.path.join(folder, name + ".json"), encoding="utf-8")))
    drawn = json.loads(subprocess.run([grapnel, "view", graph_file, "-o", "-", "--format", "json", "--quiet"], capture_output=True,
                                      text=True, check=True).stdout)
    boxes = [(b.get("name") or b.get("title", ""), b["parts"]) for b in drawn["boxes"] if "parts" in b]
    sizes = model.sizes(n for _, parts in boxes for part in parts for n in part)
    boxes = [(t, p) for t, p in boxes if any(n in model.layer_of for part in p for n in part)]
    print(name)
    right = judge(name, boxes, model, sizes)
    shown = {n for _, parts in boxes for part in parts for n in part}
    cut = [("slice", [s]) for s in slices([n for n in topological(graph_file, grapnel) if n in shown], len(boxes))]
    wrong_way = judge(name, cut, model, sizes, quiet=True)
    print(f"{name}: {right} of {len(boxes)} boxes are layers or runs of them; of as many slices of a topological order {wrong_way}")
    return right >= 0.8 * len(boxes) and wrong_way < 0.8 * len(boxes)


def main():
    grapnel, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    names = sys.argv[3:] or sorted(f[:-5] for f in os.listdir(folder) if f.endswith(".json"))
    return 0 if all([check(grapnel, folder, name) for name in names]) else 1


if __name__ == "__main__":
    sys.exit(main())
