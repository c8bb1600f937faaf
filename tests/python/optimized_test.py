"""What `grapnel opt` makes, judged by real TensorFlow: rewrites equal to Grappler's, and optimised models that TensorFlow
runs with the same outputs. $GRAPNEL is the binary."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
from google.protobuf import text_format
from tensorflow.core.framework import graph_pb2
from tensorflow.python.framework import tensor_util

GRAPNEL = os.environ["GRAPNEL"]
TESTDATA = pathlib.Path(os.environ.get("GRAPNEL_TESTDATA", "testdata"))
CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
# Attributes that say nothing of what a graph computes.
SILENT = {"_class", "_output_shapes", "_has_manual_control_dependencies", "shape_inferred"}


def optimise(graph, *flags):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.pb"
        run = subprocess.run([GRAPNEL, "opt", str(graph), "-o", str(out), "--quiet", *flags], capture_output=True, text=True)
        if run.returncode:
            raise AssertionError(run.stderr)
        return graph_pb2.GraphDef.FromString(out.read_bytes())


def meaning(graph):
    """Each node by name: op, device, inputs, attributes; a constant by its value."""

    def attribute(value):
        if value.HasField("tensor"):
            array = tensor_util.MakeNdarray(value.tensor)
            return str(array.dtype), array.shape, array.tolist()
        return value.SerializeToString(deterministic=True)

    return {
        node.name: (
            node.op,
            node.device,
            [i for i in node.input if i[0] != "^"],
            sorted(i for i in node.input if i[0] == "^"),
            {k: attribute(v) for k, v in node.attr.items() if k not in SILENT and not k.startswith("_grappler")},
        )
        for node in graph.node
    }


class Rewrites(unittest.TestCase):
    def test_every_rewrite_is_grapplers(self):
        for folder in sorted((TESTDATA / "rewrites").iterdir()):
            case = json.loads((folder / "case.json").read_text())
            fetches = case["fetch"] if isinstance(case["fetch"], list) else [case["fetch"]]
            with self.subTest(folder.name):
                got = optimise(folder / "graph.pbtxt", "--rewriter-config", str(folder / "config.pbtxt"), "--fetch", ",".join(fetches))
                want = text_format.Parse((folder / "tf.pbtxt").read_text(), graph_pb2.GraphDef())
                self.assertEqual(meaning(got), meaning(want))


class Models(unittest.TestCase):
    def test_tensorflow_runs_the_result_with_the_same_outputs(self):
        for name in ["harmonic_mean", "harmonic_mean_print", "models/lenet", "models/transformer_block"]:
            folder = TESTDATA / name
            case = json.loads((folder / "case.json").read_text())
            with self.subTest(name):
                graph = optimise(folder, "--device", CPU)
                options = tf.compat.v1.ConfigProto()
                options.graph_options.rewrite_options.disable_meta_optimizer = True
                with tf.Graph().as_default() as g:
                    tf.import_graph_def(graph, name="")
                    with tf.compat.v1.Session(graph=g, config=options) as session:
                        feeds = {k: np.load(folder / v) for k, v in case["feeds"].items()}
                        outputs = session.run(list(case["fetches"]), feeds)
                for output, (tensor, file) in zip(outputs, case["fetches"].items()):
                    atol = case["atol"][tensor] if isinstance(case["atol"], dict) else case["atol"]
                    np.testing.assert_allclose(output, np.load(folder / file), rtol=case["rtol"], atol=atol)


if __name__ == "__main__":
    unittest.main()
