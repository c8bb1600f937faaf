"""Makes nodes of any op with various attributes, and tests them in TensorFlow; used by op_ranks.py."""
import json
import os
import re
import signal

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"                     # oneDNN's kernels check less than TensorFlow's own
import tensorflow as tf
from tensorflow.core.framework import attr_value_pb2, types_pb2

RANKS = range(9)                                              # an op that accepts rank 8 accepts any rank
PATIENCE = 4                                                  # seconds per question
TYPES = ["FLOAT", "INT32", "STRING", "HALF", "DOUBLE", "INT64", "UINT8", "COMPLEX64", "QINT8", "QUINT8", "QINT32", "BOOL"]
LAYOUTS = ["NHWC", "NCHW", "NDHWC", "NCDHW", "NWC", "NCHW_VECT_C", "NHWC_VECT_W"]
LENGTHS = [1, 2, 3, 4, 5]                                     # lengths of number lists: strides, window sizes


def dtype_number(name):
    return types_pb2.DataType.Value("DT_" + name)


# ---- attributes ----

def value_of(attr, kind, prefer, length):
    """A value for an attribute without a default."""
    out = attr_value_pb2.AttrValue()
    allowed = attr.allowed_values.list
    if kind == "type":
        out.type = prefer if not allowed.type or prefer in allowed.type else allowed.type[0]
    elif kind == "string":
        out.s = allowed.s[0] if allowed.s else b""
    elif kind == "int":
        out.i = max(attr.minimum, 1) if attr.has_minimum else 1
    elif kind == "float":
        out.f = 1
    elif kind == "bool":
        out.b = False
    elif kind == "shape":
        out.shape.unknown_rank = True
    elif kind.startswith("list("):
        element = kind[5:-1]
        field = {"type": "type", "string": "s", "int": "i", "float": "f", "bool": "b", "shape": "shape"}.get(element)
        if not field:
            return None
        out.list.SetInParent()
        one = value_of(attr, element, prefer, length)
        for _ in range(length if element in ("int", "float") else max(1, attr.minimum)):
            target = getattr(out.list, field)
            target.add().CopyFrom(one.shape) if element == "shape" else target.append(getattr(one, field))
    else:
        return None                                           # a function, a tensor
    return out


def one_change(attr, base):
    """Values of one attribute that may affect the accepted ranks."""
    new = attr_value_pb2.AttrValue
    if attr.type == "string":
        free = [x.encode() for x in LAYOUTS] if "format" in attr.name else []
        return [new(s=s) for s in attr.allowed_values.list.s or free]
    if attr.type == "bool":
        return [new(b=not base.b)]
    if attr.type == "int":
        return [new(i=i) for i in (-1, 0, 1, 2, 3) if not attr.has_minimum or i >= attr.minimum]
    if attr.type == "shape":
        dims = [[], [1], [1, 1], [1, 1, 1], [1, 1, 1, 1]]
        return [new(shape=tf.TensorShape(d).as_proto()) for d in dims]
    if attr.type == "list(int)":
        lists = ([1] * n for n in range(7))
        return [new(list=attr_value_pb2.AttrValue.ListValue(i=x)) for x in lists]
    if attr.type == "list(type)":
        pairs = ([t] * n for t in ("FLOAT", "STRING") for n in (0, 1, 2) if n >= attr.minimum)
        return [new(list=attr_value_pb2.AttrValue.ListValue(type=map(dtype_number, x))) for x in pairs]
    return []


def variants(op, nodes):
    """Attributes to try: those of testdata's nodes, and defaults with single changes."""
    seen = set()

    def is_new(attrs):
        key = json.dumps({k: v.SerializeToString().hex() for k, v in attrs.items()}, sort_keys=True)
        return key not in seen and not seen.add(key)

    names = {a.name for a in op.attr}
    for node in nodes:
        attrs = {a.name: a.default_value for a in op.attr if a.HasField("default_value")}
        attrs.update({k: v for k, v in node.attr.items() if k in names})
        if len(attrs) == len(names) and is_new(attrs):
            yield attrs
    for length in LENGTHS if any(a.type in ("list(int)", "list(float)") for a in op.attr) else [1]:
        base = {a.name: a.default_value if a.HasField("default_value") else
                value_of(a, a.type, dtype_number("FLOAT"), length) for a in op.attr}
        if None in base.values():
            return
        for attr in op.attr:
            for other in [base[attr.name], *one_change(attr, base[attr.name])]:
                attrs = dict(base, **{attr.name: other})
                if is_new(attrs):
                    yield attrs
        if not op.attr and is_new(base):
            yield base


def slots(op, attrs):
    """(argument, dtype) of each input of a node with these attributes."""
    for number, arg in enumerate(op.input_arg):
        if arg.type_list_attr:
            yield from ((number, t) for t in attrs[arg.type_list_attr].list.type)
            continue
        count = attrs[arg.number_attr].i if arg.number_attr else 1
        kind = attrs[arg.type_attr].type if arg.type_attr else arg.type
        yield from ((number, kind + 100 * arg.is_ref) for _ in range(min(count, 64)))


# ---- asking ----

class Questions:
    """Tests nodes in this process; tests whose results are known from an earlier process are not repeated."""

    def __init__(self, known, pipe):
        self.known, self.pipe = known, pipe

    def ask(self, key, do):
        """Whether TensorFlow accepts the node: True, False ("scalar" if it requires a scalar), or None if that is not clear."""
        if key in self.known:
            return self.known[key]
        os.write(self.pipe, json.dumps([key]).encode() + b"\n")
        signal.alarm(PATIENCE)
        try:
            do()
            answer = True
        except (ValueError, tf.errors.InvalidArgumentError, tf.errors.FailedPreconditionError, tf.errors.OutOfRangeError) as error:
            answer = "scalar" if re.search(r"\bscalar\b", str(error)) and not re.search(r"\bvector|same", str(error)) else False
        except Exception as error:                            # pylint: disable=broad-except
            answer = False if "nvalid" in type(error).__name__ else None
        signal.alarm(0)
        os.write(self.pipe, json.dumps([key, answer]).encode() + b"\n")
        self.known[key] = answer
        return answer

    def tell(self, what):
        os.write(self.pipe, json.dumps({"ranks": what}).encode() + b"\n")


def input_of(dtype, rank):
    """A tensor with unknown dimensions in a graph; rank None: with unknown rank."""
    dims = None if rank is None else [None] * rank
    if dtype > 100:                                           # a reference
        shape = tf.TensorShape(dims).as_proto()
        attrs = {"dtype": attr_value_pb2.AttrValue(type=dtype - 100), "shape": attr_value_pb2.AttrValue(shape=shape),
                 "container": attr_value_pb2.AttrValue(s=b""), "shared_name": attr_value_pb2.AttrValue(s=b"")}
        return tf.compat.v1.get_default_graph()._create_op_internal("VariableV2", [], attrs=attrs).outputs[0]
    return tf.compat.v1.placeholder(tf.DType(dtype), dims)


def make(op, attrs, inputs):
    graph = tf.compat.v1.get_default_graph()
    return graph._create_op_internal(op.name, inputs, attrs=attrs)
