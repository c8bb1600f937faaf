"""Whether `grapnel check` works for one signature of a SavedModel as it does for the whole: --init prints a policy that the model passes,
with --batch too, its budgets of a run are those that `info --signature` counts, and each check can run.

usage: one_signature.py FOLDER MODEL...     `grapnel` is on PATH; FOLDER gets the policies
"""
import json
import os
import re
import subprocess
import sys

from sampling import sample

EACH = """[signatures]
[unused_inputs]
[unguarded_ops]
[debug_ops]
[retraced_functions]
[lost_fusions]
[changed_weights]
"""


def grapnel(*words):
    done = subprocess.run(["grapnel", *words], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def signatures_of(model):
    graph, = json.loads(grapnel("info", model, "--json")[1])["graphs"]
    return [signature["name"] for signature in graph["signatures"] if not signature["name"].startswith("__")]


def cost_of(model, *words):
    graph, = json.loads(grapnel("info", model, "--costs", "--json", *words)[1])["graphs"]
    return graph["run"]


def write(path, text):
    with open(path, "w") as f:
        f.write(text)
    return path


def wrong_budgets(model, policy, words):
    """A budget of exactly one run of the signature is enough, and one less is not."""
    cost = cost_of(model, *words)
    for check, key in (("flops", "flops"), ("peak_memory", "peak_bytes")):
        if cost["open"] or not cost[key] or "assumed_batch" in cost:
            continue
        for most, expected in ((cost[key], 0), (cost[key] - 1, 1)):
            code, said = grapnel("check", model, "--policy", write(policy, f"[{check}]\nmost = {most}\n"), *words)
            if code != expected:
                yield f"{check} of {most}, where info counts {cost[key]}: exit code {code}: {said}"


def wrong(model, signature, folder):
    own, each = os.path.join(folder, "own.toml"), os.path.join(folder, "each.toml")
    one = "--signature", signature
    for words in (one, (*one, "--batch", "1")):
        code, said = grapnel("check", model, "--init", "-q", "-o", own, *words)
        if "no input of known rank has an unknown first size" in said:
            continue  # nothing for --batch to fill
        if code or said:
            yield f"--init {words[2:]}: exit code {code}: {said}"
            continue
        code, said = grapnel("check", model, "--policy", own, *words)
        if code or "nothing found" not in said:
            yield f"its own policy, {words[2:]}: exit code {code}: {said}"
        with open(own) as f:
            recorded = re.findall(r"^\[signatures\.(.*)\]$", f.read(), re.M)
        if [name.strip('"') for name in recorded] != [signature]:
            yield f"the policy records {recorded}"
        code, said = grapnel("check", model, "--policy", write(each, EACH), "--against", model, "--strict", *words)
        # Findings of doctor's checks are warnings.
        if code or "could not run" in said:
            yield f"every check, {words[2:]}: exit code {code}: {said}"
        yield from wrong_budgets(model, each, words)


def wrong_case(model, folder):
    """A case that was captured from the signature."""
    with open(os.path.join(os.path.dirname(model), "about.json")) as f:
        signature = json.load(f)["signature"]
    case = os.path.join(os.path.abspath(os.path.dirname(model)), "case")
    policy = write(os.path.join(folder, "outputs.toml"), f'[outputs]\ncases = ["{case}"]\n')
    code, said = grapnel("check", model, "--policy", policy, "--signature", signature)
    if code or "nothing found" not in said:
        yield f"its case: exit code {code}: {said}"


def main(folder, *models):
    models = sample(models)
    faults, count = [], 0
    os.makedirs(folder, exist_ok=True)
    for model in models:
        for signature in signatures_of(model):
            count += 1
            faults += [f"{model}, {signature}: {fault}" for fault in wrong(model, signature, folder)]
        if os.path.isdir(os.path.join(os.path.dirname(model), "case")):
            faults += [f"{model}: {fault}" for fault in wrong_case(model, folder)]
    print("\n".join([*faults, f"{count} signatures of {len(models)} models, {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
