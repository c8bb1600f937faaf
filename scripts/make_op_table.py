"""Writes lib/ir/op_table.txt: every op in TensorFlow's registry, one per line, sorted by name. lib/ir/op_table.h has the
grammar.

needs: tensorflow-cpu==2.21.0        usage: scripts/make_op_table.py [--check | --keep-ranks]
--check writes nothing: it reads the existing table and compares it with the registry, field by field. The registry has no
ranks of inputs: op_ranks.py finds them with TensorFlow's shape functions and kernels, which takes a quarter of an hour;
--keep-ranks keeps those of the existing table.

Everything that affects an op's meaning is kept. Documentation (summaries, descriptions, the text of a deprecation) is
omitted. The output is parsed again first: an op that the grammar cannot express stops the script.
"""
import argparse
import os
import re
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import op_ranks  # before TensorFlow, because it disables oneDNN
import numpy as np
import tensorflow as tf
from google.protobuf import text_format
from tensorflow.core.framework import attr_value_pb2, full_type_pb2, op_def_pb2, tensor_pb2, tensor_shape_pb2
from tensorflow.core.framework import types_pb2
from tensorflow.python.client import pywrap_tf_session

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = os.path.join(ROOT, "lib", "ir", "op_table.txt")
FLAGS = {"aggregate": "is_aggregate", "allows_uninitialized_input": "allows_uninitialized_input",
         "commutative": "is_commutative", "distributed": "is_distributed_communication", "stateful": "is_stateful"}
FIELD = {"string": "s", "int": "i", "float": "f", "bool": "b", "type": "type", "shape": "shape", "tensor": "tensor",
         "func": "func"}


def registry():
    """The ops of TensorFlow by name, without their documentation."""
    ops = op_def_pb2.OpList.FromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList())).op
    for op in ops:
        for owner in [op, *op.input_arg, *op.output_arg, *op.attr]:
            owner.ClearField("description")
        op.ClearField("summary")
        op.deprecation.ClearField("explanation")
        if not op.deprecation.version:
            op.ClearField("deprecation")
    return {op.name: op for op in sorted(ops, key=lambda op: op.name)}


# ---- writing ----

def quoted(s):
    return '"' + text_format.text_encoding.CEscape(s, as_utf8=False) + '"'


def dtype(number):
    return types_pb2.DataType.Name(number)[len("DT_"):].lower()


def shape(s):
    return "?" if s.unknown_rank else "[" + ", ".join("?" if d.size == -1 else str(d.size) for d in s.dim) + "]"


def braces(message):
    return "{" + text_format.MessageToString(message, as_one_line=True) + "}"


SCALAR = {"string": quoted, "int": str, "float": lambda f: str(np.float32(f)), "bool": lambda b: str(b).lower(),
          "type": dtype, "shape": shape, "tensor": braces, "func": braces}


def values(kind, items):
    return "[" + ", ".join(SCALAR[kind](x) for x in items) + "]"


def full_type(t):
    if t.type_id == full_type_pb2.TFT_VAR:
        return "$" + t.s
    args = "[" + ", ".join(full_type(a) for a in t.args) + "]" if t.args else ""
    return full_type_pb2.FullTypeId.Name(t.type_id)[len("TFT_"):] + args + ("" if not t.s else "$" + t.s)


def rank(bounds):
    """" rank 1..2" of (1, 2), " rank 1.." of (1, None)."""
    if bounds is None:
        return ""
    low, high = bounds
    return f" rank {low}" + ("" if low == high else ".." + ("" if high is None else str(high)))


def argument(a, ranks=None):
    kind = a.type_attr or (a.type_list_attr + "..." if a.type_list_attr else dtype(a.type))
    return (f"{a.name}:" + (a.number_attr + "*" if a.number_attr else "") + kind + ("&" if a.is_ref else "") + rank(ranks) +
            (" is " + full_type(a.experimental_full_type) if a.HasField("experimental_full_type") else ""))


def attribute(a):
    element = re.sub(r"^list\((.*)\)$", r"\1", a.type)
    text = f"{a.name}:{a.type}"
    if a.HasField("allowed_values"):
        text += " in " + values(element, getattr(a.allowed_values.list, FIELD[element]))
    if a.has_minimum:
        text += f" >= {a.minimum}"
    if a.HasField("default_value"):
        v = a.default_value
        text += " = " + (values(element, getattr(v.list, FIELD[element])) if element != a.type else
                         SCALAR[element](getattr(v, FIELD[element])))
    return text


def line(op, ranks):
    flags = [name for name, field in FLAGS.items() if getattr(op, field)]
    if op.deprecation.version:
        flags.append(f"deprecated {op.deprecation.version}")
    inputs = ", ".join(argument(a, ranks.get(i)) for i, a in enumerate(op.input_arg))
    return (f"{op.name}({inputs}) -> ({', '.join(map(argument, op.output_arg))})" +
            (" {" + ", ".join(map(attribute, op.attr)) + "}" if op.attr else "") +
            (f" [{', '.join(flags)}]" if flags else ""))


# ---- reading ----

class Reader:
    """Reads one line back into an OpDef, and the ranks of its inputs."""

    def __init__(self, text):
        self.text, self.at, self.ranks = text, 0, {}

    def take(self, pattern):
        """The text at the current position, after white space, that matches the pattern, or None."""
        m = re.compile(r"\s*(" + pattern + ")").match(self.text, self.at)
        if not m:
            return None
        self.at = m.end()
        return m[1]

    def need(self, pattern):
        found = self.take(pattern)
        if found is None:
            raise ValueError(f"expected {pattern} at: {self.text[self.at:self.at + 60]}")
        return found

    def many(self, opening, item, closing):
        """Reads "item, item, ..." between the two brackets."""
        self.need(opening)
        while self.take(closing) is None:
            item()
            self.take(",")

    def dtype(self):
        return types_pb2.DataType.Value("DT_" + self.need(r"\w+").upper())

    def quoted(self):
        return text_format.text_encoding.CUnescape(self.need(r'"(?:[^"\\]|\\.)*"')[1:-1])

    def shape(self):
        s = tensor_shape_pb2.TensorShapeProto()
        if self.take(r"\?"):
            s.unknown_rank = True
        else:
            self.many(r"\[", lambda: s.dim.add(size=-1 if self.take(r"\?") else int(self.need(r"\d+"))), r"\]")
        return s

    def braces(self, message):
        start, depth = self.at, 0
        while True:
            token = self.need(r'"(?:[^"\\]|\\.)*"|.')
            depth += {"{": 1, "}": -1}.get(token, 0)
            if depth == 0:
                return text_format.Parse(self.text[start:self.at].strip()[1:-1], message)

    def scalar(self, kind):
        return {"string": self.quoted, "int": lambda: int(self.need(r"-?\d+")),
                "float": lambda: float(self.need(r"[-+.\w]+")),
                "bool": lambda: self.need("true|false") == "true", "type": self.dtype, "shape": self.shape,
                "tensor": lambda: self.braces(tensor_pb2.TensorProto()),
                "func": lambda: self.braces(attr_value_pb2.NameAttrList())}[kind]()

    def values(self, kind):
        out = attr_value_pb2.AttrValue()
        out.list.SetInParent()
        self.many(r"\[", lambda: getattr(out.list, FIELD[kind]).append(self.scalar(kind)), r"\]")
        return out

    def full_type(self):
        t = full_type_pb2.FullTypeDef()
        if self.take(r"\$"):
            t.type_id, t.s = full_type_pb2.TFT_VAR, self.need(r"\w+")
            return t
        t.type_id = full_type_pb2.FullTypeId.Value("TFT_" + self.need(r"\w+"))
        if self.text[self.at:self.at + 1] == "[":
            self.many(r"\[", lambda: t.args.append(self.full_type()), r"\]")
        if self.take(r"\$"):
            t.s = self.need(r"\w+")
        return t

    def argument(self, out):
        a = out.add(name=self.need(r"\w+"))
        self.need(":")
        a.number_attr = (self.take(r"\w+\*") or "").rstrip("*")
        name = self.need(r"\w+")
        if self.take(r"\.\.\."):
            a.type_list_attr = name
        elif re.search(r"[{ ]" + name + ":type", self.text):
            a.type_attr = name
        else:
            a.type = types_pb2.DataType.Value("DT_" + name.upper())
        a.is_ref = self.take("&") is not None
        if self.take(r"rank\b"):
            low, more = int(self.need(r"\d+")), self.take(r"\.\.")
            high = self.take(r"\d+") if more else low
            self.ranks[len(out) - 1] = (low, None if high is None else int(high))
        if self.take(r"is\b"):
            a.experimental_full_type.CopyFrom(self.full_type())

    def attribute(self, out):
        a = out.add(name=self.need(r"\w+"))
        self.need(":")
        a.type = self.need(r"list\(\w+\)|\w+")
        element = re.sub(r"^list\((.*)\)$", r"\1", a.type)
        if self.take(r"in\b"):
            a.allowed_values.CopyFrom(self.values(element))
        if self.take(">="):
            a.has_minimum, a.minimum = True, int(self.need(r"-?\d+"))
        if self.take("="):
            if element != a.type:
                a.default_value.CopyFrom(self.values(element))
            elif element in ("shape", "tensor", "func"):
                getattr(a.default_value, element).CopyFrom(self.scalar(element))
            else:
                setattr(a.default_value, FIELD[element], self.scalar(element))

    def flag(self, op):
        name = self.need(r"\w+")
        if name == "deprecated":
            op.deprecation.version = int(self.need(r"\d+"))
        else:
            setattr(op, FLAGS[name], True)

    def op(self):
        op = op_def_pb2.OpDef(name=self.need(r"[\w>]+"))
        self.many(r"\(", lambda: self.argument(op.input_arg), r"\)")
        self.need("->")
        self.many(r"\(", lambda: self.argument(op.output_arg), r"\)")
        if self.text[self.at:].startswith(" {"):
            self.many("{", lambda: self.attribute(op.attr), "}")
        if self.text[self.at:].startswith(" ["):
            self.many(r"\[", lambda: self.flag(op), r"\]")
        if self.at != len(self.text):
            raise ValueError(f"left over: {self.text[self.at:]}")
        return op


def differences(lines, ops):
    """One text for each op on which the lines and the registry differ."""
    seen = []
    for text in lines:
        try:
            op = Reader(text).op()
        except ValueError as e:
            yield f"{text[:40]}: {e}"
            continue
        seen.append(op.name)
        if op.name not in ops:
            yield f"{op.name}: not in the registry"
        elif op != ops[op.name]:
            yield f"{op.name}: the table says\n{op}the registry\n{ops[op.name]}"
    yield from (f"{name}: not in the table" for name in sorted(set(ops) - set(seen)))
    if seen != sorted(set(seen)):
        yield "the table is not sorted, or names an op twice"


def ranks_in_table():
    """{op: {number of the argument: (lowest, highest)}}."""
    found = {}
    with open(TABLE, encoding="ascii") as f:
        for text in f.read().splitlines()[1:]:
            reader = Reader(text)
            found[reader.op().name] = reader.ranks
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare the table with the registry, write nothing")
    parser.add_argument("--keep-ranks", action="store_true", help="keep the ranks of the existing table")
    args = parser.parse_args()
    check, ops = args.check, registry()
    head = (f"# The ops of TensorFlow {tf.__version__}, made by scripts/make_op_table.py: do not edit. "
            "Grammar: lib/ir/op_table.h")
    if check:
        with open(TABLE, encoding="ascii") as f:
            first, *lines = f.read().splitlines()
    else:
        ranks = ranks_in_table() if args.keep_ranks else op_ranks.ranks_of(ops, print)
        first, lines = head, [line(op, ranks.get(op.name, {})) for op in ops.values()]
    wrong = list(differences(lines, ops))
    if first != head:
        wrong.append(f"the first line is not: {head}")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    if not check and not wrong:
        with open(TABLE, "w", encoding="ascii") as f:
            f.write("\n".join([head, *lines]) + "\n")
    print(f"{len(lines)} ops, {len(wrong)} differences")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
