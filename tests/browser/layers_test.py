"""The page of a model with layers: its first picture, lines that open into edges, and what the search finds first."""
import os
import shutil
import subprocess
import tempfile

import page_case

MODELS = "testdata/keras_models"
LEGIBLE = 9  # pixels
NAMES = """return grapnel.view.boxes.filter((b) => b.box.layer && !b.parent).sort((a, b) => a.y - b.y)
  .map((b) => b.box.kind === 'scope' ? b.box.name : b.box.layer);"""
SIGHT = """const {at, frame, canvas} = grapnel.view, height = frame.h * at.zoom, width = frame.w * at.zoom;
return {text: 13 * at.zoom, left: at.x, right: canvas.clientWidth - at.x - width, top: at.y, bottom: canvas.clientHeight - at.y - height,
  fills: Math.max(width / canvas.clientWidth, height / canvas.clientHeight)};"""
# Lines of a title that end within a word.
BROKEN = """return grapnel.view.boxes.filter((b) => !b.inner).flatMap((b) => {
  const parts = b.lines.map((line) => line.map(({text}) => text).join('')), title = b.box.layer ?? b.box.name;
  return parts.slice(0, -1).filter((line, i) => title.includes(line + parts[i + 1]) && !/[/_,;. ]$/u.test(line));
});"""


class Layers(page_case.PageCase):
    def see(self, model, width):
        self.browser.call("POST", "/window/rect", {"width": width, "height": 900})
        self.show(self.serve(os.path.join(MODELS, model, "model")))
        self.browser.wait("grapnel.view.boxes.length > 3")
        return self.browser.js(SIGHT)

    def test_the_first_view_reads_at_two_widths(self):
        for model in ("cnn_plain", "two_towers", "unet", "series_gru_stateful", "preprocessing", "nested_keras2"):
            for width in (1280, 900):
                with self.subTest(model=model, width=width):
                    sight = self.see(model, width)
                    self.assertGreaterEqual(sight["text"], LEGIBLE)
                    self.assertGreaterEqual(min(sight["left"], sight["right"]), 0, "cut off at a side")
                    self.assertGreaterEqual(sight["top"], 0)
                    self.assertGreater(sight["fills"], 0.7, "most of the picture's place is empty")
                    self.assertEqual(self.browser.js(BROKEN), [], "words are broken")
        self.browser.call("POST", "/window/rect", {"width": 1600, "height": 1000})

    def test_boxes_are_layers_in_order(self):
        expected = {"cnn_plain": ["conv2d", "max_pooling2d", "conv2d_1", "max_pooling2d_1", "flatten", "dense"],
                    "nested_keras2": ["body", "concatenate", "dense"],
                    "lambda_layer": ["circle", "hidden", "change", "tanh", "multiply", "add", "double"]}
        for model, layers in expected.items():
            for show in (self.serve_and_show, self.open_file):
                show(os.path.join(MODELS, model, "model"))
                self.assertEqual([name for name in self.browser.js(NAMES) if name in layers], layers)

    def serve_and_show(self, path):
        self.show(self.serve(path))

    def test_a_preprocessing_model_opens_as_layers(self):
        self.serve_and_show(os.path.join(MODELS, "preprocessing", "model"))
        self.assertEqual(sorted(self.browser.js(NAMES)),
                         ["age_normalization", "color_lookup", "image_resize", "image_scale", "size_bins", "size_encoding"])
        self.assertEqual(self.browser.js("return grapnel.view.boxes.filter((b) => b.box.op === 'NoOp' || b.box.op === 'Identity').length"), 0)

    def test_a_line_opens_into_its_edges(self):
        line = "[...document.querySelectorAll('#panel details.edges')].find((d) => /×/u.test(d.textContent))"
        for show in (self.serve_and_show, self.open_file):
            show(os.path.join(MODELS, "unet", "model"))
            self.browser.js("grapnel.view.select(grapnel.view.boxes.find((b) => b.box.name === 'up2_upsample'))")
            self.browser.wait(line)
            self.browser.js(f"{line}.open = true")
            self.browser.wait(f"{line}.querySelectorAll('li').length === 2")
            edges = self.browser.js(f"return [...{line}.querySelectorAll('li')].map((li) => li.textContent)")
            for edge in edges:
                self.assertIn("bridge_conv2_1/Relu", edge)
                self.assertRegex(edge, r"→ unet_1/up2_upsample_1/\S+ \w+ float\[\?,8,8,16\]$")
            self.assertEqual(len(set(edges)), 2)
            self.browser.js(f"{line}.querySelector('li .link').click()")
            self.browser.wait("document.querySelector('#panel h2').textContent === 'Relu'")

    def results(self, words):
        self.browser.js("document.getElementById('search').value = ''; document.getElementById('results').hidden = true")
        self.browser.type("#search", words)
        self.browser.wait("!document.getElementById('results').hidden")
        return self.browser.js("return grapnel.find(arguments[0]).then(() => [...document.querySelectorAll('#results [role=option] span')]"
                               ".map((e) => e.innerText))", words)

    def test_search_takes_whole_ops_and_regular_expressions(self):
        for show in (self.serve_and_show, self.open_file):
            show(os.path.join(MODELS, "two_towers", "model"))
            found = self.results("op:MatMul")
            self.assertEqual({text.split()[0] for text in found}, {"MatMul"})
            self.assertIn("BatchMatMulV2", {text.split()[0] for text in self.results("op:*matmul*")})
            found = self.results("/movie_.*BiasAdd$/")
            self.assertEqual(len(found), 1, found)
            self.assertTrue(found[0].endswith("movie_dense_1/BiasAdd"))

    def take(self, words):
        """Searches, opens the first result, and returns what is selected: the box, whether it is in sight, and the panel's title."""
        self.browser.js("grapnel.view.select(undefined)")
        self.browser.js("return grapnel.find(arguments[0])", words)
        self.browser.press("Enter")
        self.browser.wait("grapnel.view.chosen")
        return self.browser.js("""const {chosen: {box, x, y, w, h}, at, canvas} = grapnel.view;
          const [cx, cy] = [(x + w / 2) * at.zoom + at.x, (y + h / 2) * at.zoom + at.y];
          return {layer: box.layer, kind: box.kind, panel: document.querySelector('#panel h2').textContent,
            seen: cx > 0 && cy > 0 && cx < canvas.clientWidth && cy < canvas.clientHeight};""")

    def test_a_layer_is_found_by_its_name(self):
        # One with a box, one of a single op, one of a nested model, one in a closed box.
        wanted = {"cnn_plain": ["conv2d_1", "flatten", "max_pooling2d_1"], "two_towers": ["movie_dense"], "siamese": ["shared_projection"],
                  "preprocessing": ["age_normalization"], "resnet50": ["conv5_block3_2_conv"]}
        for model, names in wanted.items():
            for show in (self.serve_and_show, self.open_file):
                show(os.path.join(MODELS, model, "model"))
                for name in names:
                    self.browser.js("grapnel.view.closeAll()")
                    found = self.take(name)
                    self.assertEqual(found["layer"].split("/")[-1], name, found)
                    self.assertTrue(found["seen"], found)
                    if found["kind"] == "scope":
                        self.assertEqual(found["panel"], name)
        self.assertEqual(self.results("conv5_block3_2_conv")[0].split(), ["Conv2D", "conv5_block3_2_conv"])
        self.serve_and_show(os.path.join(MODELS, "nested_keras2", "model"))
        self.assertEqual(self.results("dense")[0].split(), ["Dense", "dense"])
        self.assertEqual(self.results("op:MatMul dense")[0].split()[0], "MatMul")
        found = self.results("dense kernel")
        self.assertGreater(max(i for i, text in enumerate(found) if text.startswith("_Arg")), min(i for i, text in enumerate(found) if not text.startswith("_Arg")))

    def about(self, layer):
        """What the panel says about the layer that the search finds."""
        self.take(layer)
        self.browser.wait("document.querySelector('#panel .layer')?.textContent.includes('parameter')")
        return self.browser.js("return [document.querySelector('#panel .layer').previousSibling.textContent,"
                               " ...[...document.querySelector('#panel .layer').children].flatMap((e) => e.innerText.split('\\n'))]")

    def test_the_panel_says_what_a_layer_has(self):
        for show in (self.serve_and_show, self.open_file):
            show(os.path.join(MODELS, "cnn_plain", "model"))
            self.assertEqual(self.about("conv2d_1"), ["Layer conv2d_1", "Output float[?,11,11,16]", "1,168 parameters",
                             "sequential/conv2d_1/bias\tfloat[16]", "sequential/conv2d_1/kernel\tfloat[3,3,8,16]"])
            self.assertEqual(self.about("max_pooling2d"), ["All of layer max_pooling2d", "Output float[?,13,13,8]", "0 parameters"])
            show(os.path.join(MODELS, "nested_keras2", "model"))
            found = self.about("body")
            self.assertEqual(found[0], "Layer body (Sequential)")
            self.assertGreater(len(found), 6, "the weights of the layers in it")

    def test_a_weight_shows_its_values(self):
        click = "[...document.querySelectorAll('#panel .layer .link')].find((e) => e.textContent.endsWith('/kernel')).click()"
        for show in (self.serve_and_show, self.open_file):
            show(os.path.join(MODELS, "cnn_plain", "model"))
            self.about("conv2d_1")
            self.browser.js(click)
            self.browser.wait("document.querySelector('#panel .layer .statistics')")
            self.assertIn("elements\t1,152", self.browser.js("return document.querySelector('#panel .layer .statistics').innerText"))
            self.browser.js(click)
            self.browser.wait("!document.querySelector('#panel .layer .statistics')")
            # So do the variable and the node that reads it.
            for op, name in (("VarHandleOp", "conv2d_1/kernel_1"), ("ReadVariableOp", "conv2d_1_2/convolution")):
                self.browser.js(f"return grapnel.find('op:{op} {name}')")
                self.browser.press("Enter")
                self.browser.wait(f"document.querySelector('#panel h2')?.textContent === '{op}' && document.querySelector('#panel .value')")
                self.assertRegex(self.browser.js("return document.querySelector('#panel').innerText"), "Stored value of sequential/conv2d_1/(bias|kernel)")

    def test_a_loop_is_opened_with_what_is_in_it(self):
        lone = "reviews_1/reader_1/while"
        for show in (self.serve_and_show, self.open_file):
            show(os.path.join(MODELS, "text_lstm", "model"))
            self.browser.js("return grapnel.find('op:While')")
            self.browser.press("Enter")
            self.browser.wait("grapnel.view.chosen?.box.op === 'While'")
            self.browser.js("grapnel.view.toggle(grapnel.view.chosen)")
            self.browser.wait(f"grapnel.view.boxes.filter(({{box, inner}}) => box.name === '{lone}' && inner).length === 2")
            names = self.browser.js("return grapnel.view.boxes.filter(({box}) => /^(arg|result) /.test(box.op ?? '')).map(({box}) => box.name)")
            self.assertIn("loop_counter", names)
            self.assertEqual(names.count("zeros_1"), 2)  # the body's argument and result are the next state
            self.assertEqual([name for name in names if "placeholder" in name], [])
            self.assertEqual([name for name in names if "while" in name], [])
            # The body alone.
            self.browser.js("[...document.querySelectorAll('#panel .link')].find((e) => e.textContent.includes('while_body')).click()")
            crumbs = "[...document.getElementById('crumbs').children].map((part) => part.textContent)"
            self.browser.wait(f"{crumbs}.at(-1).includes('while_body')")
            found = self.browser.js(f"return {crumbs}")
            self.assertEqual(found[0], "main")
            self.assertIn("__call__", found[-3])
            self.assertEqual(found[-2], f"While {lone}")
            self.assertTrue(self.box(lone)["open"])
            self.browser.js("document.querySelector('#crumbs .link:nth-last-of-type(1)').click()")
            self.browser.wait("grapnel.view.chosen?.box.op === 'While'")

    def test_a_list_of_kinds_says_that_it_is_not_all(self):
        self.serve_and_show(os.path.join(MODELS, "cnn_plain", "model"))
        notes = self.browser.js("return Object.fromEntries(grapnel.view.boxes.filter(({box}) => box.kind === 'scope').map(({box}) => [box.name, box.notes[0]]))")
        self.assertEqual(notes["dense"], "1 MatMul, 1 BiasAdd, 1 Softmax")
        self.show(self.serve("testdata/models/lenet"))
        notes = self.browser.js("return grapnel.view.boxes.filter(({box}) => box.kind === 'scope').map(({box}) => [box.ops, box.notes[0]])")
        for ops, kinds in notes:
            counted = sum(int(part.split()[0]) for part in kinds.split(", ") if part != "\u2026")
            self.assertEqual(counted < ops, kinds.endswith("\u2026"), kinds)

    def test_nodes_with_a_box_are_found_first(self):
        path = os.path.join(tempfile.mkdtemp(), "many.gtxt")
        with open(path, "w", encoding="utf-8") as file:
            file.write("%x = Placeholder {dtype=float, shape=[2]}\n")
            for i in range(300):
                file.write(f"%deep/inner/relu_{i} = Relu(%x)\n")
            file.write("%seen_relu_last = Relu(%x)\n")
        for show in (self.serve_and_show, self.open_file):
            show(path)
            self.browser.js("grapnel.view.closeAll()")
            self.browser.wait("grapnel.view.boxes.length === 3")
            self.assertEqual(self.results("relu_")[0].split(), ["Relu", "seen_relu_last"])

    def test_changed_weights_are_marked(self):
        model = os.path.join(page_case.ROOT, "testdata/keras/model")
        trained, out = os.path.join(tempfile.mkdtemp(), "trained"), os.path.join(tempfile.mkdtemp(), "d.html")
        shutil.copytree(model, trained)
        for suffix in ("index", "data-00000-of-00001"):
            shutil.copy(os.path.join(os.path.dirname(model), f"checkpoint.{suffix}"), os.path.join(trained, "variables", f"variables.{suffix}"))
        subprocess.run([page_case.GRAPNEL, "diff", "--values", model, trained, "-o", out, "--quiet"], cwd=page_case.ROOT)
        self.show("file://" + out)
        marked = self.browser.js("return grapnel.view.boxes.filter((b) => b.box.layer && b.box.marks && !b.inner)"
                                 ".map((b) => b.lines.at(-1)[0].text)")
        self.assertGreater(len(marked), 2)
        for text in marked:
            self.assertRegex(text, r"^[1-9] weights changed$")
        self.assertIn("weights changed", self.browser.js("return document.getElementById('legend').textContent"))


if __name__ == "__main__":
    page_case.main()
