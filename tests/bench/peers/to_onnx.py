"""Converts a GraphDef for ONNX Runtime with tf2onnx.   usage: to_onnx.py GRAPH.pb MODEL.onnx FEEDS FETCHES   (names with commas between)"""
import os
import sys

import tensorflow as tf
import tf2onnx


def tensor(name):
    return name if ":" in name else name + ":0"


def main():
    graph, model, feeds, fetches = sys.argv[1:]
    graph_def = tf.compat.v1.GraphDef()
    with open(graph, "rb") as file:
        graph_def.ParseFromString(file.read())
    made, _ = tf2onnx.convert._convert_common(graph_def, name="graph", opset=17, input_names=[tensor(f) for f in feeds.split(",")],  # pylint: disable=protected-access
                                              output_names=[tensor(f) for f in fetches.split(",")])
    standard = {"", "ai.onnx", "ai.onnx.ml"}
    unknown = sorted({n.op_type for n in made.graph.node if n.domain not in standard or n.op_type in tf_only(made)})
    if unknown:
        sys.exit(f"no ONNX op for {', '.join(unknown)}")
    with open(model + ".part", "wb") as file:
        file.write(made.SerializeToString())
    os.replace(model + ".part", model)


def tf_only(model):
    """Ops that tf2onnx has left as they were: no op of ONNX has their name."""
    import onnx.defs
    known = {schema.name for schema in onnx.defs.get_all_schemas()}
    return {n.op_type for n in model.graph.node if n.op_type not in known}


if __name__ == "__main__":
    main()
