"""What `grapnel opt` makes, judged by real TensorFlow: rewrites equal to Grappler's, and optimized models that TensorFlow
runs with the same outputs. $GRAPNEL is the binary."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
from google.protobuf import text_format
from tensorflow.core.framework import graph_pb2
from graph_meaning import nodes

GRAPNEL = os.environ["GRAPNEL"]
TESTDATA = pathlib.Path(os.environ.get("GRAPNEL_TESTDATA", "testdata"))
CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


def optimize(graph, *flags):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.pb"
        run = subprocess.run([GRAPNEL, "opt", str(graph), "-o", str(out), "--quiet", *flags], capture_output=True, text=True)
        if run.returncode:
            raise AssertionError(run.stderr)
        return graph_pb2.GraphDef.FromString(out.read_bytes())


class Rewrites(unittest.TestCase):
    def test_every_rewrite_is_grapplers(self):
        folders = sorted((TESTDATA / "rewrites").iterdir())
        listed = re.findall(r"^\| `rewrites/([^`]+)` \|", (TESTDATA / "README.md").read_text(), re.MULTILINE)
        self.assertEqual([folder.name for folder in folders], sorted(listed))
        for folder in folders:
            case = json.loads((folder / "case.json").read_text())
            fetches = case["fetch"] if isinstance(case["fetch"], list) else [case["fetch"]]
            with self.subTest(folder.name):
                got = optimize(folder / "graph.pbtxt", "--rewriter-config", str(folder / "config.pbtxt"), "--fetch", ",".join(fetches))
                want = text_format.Parse((folder / "tf.pbtxt").read_text(), graph_pb2.GraphDef())
                self.assertEqual(nodes(got.node), nodes(want.node))


class Models(unittest.TestCase):
    def test_tensorflow_runs_the_result_with_the_same_outputs(self):
        for name in ["harmonic_mean", "harmonic_mean_print", "models/lenet", "models/transformer_block"]:
            folder = TESTDATA / name
            case = json.loads((folder / "case.json").read_text())
            with self.subTest(name):
                graph = optimize(folder, "--device", CPU)
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
