"""Converts a GraphDef for ONNX Runtime with tf2onnx.   usage: to_onnx.py GRAPH.pb MODEL.onnx FEEDS FETCHES   (names with commas between)"""
import os
import sys

import onnx.defs
import tensorflow as tf
import tf2onnx


def tensor(name):
    return name if ":" in name else name + ":0"


def main():
    graph, model, feeds, fetches = sys.argv[1:]
    graph_def = tf.compat.v1.GraphDef()
    with open(graph, "rb") as file:
        graph_def.ParseFromString(file.read())
    convert = tf2onnx.convert._convert_common  # pylint: disable=protected-access
    made, _ = convert(graph_def, name="graph", opset=17, input_names=[tensor(f) for f in feeds.split(",")],
                      output_names=[tensor(f) for f in fetches.split(",")])
    # tf2onnx leaves what it cannot convert as it was.
    known = {schema.name for schema in onnx.defs.get_all_schemas()}
    unknown = sorted({node.op_type for node in made.graph.node if node.op_type not in known})
    if unknown:
        sys.exit(f"no ONNX op for {', '.join(unknown)}")
    with open(model + ".part", "wb") as file:
        file.write(made.SerializeToString())
    os.replace(model + ".part", model)


if __name__ == "__main__":
    main()
