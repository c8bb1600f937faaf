"""Whether `grapnel check --against` says of each model of testdata/changed_models.tar.xz what changed, and why.

usage: changed_models.py FOLDER      `grapnel` is on PATH; FOLDER has the files of the archive
"""
import json
import os
import subprocess
import sys

POLICY = """[signatures]
[lost_fusions]
[changed_weights]
[placement]
devices = ["CPU", "GPU"]
"AsString" = "GPU:0"
"""


def check(model, base, policy):
    done = subprocess.run(["grapnel", "check", model, "--against", base, "--policy", policy, "--json"], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        return done.returncode, {"verdict": {"kind": "", "text": done.stderr}, "findings": []}
    return done.returncode, json.loads(done.stdout)


def wrong(expected, code, document):
    verdict = document["verdict"]
    errors = {finding["check"] for finding in document["findings"] if finding["severity"] == "error"}
    if verdict["kind"] != expected["kind"]:
        yield f"the verdict is '{verdict['text']}', expected was {expected['kind']}"
    for words in expected["says"]:
        if words not in verdict["text"]:
            yield f"'{words}' is not in '{verdict['text']}'"
    if expected["finding"] and expected["finding"] not in errors:
        yield f"{expected['finding']} found nothing: {errors}"
    if expected["kind"] == "same" and (code or errors):
        yield f"exit code {code}, {document['findings']}"


def main(folder):
    policy = os.path.join(folder, "policy.toml")
    with open(policy, "w") as f:
        f.write(POLICY)
    faults, count = [], 0
    with open(os.path.join(folder, "expected.json")) as f:
        for line in f:
            expected = json.loads(line)
            model, change = expected["model"], expected["change"]
            code, document = check(os.path.join(folder, model, change), os.path.join(folder, model, "base"), policy)
            found = list(wrong(expected, code, document))
            count += not found
            faults += [f"{model}, {change}: {fault}" for fault in found]
            print(f"{model}, {change}: {document['verdict']['text']}")
    print("\n".join([*faults, f"{count} models as expected, {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
