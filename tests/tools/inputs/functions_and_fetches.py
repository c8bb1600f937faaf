"""Whether `grapnel run` computes what TensorFlow does: of the functions of objects (testdata/object_functions), and of tensors inside of
calls (testdata/inner_fetches); and whether it finds the outputs of layers by their names (testdata/keras_models), with the shapes that
Keras says.

usage: functions_and_fetches.py object_functions|inner_fetches|keras_models TESTDATA FOLDER
                                                            `grapnel` is on PATH; FOLDER is for files of the test

Prints what is wrong, and last how many models are as they should be.
"""
import json
import math
import pathlib
import shutil
import subprocess
import sys

from sampling import sample
from signatures import is_like


def run(model, *words):
    done = subprocess.run(["grapnel", "run", str(model), "-q", *map(str, words)], capture_output=True, text=True)
    return done.returncode, (done.stdout + done.stderr).strip()


def feeds_of(folder, feeds):
    return [word for key, file in feeds.items() for word in ("--feed", f"{key}={folder / file}")]


def wrong_calls(folder, scratch):
    for call in json.loads((folder / "calls.json").read_text()):
        got = {key: scratch / f"{i}.npy" for i, key in enumerate(call["results"])}
        words = [word for key, file in got.items() for word in ("--fetch", f"{key}={file}")]
        code, text = run(folder / "model", "--function", call["function"], *feeds_of(folder, call["feeds"]), *words, "--repeat", call["runs"])
        if code:
            yield f"{call['function']}: {text}"
            continue
        for key, file in call["results"].items():
            if not is_like(got[key], folder / file):
                yield f"{call['function']}: {key} differs"


def wrong_fetches(folder, scratch):
    told = json.loads((folder / "fetches.json").read_text())
    feeds = feeds_of(folder, told["feeds"])
    for i, fetch in enumerate(told["fetches"]):
        got = scratch / f"{i}.npy"
        code, text = run(folder / "model", *feeds, "--fetch", f"{fetch['name']}={got}")
        if "error" in fetch:
            if code != 2 or fetch["error"] not in text:
                yield f"{fetch['name']}: exit code {code}, {text or 'no error'}"
        elif code:
            yield text
        elif not is_like(got, folder / fetch["file"]):
            yield f"{fetch['name']} differs"
    whole = {f["name"]: scratch / f"all{i}.npy" for i, f in enumerate(told["fetches"]) if "file" in f}
    code, text = run(folder / "model", *feeds, *(word for name, file in whole.items() for word in ("--fetch", f"{name}={file}")))
    if code:
        yield f"all: {text}"
    for fetch in told["fetches"]:
        if "file" in fetch and not code and not is_like(whole[fetch["name"]], folder / fetch["file"]):
            yield f"all: {fetch['name']} differs"


# Layers of which the export has nodes, but not in a scope of their own, and layers that are called twice.
NOT_FOUND = {"lambda_layer": ["tanh", "multiply", "add"], "noise": ["activity_regularization"], "siamese": ["encoder", "shared_projection"]}
TYPES = {"float": ("<f4", 4), "int32": ("<i4", 4), "int64": ("<i8", 8), "string": ("|S1", 1)}


def save_zeros(path, dtype, dims):
    kind, size = TYPES[dtype]
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({''.join(f'{dim}, ' for dim in dims)})}}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\0" + len(header).to_bytes(2, "little") + header.encode() + bytes(size * math.prod(dims)))


def wrong_layers(folder, scratch):
    model = folder / "model"
    told = json.loads(subprocess.run(["grapnel", "info", str(model), "--whole", "--json"], capture_output=True, text=True, check=True).stdout)
    signatures = [one for one in told["graphs"][0]["signatures"] if not one["name"].startswith("__")]
    signature = next((one for one in signatures if one.get("default")), signatures[0])
    feeds = []
    for i, tensor in enumerate(signature["inputs"]):
        dims = [2 if dim == "?" else int(dim) for dim in tensor["shape"].strip("[]").split(",") if dim]
        save_zeros(scratch / f"x{i}.npy", tensor["dtype"], dims)
        feeds += ["--feed", f"{tensor['key']}={scratch / f'x{i}.npy'}"]
    rows = json.loads((folder / "summary.json").read_text())["layers"]
    layers = [row for row in rows if row["in_export"] and row["class"] != "InputLayer" and row["name"] not in NOT_FOUND.get(folder.name, ())]
    words = [word for row in layers for word in ("--fetch", row["name"])]
    code, text = run(model, "--signature", signature["name"], *feeds, *words, "--json")
    if code:
        yield text
        return
    for row, fetch in zip(layers, json.loads(text)["runs"][0]["fetches"]):
        wanted = row["output_shape"]
        if isinstance(wanted, list) and not any(isinstance(dim, list) for dim in wanted):
            if len(wanted) != len(fetch["shape"]) or any(dim not in (None, own) for dim, own in zip(wanted[1:], fetch["shape"][1:])):
                yield f"{row['name']} has the shape {fetch['shape']}, not {wanted}"


def main(kind, testdata, scratch):
    folders = sample(sorted(path.parent for path in (pathlib.Path(testdata) / kind).glob("*/model")))
    fine = 0
    for folder in folders:
        own = pathlib.Path(scratch) / folder.name
        shutil.rmtree(own, ignore_errors=True)
        own.mkdir(parents=True)
        wrong = list({"object_functions": wrong_calls, "inner_fetches": wrong_fetches, "keras_models": wrong_layers}[kind](folder, own))
        fine += not wrong
        for line in wrong:
            print(f"{folder.name}: {line}")
    print(f"{fine} of {len(folders)} models")


if __name__ == "__main__":
    main(*sys.argv[1:])
