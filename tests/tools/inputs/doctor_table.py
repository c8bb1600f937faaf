"""Whether docs/guide/doctor.md is true: each check has a row, is found in the folders of its row, and no check speaks up on the healthy ones.

usage: doctor_table.py ROOT      `grapnel` is on PATH
"""
import json
import os
import re
import subprocess
import sys


def ask(*arguments):
    done = subprocess.run(["grapnel", "doctor", "--json", "-q", *arguments], capture_output=True, text=True, timeout=300)
    if done.returncode:
        return {"findings": [{"check": "exit code", "node": done.stderr}]}
    return json.loads(done.stdout)


def wrong(root):
    with open(os.path.join(root, "docs/guide/doctor.md")) as f:
        text = f.read()
    rows = re.findall(r"^\| (\w+) \|.*\| ([\w, ]+) \|$", text, re.M)
    checks = [check["check"] for check in ask("--list")["checks"]]
    for name in set(checks) ^ {check for check, _ in rows}:
        yield f"{name}: a check without a row, or a row without a check"
    shown = set()
    for check, folders in rows:
        for folder in folders.split(", "):
            shown.add(folder)
            found = ask(os.path.join(root, "testdata/doctor", folder))["findings"]
            if not any(finding["check"] == check for finding in found):
                yield f"{check} is not found in {folder}: {found}"
    healthy = [n for n in sorted(os.listdir(os.path.join(root, "testdata/doctor"))) if n.startswith("healthy")]
    for name in set(os.listdir(os.path.join(root, "testdata/doctor"))) - shown - set(healthy):
        if name != "README.md":
            yield f"testdata/doctor/{name} is in no row"
    for name in healthy:
        if name not in text:
            yield f"docs/guide/doctor.md does not name {name}"
    models = ["models/lenet", "models/train_step", "models/transformer_block", "keras/model"]
    for path in [f"doctor/{name}" for name in healthy] + models:
        for finding in ask(os.path.join(root, "testdata", path))["findings"]:
            yield f"{path}: {finding}"
    print(f"{len(rows)} checks, {len(shown)} defects, {len(healthy) + len(models)} healthy models")


if __name__ == "__main__":
    faults = list(wrong(sys.argv[1]))
    print("\n".join([*faults, f"{len(faults)} faults"]))
    sys.exit(1 if faults else 0)
