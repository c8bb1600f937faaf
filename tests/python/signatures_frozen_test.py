"""Models of testdata/signatures, frozen or optimized by grapnel: TensorFlow itself opens them and gives what it gave of the model."""
import glob
import json
import os
import subprocess
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

GRAPNEL = os.environ.get("GRAPNEL", "build/release/bin/grapnel")
HOME = "testdata/signatures"
tf1 = tf.compat.v1


class SignaturesFrozenTest(unittest.TestCase):
    def setUp(self):
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        self.folder = tmp.name

    def models(self, kind):
        folders = sorted(glob.glob(os.path.join(HOME, kind, "*")))
        self.assertGreaterEqual(len(folders), 5)
        for folder in folders:
            values = [{os.path.basename(f)[2:-4]: np.load(f) for f in glob.glob(f"{folder}/{letter}_*.npy")} for letter in "xy"]
            yield os.path.join(folder, "model"), *values

    def opt(self, *arguments):
        done = subprocess.run([GRAPNEL, "opt", *arguments, "--json"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def close(self, got, wanted):
        if wanted.dtype.kind == "S":
            return self.assertEqual(got.tolist(), wanted.tolist())
        self.assertEqual(got.dtype, wanted.dtype)
        np.testing.assert_allclose(got, wanted, 4e-3 if wanted.dtype == np.half else 1e-5, 1e-6)

    def check_frozen(self, model, inputs, outputs):
        """By the names that opt says; gives the path and the names."""
        path = os.path.join(self.folder, "f.pb")
        said = self.opt(model, "--freeze", "-o", path)
        names = {one["key"]: one["tensor"] for side in ("inputs", "outputs") for one in said[side]}
        definition = tf1.GraphDef()
        with open(path, "rb") as f:
            definition.ParseFromString(f.read())
        with tf.Graph().as_default(), tf1.Session() as session:
            tf.import_graph_def(definition, name="")
            if "run_first" in said:
                session.run(said["run_first"])
            got = session.run({key: names[key] for key in outputs}, {names[key]: value for key, value in inputs.items()})
        for key, value in outputs.items():
            self.close(got[key], value)
        return definition, names, said

    def test_tables(self):
        for model, inputs, outputs in self.models("freeze_loses_table"):
            with self.subTest(model):
                self.assertEqual(self.check_frozen(model, inputs, outputs)[2]["run_first"], "init_all_tables")

    def converts(self, definition, inputs, outputs):
        """The converter reads the functions' notes of shapes, which a session does not."""
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(definition, name="")
            ends = [[graph.get_tensor_by_name(name) for name in names] for names in (inputs, outputs)]
        converter = tf1.lite.TFLiteConverter(definition, *ends)
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS, tf.lite.OpsSet.SELECT_TF_OPS]
        try:
            return bool(converter.convert())
        except Exception as error:
            return str(error)

    def test_shapes(self):
        converted = 0
        for model, inputs, outputs in self.models("stale_input_shapes"):
            with self.subTest(model):
                definition, names, _ = self.check_frozen(model, inputs, outputs)
                result = self.converts(definition, [names[k] for k in inputs], [names[k] for k in outputs])
                converted += result is True
                # It reads the graph, and then has no op for calls that are not to be inlined.
                self.assertTrue(result is True or "ERROR_STATEFUL_PARTITIONED_CALL_IN_FINAL_IR" in result, result)
        self.assertGreaterEqual(converted, 2)

    def test_loads(self):
        for number, (model, inputs, outputs) in enumerate(self.models("optimised_model_does_not_load")):
            with self.subTest(model):
                self.check_loads(model, inputs, outputs, os.path.join(self.folder, f"out{number}"))

    def check_loads(self, model, inputs, outputs, path):
        self.opt(model, "-o", path)
        got = tf.saved_model.load(path).signatures["serving_default"](**{k: tf.constant(v) for k, v in inputs.items()})
        with tf.Graph().as_default(), tf1.Session() as session:
            ends = tf1.saved_model.load(session, ["serve"], path).signature_def["serving_default"]
            old = session.run({key: ends.outputs[key].name for key in outputs},
                              {ends.inputs[key].name: value for key, value in inputs.items()})
        for key, value in outputs.items():
            self.close(got[key].numpy(), value)
            self.close(old[key], value)


if __name__ == "__main__":
    unittest.main()
