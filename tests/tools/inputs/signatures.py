"""Whether `grapnel` knows of the signatures of testdata/signatures what TensorFlow did (tests/python/record_signatures.py).

usage: signatures.py KIND TESTDATA FOLDER [NAME...]       `grapnel` is on PATH; FOLDER is for files of the test

Prints what is wrong, and last how many models of the kind are as they should be.
"""
import array
import ast
import json
import math
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import urllib.parse

# Ops that only pass on values and control.
PLUMBING = set("Placeholder VarHandleOp ReadVariableOp Identity IdentityN NoOp Const".split())
MODES = "on", "off"
GPU = "/job:localhost/replica:0/task:0/device:GPU:0"
NUMBERS = {"f4": "f", "f8": "d", "i4": "i", "i8": "q", "b1": "b"}


class Model:
    def __init__(self, folder, scratch):
        self.folder, self.scratch, self.path = folder, scratch, folder / "model"
        about = json.loads((folder / "about.json").read_text())
        self.signature, self.inputs, self.outputs = about["signature"], about["inputs"], about["outputs"]

    def file(self, prefix, key):
        return self.folder / f"{prefix}_{urllib.parse.quote(key, safe='')}.npy"

    def feeds(self):
        return [word for key in self.inputs for word in ("--feed", f"{key}={self.file('x', key)}")]


def grapnel(*words):
    done = subprocess.run(["grapnel", *map(str, words)], capture_output=True, text=True)
    return done.returncode, (done.stdout + done.stderr).strip()


def read_npy(path):
    """Dtype, shape and elements."""
    data = path.read_bytes()
    size = int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10:10 + size].decode())
    kind, rest = header["descr"].lstrip("<|="), data[10 + size:]
    if kind[0] == "S":
        width = int(kind[1:])
        return "S", header["shape"], [rest[i:i + width].rstrip(b"\0") for i in range(0, len(rest), width)]
    if kind == "f2":
        return kind, header["shape"], list(struct.unpack(f"<{len(rest) // 2}e", rest))
    return kind, header["shape"], list(array.array(NUMBERS[kind], rest))


def is_like(got, wanted):
    (kind, shape, values), (kind_wanted, shape_wanted, values_wanted) = read_npy(got), read_npy(wanted)
    if (kind, shape) != (kind_wanted, shape_wanted):
        return False
    if kind[0] != "f":
        return values == values_wanted
    return all(math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-5) for a, b in zip(values, values_wanted))


def spoil(file):
    """Another value in the last element."""
    data = bytearray(file.read_bytes())
    data[-2] ^= 64
    file.write_bytes(data)


def move(file):
    """Makes the elements of a file of floats a thousandth larger; returns false for other files."""
    data = file.read_bytes()
    start = 10 + int.from_bytes(data[8:10], "little")
    kind, _, values = read_npy(file)
    if kind[0] != "f":
        return False
    file.write_bytes(data[:start] + array.array(NUMBERS[kind], [value * 1.001 for value in values]).tobytes())
    return True


def copied(case, scratch):
    copy = scratch / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(case, copy)
    return copy


# ---- each kind: what is wrong with a model ----

def outputs_of_captured_case(model):
    policy = model.scratch / "policy.toml"

    def check(case, *words, **demands):
        lines = [f"{key} = {value}\n" for key, value in demands.items()]
        policy.write_text(f'[outputs]\ncases = ["{case}"]\n' + "".join(lines))
        return grapnel("check", model.path, "--policy", policy, *words)

    for name in ("case", "old_case"):
        case = model.folder / name
        for words in [()] + [("--onednn", mode) for mode in MODES] + [("--batch", 1)]:
            code, said = check(case, *words)
            # A model without an open size says that --batch fills none.
            if code and "--batch:" not in said:
                yield f"{name}: check {words} ends with {code}: {said}"
        for words in ((), ("--model", model.path), ("--model", model.path, "--optimize")):
            code, said = grapnel("replay", case, *words)
            if code or "1 passed" not in said:
                yield f"{name}: replay {words[::2]} ends with {code}: {said}"
        # Fetches have the order of the keys in an older case too.
        files = json.loads((case / "case.json").read_text())["fetches"].values()
        for key, file in zip(model.outputs, files):
            copy = copied(case, model.scratch)
            spoil(copy / file)
            for code, said in (check(copy), grapnel("replay", copy, "--model", model.path)):
                if code != 1 or f"'{key}' " not in said:
                    yield f"{name}: another '{key}' ends with {code}: {said}"
            copy = copied(case, model.scratch)
            if not move(copy / file):
                continue
            code, said = check(copy, rtol=1e-6, atol=1e-9)
            if code != 1 or f"'{key}' " not in said:
                yield f"{name}: a thousandth more in '{key}' is within 1e-6: {code}, {said}"
            for demands in ({"rtol": .01}, {"atol": 10}):
                code, said = check(copy, **demands)
                if code:
                    yield f"{name}: a thousandth more in '{key}' is not within {demands}: {said}"


def check_values_of_saved_models(model):
    count = len(model.outputs)
    wanted = f"{count} {'fetch' if count == 1 else 'fetches'} with the same values"
    for mode in MODES:
        flags = "--signature", model.signature, "--onednn", mode
        for feeds in ((), model.feeds()):
            with_feeds = "with" if feeds else "without"
            code, said = grapnel("opt", model.path, "--check-values", *flags, *feeds)
            if code or wanted not in said:
                yield f"opt --check-values {with_feeds} feeds, oneDNN {mode}, ends with {code}: {said}"
            code, said = grapnel("bisect", model.path, *flags, *feeds)
            if code not in (0, 1) or "no value" in said or "not found" in said:
                yield f"bisect {with_feeds} feeds, oneDNN {mode}, ends with {code}: {said}"
        fetches = [word for key in model.outputs for word in ("--fetch", f"{key}={model.scratch / urllib.parse.quote(key, safe='')}.npy")]
        code, said = grapnel("run", model.path, *flags, *model.feeds(), *fetches)
        if code:
            yield f"run ends with {code}: {said}"
            continue
        for key in model.outputs:
            if not is_like(model.scratch / f"{urllib.parse.quote(key, safe='')}.npy", model.file("y", key)):
                yield f"run gives another '{key}' than TensorFlow, oneDNN {mode}"


def ops_of(path, *words):
    code, said = grapnel("info", path, *words, "--json")
    return {} if code else {op["op"]: op["count"] for op in json.loads(said)["graphs"][0]["ops"]}


def opt_knows_shapes_of_arguments(model):
    wanted = json.loads((model.folder / "ops.json").read_text())
    for mode in MODES:
        folder, frozen = model.scratch / mode, model.scratch / f"{mode}.pb"
        signature = "--signature", model.signature
        # Variables that become constants let rules fuse more than TensorFlow's run of the signature does.
        has_variables = {"VarHandleOp", "VariableV2"} & set(ops_of(model.path, *signature))
        ways = [(folder, (), signature)] + [(frozen, ("--freeze", *signature), ())] * (not has_variables)
        for to, words, info in ways:
            code, said = grapnel("opt", model.path, "-o", to, "-q", "--onednn", mode, *words)
            found = said if code else {op: count for op, count in ops_of(to, *info).items() if op not in PLUMBING}
            if found != wanted[mode]:
                yield f"{to.name}: TensorFlow runs {wanted[mode]}, grapnel has {found}"


def json_of(*words):
    code, said = grapnel(*words, "--json", "-q")
    return json.loads(said) if code == 0 else {"error": said}


def flops_by_op(model, *words):
    """FLOPs of the nodes that run, calls apart, of the ops that have any."""
    rows = json_of("query", model.path, *words, """
        SELECT op, SUM(costs.flops * runs) FROM nodes JOIN costs ON node = id JOIN bodies ON bodies.function IS nodes.function
        WHERE op NOT LIKE '%PartitionedCall' GROUP BY op""").get("rows", [])
    return {op: flops for op, flops in rows if flops}


def two_signatures(model):
    told = json.loads((model.folder / "costs.json").read_text())
    signature = "--signature", model.signature
    batch = "--batch", "1"
    runs = [json_of("info", model.path, "--costs", *batch, *words)["graphs"][0]["run"] for words in ((), signature)]
    if runs[0] != runs[1]:
        yield f"one run is {runs[0]}, of the signature {runs[1]}"
    for words in ((), signature):
        by_op = flops_by_op(model, *batch, *words)
        if told.get("flops", by_op) != by_op:
            yield f"query {words}: TensorFlow counts {told['flops']}, grapnel {by_op}"
        if "flops" in told and sum(by_op.values()) != runs[0]["flops"]:
            yield f"one run is {runs[0]}, the ops are {by_op}"
        placed = json_of("place", model.path, "--devices", "cpu:1,gpu:1", "--table", *words)
        weights = placed["memory"][GPU]["weights"] if "memory" in placed else placed["error"]
        if weights != told["weights"]:
            yield f"place {words}: TensorFlow has {told['weights']} bytes of variables, grapnel {weights}"
    policy = model.scratch / "policy.toml"
    for words in ((), signature):
        policy.unlink(missing_ok=True)
        code, said = grapnel("check", model.path, "--init", "-o", policy, *words)
        code, said = (code, said) if code else grapnel("check", model.path, "--policy", policy, *words)
        if code:
            yield f"check {words} ends with {code}: {said}"
    yield from opt_knows_shapes_of_arguments(model)


def is_gradient_like(got, wanted):
    kind, shape, values = read_npy(got)
    kind_wanted, shape_wanted, wanted = read_npy(wanted)
    most = max(map(abs, wanted), default=0)
    return (kind, shape) == (kind_wanted, shape_wanted) and all(abs(a - b) <= 1e-4 * most + 1e-6 for a, b in zip(values, wanted))


def fetch_of(model, key, tensor):
    """The key; for one that other nodes have as their name too, the tensor that the error lists for it."""
    code, said = grapnel("run", model.path, "--signature", model.signature, *model.feeds(), "--fetch", key, "-q")
    return tensor if code == 2 and "is a key of signature" in said and f"'{tensor}' (the key's tensor)" in said else key


def gradient_by_signature_keys(model):
    """What check-gradients says, with and without fetches, and what the graph of -o computes, which TensorFlow's tape did."""
    signature = "--signature", model.signature
    signatures = json_of("info", model.path, "--whole")["graphs"][0]["signatures"]
    own = next(one for one in signatures if one["name"] == model.signature)
    tensors, outputs = ({end["key"]: end["tensor"] for end in own[side]} for side in ("inputs", "outputs"))
    files = {urllib.parse.unquote(f.name.split("_", 1)[1][:-4]): f for prefix in ("d", "dv") for f in model.folder.glob(f"{prefix}_*.npy")}
    floating = [key for key in model.outputs if read_npy(model.file("y", key))[0][0] == "f"]
    fetches = [word for key in floating for word in ("--fetch", fetch_of(model, key, outputs[key]))]
    for words in ((), fetches):
        code, said = grapnel("check-gradients", model.path, *signature, *model.feeds(), *words)
        lines = [line.split() for line in said.splitlines()]
        names = {" ".join(line[1:]).split(": ")[0] for line in lines if line[0] == "ok"}
        if code or names != set(files) or len(lines) != len(files):
            yield f"check-gradients {words} ends with {code}: {said}"
    to = model.scratch / "gradients.pb"
    code, said = grapnel("check-gradients", model.path, *signature, *model.feeds(), *fetches, "-o", to)
    made = dict(line.rsplit(" ", 1) for line in said.splitlines() if not line.startswith("wrote "))
    if code or set(made) != set(files):
        yield f"check-gradients -o ends with {code}: {said}"
        return
    got = {name: model.scratch / f"{i}.npy" for i, name in enumerate(files)}
    saved = model.scratch / "saved"
    code, said = grapnel("run", model.path, *signature, *model.feeds(), "--save-variables", saved)
    if code:
        yield f"run --save-variables ends with {code}: {said}"
    # A graph has no keys.
    feeds = [word for key in model.inputs for word in ("--feed", f"{tensors[key]}={model.file('x', key)}")]
    code, said = grapnel("run", to, *feeds, "--variables", saved, *(word for name, file in got.items() for word in ("--fetch", f"{made[name]}={file}")))
    if code:
        yield f"run of the gradients ends with {code}: {said}"
        return
    for name, file in files.items():
        if not is_gradient_like(got[name], file):
            yield f"the gradient by '{name}' is {read_npy(got[name])}, not {read_npy(file)}"


def main(kind, testdata, scratch, *names):
    folders = sorted(f for f in (pathlib.Path(testdata).resolve() / "signatures" / kind).iterdir() if not names or f.name in names)
    good = 0
    for folder in folders:
        place = pathlib.Path(scratch) / folder.name
        shutil.rmtree(place, ignore_errors=True)
        os.makedirs(place)
        faults = list(globals()[kind](Model(folder, place)))
        good += not faults
        print("\n".join([f"{folder.name}: {fault}" for fault in faults] or [f"{folder.name}: as in TensorFlow"]))
    print(f"{good} of {len(folders)} models")
    return int(good < len(folders))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
