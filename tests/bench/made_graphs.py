"""Graphs made from a seed, of any number of nodes, for timing and counting: GraphDefs written byte by byte, so that a million nodes
take seconds and no installation is needed.

usage: made_graphs.py KIND NODES FILE [--seed N]

blocks    MatMul, BiasAdd, Relu, two scalings, Reshape and a sum, ten nodes a block: nearly every node is rewritten by `opt`
few       elementwise ops in scopes, each reading the node before it and one of the hundred before that: one node in fifty is rewritten
requests  additions of which a fifth request one of four CPUs and a twentieth name another node in _class: for `place`
small     scalar additions and products in a chain, each too fast to matter: measures the executor
"""
import argparse
import random
import struct

FLOAT, INT32 = 1, 3
BINARY, COMMUTATIVE = ("Mul", "Sub", "Maximum", "Minimum", "SquaredDifference"), ("Mul", "Maximum", "Minimum", "SquaredDifference")
UNARY = ("Tanh", "Softplus", "Sub", "Maximum", "Minimum")
KINDS = {}


def kind(write):
    KINDS[write.__name__] = write
    return write


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    """A field of a message: bytes, text or a number."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def attr(key, value):
    return field(5, field(1, key) + field(2, value))


def shape(*dims):
    return b"".join(field(2, field(1, size)) for size in dims)


def type_of(key, dtype=FLOAT):
    return attr(key, field(6, dtype))


def tensor(dtype, dims, content):
    return type_of("dtype", dtype) + attr("value", field(8, field(1, dtype) + field(2, shape(*dims)) + field(4, content)))


def floats(values, *dims):
    return tensor(FLOAT, dims, struct.pack(f"<{len(values)}f", *values))


def node(name, op, inputs=(), attrs=b"", device=""):
    body = field(1, name) + field(2, op) + b"".join(field(3, i) for i in inputs)
    return field(1, body + (field(4, device) if device else b"") + attrs)


T = type_of("T")
PLACEHOLDER = type_of("dtype") + attr("shape", field(7, shape(8, 8)))


@kind
def blocks(count, rng):
    yield node("x", "Placeholder", (), PLACEHOLDER)
    yield node("w", "Const", (), floats([rng.uniform(-1, 1) for _ in range(64)], 8, 8))
    yield node("bias", "Const", (), floats([rng.uniform(-1, 1) for _ in range(8)], 8))
    dims = tensor(INT32, [2], struct.pack("<2i", 8, 8))
    matmul = T + attr("transpose_a", field(5, 0)) + attr("transpose_b", field(5, 0))
    reshape = T + type_of("Tshape", INT32)
    last = "x"
    for i in range(max(1, (count - 4) // 10)):
        at = f"model/stage_{i // 100}/block_{i}"
        yield node(f"{at}/matmul", "MatMul", (last, "w"), matmul)
        yield node(f"{at}/biased", "BiasAdd", (f"{at}/matmul", "bias"), T)
        yield node(f"{at}/relu", "Relu", (f"{at}/biased",), T)
        yield node(f"{at}/up", "Const", (), floats([rng.uniform(1, 2)]))
        yield node(f"{at}/scaled", "Mul", (f"{at}/relu", f"{at}/up"), T)
        yield node(f"{at}/down", "Const", (), floats([rng.uniform(0.01, 0.1)]))
        yield node(f"{at}/rescaled", "Mul", (f"{at}/scaled", f"{at}/down"), T)
        yield node(f"{at}/shape", "Const", (), dims)
        yield node(f"{at}/reshaped", "Reshape", (f"{at}/rescaled", f"{at}/shape"), reshape)
        yield node(f"{at}/sum", "AddV2", (f"{at}/reshaped", last), T)
        last = f"{at}/sum"
    yield node("y", "Identity", (last,), T)


@kind
def few(count, rng):
    names, before = ["x"], "Placeholder"
    yield node("x", "Placeholder", (), PLACEHOLDER)
    for i in range(1, max(2, count - 1)):
        name = f"model/stage_{i // 1000}/block_{i // 100}/layer_{i // 10 % 10}/op_{i}"
        op = rng.choice(UNARY if before in BINARY else BINARY) if i > 2 else "Tanh" if i == 1 else "Sub"
        if i % 50 == 0:
            op = "Identity"
        inputs = [names[-1]]
        if op in BINARY:  # distinct and sorted, as the optimizer would: otherwise it has something to rewrite
            inputs.append(names[-rng.randrange(2, min(i, 100) + 1)])
            if op in COMMUTATIVE:
                inputs.sort()
        yield node(name, op, inputs, T)
        before = op
        names.append(name)
        if len(names) > 200:
            del names[:100]
    yield node("y", "Identity", (names[-1],), T)


@kind
def requests(count, rng):
    names, one = [], floats([1.0], 1)
    for i in range(count):
        name = f"layer_{i // 100}/op_{i}"
        device = f"/device:CPU:{rng.randrange(4)}" if rng.randrange(5) == 0 else ""
        attrs = one if i % 10 == 0 else T
        if rng.randrange(20) == 0 and names:
            attrs += attr("_class", field(1, field(2, "loc:@" + names[-rng.randrange(1, len(names) + 1)])))
        inputs = () if i % 10 == 0 else (names[-1], names[-rng.randrange(1, min(len(names), 50) + 1)])
        yield node(name, "Const" if i % 10 == 0 else "AddV2", inputs, attrs, device)
        names.append(name)


@kind
def small(count, rng):
    yield node("x", "Placeholder", (), type_of("dtype") + attr("shape", field(7, shape())))
    yield node("step", "Const", (), floats([rng.uniform(0.1, 0.2)]))
    last = "x"
    for i in range(max(1, count - 3)):
        yield node(f"op_{i}", "AddV2" if i % 2 == 0 else "Mul", (last, "x" if i % 3 == 0 else "step"), T)
        last = f"op_{i}"
    yield node("y", "Identity", (last,), T)


def write(name, count, path, seed=1):
    """A GraphDef of about `count` nodes into `path`; the same bytes for the same seed."""
    with open(path, "wb") as out:
        chunk = []
        for record in KINDS[name](count, random.Random(seed)):
            chunk.append(record)
            if len(chunk) == 10_000:
                out.write(b"".join(chunk))
                chunk.clear()
        out.write(b"".join(chunk) + field(4, field(1, 1882)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("nodes", type=int)
    parser.add_argument("file")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    write(args.kind, args.nodes, args.file, args.seed)


if __name__ == "__main__":
    main()
