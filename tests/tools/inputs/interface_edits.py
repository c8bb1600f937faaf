"""Whether `grapnel check` knows which changes of a signature break its callers: each edit below changes what a SavedModel says of its
signatures, and nothing else.

usage: interface_edits.py FOLDER MODEL...             `grapnel` is on PATH; FOLDER gets the edited models and the policies
       interface_edits.py --edit EDIT MODEL FOLDER    makes one edited model, of the first signature to which the edit applies
"""
import os
import shutil
import subprocess
import sys

from sampling import sample

FLOAT, INT32, INT64, DOUBLE = 1, 3, 9, 2
NAMES = {1: "float", 2: "double", 3: "int32", 7: "string", 9: "int64", 10: "bool"}
UNKNOWN = -1


# ---- protobuf messages as lists of fields [number, value]: bytes, or a number ----

def varint(n):
    out, n = b"", n & (1 << 64) - 1
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def read_varint(data, at):
    n = shift = 0
    while True:
        n, byte, at = n | (data[at] & 127) << shift, data[at], at + 1
        if byte < 128:
            return n, at
        shift += 7


def fields(data):
    at, found = 0, []
    while at < len(data):
        tag, at = read_varint(data, at)
        if tag & 7 == 0:
            value, at = read_varint(data, at)
        elif tag & 7 == 2:
            size, at = read_varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size = {1: 8, 5: 4}[tag & 7]
            value, at = (tag & 7, data[at:at + size]), at + size
        found.append([tag >> 3, value])
    return found


def message(found):
    out = b""
    for number, value in found:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        elif isinstance(value, tuple):
            out += varint(number << 3 | value[0]) + value[1]
        else:
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


def last(found, number, otherwise=b""):
    return next((value for n, value in reversed(found) if n == number), otherwise)


# ---- signatures ----

class Tensor:
    """An input or output: the tensor's name, its dtype, and its sizes (None: of any rank)."""

    def __init__(self, info):
        found = fields(info)
        self.name, self.dtype, shape = last(found, 1), last(found, 2, 0), fields(last(found, 3))
        sizes = [last(fields(dim), 1, 0) for number, dim in shape if number == 2]
        self.sizes = None if last(shape, 3, 0) else [UNKNOWN if size >> 63 else size for size in sizes]

    def info(self):
        shape = [[3, 1]] if self.sizes is None else [[2, message([[1, size]])] for size in self.sizes]
        return message([[1, self.name], [2, self.dtype], [3, message(shape)]])

    def text(self):
        sizes = "?" if self.sizes is None else "[" + ",".join("?" if size == UNKNOWN else str(size) for size in self.sizes) + "]"
        return NAMES[self.dtype] + sizes


class Signature:
    def __init__(self, definition):
        found = fields(definition)
        self.inputs, self.outputs = ({last(fields(entry), 1).decode(): Tensor(last(fields(entry), 2)) for n, entry in found if n == number}
                                     for number in (1, 2))
        self.method, self.rest = last(found, 3), [field for field in found if field[0] > 3]

    def definition(self):
        maps = [[number, message([[1, key.encode()], [2, tensor.info()]])]
                for number, tensors in ((1, self.inputs), (2, self.outputs)) for key, tensor in tensors.items()]
        return message(maps + [[3, self.method]] + self.rest)


class Model:
    def __init__(self, folder):
        with open(os.path.join(folder, "saved_model.pb"), "rb") as f:
            self.fields = fields(f.read())
        self.folder, self.graph = folder, fields(last(self.fields, 2))
        self.signatures = {last(fields(entry), 1).decode(): Signature(last(fields(entry), 2)) for n, entry in self.graph if n == 5}

    def own(self):
        """Those that users call, the default one first."""
        own = {name: signature for name, signature in self.signatures.items() if not name.startswith("__")}
        return dict(sorted(own.items(), key=lambda item: (item[0] != "serving_default", item[0])))

    def write(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.folder, folder)
        entries = [[5, message([[1, name.encode()], [2, signature.definition()]])] for name, signature in self.signatures.items()]
        graph = message([field for field in self.graph if field[0] != 5] + entries)
        with open(os.path.join(folder, "saved_model.pb"), "wb") as f:
            f.write(message([[number, graph if number == 2 else value] for number, value in self.fields]))


# ---- edits: each changes a signature, and returns what `check` says after its name, or None where it does not apply ----

EDITS = {}


def edit(breaks):
    def add(function):
        EDITS[function.__name__] = breaks, function
        return function
    return add


def first(tensors, fits=lambda tensor: True):
    return next(((key, tensor) for key, tensor in tensors.items() if fits(tensor)), (None, None))


def retype(tensors, verb, did, fits, change, why):
    key, tensor = first(tensors, fits)
    if key is None:
        return None
    before = tensor.text()
    change(tensor)
    return f"now {verb} '{key}' as {tensor.text()}, and {did} {before}: {why}"


def of_input(signature, fits, change, why):
    return retype(signature.inputs, "takes", "took", fits, change, why)


def of_output(signature, fits, change, why):
    return retype(signature.outputs, "gives", "gave", fits, change, why)


def has(size_fits):
    return lambda tensor: bool(tensor.sizes) and any(size_fits(size) for size in tensor.sizes)


def resize(size_fits, to):
    def change(tensor):
        at = next(i for i, size in enumerate(tensor.sizes) if size_fits(size))
        tensor.sizes[at] = to(tensor.sizes[at])
    return change


def is_open(size):
    return size == UNKNOWN


def is_fixed(size):
    return size != UNKNOWN


def other_dtype(tensor):
    tensor.dtype = INT64 if tensor.dtype == INT32 else INT32 if tensor.dtype == INT64 else FLOAT if tensor.dtype == DOUBLE else DOUBLE


def another_rank(tensor):
    tensor.sizes.append(2)


def any_rank(tensor):
    tensor.sizes = None


@edit(True)
def output_gone(signature):
    key, tensor = first(signature.outputs)
    del signature.outputs[key]
    return f"no longer gives '{key}' ({tensor.text()})"


@edit(True)
def output_renamed(signature):
    key, tensor = first(signature.outputs)
    signature.outputs["renamed"] = signature.outputs.pop(key)
    return f"no longer gives '{key}' ({tensor.text()})"


@edit(True)
def input_gone(signature):
    key, tensor = first(signature.inputs)
    if key is None:
        return None
    del signature.inputs[key]
    return f"no longer takes '{key}' ({tensor.text()})"


@edit(True)
def input_added(signature):
    key, tensor = first(signature.inputs)
    if key is None:
        return None
    signature.inputs["extra input"] = tensor
    return f"also needs 'extra input' ({tensor.text()})"


@edit(False)
def input_with_default_added(signature):
    key, tensor = first(signature.inputs)
    if key is None:
        return None
    signature.inputs["extra"] = tensor
    signature.rest.append([4, message([[1, b"extra"], [2, message([[1, tensor.dtype]])]])])
    return f"also takes 'extra' ({tensor.text()}), which has a default"


@edit(True)
def input_of_another_dtype(signature):
    return of_input(signature, lambda tensor: True, other_dtype, "another dtype")


@edit(True)
def output_of_another_dtype(signature):
    return of_output(signature, lambda tensor: True, other_dtype, "another dtype")


@edit(True)
def input_of_another_rank(signature):
    return of_input(signature, lambda tensor: tensor.sizes is not None, another_rank, "another rank")


@edit(True)
def output_of_another_rank(signature):
    return of_output(signature, lambda tensor: tensor.sizes is not None, another_rank, "another rank")


@edit(True)
def input_fixed(signature):
    return of_input(signature, has(is_open), resize(is_open, lambda size: 8), "a size that was open is fixed")


@edit(False)
def output_fixed(signature):
    return of_output(signature, has(is_open), resize(is_open, lambda size: 8), "a size is fixed")


@edit(True)
def input_of_another_size(signature):
    return of_input(signature, has(is_fixed), resize(is_fixed, lambda size: size + 3), "another size")


@edit(True)
def output_of_another_size(signature):
    return of_output(signature, has(is_fixed), resize(is_fixed, lambda size: size + 3), "another size")


@edit(False)
def input_opened(signature):
    return of_input(signature, has(is_fixed), resize(is_fixed, lambda size: UNKNOWN), "a size that was fixed is open")


@edit(False)
def output_opened(signature):
    return of_output(signature, has(is_fixed), resize(is_fixed, lambda size: UNKNOWN), "a size that was fixed is open")


@edit(False)
def input_of_any_rank(signature):
    return of_input(signature, lambda tensor: tensor.sizes is not None, any_rank, "the rank is open")


@edit(False)
def output_of_any_rank(signature):
    return of_output(signature, lambda tensor: tensor.sizes is not None, any_rank, "the rank is open")


@edit(False)
def output_added(signature):
    key, tensor = first(signature.outputs)
    signature.outputs["one more"] = tensor
    return f"also gives 'one more' ({tensor.text()})"


@edit(False)
def another_method(signature):
    signature.method = b"tensorflow/serving/classify"
    return "now has the method 'tensorflow/serving/classify', and had 'tensorflow/serving/predict'"


@edit(True)
def signature_gone(signature):
    return "is gone: it took"


@edit(False)
def signature_added(signature):
    return "is new: it takes"


def edited(name, model, folder):
    """The name of the signature that was edited, and what `check` says of it; (None, None): the edit does not apply."""
    model = Model(model)
    for signature_name, signature in model.own().items():
        if said := EDITS[name][1](signature):
            if name == "signature_gone":
                del model.signatures[signature_name]
            if name == "signature_added":
                signature_name, model.signatures["added"] = "added", signature
            model.write(folder)
            return signature_name, said
    return None, None


# ---- what `check` says ----

def check(*words):
    done = subprocess.run(["grapnel", "check", *words, "--all"], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def wrong(place, model):
    bare, own = os.path.join(place, "bare.toml"), os.path.join(place, "own.toml")
    with open(bare, "w") as f:
        f.write("[signatures]\n")
    code, said = check(model, "--init", "-q", "-o", own)
    if code or said:
        yield f"--init: {code}, {said}"
        return
    ways = {"with BASE": ("--policy", bare, "--against", model), "with the policy's record": ("--policy", own),
            "with both": ("--policy", own, "--against", model)}
    for way, words in ways.items():
        code, said = check(model, *words)
        if code or "nothing found" not in said:
            yield f"unchanged, {way}: {code}, {said}"
    for name, (breaks, _) in EDITS.items():
        changed = os.path.join(place, name)
        signature, expected = edited(name, model, changed)
        if not signature:
            continue
        for way, words in ways.items():
            if name == "another_method" and way == "with the policy's record":
                continue  # the usual method is not recorded
            code, said = check(changed, *words)
            line = f"signature {signature} {expected}"
            if code != int(breaks) or line not in said:
                yield f"{name}, {way}: exit code {code}, expected {int(breaks)} and '{line}': {said}"
        yield None


def main(folder, *models):
    models = sample(models)
    faults, count = [], 0
    for number, model in enumerate(models):
        place = os.path.join(folder, str(number))
        os.makedirs(place, exist_ok=True)
        for fault in wrong(place, model):
            count += fault is None
            faults += [f"{model}: {fault}"] * (fault is not None)
    print("\n".join([*faults, f"{len(EDITS)} edits, {len(models)} models, {count} changed models, {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    if sys.argv[1] == "--edit":
        print(*edited(*sys.argv[2:]))
        sys.exit()
    sys.exit(main(*sys.argv[1:]))
