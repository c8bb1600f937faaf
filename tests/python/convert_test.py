"""`grapnel convert`: TensorBoard's Graphs page loads the event file, Model Explorer's JSON has every node and edge of the
GraphDef, and the canonical text of a shuffled graph is the same.

needs: tensorflow-cpu==2.21.0, tensorboard==2.21.0; the binary in $GRAPNEL, else build/release/bin/grapnel
usage: python -m unittest tests/python/convert_test.py
"""
import json
import os
import random
import subprocess
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf
from google.protobuf import text_format
from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer
from tensorboard.context import RequestContext
from tensorboard.plugins import base_plugin
from tensorboard.plugins.graph import graphs_plugin

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
GRAPNEL = os.environ.get("GRAPNEL", os.path.join(ROOT, "build/release/bin/grapnel"))
CASES = ["collatz", "models/lenet", "models/transformer_block", "functions/loop_of_nodes", "functions/nested_calls",
         "functions/effects_stay", "collectives/in_a_loop"]


def graph_of(path):
    graph = tf.compat.v1.GraphDef()
    with open(path, "rb") as f:
        graph.ParseFromString(f.read())
    return graph


def edges_of(node):
    """(node, output, input): as Model Explorer's incomingEdges, for the main graph's NodeDef."""
    data = [i for i in node.input if not i.startswith("^")]
    for slot, text in enumerate(data):
        name, _, port = text.partition(":")
        yield name, port or "0", str(slot)
    for slot, text in enumerate(i for i in node.input if i.startswith("^")):
        yield text[1:], "control", f"^{slot}"


class ConvertTest(unittest.TestCase):
    def setUp(self):
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        self.tmp = tmp.name

    def convert(self, model, form, name, *flags):
        path = os.path.join(self.tmp, name)
        subprocess.run([GRAPNEL, "convert", model, "--to", form, "-o", path, *flags], check=True)
        return path

    def each_case(self, check):
        for name in CASES:
            with self.subTest(name):
                folder = os.path.join(ROOT, "testdata", name)
                check(folder, graph_of(os.path.join(folder, "graph.pb")))

    def shown_by_tensorboard(self, logdir):
        multiplexer = plugin_event_multiplexer.EventMultiplexer()
        multiplexer.AddRunsFromDirectory(logdir)
        multiplexer.Reload()
        provider = data_provider.MultiplexerDataProvider(multiplexer, logdir)
        plugin = graphs_plugin.GraphsPlugin(base_plugin.TBContext(logdir=logdir, data_provider=provider))
        self.assertTrue(plugin.info_impl(RequestContext(), "e")["."]["run_graph"])
        text, mime_type = plugin.graph_impl(RequestContext(), ".", None, False, "e")
        self.assertEqual(mime_type, "text/x-protobuf")
        return text_format.Parse(text, tf.compat.v1.GraphDef())

    def test_tensorboard(self):
        def check(folder, graph):
            logdir = os.path.join(self.tmp, os.path.basename(folder))
            self.convert(folder, "event", os.path.basename(folder) + "/")
            shown = self.shown_by_tensorboard(logdir)
            self.assertEqual([(n.name, n.op, list(n.input)) for n in shown.node],
                             [(n.name, n.op, list(n.input)) for n in graph.node])
            self.assertEqual([f.signature.name for f in shown.library.function],
                             [f.signature.name for f in graph.library.function])
        self.each_case(check)

    def test_model_explorer(self):
        def check(folder, graph):
            with open(self.convert(folder, "model-explorer", "x.json")) as f:
                graphs = json.load(f)["graphs"]
            self.assertEqual([g["id"] for g in graphs], ["main"] + [f.signature.name for f in graph.library.function])
            self.check_main(graphs[0], graph)
            self.check_ids(graphs)
        self.each_case(check)

    def check_main(self, main, graph):
        self.assertEqual([(n["id"], n["label"]) for n in main["nodes"]], [(n.name, n.op) for n in graph.node])
        for shown, node in zip(main["nodes"], graph.node):
            self.assertEqual([(e["sourceNodeId"], e["sourceNodeOutputId"], e["targetNodeInputId"])
                              for e in shown["incomingEdges"]], list(edges_of(node)))

    def check_ids(self, graphs):
        """Every id that is named is there, once, and no two graphs share one."""
        names = [n["id"] for g in graphs for n in g["nodes"]]
        self.assertEqual(len(names), len(set(names)))
        for graph in graphs:
            outputs = {n["id"]: {m["id"] for m in n["outputsMetadata"]} for n in graph["nodes"]}
            for node in graph["nodes"]:
                self.assertLessEqual(set(node.get("subgraphIds", ())), {g["id"] for g in graphs})
                for edge in node["incomingEdges"]:
                    self.assertIn(edge["sourceNodeOutputId"], outputs[edge["sourceNodeId"]])

    def test_node_data_has_the_ids_of_the_graphs(self):
        def check(folder, _):
            with open(self.convert(folder, "model-explorer", "x.json")) as f:
                ids = {g["id"]: {n["id"] for n in g["nodes"]} for g in json.load(f)["graphs"]}
            for kind in "op-cost", "constant-bytes":
                with open(self.convert(folder, "node-data", "d.json", "--node-data", kind)) as f:
                    data = json.load(f)
                self.assertEqual(list(data), list(ids))
                for graph in ids:
                    self.assertLessEqual(set(data[graph]["results"]), ids[graph])
        self.each_case(check)

    def test_sync_navigation_has_the_ids_of_both_graphs(self):
        def check(folder, _):
            optimized = os.path.join(self.tmp, "optimized.pb")
            subprocess.run([GRAPNEL, "opt", folder, "-o", optimized, "-q"], check=True)
            ids = []
            for model in folder, optimized:
                with open(self.convert(model, "model-explorer", "x.json")) as f:
                    ids.append({n["id"] for g in json.load(f)["graphs"] for n in g["nodes"]})
            with open(self.convert(folder, "sync-navigation", "s.json", optimized)) as f:
                entries = json.load(f)["mappingEntries"]
            self.assertTrue(entries)
            for side, names in zip(("leftNodeIds", "rightNodeIds"), ids):
                self.assertLessEqual({i for e in entries for i in e[side]}, names)
        self.each_case(check)

    def shuffled(self, graph):
        """The same graph: nodes, functions and control inputs in another order, ":0" and defaults written out."""
        other = tf.compat.v1.GraphDef(versions=graph.versions)
        nodes, functions = list(graph.node), list(graph.library.function)
        for items in nodes, functions:
            random.shuffle(items)
        for node in nodes:
            copy = other.node.add()
            copy.CopyFrom(node)
            control = [i for i in node.input if i.startswith("^")]
            random.shuffle(control)
            data = [i if ":" in i else i + ":0" for i in node.input if not i.startswith("^")]
            del copy.input[:]
            copy.input.extend(data + control)
            if node.op == "MatMul":
                copy.attr["transpose_a"].b |= False
        for function in functions:
            copy = other.library.function.add()
            copy.CopyFrom(function)
            body = list(function.node_def)
            random.shuffle(body)
            del copy.node_def[:]
            copy.node_def.extend(body)
        return other

    def test_canonical(self):
        random.seed(0)
        def check(folder, graph):
            shuffled = os.path.join(self.tmp, "shuffled.pb")
            with open(shuffled, "wb") as f:
                f.write(self.shuffled(graph).SerializeToString())
            texts = []
            for model in folder, shuffled:
                with open(self.convert(model, "canonical", "x.pbtxt"), "rb") as f:
                    texts.append(f.read())
            self.assertEqual(*texts)
            again = self.convert(os.path.join(self.tmp, "x.pbtxt"), "canonical", "again.pbtxt")
            with open(again, "rb") as f:
                self.assertEqual(f.read(), texts[0])
            read = text_format.Parse(texts[0], tf.compat.v1.GraphDef())
            with tf.Graph().as_default():
                tf.import_graph_def(read, name="")
            self.assertEqual(len(read.node), len(graph.node))
        self.each_case(check)

    def test_pb_and_pbtxt_are_the_same_graph(self):
        def check(folder, graph):
            self.assertEqual(graph_of(self.convert(folder, "pb", "x.pb")), graph)
            with open(self.convert(folder, "pbtxt", "x.txt")) as f:
                self.assertEqual(text_format.Parse(f.read(), tf.compat.v1.GraphDef()), graph)
        self.each_case(check)


if __name__ == "__main__":
    unittest.main()
