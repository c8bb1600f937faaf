#!/usr/bin/env python3
"""Data-parallel models, each with its replicas in scopes as some producer names them.

  replica_graphs.py FOLDER          writes them, and checks that each replica is a box with all nodes of its scope and no others, and
                                    that --scope opens it
  replica_graphs.py FOLDER --many N writes many.gtxt, with N replicas
"""

import json
import os
import pathlib
import subprocess
import sys

GRAPNEL = os.environ.get("GRAPNEL_BINARY", "grapnel")


def replica(scope, tape, x, reduced):
    """Forward and backward ops of one replica, and its update by `reduced`. Returns lines and the gradient."""
    lines = [
        f"%{scope}w = VarHandleOp {{dtype=float, shape=[3,1], shared_name=\"{scope}w\"}}",
        f"%{scope}read = ReadVariableOp(%{scope}w) {{dtype=float}} : float[3,1]",
        f"%{scope}MatMul = MatMul(%{x}, %{scope}read)",
        f"%{scope}sub = Sub(%{scope}MatMul, 0.3)",
        f"%{scope}Sqrt = Sqrt(%{scope}sub)",
        f"%{scope}loss = Sum(%{scope}Sqrt, [0,1])",
        f"%{tape}grad = SqrtGrad(%{scope}Sqrt, %{scope}sub)",
        f"%{tape}MatMul = MatMul(%{x}, %{tape}grad) {{transpose_a=true}}",
        f"%{scope}mul = Mul(%{reduced}, 0.01)",
        f"%{scope}update = AssignSubVariableOp(%{scope}w, %{scope}mul)",
    ]
    return lines, f"{tape}MatMul"


def model(scopes, around="", tape="gradient_tape/", add=False, inputs=True):
    """A step of replicas in `scopes` ("": beside the others). Their gradients are summed up, or (not `add`) reduced by each of them."""
    lines, gradients = [], []
    for i, scope in enumerate(scopes):
        if inputs:
            lines.append(f"%{around}x_{i} = Placeholder {{dtype=float, shape=[2,3]}}")
        reduced = f"{around}AddN" if add else f"{around}reduced_{i}"
        own, gradient = replica(f"{around}{scope}", f"{around}{tape}{scope}", f"{around}x_{i}", reduced)
        lines += own
        gradients.append(gradient)
        if not add:
            lines += [f"%{around}Reshape_{i} = Reshape(%{gradient}, [-1])", f"%{around}all_reduce_{i} = Neg(%{around}Reshape_{i})",
                      f"%{around}split_{i} = Abs(%{around}all_reduce_{i})", f"%{around}reduced_{i} = Reshape(%{around}split_{i}, [3,1])"]  # fmt: skip
    if add:
        lines.append(f"%{around}AddN = AddN({', '.join(f'%{one}' for one in gradients)})")
    lines += [f"%{around}Identity_{i} = Identity(%{around}{scope}loss)" for i, scope in enumerate(scopes)]
    return lines


def in_function(scopes):
    body = model(scopes, inputs=False)
    arguments = ", ".join(f"%x_{i}: float" for i in range(len(scopes)))
    return [*(f"%in_{i} = Placeholder {{dtype=float, shape=[2,3]}}" for i in range(len(scopes))),
            f"%call = StatefulPartitionedCall({', '.join(f'%in_{i}' for i in range(len(scopes)))}) {{f=@step}}",
            f"func @step({arguments}) -> (loss: float) stateful {{", *(f"  {line}" for line in body), "  return %Identity_0", "}"]  # fmt: skip


def in_loop(scopes):
    body = model(scopes, inputs=False)
    return ["%in = Placeholder {dtype=float, shape=[2,3]}",
            f"%while = While(0, {', '.join('%in' for _ in scopes)}) {{cond=@cond, body=@body}}",
            f"func @cond(%i: int32, {', '.join(f'%x_{k}: float' for k in range(len(scopes)))}) -> (more: bool) {{",
            "  %less = Less(%i, 10)", "  return %less", "}",
            f"func @body(%i: int32, {', '.join(f'%x_{k}: float' for k in range(len(scopes)))}) -> "
            f"(i: int32, {', '.join(f'y_{k}: float' for k in range(len(scopes)))}) stateful {{",
            *(f"  {line}" for line in body), "  %next = AddV2(%i, 1)",
            f"  return %next, {', '.join(f'%x_{k}' for k in range(len(scopes)))}", "}"]  # fmt: skip


def numbered(word, count, first=0):
    return [f"{word}{i}/" for i in range(first, count)]


# By name: the graph, the scopes of its replicas, and flags to draw it with.
GRAPHS = {
    "mirrored": (model(["", *numbered("replica_", 3, 1)]), ["replica_1", "replica_2"], []),
    "two": (model(["", "replica_1/"]), ["replica_1"], []),
    "summed": (model(["", *numbered("replica_", 4, 1)], add=True), ["replica_1", "replica_2", "replica_3"], []),
    "in_scope": (model(["", *numbered("replica_", 3, 1)], around="train/step/"), ["train/step/replica_1", "train/step/replica_2"], []),
    "multi_gpu": (model(numbered("replica_", 3), tape="training/gradients/", add=True), ["replica_0", "replica_1", "replica_2"], []),
    "in_function": (in_function(["", *numbered("replica_", 3, 1)]), ["replica_1", "replica_2"], ["--function", "step"]),
    "in_loop": (in_loop(["", "replica_1/"]), ["replica_1"], ["--function", "body"]),
    "towers": (model(numbered("tower_", 2), add=True), ["tower_0", "tower_1"], []),
    "tensorpack": (model(numbered("tower", 4), tape="gradients/", add=True), [f"tower{i}" for i in range(4)], []),
    "clones": (model(["", "clone_1/"], tape="gradients/"), ["clone_1"], []),
    "again": (model(["", "replica_1_2/"]), ["replica_1_2"], []),
}  # fmt: skip


def draw(path, *flags):
    drawn = subprocess.run([GRAPNEL, "view", path, "-o", "-", "--format", "json", "-q", *flags], capture_output=True, text=True)
    if drawn.returncode or drawn.stderr:
        raise RuntimeError(f"{path} {flags}: {drawn.stderr}")
    return json.loads(drawn.stdout)


def nodes_in(picture, scope):
    """The nodes in the box or in the frame of a scope; None if there is neither."""
    ids = [f"{scope}/", f"step/{scope}/", f"body/{scope}/"]
    box = [box for box in picture["boxes"] if box["kind"] == "scope" and box["id"] in ids]
    frame = [i for i, frame in enumerate(picture["frames"]) if frame["id"] in ids]
    if not box and not frame:
        return None
    inside = set(frame)
    for i, one in enumerate(picture["frames"]):
        if one.get("parent") in inside:
            inside.add(i)
    boxes = box or [one for one in picture["boxes"] if one.get("frame") in inside]
    return {name for one in boxes for part in one["parts"] for name in part}


def check(name, path, replicas, flags):
    every = {node for box in draw(path, *flags)["boxes"] for part in box.get("parts", []) for node in part}
    for scope in replicas:
        expected = {node for node in every if node.startswith(f"{scope}/")}
        for more in ([], ["--scope", scope]):
            found = nodes_in(draw(path, *flags, *more), scope)
            if found != expected:
                yield f"{name}: {scope} {more} holds {sorted(found or [])[:4]} instead of {sorted(expected)[:4]}"
        if not any(frame["id"].endswith(f"{scope}/") for frame in draw(path, *flags, "--scope", scope)["frames"]):
            yield f"{name}: --scope {scope} opens no frame"


def main(folder, *many):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if many:
        lines = model(["", *numbered("replica_", int(many[1]), 1)])
        (folder / "many.gtxt").write_text("\n".join([*lines, ""]))
        return 0
    wrong = 0
    for name, (lines, replicas, flags) in GRAPHS.items():
        path = folder / f"{name}.gtxt"
        path.write_text("\n".join([*lines, ""]))
        for problem in check(name, str(path), replicas, flags):
            print(problem)
            wrong += 1
    print(f"{len(GRAPHS)} graphs: {wrong} replicas have no box")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
