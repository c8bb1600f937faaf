"""`run --summaries`: TensorBoard's own reader and data provider find what the event files say, beside the debugger's files and
after a run that was killed; and the ops that write event files write what TensorFlow's do.

needs: tensorflow-cpu==2.21.0, tensorboard==2.21.0; the binary in $GRAPNEL, else build/release/bin/grapnel
usage: python -m unittest tests/python/summaries_test.py
"""
import glob
import os
import signal
import subprocess
import tempfile
import time
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer
from tensorboard.context import RequestContext
from tensorboard.data import provider
from tensorboard.plugins.histogram import summary_v2
from tensorboard.util import tensor_util
from tensorflow.python.debug.lib import debug_events_reader

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
GRAPNEL = os.environ.get("GRAPNEL", os.path.join(ROOT, "build/release/bin/grapnel"))
EVERYTHING = {kind: 0 for kind in ("scalars", "tensors", "images", "histograms", "text")}
raw = tf.raw_ops
GRAPH = """
fetch %mean
%x = Placeholder {dtype=float, shape=[8,8,3]}
%mean = Mean(%x, [0, 1, 2])
%words = Const ["**bold**", "plain"]
%w = While(%n=0, %t=1.0) {T=[int32,float], cond=@cond, body=@body}
func @cond(%i: int32, %t: float) -> (r: bool) {
  %l = Less(%i, %four=4)
  return %l
}
func @body(%i: int32, %t: float) -> (j: int32, u: float) {
  %j = AddV2(%i, %one=1)
  %half = Mul(%t, %k=0.5)
  return %j, %half
}
"""


def run(*args, **options):
    return subprocess.run([GRAPNEL, "run", *args], capture_output=True, text=True, **options)


class Reader:
    """What TensorBoard's pages ask for, of one log folder."""

    def __init__(self, folder):
        self.events = plugin_event_multiplexer.EventMultiplexer(tensor_size_guidance=EVERYTHING)
        self.events.AddRunsFromDirectory(folder)
        self.events.Reload()
        self.data = data_provider.MultiplexerDataProvider(self.events, folder)

    def _read(self, read, plugin, tag):
        found = read(RequestContext(), experiment_id="", plugin_name=plugin, downsample=1000,
                     run_tag_filter=provider.RunTagFilter(tags=[tag]))
        return found["."][tag]

    def scalars(self, tag):
        return [(d.step, d.value) for d in self._read(self.data.read_scalars, "scalars", tag)]

    def tensors(self, plugin, tag):
        return [(d.step, d.numpy) for d in self._read(self.data.read_tensors, plugin, tag)]

    def blobs(self, tag):
        series = self._read(self.data.read_blob_sequences, "images", tag)
        return [(d.step, [self.data.read_blob(RequestContext(), blob_key=v.blob_key) for v in d.values]) for d in series]

    def plugin_of(self, tag):
        return self.events.SummaryMetadata(".", tag).plugin_data.plugin_name


def events_in(path):
    """Of an event file, the events without their times."""
    events = []
    for record in tf.data.TFRecordDataset(path):
        event = tf.compat.v1.Event.FromString(record.numpy())
        assert abs(event.wall_time - time.time()) < 3600, event
        event.wall_time = 0
        event.ClearField("source_metadata")
        events.append(event)
    return events


class Summaries(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.graph = self.path("g.gtxt")
        self.logs = self.path("logs")
        with open(self.graph, "w") as f:
            f.write(GRAPH)
        self.x = np.random.RandomState(1).rand(8, 8, 3).astype("f")
        np.save(self.path("x.npy"), self.x)
        self.case = [self.graph, "--feed", "x=" + self.path("x.npy")]

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def test_each_kind_is_read(self):
        done = run(*self.case, "--fetch", "mean", "--fetch", "w:1", "--summaries", self.logs, "--repeat", "3", "--summary",
                   "scalar:max(abs(x))=peak", "--summary", "histogram:x:0=spread", "--summary", "image:x", "--summary",
                   "text:words", "--summary", "scalar:body/half")
        self.assertEqual(done.returncode, 0, done.stderr)
        files = os.listdir(self.logs)
        self.assertEqual(len(files), 1)
        self.assertRegex(files[0], r"^events\.out\.tfevents\.\d{10}\.[^/]+\.\d+\.0\.v2$")
        first = events_in(os.path.join(self.logs, files[0]))[0]
        self.assertEqual(first.file_version, "brain.Event:2")
        reader = Reader(self.logs)
        self.assertEqual([step for step, _ in reader.scalars("peak")], [1, 2, 3])
        self.assertAlmostEqual(reader.scalars("peak")[0][1], float(self.x.max()), 6)
        # Each iteration of a loop is a step.
        self.assertEqual(reader.scalars("body/half"), [(i + 1, 0.5**(i % 4 + 1)) for i in range(12)])
        buckets = reader.tensors("histograms", "spread")[0][1]
        expected = tensor_util.make_ndarray(summary_v2.histogram_pb("spread", self.x).value[0].tensor)
        np.testing.assert_allclose(buckets, expected, atol=1e-6)
        self.assertEqual(len(reader.blobs("x")), 3)
        words = reader.tensors("text", "words")[0][1]
        self.assertEqual(list(words), [b"**bold**", b"plain"])

    def test_images_have_the_pixels_that_tensorflow_gives_them(self):
        done = run(*self.case, "--summaries", self.logs, "--summary", "image:x")
        self.assertEqual(done.returncode, 0, done.stderr)
        [(step, (width, height, png))] = Reader(self.logs).blobs("x")
        self.assertEqual((step, width, height), (1, b"8", b"8"))
        pixels = tf.image.convert_image_dtype(self.x, tf.uint8, saturate=True)
        np.testing.assert_array_equal(tf.io.decode_png(png), pixels)

    def test_default_is_of_what_is_fetched(self):
        done = run(*self.case, "--fetch", "mean", "--fetch", "x", "--fetch", "words", "--summaries", self.logs)
        self.assertEqual(done.returncode, 0, done.stderr)
        reader = Reader(self.logs)
        self.assertEqual([reader.plugin_of(tag) for tag in ("mean", "x", "words")], ["scalars", "histograms", "text"])

    def test_a_folder_gets_another_file_and_stands_beside_the_debugger(self):
        for _ in range(2):
            done = run(*self.case, "--summaries", self.logs)
            self.assertEqual(done.returncode, 0, done.stderr)
        done = run(*self.case, "--summaries", self.logs, "--logdir", self.logs)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(glob.glob(self.logs + "/events.*")), 3)
        reader = Reader(self.logs)
        self.assertEqual(len(reader.scalars("mean")), 3)
        with debug_events_reader.DebugDataReader(self.logs) as debugged:
            debugged.update()
            self.assertEqual(debugged.num_executions(), 1)

    def test_a_killed_run_leaves_a_file_that_opens(self):
        child = subprocess.Popen([GRAPNEL, "run", *self.case, "--summaries", self.logs, "--repeat", "100000000"],
                                 stdout=subprocess.DEVNULL)
        deadline = time.time() + 60
        while time.time() < deadline:
            files = glob.glob(self.logs + "/events.*")
            if files and os.path.getsize(files[0]) > 1000:
                break
            time.sleep(0.05)
        child.send_signal(signal.SIGKILL)
        child.wait()
        values = Reader(self.logs).scalars("mean")
        self.assertGreater(values[-1][0], 10)
        self.assertEqual({value for _, value in values}, {values[0][1]})

    def test_numbers_that_are_none_are_left_out_of_histograms(self):
        x = self.x.copy()
        x[0, 0] = np.nan, np.inf, -np.inf
        np.save(self.path("x.npy"), x)
        done = run(*self.case, "--summaries", self.logs, "--summary", "histogram:x")
        self.assertEqual(done.returncode, 0, done.stderr)
        buckets = Reader(self.logs).tensors("histograms", "x")[0][1]
        self.assertEqual(buckets[:, 2].sum(), x.size - 3)
        self.assertTrue(np.isfinite(buckets).all())


class WriterOps(unittest.TestCase):
    """A graph that writes its own summaries, in TensorFlow and in grapnel."""

    def build(self, folder):
        graph = tf.Graph()
        with graph.as_default():
            writer = raw.SummaryWriter(shared_name="w", container="")
            made = raw.CreateSummaryFileWriter(writer=writer, logdir=folder, max_queue=10, flush_millis=1000,
                                               filename_suffix=".v2")
            r = np.random.RandomState(0)
            last = made
            metadata = tf.compat.v1.SummaryMetadata()
            metadata.plugin_data.plugin_name = "scalars"
            image = r.randn(2, 4, 5, 3).astype("f")
            image[1, 2, 2, 1] = np.nan
            for op in [
                    lambda: raw.WriteSummary(writer=writer, step=3, tensor=np.float32(2.5), tag="scalar",
                                             summary_metadata=metadata.SerializeToString()),
                    lambda: raw.WriteSummary(writer=writer, step=4, tensor=[b"a", b"bc"], tag="text", summary_metadata=b""),
                    lambda: raw.WriteScalarSummary(writer=writer, step=5, tag="old", value=np.int32(7)),
                    lambda: raw.WriteHistogramSummary(writer=writer, step=6, tag="spread", values=r.randn(50)),
                    lambda: raw.WriteHistogramSummary(writer=writer, step=6, tag="truth", values=[True, False, True]),
                    lambda: raw.WriteImageSummary(writer=writer, step=7, tag="picture", tensor=image,
                                                  bad_color=np.array([255, 0, 0, 255], "u1")),
                    lambda: raw.WriteAudioSummary(writer=writer, step=8, tag="sound", tensor=r.rand(2, 6, 2).astype("f"),
                                                  sample_rate=8000.0),
                    lambda: raw.WriteRawProtoSummary(writer=writer, step=9, tensor=raw.MergeSummary(inputs=[
                        raw.ScalarSummary(tags="a", values=1.0), raw.ScalarSummary(tags="b", values=2.0)])),
                    lambda: raw.WriteGraphSummary(writer=writer, step=10, tensor=b"\x22\x02\x08\x01"),
            ]:
                with tf.control_dependencies([last]):
                    last = op()
            with tf.control_dependencies([last]):
                flushed = raw.FlushSummaryWriter(writer=writer)
            with tf.control_dependencies([flushed]):
                closed = raw.CloseSummaryWriter(writer=writer)
            with tf.control_dependencies([closed]):
                tf.constant(1, name="done")
        return graph

    def test_files_are_alike(self):
        with tempfile.TemporaryDirectory() as folder:
            theirs, ours = os.path.join(folder, "theirs"), os.path.join(folder, "ours")
            with tf.compat.v1.Session(graph=self.build(theirs)) as session:
                session.run("done:0")
            path = os.path.join(folder, "g.pb")
            with open(path, "wb") as f:
                f.write(self.build(ours).as_graph_def().SerializeToString())
            done = run(path, "--fetch", "done")
            self.assertEqual(done.returncode, 0, done.stderr)
            [theirs], [ours] = glob.glob(theirs + "/*"), glob.glob(ours + "/*")
            form = r"^events\.out\.tfevents\.\d{10}\.[^/]+\.\d+\.0\.v2$"
            # TensorFlow counts the files of its process.
            self.assertRegex(os.path.basename(theirs), form.replace(r"\.0\.v2", r"\.\d+\.v2"))
            self.assertRegex(os.path.basename(ours), form)
            theirs, ours = events_in(theirs), events_in(ours)
            self.assertEqual(len(ours), len(theirs))
            for a, b in zip(ours, theirs):
                self.assertEqual(a, b)

    def test_an_imported_event_keeps_its_time_and_step(self):
        event = tf.compat.v1.Event(wall_time=1234.5, step=11)
        event.summary.value.add(tag="imported", simple_value=2.5)
        for bad in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                files, errors = [], []
                for ours in (False, True):
                    logs = os.path.join(folder, "ours" if ours else "theirs")
                    graph = tf.Graph()
                    with graph.as_default():
                        writer = raw.SummaryWriter(shared_name="w", container="")
                        made = raw.CreateSummaryFileWriter(writer=writer, logdir=logs, max_queue=0, flush_millis=0,
                                                           filename_suffix="")
                        with tf.control_dependencies([made]):
                            imported = raw.ImportEvent(writer=writer, event=b"\n\x7f" if bad else event.SerializeToString())
                        with tf.control_dependencies([imported]):
                            tf.constant(1, name="done")
                    errors.append(self.run_graph(graph, folder, ours))
                    [path] = glob.glob(logs + "/*")
                    files.append([record.numpy() for record in tf.data.TFRecordDataset(path)][1:])
                self.assertEqual([bool(error) for error in errors], [bad, bad])
                self.assertEqual(files[1], files[0])
                self.assertEqual(files[1], [] if bad else [event.SerializeToString()])

    def run_graph(self, graph, folder, ours):
        """Gives the error, or nothing."""
        if ours:
            path = os.path.join(folder, "g.pb")
            with open(path, "wb") as f:
                f.write(graph.as_graph_def().SerializeToString())
            return run(path, "--fetch", "done").stderr
        with tf.compat.v1.Session(graph=graph) as session:
            try:
                session.run("done:0")
            except tf.errors.OpError as error:
                return str(error)
        return ""


if __name__ == "__main__":
    unittest.main()
