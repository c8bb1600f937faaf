"""Reads dumps that TensorFlow wrote (testdata/stages) with `timeline`, and compares with what NAME.json says of each stage.

usage: stages.py FOLDER [GRAPNEL]      prints a line for each stage that differs, then the count; exit 1 when one does
"""
import collections
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile


def timeline(grapnel, folder, with_log):
    command = [grapnel, "timeline", os.path.join(folder, "dumps"), "--json"]
    done = subprocess.run(command + (["--log", os.path.join(folder, "log.txt")] if with_log else []), capture_output=True, text=True, check=True)
    return {stage["file"]: stage for stage in json.loads(done.stdout)["stages"]}


def new_and_gone(stage):
    """What is told of names: copies of opened calls are new, what a fusion took in is gone."""
    new, gone = (stage[kind] + stage.get("library", {}).get(kind, []) for kind in ("added", "removed"))
    return new + [node["copy"] for call in stage.get("opened", []) for node in call["nodes"]], gone


def compare(stages, file, case, with_log):
    """What is wrong: a text each."""
    stage = stages.get(file)
    if stage is None:
        return ["is missing"]
    wrong = []

    def check(what, got, want):
        if got != want:
            wrong.append(f"{what}: {got} and not {want}")

    owners = case["of" if with_log else "of_without_log"]
    named = [name for name in case["functions"] if re.search(rf"(?<!\w){re.escape(name)}(?!\d|_\d)", stage["graph"])]
    if set(named) - set(owners) or (owners and not named):
        wrong.append(f"of {stage['graph']} and not {owners}")
    before = stage.get("before")
    if with_log and before not in case["before"]:
        wrong.append(f"compared with {before} and not {case['before']}")
    if before:
        told = new_and_gone(stage)
        for what, names in zip(("new", "gone"), told):
            check(what, collections.Counter(names), collections.Counter(case.get(what, [])))
    fates = {fate["node"]: fate for fate in stage.get("fates", [])}
    for node, into in case.get("merged", {}).items():
        check(f"what became of {node}", fates.get(node), {"node": node, "fate": "merged", "into": into})
    for node in case.get("constant", []):
        check(f"{node} is changed", node in stage["changed"], True)
    if "copies" in case:
        check("copies", {node["copy"]: node["node"] for call in stage.get("opened", []) for node in call["nodes"]}, case["copies"])
    return wrong


def main():
    root, grapnel = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "grapnel"
    names = sorted(name.removesuffix(".json") for name in os.listdir(root) if name.endswith(".json"))
    right = 0
    for name in names:
        with open(os.path.join(root, name + ".json"), encoding="utf-8") as file:
            case = json.load(file)
        texts, functions = [], {name for stage in case.values() for name in stage["of"]}
        with tempfile.TemporaryDirectory() as folder, tarfile.open(os.path.join(root, name + ".tar.xz")) as archive:
            archive.extractall(folder)
            for with_log in (True, False):
                stages = timeline(grapnel, folder, with_log)
                for file, want in case.items():
                    texts += [f"{file}, {'with' if with_log else 'without'} log: {text}" for text in compare(stages, file, want | {"functions": functions}, with_log)]
        right += bool(case) and not texts
        print("".join(f"{name}: {text[:300]}\n" for text in texts[:3]) + (f"{name}: {len(texts)} in all\n" if texts else ""), end="")
    print(f"{right} of {len(names)} programs are told as TensorFlow's dumps say")
    return right != len(names)


if __name__ == "__main__":
    sys.exit(main())
