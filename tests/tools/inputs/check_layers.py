"""Compares the layers that `grapnel info --json` finds in the models of testdata/keras_models with what Keras says of them.

usage: check_layers.py FOLDER [NAME...]

For each model: names, order, shapes, parameters, classes (if the file states them) and totals. FLOPs are compared with those of
TensorFlow's profiler, which counts only some ops: the others, by `grapnel query`, are subtracted. Prints each difference; exit 1 if
there is any."""
import json
import os
import pathlib
import re
import subprocess
import sys

GRAPNEL = os.environ.get("GRAPNEL", "grapnel")
# The ops that TensorFlow's profiler counts, of those in the models.
COUNTED = """Add AddN AddV2 AvgPool BatchMatMul BatchMatMulV2 BiasAdd Conv2D Conv2DBackpropInput Conv3D DepthwiseConv2dNative Equal Greater
GreaterEqual Less LessEqual Log MatMul MaxPool Maximum Mean Minimum Mul Neg NotEqual Pow RealDiv Reciprocal Rsqrt Softmax Square
SquaredDifference Sub Sum ArgMax ArgMin""".split()
# The facts that a file does not tell. Of a model's outputs, it has only those that are read; and a model is saved for any batch size, while Keras
# shows the sizes of the batch that built it.
UNTOLD = {("vae", "encoder"): ["[?,2]"]}
BUILT_FOR = {"subclassed": 1, "sequential_unbuilt": 2}
SUBCLASSED = ("subclassed", "subclassed_keras2", "vae")


def run(*arguments):
    return json.loads(subprocess.run([GRAPNEL, *arguments, "--json"], capture_output=True, check=True, text=True).stdout)


def shapes_of(row):
    """As `info` writes them; None: Keras does not know."""
    shape = row["output_shape"]
    if isinstance(shape, str):
        return None
    shapes = shape if shape and isinstance(shape[0], list) else [shape]
    return ["[" + ",".join("?" if d is None else str(d) for d in one) + "]" for one in shapes]


class Comparison:
    def __init__(self, folder):
        self.folder, self.name, self.problems = folder, folder.name, []
        self.truth = json.loads((folder / "summary.json").read_text())
        self.states_classes = (folder / "model" / "keras_metadata.pb").exists()

    def differ(self, what, got, expected):
        self.problems.append(f"{self.name}: {what}: got {got}, expected {expected}")

    def rows(self, where, layers, truth):
        truth = [row for row in truth if row["in_export"]]
        names, expected = [layer["name"] for layer in layers], [row["name"] for row in truth]
        if self.name in SUBCLASSED and not where:
            layers = sorted(layers, key=lambda layer: expected.index(layer["name"]) if layer["name"] in expected else 0)
            names = [layer["name"] for layer in layers]
        if names != expected:
            return self.differ(f"layers of {where or 'the model'}", names, expected)
        for layer, row in zip(layers, truth):
            self.row(f"{where}/{row['name']}".lstrip("/"), layer, row)

    def row(self, where, layer, row):
        shapes, expected = layer.get("shapes") or [layer.get("shape")], UNTOLD.get((self.name, where), shapes_of(row))
        if self.name in BUILT_FOR:
            shapes = [re.sub(r"^\[\?", f"[{BUILT_FOR[self.name]}", shape) for shape in shapes]
        if expected and shapes != expected:
            self.differ(f"shape of {where}", shapes, expected)
        if layer["parameters"] != row["parameters"]:
            self.differ(f"parameters of {where}", layer["parameters"], row["parameters"])
        if layer.get("class") != (row["class"] if self.states_classes else None):
            self.differ(f"class of {where}", layer.get("class"), row["class"])
        if ("layers" in layer) != bool(row["nested"]):
            self.differ(f"nested layers of {where}", "layers" in layer, bool(row["nested"]))
        elif row["nested"]:
            self.rows(where, layer["layers"], row["nested"])
            inside = sum(one["parameters"] for one in layer["layers"])
            if inside > layer["parameters"]:
                self.differ(f"parameters in {where}", inside, layer["parameters"])

    def not_counted_by_profiler(self):
        """FLOPs of the nodes that the outputs need, with how often their body runs; calls cost what they call."""
        model = str(self.folder / "model")
        text = subprocess.run(["grapnel", "info", model], check=True, capture_output=True, text=True).stdout
        ends = re.findall(r"^ +(in|out) +\S+ +(\S+) +(\S+):\d+$", text, re.MULTILINE)
        outputs = ", ".join(f"'{node}'" for end, _, node in ends if end == "out")
        batch = ["--batch", "1"] if any("[?" in shape for end, shape, _ in ends if end == "in") else []
        rows = run("query", model, *batch, f"""
            WITH RECURSIVE needed(node) AS (
              SELECT id FROM nodes WHERE (function IS NULL AND name IN ({outputs})) OR op = '_Retval'
              UNION SELECT source FROM edges JOIN needed ON target = needed.node WHERE source IS NOT NULL)
            SELECT op, SUM(costs.flops * runs) FROM costs JOIN needed USING (node) JOIN nodes ON id = node
              JOIN bodies ON bodies.function IS nodes.function
            WHERE op NOT LIKE '%PartitionedCall' AND op NOT LIKE '%While' GROUP BY op""")["rows"]
        return sum(flops or 0 for op, flops in rows if op not in COUNTED)

    def totals(self, layers, totals):
        expected = {"parameters": self.truth["total"] - self.truth["optimizer"], "trainable": self.truth["trainable"],
                    "non_trainable": self.truth["non_trainable"]}
        for what, count in expected.items():
            if totals.get(what, 0) != count:
                self.differ(what, totals.get(what, 0), count)
        if self.truth["flops"] is None:
            return
        if "open" in totals:
            self.differ("nodes that do not count", totals["open"], 0)
        others = self.not_counted_by_profiler()
        flops = totals["flops"] - others
        if abs(flops - self.truth["flops"]) > .01 * self.truth["flops"]:
            self.differ("FLOPs", flops, self.truth["flops"])
        inside = sum(layer["flops"] for layer in layers)
        if not .9 * totals["flops"] <= inside <= totals["flops"]:
            self.differ("FLOPs of the layers", inside, totals["flops"])

    def compare(self):
        graph = run("info", str(self.folder / "model"))["graphs"][0]
        if "layers" not in graph:
            return self.differ("layers", "none", len(self.truth["layers"]))
        self.rows("", graph["layers"], self.truth["layers"])
        self.totals(graph["layers"], graph["totals"])


def main():
    folder, *names = sys.argv[1:]
    models = sorted(path.parent for path in pathlib.Path(folder).glob("*/summary.json") if not names or path.parent.name in names)
    problems = []
    for model in models:
        comparison = Comparison(model)
        comparison.compare()
        problems += comparison.problems
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"{len(models)} models, {len(problems)} differences")
    sys.exit(bool(problems) or not models)


main()
