#!/usr/bin/env python3
"""Makes testdata/loops: one program as TensorFlow writes it with loops as functions, lowered, and in its first version.

    .venv/bin/python scripts/make_loop_graphs.py testdata/loops

`compare` must find the corresponding nodes in each. functions.pb and lowered.pb are made by convert_variables_to_constants_v2 without and
with lower_control_flow; session_functions.pb and session.pb are a session's graph, with control flow as functions and as single nodes.
"""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

v1 = tf.compat.v1


def program(x):
    """Every second time doubles twice, in a loop of its own; else adds. Names in both branches are alike."""
    def twice(y):
        return tf.while_loop(lambda j, z: j < 2, lambda j, z: (j + 1, tf.nn.relu(z * 2.0)), [0, y])[1] + 0.5

    def body(i, y):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: tf.sqrt(y * 3.0) + 1.0, lambda: twice(y))

    with tf.name_scope("model"):
        return tf.while_loop(lambda i, y: i < 4, body, [0, x])[1]


def function_graph(lower):
    function = tf.function(lambda x: tf.identity(program(x), "y"), input_signature=[tf.TensorSpec([2], tf.float32, "x")])
    return convert_variables_to_constants_v2(function.get_concrete_function(), lower_control_flow=lower).graph.as_graph_def()


def session_graph(has_functions):
    (v1.enable_control_flow_v2 if has_functions else v1.disable_control_flow_v2)()
    with tf.Graph().as_default() as graph:
        tf.identity(program(v1.placeholder(tf.float32, [2], name="x")), "y")
    return graph.as_graph_def()


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    graphs = {"functions": function_graph(False), "lowered": function_graph(True), "session_functions": session_graph(True), "session": session_graph(False)}
    np.save(os.path.join(folder, "x.npy"), np.array([1, 0.5], "f4"))
    for name, graph in graphs.items():
        with open(os.path.join(folder, name + ".pb"), "wb") as file:
            file.write(graph.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
