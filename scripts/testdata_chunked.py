"""Makes testdata/chunked with real TensorFlow and Riegeli: a SavedModel and its graph in chunks, and what TensorFlow computes.

needs: tensorflow-cpu==2.21.0, array-record==0.8.6        usage: scripts/testdata_chunked.py [OUT_DIR]

TensorFlow's package cannot write protos in chunks (its proto_splitter is not in it). So the message is split here, into the kinds
of chunk that tensorflow/tools/proto_splitter makes of a GraphDef and more, with its ChunkMetadata as the last record. The
file is genuine Riegeli: array-record writes with Google's record encoder, and its own additions at the end are removed.
"""
import os
import shutil
import struct
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
from array_record.python.array_record_module import ArrayRecordWriter
from tensorflow.core.framework import graph_pb2
from tensorflow.core.protobuf import saved_model_pb2

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BLOCK, BLOCK_HEADER = 1 << 16, 24
USABLE = BLOCK - BLOCK_HEADER
MESSAGE, BYTES = 1, 2                                         # ChunkInfo.Type


# ---- the messages of chunk.proto, by field numbers ----

def varint(number):
    out = b""
    while number >= 128:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def number_field(field, number):
    return varint(field << 3) + varint(number)


def bytes_field(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


class Key:
    """A key of a map, as opposed to an index of a list."""

    def __init__(self, key):
        self.key = key

    def field_index(self):
        return bytes_field(2, bytes_field(1, self.key.encode()) if isinstance(self.key, str) else number_field(3, self.key))


def field_tags(message, path):
    """FieldIndex messages of a path: names of fields, indices of lists, Keys of maps."""
    tags, descriptor = b"", message.DESCRIPTOR
    for step in path:
        if isinstance(step, str):
            field = descriptor.fields_by_name[step]
            descriptor, tag = field.message_type, number_field(1, field.number)
        elif isinstance(step, Key):
            descriptor, tag = descriptor.fields_by_name["value"].message_type, step.field_index()
        else:
            tag = number_field(3, step)
        tags += bytes_field(1, tag)
    return tags


class Splitter:
    """Moves parts of a message to chunks of their own; the rest of the message is the first chunk."""

    def __init__(self, message):
        self.message = message
        self.chunks, self.fields = [None], b""

    def add(self, kind, content, path, nested=b""):
        """A ChunkedField. `nested`: the ChunkedFields of the message in the chunk."""
        self.fields += bytes_field(2, self.field(kind, content, self.message, path, nested))

    def field(self, kind, content, parent, path, nested=b""):
        self.chunks.append((kind, content))
        return field_tags(parent, path) + bytes_field(3, number_field(1, len(self.chunks) - 1) + nested)

    def records(self):
        self.chunks[0] = (MESSAGE, self.message.SerializeToString(deterministic=True))
        return [content for _, content in self.chunks]

    def metadata(self, positions):
        version = bytes_field(1, number_field(1, 1))
        chunks = b"".join(bytes_field(2, number_field(1, kind) + number_field(2, len(content)) + number_field(3, at))
                          for (kind, content), at in zip(self.chunks, positions))
        return version + chunks + bytes_field(3, number_field(1, 0) + self.fields)


# ---- Riegeli ----

def groups(data):
    """(begin, end, number of records) of each group of records in a file."""
    at, found = 0, []
    while at < len(data):
        header, position = b"", at
        while len(header) < 40:
            if position % BLOCK == 0:
                position += BLOCK_HEADER
            header += data[position:position + 1]
            position += 1
        _, size, _, kind = struct.unpack_from("<QQQQ", header)
        size += 40
        end = at + size + (size + (at + USABLE - 1) % BLOCK) // USABLE * BLOCK_HEADER
        count = kind >> 8
        end = max(end, at + count)
        if kind & 255 in b"rt" and count:
            found.append((at, end, count))
        at = end
    return found


def write_records(records, options):
    """A file of only these records, and the position of each."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "records")
        writer = ArrayRecordWriter(path, options + ",pad_to_block_boundary:false")
        for record in records:
            writer.write(record)
        writer.close()
        with open(path, "rb") as file:
            data = file.read()
    positions = []
    for begin, end, count in groups(data):
        positions += range(begin, begin + count)
        if len(positions) >= len(records):
            return data[:end], positions[:len(records)]
    raise ValueError("array-record wrote fewer records than it was given")


def write_chunks(splitter, path, options):
    records = splitter.records()
    _, positions = write_records(records + [splitter.metadata([0] * len(records))], options)
    data, _ = write_records(records + [splitter.metadata(positions[:-1])], options)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


# ---- what is split ----

def split_graph(splitter, graph, path):
    """Nodes in two parts, a large constant's bytes, and the library with a function and an argument's attributes of its own."""
    for node in graph.node:
        tensor = node.attr["value"].tensor if node.op == "Const" else None
        if tensor is not None and len(tensor.tensor_content) > 1000:
            index = list(graph.node).index(node)
            large = (index, tensor.tensor_content)
            tensor.ClearField("tensor_content")
    half = len(graph.node) // 2
    parts = [graph_pb2.GraphDef(node=graph.node[:half]), graph_pb2.GraphDef(node=graph.node[half:])]
    del graph.node[:]
    for part in parts:
        splitter.add(MESSAGE, part.SerializeToString(deterministic=True), path)
    index, content = large
    splitter.add(BYTES, content, path + ["node", index, "attr", Key("value"), "tensor", "tensor_content"])
    library = graph_pb2.GraphDef().library
    library.CopyFrom(graph.library)
    graph.ClearField("library")
    index, function = next((i, f) for i, f in enumerate(library.function) if f.arg_attr)
    nested = b""
    arguments = sorted(function.arg_attr)
    attributes = [function.arg_attr[a].SerializeToString(deterministic=True) for a in arguments]
    function.arg_attr.clear()
    whole = function.SerializeToString(deterministic=True)
    library.function[index].Clear()
    if path:
        for argument, attribute in zip(arguments, attributes):
            nested += bytes_field(2, splitter.field(MESSAGE, attribute, function, ["arg_attr", Key(argument)]))
        nested = bytes_field(2, splitter.field(MESSAGE, whole, library, ["function", index], nested))
    else:
        library.function[index].ParseFromString(whole)
        for argument, attribute in zip(arguments, attributes):
            library.function[index].arg_attr[argument].ParseFromString(attribute)
    splitter.add(MESSAGE, library.SerializeToString(deterministic=True), path + ["library"], nested)


README = f"""\
# Files in chunks

Made by `scripts/testdata_chunked.py` with TensorFlow {tf.__version__} and array-record; do not edit by hand.

`whole.pb` is a SavedModel that TensorFlow wrote, `model/` the same in chunks with its variables, and `scores.npy` what TensorFlow
computes of `ids.npy`. The `graph_*.cpb` are its graph, in groups of records that are uncompressed, packed by Snappy, by
Zstandard, and transposed and packed by Brotli.
"""


class Model(tf.Module):
    def __init__(self):
        random = np.random.RandomState(0)
        self.table = tf.constant(np.round(random.randn(40, 8), 1).astype("f"))
        self.weights = tf.Variable(random.randn(8, 3).astype("f"), name="weights")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32, "ids")])
    def __call__(self, ids):
        return {"scores": tf.nn.softmax(tf.gather(self.table, ids) @ self.weights)}


def main(out):
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    with open(os.path.join(out, "README.md"), "w") as file:
        file.write(README)
    with tempfile.TemporaryDirectory() as folder:
        model = Model()
        tf.saved_model.save(model, folder, signatures=model.__call__)
        with open(os.path.join(folder, "saved_model.pb"), "rb") as file:
            saved = saved_model_pb2.SavedModel.FromString(file.read())
        shutil.copytree(os.path.join(folder, "variables"), os.path.join(out, "model", "variables"))
        shutil.copy(os.path.join(folder, "saved_model.pb"), os.path.join(out, "whole.pb"))
    ids = np.array([3, 0, 39], "i4")
    np.save(os.path.join(out, "ids.npy"), ids)
    np.save(os.path.join(out, "scores.npy"), model(ids)["scores"].numpy())
    for name, options in (("plain", "group_size:1,uncompressed"), ("snappy", "group_size:3,snappy"),
                          ("zstd", "group_size:2,zstd:3"), ("transposed", "group_size:4,transpose:true,brotli:6")):
        graph = graph_pb2.GraphDef()
        graph.CopyFrom(saved.meta_graphs[0].graph_def)
        splitter = Splitter(graph)
        split_graph(splitter, graph, [])
        write_chunks(splitter, os.path.join(out, f"graph_{name}.cpb"), options)
    splitter = Splitter(saved)
    signatures = saved.meta_graphs[0].signature_def
    signature = signatures["serving_default"].SerializeToString(deterministic=True)
    del signatures["serving_default"]
    splitter.add(MESSAGE, signature, ["meta_graphs", 0, "signature_def", Key("serving_default")])
    split_graph(splitter, saved.meta_graphs[0].graph_def, ["meta_graphs", 0, "graph_def"])
    write_chunks(splitter, os.path.join(out, "model", "saved_model.cpb"), "group_size:1,brotli:6")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "testdata", "chunked"))
