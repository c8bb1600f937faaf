"""Do the function libraries of the programs hold what planted.json lists, and does grapnel say so?

check_planted.py ROOT [--only NAME...] [--print] [--grapnel GRAPNEL]

ROOT/NAME is what dump.py made of a program. Finds traces, arguments, pairs of forward and backward functions, callers and roles in
ROOT/NAME/library.pb, with TensorFlow alone; ROOT/NAME/dumps tells which functions Python or tf.data called, for they were
instantiated under their own names. README.md says what planted.json holds. --print prints what was found as JSON. With --grapnel,
`info --json` of library.pb is held against planted.json instead, who runs a function and why not too. Last line: 'N of M programs'.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
from tensorflow.core.framework import graph_pb2, types_pb2  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROLES = {"then_branch": "then", "else_branch": "else", "cond": "cond", "body": "body", "init_func": "init", "next_func": "next",
         "finalize_func": "finalize"}
DATASET = re.compile(r"Dataset(V\d+)?$")
TOLD = ("python", "superseded_by", "uncalled", "captures")  # what a library does not tell by itself


def python_name(function):
    """What a function is called in Python: without its number and what TensorFlow puts before and after."""
    name = re.sub(r"^__(inference|forward)_(__(backward|forward)_)*", "", function)
    return re.sub(r"(_\d+|_rewritten|_grad)+$", "", name)


def number(function):
    return int((re.findall(r"_(\d+)$", function) or [0])[0])


def tensor(argument, attrs):
    shapes = attrs.attr["_output_shapes"].list.shape
    dtype = types_pb2.DataType.Name(argument.type)[3:].lower()
    if not shapes or shapes[0].unknown_rank:
        return dtype
    return dtype + "[" + ",".join("?" if d.size < 0 else str(d.size) for d in shapes[0].dim) + "]"


class Library:
    def __init__(self, place):
        graph = graph_pb2.GraphDef()
        graph.ParseFromString((place / "library.pb").read_bytes())
        self.functions = {f.signature.name: f for f in graph.library.function}
        self.dumped = {f.split(".")[0] for f in os.listdir(place / "dumps")}
        self.callers, self.roles = collections.defaultdict(set), []
        for f in graph.library.function:
            for node in f.node_def:
                for called, role in roles_in(node):
                    self.note(f.signature.name, node, called, role)
        for node in self.datasets(place / "dumps"):
            for called, role in roles_in(node):
                self.note("", node, called, role)

    def datasets(self, dumps):
        """Nodes of datasets that ran eagerly, as tf.data got them: Grappler's dumps have their graphs, which take no arguments."""
        seen = set()
        for file in sorted(dumps.glob("before_MetaOptimizer_iteration_0_*.pb"), key=lambda f: f.stat().st_mtime_ns):
            graph = graph_pb2.GraphDef()
            graph.ParseFromString(file.read_bytes())
            if not any(n.op == "_Arg" for n in graph.node):
                for node in graph.node:
                    called = {name for name, role in roles_in(node) if role == "function"}
                    if called - seen:
                        yield node
                    seen |= called

    def note(self, function, node, called, role):
        if function:
            self.callers[called].add(python_name(function))
        if role and called in self.functions:
            gradient = {"gradient": True} if "_grad_" in called else {}
            role = {"function": python_name(called), "role": role, "of": node.op, "in": python_name(function)} | gradient
            self.roles += [role] if role not in self.roles else []

    def found(self):
        """What planted.json says of a program, as far as the library tells."""
        result = collections.defaultdict(lambda: {"traces": [], "pairs": []})
        for name in sorted(self.functions, key=number):
            if re.match(r"__inference_(?!__backward)", name):
                result[python_name(name)]["traces"].append({"arguments": self.arguments(name), "called_by": self.called_by(name)})
            elif backward := self.functions[name].attr["backward_function_name"].s.decode():
                order = {"order": 1 + name.count("__backward_")} if "__backward_" in name else {}
                assert backward in self.functions, f"{name} has no partner {backward}"
                pair = {"arguments": self.arguments(name), "called_by": self.called_by(name)} | order
                result[python_name(name)]["pairs"].append(pair)
        return {"functions": dict(sorted(result.items())), "roles": sorted(self.roles, key=lambda r: json.dumps(r, sort_keys=True))}

    def arguments(self, name):
        f = self.functions[name]
        return [tensor(a, f.arg_attr[i]) for i, a in enumerate(f.signature.input_arg)]

    def called_by(self, name):
        if self.callers[name]:
            return sorted(self.callers[name])
        # tf.data and iterators instantiate their functions themselves.
        return [] if name not in self.dumped else ["tf.data"] if re.match(r"__inference_(Dataset_|reduce_|_)", name) else ["Python"]


class Told:
    """What grapnel says of a library."""

    ROLES = {"then branch": "then", "else branch": "else", "cond": "cond", "body": "body", "init function": "init",
             "next function": "next", "finalize function": "finalize"}

    def __init__(self, place, grapnel):
        done = subprocess.run([grapnel, "info", "--json", place / "library.pb"], capture_output=True, text=True, check=True)
        graph = json.loads(done.stdout)["graphs"][0]
        self.functions = {f["name"]: f for f in graph["functions"]}
        self.rows = {name: i for i, row in enumerate(graph["python_functions"]) for name in row["traces"] + row["others"]}

    def found(self):
        result, roles = collections.defaultdict(lambda: {"traces": [], "pairs": []}), []
        for name, f in sorted(self.functions.items(), key=lambda item: item[1]["number"]):
            known = python_name(name)
            if known.removeprefix("Dataset_").removeprefix("reduce_").split("_")[-1] != f["python_name"].split("_")[-1]:
                known = f["python_name"]
            roles += [role for role in self.roles_of(known, f) if role not in roles]
            entry = {"arguments": [self.tensor(a) for a in f["arguments"] if not a.get("captured")], "called_by": self.called_by(f),
                     "captures": sum(a.get("captured", False) for a in f["arguments"])}
            if f["role"] == "forward":
                order = {"order": 1 + name.count("__backward_")} if "__backward_" in name else {}
                assert self.functions[f["partner"]]["role"] == "backward"
                result[known]["pairs"].append(entry | order)
            elif f["role"] != "backward":
                why = "a later trace" if f.get("successor") else "its pair"
                why = why if f["status"] == "superseded" and not f["uses"] else None
                result[known]["traces"].append(entry | ({"superseded_by": why} if why else {}) | {"row": self.rows[name]})
        return {"functions": dict(sorted(result.items())), "roles": roles}

    def tensor(self, argument):
        return argument["dtype"] + (argument["shape"] if argument["shape"] != "?" else "")

    def called_by(self, f):
        callers = sorted({python_name(use["function"]) for use in f["uses"] if use.get("function")})
        return callers or {"entry": ["Python"], "dataset": ["tf.data"]}.get(f["status"], [])

    def roles_of(self, known, f):
        for use in f["uses"]:
            part = f.get("part", "")
            role = self.ROLES.get(part, part if part.startswith("branch ") else "function" if f["role"] == "dataset function" else None)
            if role:
                gradient = {"gradient": True} if "_grad_" in f["name"] else {}
                yield {"function": known, "role": role, "of": use["op"], "in": python_name(use.get("function", ""))} | gradient


def untold(planted, told):
    """Lines of what is planted and grapnel says otherwise. Datasets that ran eagerly are not in a library."""
    for name, want in planted["functions"].items():
        got = told["functions"].get(name, {"traces": [], "pairs": []})
        if len({trace["row"] for trace in got["traces"]}) > 1:
            yield f"{name}: traces in several rows"
        for kind in ("traces", "pairs"):
            if len(want.get(kind, [])) != len(got[kind]):
                yield f"{name}: {len(want.get(kind, []))} {kind} planted, {len(got[kind])} told"
            for entry, other in zip(want.get(kind, []), got[kind]):
                entry = {"captures": 0} | {k: v for k, v in entry.items() if k not in ("python", "uncalled")}
                other = {k: v for k, v in other.items() if k != "row"}
                if entry != other:
                    yield f"{name}: planted {entry}, told {other}"
    roles = [role for role in planted["roles"] if role["in"]]
    yield from (f"role planted alone: {role}" for role in roles if role not in told["roles"])
    yield from (f"role told alone: {role}" for role in told["roles"] if role not in roles)


def roles_in(node):
    """(function, its role or None) of all that a node calls."""
    yield node.op, None
    for key, value in node.attr.items():
        for i, f in enumerate([value.func] if value.func.name else value.list.func):
            yield f.name, f"branch {i}" if key == "branches" else ROLES.get(key, "function" if DATASET.search(node.op) else None)


def differences(planted, found):
    """Lines of what is planted and was not found, or the other way."""
    for name in sorted(planted["functions"].keys() | found["functions"].keys()):
        want, got = (side["functions"].get(name, {}) for side in (planted, found))
        for kind in ("traces", "pairs"):
            listed = [without_told(entry, other) for entry, other in zip(want.get(kind, []), got.get(kind, []))]
            if len(want.get(kind, [])) != len(got.get(kind, [])):
                yield f"{name}: {len(want.get(kind, []))} {kind} planted, {len(got.get(kind, []))} found"
            yield from (f"{name}: planted {a}, found {b}" for a, b in listed if a != b)
    for side, other, said in ((planted, found, "planted"), (found, planted, "found")):
        yield from (f"role {said} alone: {role}" for role in side["roles"] if role not in other["roles"])


def without_told(entry, other):
    """Planted arguments are those that Python gave; captures, which follow, are counted."""
    if len(other["arguments"]) == len(entry["arguments"]) + entry.get("captures", 0):
        other = other | {"arguments": other["arguments"][:len(entry["arguments"])]}
    return {k: v for k, v in entry.items() if k not in TOLD}, other


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--print", action="store_true")
    parser.add_argument("--grapnel")
    wanted = parser.parse_args()
    planted = json.loads((HERE / "planted.json").read_text())
    good = total = 0
    for place in sorted(wanted.root.iterdir()):
        if not (place / "library.pb").exists() or (wanted.only and place.name not in wanted.only):
            continue
        found = Told(place, wanted.grapnel).found() if wanted.grapnel else Library(place).found()
        if wanted.print:
            print(json.dumps({place.name: found}, indent=1))
            continue
        compare = untold if wanted.grapnel else differences
        lines = list(compare(planted.get(place.name, {"functions": {}, "roles": []}), found))
        print(place.name, "agrees" if not lines else f"differs in {len(lines)}")
        print("".join(f"    {line}\n" for line in lines), end="")
        good, total = good + (not lines), total + 1
    print(f"{good} of {total} programs")
    return 0 if good == total else 1


if __name__ == "__main__":
    sys.exit(main())
