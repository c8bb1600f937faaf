"""What `grapnel opt` makes of graphs with functions, judged by Grappler: the main graph and every body. $GRAPNEL is the binary."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
from google.protobuf import text_format
from tensorflow.core.framework import graph_pb2
from graph_meaning import nodes

GRAPNEL = os.environ["GRAPNEL"]
FOLDER = pathlib.Path(os.environ.get("GRAPNEL_TESTDATA", "testdata")) / "functions"


def optimize(folder):
    case = json.loads((folder / "case.json").read_text())
    with tempfile.TemporaryDirectory() as temporary:
        out = pathlib.Path(temporary) / "out.pb"
        command = [GRAPNEL, "opt", str(folder / "graph.pb"), "-o", str(out), "--quiet"]
        command += ["--rewriter-config", str(folder / "config.pbtxt"), "--fetch", ",".join(case["fetches"])]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            raise AssertionError(run.stderr)
        return graph_pb2.GraphDef.FromString(out.read_bytes())


def function(f):
    """Signature, attributes, results and body."""
    signature = f.signature
    return (
        [(a.name, a.type) for a in signature.input_arg],
        [(a.name, a.type) for a in signature.output_arg],
        list(signature.control_output),
        signature.is_stateful,
        {k: v.SerializeToString(deterministic=True) for k, v in f.attr.items()},
        {k: sorted(v.attr) for k, v in f.arg_attr.items()},
        dict(f.ret),
        dict(f.control_ret),
        nodes(f.node_def),
    )


class Functions(unittest.TestCase):
    maxDiff = None

    def test_every_result_is_grapplers(self):
        for folder in sorted(FOLDER.iterdir()):
            with self.subTest(folder.name):
                got = optimize(folder)
                want = text_format.Parse((folder / "tf.pbtxt").read_text(), graph_pb2.GraphDef())
                self.assertEqual(nodes(got.node), nodes(want.node))
                self.assertEqual({f.signature.name for f in got.library.function}, {f.signature.name for f in want.library.function})
                wanted = {f.signature.name: function(f) for f in want.library.function}
                for f in got.library.function:
                    self.assertEqual(function(f), wanted[f.signature.name])


if __name__ == "__main__":
    unittest.main()
