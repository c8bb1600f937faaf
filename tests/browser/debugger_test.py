"""The debugger's tab, and its ops as a graph, as a user explores them."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from page_case import GRAPNEL, PageCase, ROOT, main  # noqa: E402

NAN = "testdata/tfdbg/mnist_nan_FULL_HEALTH"
LOOPS = "testdata/tfdbg/control_flow_FULL_HEALTH"
BROKEN = "testdata/tfdbg/trace_unknown_graph"
HEADLINE = "document.querySelector('#tab-debugger .card h2')?.textContent"


class Debugger(PageCase):
    def text(self, css):
        return self.browser.js("return document.querySelector(arguments[0]).innerText", css)

    def texts(self, css):
        return self.browser.js("return [...document.querySelectorAll(arguments[0])].map((e) => e.innerText)", css)

    def click_text(self, css, text):
        """The first element with this text."""
        self.browser.js("for (const e of document.querySelectorAll('[data-test]')) e.removeAttribute('data-test');"
                        "[...document.querySelectorAll(arguments[0])].find((e) => e.textContent.trim() === arguments[1])?.setAttribute('data-test', '')", css, text)
        self.browser.click("[data-test]")

    def headline(self, start):
        self.browser.wait(f"{HEADLINE}?.startsWith('{start}')")

    def show_folder(self, folder):
        self.show(self.serve(folder))
        self.browser.wait("grapnel.tabs.tab('debugger').folder?.drawn")

    def html(self, folder):
        out = os.path.join(tempfile.mkdtemp(), "d.html")
        subprocess.run([GRAPNEL, "blame", folder, "--html", out], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
        return "file://" + out

    def test_first_cause_and_its_inputs_without_a_click(self):
        for url in (self.serve(NAN), self.html(NAN)):
            self.show(url)
            self.browser.wait("grapnel.tabs.tab('debugger').folder?.drawn")
            self.headline("Log (step 0, train_step > loss_fn) made -inf x12 of 160 because its input Softmax:0 holds 12 zeros")
            pair = self.text(".health-pair")
            for words in ("probs:0 = Softmax:0 in model", "zero x12, positive x148", "Log:0 in loss_fn", "-inf x12, negative x143, zero x5"):
                self.assertIn(words, pair)
            self.assertIn("step 0, inside loss_fn, execution 22, on cpu:0; record 1 of 3", self.text(".when"))
            here = self.text(".stack .here")
            self.assertIn("21", here)
            self.assertIn("tf.math.log(probs)", here)
            for part in (".timeline", ".card", ".stack", ".files"):
                box = self.browser.js("return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()", part)
                self.assertLess(box["top"], self.browser.js("return innerHeight"), part)

    def test_alerts_by_kind_lead_to_their_first(self):
        self.show_folder(NAN)
        self.assertEqual(self.texts(".alerts tr"), ["NaN\t77 tensors\tfirst mul:0", "-inf\t3 tensors\tfirst Log:0", "+inf\t2 tensors\tfirst mul:0"])
        self.browser.click(".alerts .link")
        self.headline("mul (step 0")
        self.browser.click("#to-first")
        self.headline("Log (step 0")
        self.assertIn("79 later tensors are consequences", self.texts("summary"))

    def test_timeline_is_gone_along_by_keys(self):
        self.show_folder(NAN)
        boxes = self.texts(".strip .box")
        self.assertEqual(len(boxes), 72)
        self.assertEqual(boxes[21:23], ["21 \u0192 model", "22 \u0192 loss_fn"])
        bad = self.browser.js("return [...document.querySelectorAll('.strip .box')].map((b) => b.classList.contains('bad'))")
        self.assertEqual(bad.index(True), 22)
        self.assertEqual(self.text(".strip [aria-selected=true]"), "22 \u0192 loss_fn", "the call that the cause ran in")
        self.browser.click(".strip [data-execution='22']")
        self.headline("__forward_loss_fn_243 (step 0, train_step)")
        pair = self.text(".health-pair")
        for words in ("2 inputs", "probs:0 = Softmax:0", "labels:0 = OneHot:0", "4 outputs"):
            self.assertIn(words, pair)
        self.assertIn("y=model(X); l=loss_fn(y,Y)", self.text(".stack .here"))
        self.browser.press("Left")
        self.headline("__forward_model_163")
        self.assertEqual(self.browser.js("return document.activeElement.dataset.execution"), "21")
        self.browser.press("Right")
        self.headline("__forward_loss_fn_243")
        self.browser.click("#first-inside")
        self.headline("Log (step 0")

    def test_graph_structure_is_walked_by_links(self):
        self.show_folder(NAN)
        self.assertEqual(self.texts(".hop .chip"), ["add_1:0", "probs:0 = Softmax:0", "Log:0", "mul:0", "Mean:0"])
        kinds = self.browser.js("return [...document.querySelectorAll('.hop .chip')].map((e) => e.classList.contains('bad'))")
        self.assertEqual(kinds, [False, False, True, True, True])
        self.click_text(".chip", "probs:0 = Softmax:0")
        self.headline("Softmax (step 0")
        self.click_text(".chip", "add_1:0")
        self.headline("add_1 (step 0")
        self.assertIn("card=trace%2F8", self.browser.call("GET", "/url"))
        self.browser.call("POST", "/back", {})
        self.headline("Softmax (step 0")

    def test_op_and_its_card_lead_to_each_other(self):
        for url in (self.serve(NAN), self.html(NAN)):
            self.show(url)
            self.headline("Log (step 0")
            self.browser.click("#show-in-graph")
            self.browser.wait("grapnel.view.chosen?.box.name === 'Log'")
            self.assertIn("loss_fn", self.text("#crumbs"))
            self.browser.wait("document.getElementById('panel').textContent.includes('first cause')")
            panel = self.text("#panel")
            for words in ("Softmax:0 of model: float 2-D, 160 elements: zero x12", "gen_nan_mlp.py:21 in loss_fn"):
                self.assertIn(words, panel)
            self.assertEqual(self.browser.js("return document.getElementById('color').selectedOptions[0].textContent"), "health")
            marks = {box: mark for box, mark in self.browser.js("return grapnel.view.boxes.map((b) => [b.box.name, (b.box.marks ?? []).findIndex((n) => n > 0)])")}
            self.assertEqual([marks[name] for name in ("probs", "Log", "Neg", "mul", "Mean")], [-1, 0, 1, 2, 2])
            x, y = self.point(self.box("mul"), 20, 12)
            self.browser.click_at(x, y)
            self.browser.wait("document.querySelector('#panel h2').textContent === 'Mul'")
            self.click_text("#panel .link", "Its card in the debugger")
            self.headline("mul (step 0")
            self.assertFalse(self.browser.js("return document.getElementById('tab-debugger').hidden"))

    def test_graph_functions_nodes_and_search_are_there(self):
        self.show_folder(NAN)
        self.browser.click("#to-functions")
        self.browser.wait("document.querySelectorAll('#tab-functions .list tbody tr').length === 4")
        self.browser.click("#to-nodes")
        self.browser.wait("document.querySelectorAll('#tab-nodes tbody tr').length === 141")
        self.browser.click("#to-graph")
        self.assertIn("72 ops", self.text("#counts"))
        self.browser.type("#search", "op:softmax")
        self.browser.wait("document.querySelectorAll('#results [role=option]').length === 1")
        self.browser.press("Enter")
        self.browser.wait("grapnel.view.chosen?.box.op === 'Softmax'")
        url = self.browser.call("GET", "/url")
        self.show(url)
        self.browser.wait("grapnel.view.chosen?.box.op === 'Softmax'")
        self.browser.click("#to-debugger")
        self.headline("Log (step 0")

    def test_sources_mark_the_lines_that_made_ops(self):
        self.show_folder(NAN)
        self.browser.wait("document.querySelector('.whole .here .made')?.textContent === '! 21'")
        labels = self.browser.js("return [...document.querySelectorAll('.files optgroup')].map((e) => e.label)")
        self.assertEqual(labels, ["yours (1)", "TensorFlow and Keras (47)"])
        marked = self.browser.js("return [...document.querySelectorAll('.whole .made')].map((e) => e.parentElement.dataset.line)")
        self.assertEqual(marked, ["10", "13", "14", "21", "22", "25", "26", "30"])
        self.browser.click(".whole .here .made")
        self.assertEqual(self.texts(".ops li"), ["Neg Neg", "Log Log", "Mul mul"])
        self.click_text(".ops .link", "Neg Neg")
        self.headline("Neg (step 0")

    def test_frames_of_tensorflow_are_folded(self):
        self.show_folder(NAN)
        self.assertIn("16 TensorFlow frames", self.text(".stack"))
        self.assertNotIn("op_def_library.py", self.text(".stack"))
        self.assertEqual(self.texts(".stack > ol li"), ["gen_nan_mlp.py:25 in train_step", "gen_nan_mlp.py:29 in <module>"])
        self.browser.click(".stack .folded summary")
        self.assertEqual(len(self.texts(".stack .folded li")), 16)
        self.assertIn("op_def_library.py", self.text(".stack"))

    def test_loops_say_their_round_and_open_their_bodies(self):
        self.show_folder(LOOPS)
        self.click_text(".tensors tr:nth-child(19) .link", "Log:0")
        self.headline("Log (step 0, iteration 2 of the loop")
        self.assertIn("record 3 of 6", self.text(".when"))
        self.click_text(".when .link", "after \u25b8")
        self.headline("Log (step 1, iteration 0 of the loop")
        self.browser.click("#to-functions")
        self.click_text("#tab-functions .list .link", "collatz")
        self.browser.wait("grapnel.view.body !== 0")
        self.toggle("while", "StatelessWhile")
        loop = self.box("while", "StatelessWhile")
        self.assertEqual(sorted(title.split(":")[0] for title in loop["title"]), ["body", "cond"])

    def test_broken_folders_open(self):
        for folder in (BROKEN, "testdata/tfdbg/corrupt_crc", "testdata/tfdbg/bad_file_index"):
            self.show_folder(folder)
            self.headline("Log ")
            self.assertIn("made -inf x1 of 2", self.text(".card h2"))
            self.assertEqual(len(self.texts("#tab-debugger > .problem")), 1)
            self.browser.click("#to-graph")
            self.browser.click("#to-functions")
            self.click_text("#tab-functions .list .link", "G")
            self.browser.wait("grapnel.view.boxes.some((b) => b.box.op === 'Log')")

    def test_one_page_of_several_folders_and_graphs(self):
        self.show(self.serve(NAN, "testdata/collatz", LOOPS))
        self.headline("Log (step 0, train_step")
        model = '#model-tabs [data-model="{}"]'.format
        self.browser.click(model(1))
        self.browser.wait("grapnel.shown === 1 && !document.getElementById('tab-graph').hidden")
        self.assertTrue(self.browser.js("return document.getElementById('to-debugger').hidden"))
        self.browser.click(model(2))
        self.headline("Log (step 0, iteration 0")
        self.browser.click(model(1))
        self.browser.wait("grapnel.shown === 1")
        self.browser.click(model(0))
        self.headline("Log (step 0, train_step")


if __name__ == "__main__":
    main()
