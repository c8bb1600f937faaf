"""Models of a fleet, made without TensorFlow: networks of a few kinds of blocks, a fifth of them broken in five ways."""

import functools
import math
import pathlib
import random
import struct

BREAKAGES = ("cut", "noise", "empty", "dangling", "missing")
FLOAT, DOUBLE, INT32 = 1, 2, 3


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def field(number, value):
    """A field of a message: bytes, text, or a number."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


@functools.cache
def attr(name, kind, value):
    return field(5, field(1, name) + field(2, field(kind, value)))


def of_type(name, dtype):
    return attr(name, 6, dtype)


def shape(dims):
    return b"".join(field(2, field(1, dim)) for dim in dims)


@functools.cache
def tensor(dims, dtype, content):
    """Attributes of a Const."""
    code = {FLOAT: "f", DOUBLE: "d", INT32: "i"}[dtype]
    numbers = content or [i % 7 - 3 for i in range(math.prod(dims))]
    data = struct.pack(f"<{len(numbers)}{code}", *numbers)
    return of_type("dtype", dtype), attr("value", 8, field(1, dtype) + field(2, shape(dims)) + field(4, data))


class Network:
    """A GraphDef, a node at a time."""

    def __init__(self, dtype=FLOAT):
        self.dtype = dtype
        self.nodes = []

    def add(self, name, op, *inputs, attrs=()):
        parts = [field(1, name), field(2, op), *(field(3, source) for source in inputs), *attrs]
        self.nodes.append(field(1, b"".join(parts)))
        return name

    def op(self, name, op, *inputs, attrs=()):
        return self.add(name, op, *inputs, attrs=(of_type("T", self.dtype), *attrs))

    def const(self, name, dims, dtype=None, content=None):
        return self.add(name, "Const", attrs=tensor(dims, dtype or self.dtype, content))

    def input(self, name, dims):
        return self.add(name, "Placeholder", attrs=(of_type("dtype", self.dtype), attr("shape", 7, shape(dims))))

    def dense(self, scope, x, size_in, size_out, activation="Relu"):
        weights = self.const(f"{scope}/kernel", (size_in, size_out))
        bias = self.const(f"{scope}/bias", (size_out,))
        product = self.op(f"{scope}/MatMul", "MatMul", x, weights)
        summed = self.op(f"{scope}/BiasAdd", "BiasAdd", product, bias)
        return self.op(f"{scope}/{activation}", activation, summed)

    def norm(self, scope, x, size):
        axis = self.const(f"{scope}/axis", (1,), INT32, (1,))
        keep = attr("keep_dims", 5, 1)
        mean = self.op(f"{scope}/mean", "Mean", x, axis, attrs=(of_type("Tidx", INT32), keep))
        apart = self.op(f"{scope}/sub", "Sub", x, mean)
        square = self.op(f"{scope}/square", "Square", apart)
        variance = self.op(f"{scope}/variance", "Mean", square, axis, attrs=(of_type("Tidx", INT32), keep))
        small = self.const(f"{scope}/epsilon", (), content=(1,))
        root = self.op(f"{scope}/rsqrt", "Rsqrt", self.op(f"{scope}/add", "AddV2", variance, small))
        scaled = self.op(f"{scope}/mul", "Mul", apart, root)
        return self.op(f"{scope}/scale", "Mul", scaled, self.const(f"{scope}/gamma", (size,)))

    def bytes(self):
        return b"".join(self.nodes) + field(4, field(1, 1395))


def network(seed, layers=(8, 24)):
    """So many layers in a row; every fourth seed is in double."""
    choose = random.Random(seed)
    net = Network(DOUBLE if seed % 4 == 3 else FLOAT)
    prefix = choose.choice(("net", "model", "tower")) + f"_{seed}"
    x, size = net.input("x", (2, 8)), 8
    for i in range(choose.randint(*layers)):
        kind, out = choose.choice(("dense", "norm", "gate")), choose.choice((8, 16))
        if kind == "dense":
            x, size = net.dense(f"{prefix}/dense_{i}", x, size, out, choose.choice(("Relu", "Tanh"))), out
        elif kind == "norm":
            x = net.norm(f"{prefix}/norm_{i}", x, size)
        else:
            gate = net.dense(f"{prefix}/gate_{i}", x, size, size, "Sigmoid")
            x = net.op(f"{prefix}/gate_{i}/mul", "Mul", x, gate)
    net.op("y", "Identity", x)
    return net


def broken(seed, how, layers):
    """Bytes of no model, or of one that is wrong."""
    net = network(seed, layers)
    if how == "dangling":
        net.op("z", "Neg", "nowhere")
        return net.bytes()
    if how == "empty":
        return b""
    if how == "cut":
        return net.bytes()[:-40]
    return random.Random(seed).randbytes(3000)


def write(folder, count, first=0, layers=(8, 24)):
    """`count` models in a folder: their paths; of those that are "missing" the path alone."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for seed in range(first, first + count):
        how = BREAKAGES[seed // 5 % 5] if seed % 5 == 4 else None
        path = folder / f"model_{seed:05}.pb"
        paths.append(str(path))
        if how != "missing":
            path.write_bytes(broken(seed, how, layers) if how else network(seed, layers).bytes())
    return paths
