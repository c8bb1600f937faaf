#!/usr/bin/env python3
"""Graphs of functions over variables are those of tf.function: names, ops, inputs, control inputs and attributes of every node, but
for names of functions. tests/trace/models/variables.cpp has them in C++."""

import os
import pathlib
import subprocess
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import tensorflow as tf

GRAPNEL = os.environ["GRAPNEL"]
PLUGIN = pathlib.Path(GRAPNEL).resolve().parents[1] / "plugins" / "variables.so"
w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
b = tf.Variable([1.0, 2.0], name="b")


def reads_and_writes(x):
    y = tf.matmul(x, w) + b
    z = w.read_value()
    w.assign_add(x)
    w.assign(w * 2.0)
    w.assign_sub(y)
    tf.gather(w, [0, 1])
    rows = tf.gather(w, [1])
    b.assign_add(tf.reduce_sum(rows, 0))
    return y + z, w


def branches(x):
    y = tf.matmul(x, w)
    z = tf.cond(tf.reduce_sum(x) > 0.0, lambda: y + b, lambda: y * b)
    b.assign_add(tf.reduce_sum(z, 0))
    return z, b


def tape_of_variables(x):
    with tf.GradientTape() as tape:
        y = tf.matmul(x, w) + b
        loss = tf.reduce_sum(y * y)
    for variable, gradient in zip((w, b), tape.gradient(loss, (w, b))):
        variable.assign_sub(gradient)
    return loss


def describe(graph):
    nodes = {}
    for node in graph.node:
        attrs = {k: ("function" if v.HasField("func") else v.SerializeToString(deterministic=True)) for k, v in node.attr.items()
                 if k not in ("_output_shapes",)}
        if node.op == "Const":
            attrs["value"] = tf.make_ndarray(node.attr["value"].tensor).tolist()
        nodes[node.name] = (node.op, list(node.input), attrs)
    return nodes


class VariableGraphs(unittest.TestCase):
    maxDiff = 4000

    def check(self, name, function):
        theirs = tf.function(function).get_concrete_function(tf.TensorSpec([2, 2], tf.float32, name="x")).graph.as_graph_def()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "graph.pb")
            subprocess.run([GRAPNEL, "trace", name, "--plugin", PLUGIN, "-o", path], check=True)
            ours = tf.compat.v1.GraphDef.FromString(pathlib.Path(path).read_bytes())
        ours, theirs = describe(ours), describe(theirs)
        self.assertEqual(sorted(ours), sorted(theirs))
        for node, wanted in theirs.items():
            self.assertEqual(ours[node], wanted, node)

    def test_reads_and_writes(self):
        self.check("ReadsAndWrites", reads_and_writes)

    def test_branches(self):
        self.check("Branches", branches)

    def test_tape(self):
        self.check("TapeOfVariables", tape_of_variables)


if __name__ == "__main__":
    unittest.main()
