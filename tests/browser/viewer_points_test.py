"""What a graph viewer must do, point by point; docs/internals/drawing.md lists the points with the tests and pictures that show them."""
import json
import os
import subprocess
import tempfile

import page_case
from page_case import GRAPNEL, ROOT, SLOWER, PageCase

TYPE = "attr { key: 'T' value { type: DT_FLOAT } }"
BLOCKS = 8000  # of 12 nodes each
COUNTS = "return document.getElementById('counts').textContent"
LEGEND = "return document.getElementById('legend').textContent"
PANEL = "return document.getElementById('panel').textContent"
# Every scope of a body as the page receives it, from the outermost in.
ALL_SCOPES = """const source = grapnel.source, body = arguments[0], done = arguments[1], views = [];
const visit = async (id) => {
  const {view} = await source.scope(body, id);
  views.push(view);
  for (const box of view.boxes) if (box.kind === "scope") await visit(box.scope);
};
visit(undefined).then(() => done(views), (error) => done(error.message));"""


def blocks(path, count):
    """A chain of blocks of one structure, each in its scope."""
    node = "node {{ name: '{}' op: '{}' {} {} }}\n"
    with open(path, "w", encoding="utf-8") as file:
        file.write("node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }\n")
        last = "x"
        for i in range(count):
            for j in range(12):
                name = f"net/block_{i}/relu_{j}"
                file.write(node.format(name, "Relu", f"input: '{last}'", TYPE))
                last = name
        file.write(node.format("out", "Relu", f"input: '{last}'", TYPE))


class ViewerPoints(PageCase):
    def scopes(self, body=0):
        views = self.browser.call("POST", "/execute/async", {"script": ALL_SCOPES, "args": [body]})
        self.assertIsInstance(views, list)
        return views

    def find(self, words, count=1):
        """Searches, and goes to the first result."""
        self.browser.js("document.getElementById('search').value = ''")
        self.browser.type("#search", words)
        self.browser.wait(f"document.querySelectorAll('#results [role=option]').length >= {count}")
        self.browser.press("Enter")
        self.browser.wait("document.querySelector('#panel h2').textContent !== grapnel.summary.title")

    def test_01_02_a_hundred_thousand_nodes_at_once_and_in_little_memory(self):
        path = os.path.join(tempfile.mkdtemp(), "blocks.pbtxt")
        blocks(path, BLOCKS)
        self.show(self.serve(path))
        self.assertLess(self.browser.js("return performance.now()"), 5000 * SLOWER)
        self.assertIn("96,002 ops", self.browser.js(COUNTS))
        self.assertLess(len(self.boxes()), 60, "only what is open is laid out")
        self.assertLess(self.browser.js("gc(); return performance.memory.usedJSHeapSize"), 150e6)
        self.assertTrue(any(f"\u00d7{BLOCKS}" in box["name"] for box in self.boxes()), "04: repeated siblings are one box with a count")

    def test_03_the_lone_root_scope_is_open(self):
        path = os.path.join(tempfile.mkdtemp(), "net.gtxt")
        with open(path, "w", encoding="utf-8") as file:
            file.write("%x = Placeholder {dtype=float, shape=[2]}\n%net/0 = Relu(%x)\n")
            for i in range(1, 12):
                file.write(f"%net/{i} = Exp(%net/{i - 1})\n")
        for model, is_layers in (("testdata/models/lenet", True), (path, False)):
            self.show(self.serve(model))
            closed = [box for box in self.boxes() if not box["open"]]
            self.assertTrue(9 <= len(closed) <= 40, closed)
            self.assertEqual([box["name"] for box in self.boxes() if box["open"]], [] if is_layers else ["net"],
                             "a scope around all layers has no box")

    def test_04_all_is_in_sight_and_can_be_read(self):
        for model in ("testdata/models/lenet", "testdata/collatz", "testdata/models/train_step"):
            self.show(self.serve(model))
            self.assertGreaterEqual(self.browser.js("return grapnel.view.at.zoom * 13"), 11, f"{model}: pixels that text has")
            outside = self.browser.js("""const {x, y, zoom} = grapnel.view.at, c = grapnel.view.canvas;
              return grapnel.view.boxes.filter((b) => b.x * zoom + x < 0 || b.y * zoom + y < 0 || (b.x + b.w) * zoom + x > c.clientWidth
                || (b.y + b.h) * zoom + y > c.clientHeight).map((b) => b.box.name);""")
            self.assertEqual(outside, [], model)

    def test_05_main_first_and_functions_inside_their_callers(self):
        self.show(self.serve("testdata/collatz"))
        self.assertEqual(self.browser.js("return document.getElementById('crumbs').textContent"), "main")
        self.assertEqual([title.split(":")[0] for title in self.box("while", "StatelessWhile")["title"]], ["cond", "body"])

    def test_06_a_loop_body_is_chains_of_what_the_loop_changes(self):
        self.show(self.serve("testdata/collatz"))
        bodies = self.browser.js("return grapnel.summary.bodies.map((body) => body.name)")
        views = self.scopes(next(i for i, name in enumerate(bodies) if name.startswith("while_body")))
        parent = {}

        def root(x):
            while parent.setdefault(x, x) != x:
                x = parent[x]
            return x

        # In each scope's view, edges connect its boxes with the entities at the other ends of its ports.
        for view in views:
            items = [box["key"] for box in view["boxes"]] + [port["key"] for port in view["sources"] + view["sinks"]]
            for edge in view["edges"]:
                parent[root(items[edge["from"]])] = root(items[edge["to"]])
        ends = {}
        for box in (box for view in views for box in view["boxes"]):
            if box.get("op", "").startswith(("arg", "result")):
                ends.setdefault(root(box["key"]), []).append(box["op"])
        loose = [ops for ops in ends.values() if any(op.startswith("result") for op in ops)]
        changed = (0, 2, 3)  # of four arguments
        self.assertEqual(sorted(op for ops in loose for op in ops if op.startswith("result")), [f"result {i}" for i in changed])
        ops = [box["op"] for view in views for box in view["boxes"] if box.get("op", "").startswith(("arg", "result"))]
        self.assertEqual(sorted(ops), [f"{end} {i}" for end in ("arg", "result") for i in changed])
        lone = [box["name"] for view in views for i, box in enumerate(view["boxes"])
                if not any(i in (edge["from"], edge["to"]) for edge in view["edges"])]
        self.assertEqual(lone, [], "every box of the body has an edge")

    def test_07_every_input_is_drawn_or_counted(self):
        for model in ("testdata/models/lenet", "testdata/models/train_step", "testdata/models/transformer_block"):
            self.show(self.serve(model))
            body = self.browser.js("return grapnel.summary.bodies[0]")
            counts = self.browser.call("POST", "/execute/async", {"script": "grapnel.source.scope(0).then((doc) => arguments[0](doc.counts));", "args": []})
            self.assertEqual(body["data_inputs"] + body["control_inputs"], counts["drawn"] + counts["folded"] + counts["dangling"], model)
            info = json.loads(subprocess.run([GRAPNEL, "info", model, "--json"], check=True, cwd=ROOT, capture_output=True, text=True).stdout)
            self.assertEqual([info["graphs"][0][key] for key in ("data_edges", "control_edges")], [body["data_inputs"], body["control_inputs"]])
            ends = 0  # of edges at ops that are not scopes, from the ops' side: each edge goes into exactly one
            for view in self.scopes():
                for edge in view["edges"]:
                    into = edge["to"]
                    if into < len(view["boxes"]) and view["boxes"][into]["kind"] == "op":
                        ends += edge["count"]
                ends += sum(int(note.split()[2]) for box in view["boxes"] if box["kind"] == "op" for note in box.get("notes", []) if note.startswith("waits for"))
            self.assertEqual(ends, counts["drawn"], model)

    def test_08_control_edges_are_another_kind(self):
        self.show(self.serve("testdata/harmonic_mean_print"))
        self.assertIn("control", self.browser.js(LEGEND))
        self.assertTrue(any(edge.get("control") for view in self.scopes() for edge in view["edges"]))
        self.browser.click("#control")
        self.assertTrue(self.browser.js("return grapnel.view.look.hideControl"))
        self.find("op:noop")
        self.assertIn("Waits for", self.browser.js(PANEL))

    def test_09_what_is_folded_is_said(self):
        self.show(self.serve("testdata/models/lenet"))
        self.assertRegex(self.browser.js(COUNTS), r"64 ops: \d+ boxes; 18 constants folded into their readers; 1 NoOp folded; 78 inputs, \d+ as lines, \d+ inside boxes")

    def test_10_shapes_are_inferred(self):
        path = os.path.join(tempfile.mkdtemp(), "shapes.pbtxt")
        with open(path, "w", encoding="utf-8") as file:
            file.write("node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } "
                       "attr { key: 'shape' value { shape { dim { size: -1 } dim { size: 28 } } } } }\n"
                       f"node {{ name: 'r' op: 'Relu' input: 'x' {TYPE} }}\nnode {{ name: 's' op: 'Relu' input: 'r' {TYPE} }}\n")
        self.show(self.serve(path))
        labels = [edge["label"] for view in self.scopes() for edge in view["edges"]]
        self.assertEqual(labels, ["float[?,28]", "float[?,28]"])

    def test_11_boxes_say_op_and_name_in_full(self):
        self.show(self.serve("testdata/models/lenet"))
        self.toggle("conv2d_1")
        lines = self.browser.js("""const box = grapnel.view.boxes.find((b) => b.box.op === 'Conv2D');
          return [box.lines.map((parts) => parts.map((part) => part.text).join('')), box.box.path];""")
        self.assertIn("Conv2D", lines[0][0])
        self.assertIn("convolution", " ".join(lines[0]))
        self.browser.js("grapnel.view.select(grapnel.view.boxes.find((b) => b.box.op === 'Conv2D'))")
        self.assertEqual(lines[1], "sequential_1/conv2d_1/convolution")

        # A scope shows its size and its most frequent ops on two lines, each number next to its op.
        path = os.path.join(tempfile.mkdtemp(), "long.gtxt")
        with open(path, "w", encoding="utf-8") as file:
            file.write("%x = Placeholder {dtype=float, shape=[2]}\n")
            for scope in ("a", "b", "c"):
                for op, count in (("DebugGradientIdentity", 12), ("PlaceholderWithDefault", 11), ("Relu", 8), ("Exp", 7)):
                    for i in range(count):
                        file.write(f"%{scope}/tape/{op}_{i} = {op}(%x) {{{'shape=[2]' if op[0] == 'P' else ''}}}\n")
        self.show(self.serve(path))
        tape = next(box for box in self.boxes() if box["name"].endswith("tape"))
        lines = self.browser.js("return grapnel.view.boxes.find((b) => b.box.name === arguments[0]).lines.map((l) => l[0].text)", tape["name"])
        self.assertEqual(lines[1:], ["38 ops: 12 DebugGradientIdentity,", "11 PlaceholderWithDefault, \u2026"])

    def test_12_data_flows_down_and_ends_are_marked(self):
        self.show(self.serve("testdata/models/lenet"))
        self.assertIn("Data flows down", self.browser.js(COUNTS))
        boxes = self.browser.js("return grapnel.view.boxes.map((b) => [b.box.input ?? false, b.box.output ?? false, b.y])")
        first, last = min(y for _, _, y in boxes), max(y for _, _, y in boxes)
        self.assertTrue(any(is_input and y == first for is_input, _, y in boxes))
        self.assertTrue(any(is_output and y == last for _, is_output, y in boxes))

    def test_13_the_panel_is_in_words(self):
        self.show(self.serve("testdata/collatz"))
        self.find("op:statelesswhile")
        panel = self.browser.js(PANEL)
        self.assertNotIn("{", panel)
        self.assertIn("StatelessWhile", panel)
        self.browser.click("#panel li .link")  # its first input
        self.browser.wait("document.querySelector('#panel h2 + p')?.textContent.startsWith('while/loop_counter')")
        self.assertIn("Folded into the box that reads it", self.browser.js(PANEL))

    def test_14_search_finds_by_all_that_a_node_has(self):
        self.show(self.serve("testdata/models/lenet"))
        for words in ("convolution", "op:conv2d", "attr:strides", "shape:[2,28,28,1]", "type:float"):
            self.find(words)

    def test_15_colors_have_a_legend(self):
        self.show(self.serve("testdata/models/lenet"))
        for by, words in (("op", "matmul, convolution"), ("device", "no node asks for a device"), ("flops", "of the FLOPs"), ("bytes", "of the bytes")):
            self.browser.js("const e = document.getElementById('color'); e.value = arguments[0]; e.dispatchEvent(new Event('change', {bubbles: true}));", by)
            self.assertIn(words, self.browser.js(LEGEND))
        self.browser.js("const e = document.getElementById('color'); e.value = 'flops'; e.dispatchEvent(new Event('change', {bubbles: true}));")
        hot = self.browser.js("""return grapnel.view.boxes.filter((b) => !b.inner && grapnel.view.look.fillOf(b) !== undefined)
          .sort((a, b) => b.box.flops - a.box.flops).map((b) => b.box.name);""")
        self.assertEqual(hot[0], "conv2d_1", "the first convolution is most of the work")

    def test_16_nothing_fails_silently(self):
        folder = tempfile.mkdtemp()
        empty, broken, odd = (os.path.join(folder, name) for name in ("empty.pbtxt", "broken.pbtxt", "odd.bin"))
        open(empty, "w").close()
        with open(broken, "w", encoding="utf-8") as file:
            file.write(f"node {{ name: 'r' op: 'Relu' input: 'gone:1' {TYPE} }}\n")
        with open(odd, "wb") as file:
            file.write(b"\x00\x01\xff not a graph" * 9)
        self.show(self.serve(broken))
        self.assertIn("gone", self.browser.js(PANEL))
        self.assertIn("1 input not found", self.browser.js(COUNTS))
        done = subprocess.run([GRAPNEL, "serve", odd], capture_output=True, text=True, cwd=ROOT, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("odd.bin", done.stderr)

    def test_17_nothing_comes_from_elsewhere(self):
        self.show(self.serve("testdata/models/lenet"))
        self.browser.wait("performance.getEntriesByType('resource').length > 0")  # the first picture asks for nothing
        hosts = self.browser.js("return [...new Set(performance.getEntriesByType('resource').map((e) => new URL(e.name).hostname))]")
        self.assertEqual(hosts, ["127.0.0.1"])
        self.open_file("testdata/models/lenet")
        self.assertEqual(self.browser.js("return performance.getEntriesByType('resource').length"), 0)


if __name__ == "__main__":
    page_case.main()
