"""The lines of Python that a SavedModel keeps beside it: read, kept through passes, and written for TensorFlow's own reader."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GRAPNEL = os.environ.get("GRAPNEL", os.path.join(ROOT, "build/release/bin/grapnel"))

try:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    import numpy as np
    import tensorflow as tf
except ImportError:
    print("skipped: no TensorFlow")
    sys.exit(77)

PROGRAM = '''import tensorflow as tf
class Model(tf.Module):
  @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
  def step(self, x):
    def body(i, v):
      return i + 1, tf.math.log(v)
    return {"v": tf.while_loop(lambda i, v: i < 3, body, [0, x])[1]}
model = Model()
tf.saved_model.save(model, FOLDER, signatures={"step": model.step},
                    options=tf.saved_model.SaveOptions(save_debug_info=True))
'''
LINE = 6


class SourceLines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.program = os.path.join(cls.folder, "train.py")
        cls.model = os.path.join(cls.folder, "model")
        with open(cls.program, "w") as file:
            file.write(PROGRAM)
        exec(compile(PROGRAM, cls.program, "exec"), {"FOLDER": cls.model, "__name__": "train"})

    def grapnel(self, *arguments, status=0):
        done = subprocess.run([GRAPNEL, *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout

    def ops_of_line(self, model):
        found = json.loads(self.grapnel("info", model, "--line", f"train.py:{LINE}", "--json"))
        for node in found["nodes"]:
            lines = [frame["line"] for frame in node["stack"] if frame["file"] == self.program]
            self.assertEqual(lines[-2:], [LINE + 1, LINE], node)
        return sorted({node["op"] for node in found["nodes"]})

    def test_lines_are_read_and_kept(self):
        self.assertEqual(self.ops_of_line(self.model), ["AddV2", "Const", "Log"])
        for output in ("fast.pb", "fast"):
            path = os.path.join(self.folder, output)
            self.grapnel("opt", self.model, *([] if output == "fast" else ["--signature", "step"]), "-o", path, "--quiet")
            self.assertIn("Log", self.ops_of_line(path))
        tf.saved_model.load(os.path.join(self.folder, "fast")).signatures["step"](tf.constant([1.0, 2.0]))

    def test_tensorflow_reads_the_stacks_of_a_folder(self):
        from tensorflow.python.debug.lib import debug_events_reader
        feed, log = os.path.join(self.folder, "x.npy"), os.path.join(self.folder, "log")
        np.save(feed, np.array([0, 1], np.float32))
        self.grapnel("run", self.model, "--signature", "step", "--feed", f"x={feed}", "--logdir", log, "--quiet")
        with debug_events_reader.DebugDataReader(log) as reader:
            reader.update()
            trace = next(t for t in reader.graph_execution_traces(digest=True) if t.op_type == "Log")
            read = reader.read_graph_execution_trace(trace)
            op = reader.graph_by_id(read.graph_id).get_op_creation_digest(read.op_name)
            host, stack = reader.read_graph_op_creation_stack_trace(op)
            self.assertEqual(tuple(stack[-1]), (self.program, LINE, "body"))
            self.assertEqual(reader.source_lines(host, self.program), PROGRAM.split("\n")[:-1])


if __name__ == "__main__":
    unittest.main()
