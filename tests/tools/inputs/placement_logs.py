"""Reads TensorFlow's logs of placements and compares with what case.json says of each.

usage: placement_logs.py FOLDER [GRAPNEL]      prints a line for each case that differs, then the count; exit 1 when one does
"""
import json
import os
import subprocess
import sys


def place(grapnel, graph, flags):
    done = subprocess.run([grapnel, "place", graph, *flags, "--json"], capture_output=True, text=True, check=False)
    return (json.loads(done.stdout) if done.returncode == 0 else {}), done


def compare(grapnel, folder, case):
    """What is wrong: a text each."""
    expect, wrong = case["expect"], []

    def check(what, got, want):
        if got != want:
            wrong.append(f"{what}: {got} and not {want}")

    graph = os.path.join(folder, case["graph"])
    got, done = place(grapnel, graph, [*case["flags"], "--log", os.path.join(folder, "placement.log")])
    check("exit code", done.returncode, 0)
    log = got.get("log", {})
    if "nodes" in expect:
        check("devices", got.get("logged"), {node: device for node, (device, _) in expect["nodes"].items()})
        nodes = log.get("nodes", {})
        check("lines", {name: node["line"] for name, node in nodes.items() if node["line"]},
              {name: line for name, (_, line) in expect["nodes"].items()})
        check("nodes with the same op", len(expect["nodes"]) - sum(node in expect["changed"] for node in nodes), expect["same_op"])
        check("ops in the log", {name: nodes.get(name, {}).get("op") for name in expect["changed"]}, expect["changed"])
        for name in [*expect["changed"], *expect["unknown"]]:
            if not nodes.get(name, {}).get("why"):
                wrong.append(f"no reason for {name}")
        check("nodes that are gone", len(log.get("gone", [])), expect["gone"])
    if "rivals" in expect:
        check("graphs that were not used", len(log.get("rivals", [])), expect["rivals"])
    check("lines that cannot be read", log.get("unreadable_lines"), expect.get("unreadable", []))
    cut = log.get("cut")
    check("where it ends", [cut["line"], cut["node"]] if cut else None, expect.get("cut"))
    for node, device in expect.get("placements", {}).items():
        check(f"the device of {node}", got.get("placements", {}).get(node), device)
    if "assumed" in expect:
        plain, _ = place(grapnel, graph, case["flags"])
        check("what is assumed", sorted(plain.get("assumed", [])), sorted(expect["assumed"]))
        check("arguments", {node: plain.get("placements", {}).get(node) for node in expect["default"]}, expect["default"])
    return wrong


def main():
    root, grapnel = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "grapnel"
    names = [name for name in sorted(os.listdir(root)) if os.path.isdir(os.path.join(root, name))]
    right = 0
    for name in names:
        folder = os.path.join(root, name)
        with open(os.path.join(folder, "case.json"), encoding="utf-8") as file:
            wrong = compare(grapnel, folder, json.load(file))
        right += not wrong
        for each in wrong:
            print(f"{name}: {each[:300]}")
    print(f"{right} of {len(names)} logs read as TensorFlow wrote them")
    return right != len(names)


if __name__ == "__main__":
    sys.exit(main())
