"""Whether two GraphDefs say the same, and whether two lists of values do."""
import collections
import hashlib

import numpy as np
from tensorflow.python.framework import tensor_util

# Attributes that do not affect what a graph computes.
SILENT = {"_class", "_input_shapes", "_output_shapes", "_has_manual_control_dependencies", "shape_inferred"}


def hashed(*parts):
    return hashlib.md5(repr(parts).encode()).hexdigest()


class Near(list):
    """Numbers that are equal when they are near."""

    def __eq__(self, other):
        return len(self) == len(other) and np.allclose(self, other, 1e-3, 1e-6, equal_nan=True)

    def __repr__(self):
        return repr([f"{v + 0:.1e}" for v in self])


def constant(proto):
    a = tensor_util.MakeNdarray(proto)
    if a.dtype.kind in "fc" or a.dtype.name == "bfloat16":
        return proto.dtype, a.shape, Near(a.astype(np.complex128 if a.dtype.kind == "c" else np.float64).ravel())
    return proto.dtype, a.shape, a.tolist()


def attribute(value, functions):
    """`functions`: {name: what stands for it}."""
    if value.HasField("tensor"):
        return constant(value.tensor)
    if value.HasField("func"):
        return functions.get(value.func.name, value.func.name), sorted((k, attribute(v, functions)) for k, v in value.func.attr.items())
    if value.list.func:
        return [functions.get(f.name, f.name) for f in value.list.func]
    return value.SerializeToString(deterministic=True)


def meaning(node, functions):
    attrs = [(k, attribute(v, functions)) for k, v in sorted(node.attr.items()) if k not in SILENT and not k.startswith("_grappler")]
    return functions.get(node.op, node.op), node.device, attrs


def ends(function):
    return {key: to for key, to in [*function.ret.items(), *(("^" + k, v) for k, v in function.control_ret.items())]}


def by_name(graph):
    """{function or "": {node: all that is said of it}}, and the ends and signatures of functions."""
    def nodes(listed):
        return {n.name: (meaning(n, {}), [i for i in n.input if i[0] != "^"], sorted(i for i in n.input if i[0] == "^")) for n in listed}
    said = {"": nodes(graph.node)}
    for f in graph.library.function:
        said[f.signature.name] = nodes(f.node_def), ends(f), signature(f)
    return said


def signature(f):
    return ([(a.name, a.type) for a in f.signature.input_arg], [(a.name, a.type) for a in f.signature.output_arg],
            list(f.signature.control_output),
            f.signature.is_stateful, {k: v.SerializeToString(deterministic=True) for k, v in f.attr.items()},
            {k: sorted(v.attr) for k, v in f.arg_attr.items()})


def colors(listed, functions, arguments=()):
    """{node: what it and all that it depends on is}, names left out; loops are followed a number of times."""
    color = {n.name: hashed(meaning(n, functions)) for n in listed}
    color.update((name, hashed("argument", i)) for i, name in enumerate(arguments))
    distinct = 0
    for turn in range(60):
        following = dict(color)
        for n in listed:
            data = [hashed(color.get(i.split(":")[0], i), i.split(":")[1:]) for i in n.input if i[0] != "^"]
            following[n.name] = hashed(meaning(n, functions) if turn == 0 else color[n.name], data,
                                       sorted(color.get(i[1:], "") for i in n.input if i[0] == "^"))
        color, before = following, distinct
        distinct = len(set(color.values()))
        if distinct == before and turn > 8:
            break
    return color


def without_names(graph):
    """What a graph is up to the names of nodes and functions."""
    functions = {}
    for _ in range(6):                                        # deeper calls are compared by name
        functions = {f.signature.name: without_names_of(f, functions) for f in graph.library.function}
    return sorted(collections.Counter(colors(graph.node, functions).values()).items()), sorted(functions.values())


def without_names_of(function, functions):
    color = colors(function.node_def, functions, [a.name for a in function.signature.input_arg])
    to = [(color.get(v.split(":")[0], v), v.split(":")[1:]) for v in (function.ret[a.name] for a in function.signature.output_arg)]
    return hashed(to, sorted(collections.Counter(color.values()).items()))


def likeness(want, got):
    """"same", "renamed" (the same up to names), or what there is more or less of: 'Const 3/2' is 3 wanted, 2 found."""
    if by_name(want) == by_name(got):
        return "same"
    if without_names(want) == without_names(got):
        return "renamed"

    def counted(graph):
        bodies = [graph.node, *(f.node_def for f in graph.library.function)]
        return collections.Counter(n.op if len(n.op) < 40 else "a call" for nodes in bodies for n in nodes)
    a, b = counted(want), counted(got)
    return " ".join(f"{op} {a[op]}/{b[op]}" for op in sorted(set(a) | set(b)) if a[op] != b[op]) or "the same ops"


def differing(want, got):
    """Lines of what one graph says and the other does not, by names."""
    a, b = by_name(want), by_name(got)
    lines = []
    for body in sorted(set(a) | set(b)):
        x, y = (g.get(body, {}) for g in (a, b))
        if body and x and y and x[1:] != y[1:]:
            lines += [f"{body}: signature or results differ", f"    tensorflow {x[1:]}", f"    grapnel    {y[1:]}"]
        x, y = (g[0] if isinstance(g, tuple) else g for g in (x, y))
        for name in sorted(set(x) | set(y)):
            if x.get(name) != y.get(name):
                lines += [f"{body} {name}", f"    tensorflow {shown(x.get(name))}", f"    grapnel    {shown(y.get(name))}"]
    return "\n".join(lines) + "\n"


def shown(said):
    return "none" if said is None else f"{said[0][0]}({', '.join([*said[1], *said[2]])}) {said[0][1]} {str(said[0][2])[:600]}"


# ---- values ----

def numbers(a):
    """Halves and the like as doubles; strings as bytes."""
    a = np.asarray(a)
    if a.dtype == object:
        return np.array([s if isinstance(s, bytes) else str(s).encode() for s in a.ravel()], object).reshape(a.shape)
    if a.dtype.kind in "fc" or a.dtype.name == "bfloat16":
        return a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)
    return a


def tolerance(values):
    """Relative: as exact as the least exact dtype among them."""
    return 4e-2 if any(np.asarray(v).dtype.name in ("float16", "bfloat16") for v in values) else 1e-3


def disagreement(names, want, got, rtol):
    """Which value is another, or None."""
    for name, x, y in zip(names, want, got):
        if np.asarray(x).dtype != np.asarray(y).dtype or np.shape(x) != np.shape(y):
            return f"{name}: {np.asarray(x).dtype}{list(np.shape(x))} became {np.asarray(y).dtype}{list(np.shape(y))}"
        a, b = numbers(x), numbers(y)
        if a.dtype.kind in "fc":
            finite = np.abs(a[np.isfinite(a)])
            if not np.allclose(a, b, rtol=rtol, atol=rtol * max(.01, finite.max() if finite.size else 0) / 10, equal_nan=True):
                return f"{name}: {a.ravel()[:4]} became {b.ravel()[:4]}"
        elif not np.array_equal(a, b):
            return f"{name}: {a.ravel()[:4]} became {b.ravel()[:4]}"
    return None
