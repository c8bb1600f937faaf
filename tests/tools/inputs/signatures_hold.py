"""signatures_hold.py freeze|write WORK FOLDER: every model of a folder of testdata/signatures gives TensorFlow's answer.

freeze: as the GraphDef that `opt --freeze` writes, by the names that opt says; no function says other shapes of its arguments than
it is given. write: as the SavedModel that `opt -o FOLDER` writes, without attributes that TensorFlow's loader refuses.
"""

import ast
import json
import os
import re
import struct
import subprocess
import sys

SIZES = {"f": {2: "e", 4: "f", 8: "d"}, "i": {1: "b", 2: "h", 4: "i", 8: "q"}, "b": {1: "?"}}


def load(path):
    """Dtype's kind, shape and values of an .npy file."""
    with open(path, "rb") as f:
        data = f.read()
    size = struct.unpack("<H", data[8:10])[0]
    head, body = ast.literal_eval(data[10 : 10 + size].decode()), data[10 + size :]
    kind, width = head["descr"][1], int(head["descr"][2:])
    count = 1
    for dim in head["shape"]:
        count *= dim
    if kind == "S":
        return kind, head["shape"], [body[i * width : (i + 1) * width].rstrip(b"\0") for i in range(count)]
    return head["descr"][1:], head["shape"], list(struct.unpack(f"<{count}{SIZES[kind][width]}", body))


def same(got, wanted):
    if got[:2] != wanted[:2]:
        return False
    if wanted[0][0] != "f":
        return got[2] == wanted[2]
    near = {"f2": 4e-3, "f4": 1e-5, "f8": 1e-12}[wanted[0]]
    return all(abs(a - b) <= near * (1 + abs(b)) or (a != a and b != b) for a, b in zip(got[2], wanted[2]))


def grapnel(*arguments):
    done = subprocess.run(["grapnel", *arguments], capture_output=True, text=True)
    if done.returncode:
        raise ValueError(done.stderr.strip())
    return done.stdout


def ends(model):
    """Tensors by key of the default signature."""
    signature = next(s for s in json.loads(grapnel("info", model, "--json"))["graphs"][0]["signatures"] if s.get("default"))
    return [{one["key"]: one["tensor"] for one in signature[side]} for side in ("inputs", "outputs")]


def check_answer(folder, model, work, names):
    """`names`: tensors by key, None: `model` knows the keys."""
    inputs, outputs = names or ({}, {})
    arguments, wanted = ["run", model], {}
    for file in sorted(os.listdir(folder)):
        path, key = os.path.join(folder, file), file[2:-4]
        if file.startswith("x_"):
            arguments += ["--feed", f"{inputs.get(key, key)}={path}"]
        elif file.startswith("y_"):
            wanted[key] = load(path)
            arguments += ["--fetch", f"{outputs.get(key, key)}={os.path.join(work, file)}"]
    grapnel(*arguments)
    for key, value in wanted.items():
        got = load(os.path.join(work, f"y_{key}.npy"))
        if not same(got, value):
            raise ValueError(f"{key} is {got}, TensorFlow gives {value}")


def check_said(said, names):
    for side, tensors in zip(("inputs", "outputs"), names):
        if {one["key"]: one["tensor"] for one in said.get(side, [])} != tensors:
            raise ValueError(f"opt says {said.get(side)} of {tensors}")


def check_shapes(pb):
    """An _input_shapes has an entry for each argument; here nothing but a table's handle is a scalar."""
    for function in re.split(r"\n  function \{", grapnel("convert", pb, "-o", "-", "--to", "pbtxt"))[1:]:
        name = re.search(r'name: "([^"]*)"', function)[1]
        signature = re.search(r"signature \{(.*?)\n    \}", function, re.S)[1]
        noted = re.search(r'\n    attr \{\s*key: "_input_shapes"(.*?)\n    \}', function, re.S)
        if not noted:
            continue
        shapes = re.findall(r"shape \{\s*(\}|dim|unknown_rank)", noted[1])
        types = re.findall(r"input_arg \{[^{}]*?type: (\w+)", signature)
        if len(shapes) != len(types):
            raise ValueError(f"{name}: _input_shapes has {len(shapes)} shapes for {len(types)} arguments")
        if any(shape == "}" and dtype != "DT_RESOURCE" for shape, dtype in zip(shapes, types)):
            raise ValueError(f"{name}: _input_shapes says that an argument is a scalar")


def freeze(folder, work):
    model, pb, names = os.path.join(folder, "model"), os.path.join(work, "f.pb"), ends(os.path.join(folder, "model"))
    said = json.loads(grapnel("opt", model, "--freeze", "-o", pb, "--json"))
    yield lambda: check_answer(folder, pb, work, names)
    yield lambda: check_shapes(pb)
    yield lambda: check_said(said, names)


def write(folder, work):
    out = os.path.join(work, "out")
    grapnel("opt", os.path.join(folder, "model"), "-o", out)
    yield lambda: check_answer(folder, out, work, None)

    def check_attributes():
        with open(os.path.join(out, "saved_model.pb"), "rb") as f:
            if b"_GrapplerSpecializedFunc" in f.read():
                raise ValueError("a function has Grappler's own mark, which TensorFlow's loader refuses")

    yield check_attributes


def main(how, work, kind):
    problems = 0
    names = sorted(os.listdir(kind))
    for name in names:
        place = os.path.join(work, name)
        os.makedirs(place)
        try:
            for check in (freeze if how == "freeze" else write)(os.path.join(kind, name), place):
                try:
                    check()
                except ValueError as error:
                    problems += 1
                    print(f"{name}: {error}")
        except ValueError as error:
            problems += 1
            print(f"{name}: {error}")
    print(f"{len(names)} models, {problems} problems")
    return problems != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
