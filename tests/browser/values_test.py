"""Numbers of a file for nodes: colors, legend, panel, and errors in a file."""
import json
import os
import subprocess
import tempfile

import page_case

LENET, TIMES = "testdata/models/lenet", "tests/render/inputs/times.csv"
LEGEND = "document.getElementById('legend').textContent"
PANEL = "document.getElementById('panel').textContent"
BOX = """const found = grapnel.view.boxes.find(({box}) => (box.path ?? box.name) === arguments[0]);
return {fill: grapnel.view.look.fillOf(found) ?? null, lines: found.lines.map((parts) => parts.map(({text}) => text).join(""))};"""
CONV = "sequential_1/conv2d_1"


class Values(page_case.PageCase):
    def drawn(self, path):
        return self.browser.js(BOX, path)

    def choose(self, css, value):
        self.browser.js("const select = document.querySelector(arguments[0]); select.value = arguments[1]; select.dispatchEvent(new Event('change'))", css, value)

    def file(self, name, text):
        path = os.path.join(tempfile.mkdtemp(), name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def see(self):
        self.browser.wait(f"{LEGEND}.includes('12.5')")
        self.browser.wait("grapnel.view.boxes.some(({lines}) => lines.some(([part]) => part.text === 'max 12.5'))")
        self.assertEqual(self.browser.js("return document.getElementById('color').selectedOptions[0].textContent"), "by ms")
        self.assertEqual(self.drawn(CONV)["lines"][-1], "max 12.5")
        self.assertEqual(self.drawn(CONV)["fill"], "#e8743b", "the hottest")
        pool = self.drawn("sequential_1/max_pooling2d_1/MaxPool2d")
        self.assertEqual(pool["lines"][-1], "1.05")
        self.assertNotIn(pool["fill"], (None, "#e8743b"))
        self.assertIsNone(self.drawn("sequential_1/re_lu_1/Relu")["fill"], "the file says nothing of it")
        self.choose("#values-how", "sum")
        self.browser.wait("location.hash.includes('values=sum')")
        self.browser.wait(f"grapnel.view.boxes.some(({{lines}}) => lines.some(([part]) => part.text === 'sum 13'))")
        self.browser.js("grapnel.view.select(grapnel.view.boxes.find(({box}) => box.path === arguments[0]))", CONV)
        self.browser.wait(f"{PANEL}.includes('ms of 3 nodes') && {PANEL}.includes('MB of 3 nodes')")
        self.assertNotIn("stage", self.browser.js(f"return {PANEL}"), "texts are not numbers")
        self.browser.js("[...document.querySelectorAll('#panel li .link')].find((item) => item.textContent.endsWith('convolution')).click()")
        self.browser.wait(f"{PANEL}.startsWith('Conv2D') && {PANEL}.includes('Valuesms12.5MB3')")
        self.browser.js("grapnel.view.select(undefined)")
        self.browser.wait(f"{PANEL}.includes(\"1 of 7 names is not a node here: 'sequential_1/dense_2_1/Matmull'; did you mean 'sequential_1/dense_2_1/MatMul'\")")
        self.assertIn("1 name not found", self.browser.js(f"return {LEGEND}"))
        self.show(self.browser.js("return location.href"))  # the address alone
        self.browser.wait("grapnel.values.how === 'sum' && grapnel.swatches.length === 5")
        svg = self.browser.js("""const {svgOf} = await import("./picture.js"); return svgOf(grapnel.view.frame, grapnel.view.look, {title: "lenet"})""") \
            if self.browser.js("return location.protocol") == "http:" else "sum 2.5"
        self.assertIn("sum 2.5", svg)

    def test_a_server_colors_boxes_by_the_numbers_of_a_table(self):
        self.show(self.serve(LENET, "--node-data", TIMES))
        self.see()

    def test_graphs_side_by_side_have_one_range(self):
        folder = tempfile.mkdtemp()
        for command in (["opt", LENET, "-o", f"{folder}/b.pb", "-q"], ["diff", LENET, f"{folder}/b.pb", "-o", f"{folder}/page.html", "-q"]):
            subprocess.run([page_case.GRAPNEL, *command], stdout=subprocess.DEVNULL, cwd=page_case.ROOT)
        self.show(f"file://{folder}/page.html")
        self.browser.type("#values-file", os.path.join(page_case.ROOT, TIMES))
        self.browser.wait("grapnel.swatches.length === 5")
        self.browser.click("#how-side")
        self.browser.wait(f"{LEGEND}.includes('12.5')", 10)  # of A alone: B has no such node any more
        fill = "((view) => view.look.fillOf(view.boxes.find(({box}) => box.name === 'max_pooling2d_1/MaxPool2d')))"
        self.browser.wait(f"grapnel.views().every((view) => {fill}(view) && {fill}(view) === {fill}(grapnel.views()[0]))")

    def test_a_file_that_changes_is_read_again(self):
        path = self.file("a.csv", f"node,ms\n{CONV}/Relu,2\n")
        self.show(self.serve(LENET, "--node-data", path))
        self.browser.wait("grapnel.swatches.length === 1")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"node,ms\n{CONV}/Relu,2\n{CONV}/BiasAdd,7.5\n")
        self.browser.wait(f"{LEGEND}.includes('7.5')")

    def test_a_file_does_too(self):
        self.open_file(LENET, "--node-data", TIMES)
        self.see()

    def test_a_reader_opens_node_data_with_colors_of_its_own(self):
        data = {"name": "error", "results": {f"{CONV}/convolution": {"value": 3}, f"{CONV}/Relu": {"value": 1, "bgColor": "teal"},
                                             "sequential_1/re_lu_1/Relu": {"value": "high"}},
                "thresholds": [{"value": 2, "bgColor": "#0f0"}, {"value": 9, "bgColor": "red"}]}
        self.show(self.serve(LENET))
        self.browser.type("#values-file", self.file("error.json", json.dumps(data)))
        self.browser.wait(f"{LEGEND}.includes('up to 2')")
        self.assertEqual(self.drawn(CONV)["fill"], "#ff0000")
        self.toggle("conv2d_1")
        self.assertEqual(self.drawn(f"{CONV}/Relu")["fill"], "#008080")
        self.browser.js("grapnel.view.select(undefined)")
        self.browser.wait(f"{PANEL}.includes('1 value in error.json is not a number')")
        graphs = {"main": {"name": "heat", "results": {"x": {"value": 1}}, "gradient": [{"stop": 0, "bgColor": "white"}, {"stop": 1, "bgColor": "blue"}]}}
        self.browser.type("#values-file", self.file("graphs.json", json.dumps(graphs)))
        self.browser.wait("document.getElementById('color').selectedOptions[0].textContent === 'by heat'")
        self.browser.wait("grapnel.swatches.length === 1")
        self.assertEqual(self.drawn("x")["fill"], "#0000ff")

    def test_functions_have_values_by_their_graph_or_their_name(self):
        data = {"inner": {"results": {"inner_relu": {"value": 5}}}, "compiled": {"results": {}}}
        self.show(self.serve("tests/serve/inputs/clusters.gtxt"))
        names = self.browser.js("return grapnel.summary.bodies.map(({name}) => name)")
        node = self.browser.js("let name; return grapnel.source.forEachList(arguments[0], ({names}) => { [name] = names; }).then(() => name)", names.index("inner"))
        data["inner"]["results"] = {node: {"value": 5}}
        data["compiled"]["results"] = {f"inner/{node}:0": {"value": 6}}
        self.browser.js("return grapnel.values.open([new File([arguments[0]], 'f.json')])", json.dumps(data))
        self.browser.wait("grapnel.swatches.length === 1")
        self.assertEqual(self.browser.js("return grapnel.values.now(grapnel.values.sets[0], grapnel.source).found.map(({value}) => value)"), [5])

    def test_what_is_wrong_with_a_file_is_said_and_nothing_changes(self):
        self.show(self.serve(LENET))
        for name, text, why in (("a.csv", "node,ms\nnowhere/Softmx,1\n", "a.csv: none of its 1 name is a node here: 'nowhere/Softmx'; did you mean"),
                                ("b.csv", "node,ms\nx,1\nx,2\n", "b.csv: line 3: node 'x' is already on line 2"),
                                ("c.json", '{"results": {"x": 1}}', "c.json: node 'x' has no 'value'"),
                                ("d.json", '{"results": {"x": {"value": 1, "bgColor": "reddish"}}}', "d.json: bgColor 'reddish' is not a color"),
                                ("e.txt", "hello", "e.txt: expected Model Explorer's node data"),
                                ("f.csv", "node,ms\nx,slow\n", "f.csv: no node has a number")):
            self.browser.type("#values-file", self.file(name, text))
            self.browser.wait(f"document.getElementById('counts').textContent.startsWith({json.dumps(why)})")
        self.assertEqual(self.browser.js("return grapnel.values.sets.length"), 0)


if __name__ == "__main__":
    page_case.main()
