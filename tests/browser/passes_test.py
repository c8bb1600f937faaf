"""The tab Passes: stages, rewrites with reasons, and missed rewrites."""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from page_case import GRAPNEL, ROOT, PageCase, main  # noqa: E402

MEAN = "testdata/harmonic_mean"
TAB = "document.getElementById('tab-passes')"


def dumps_of(model, *flags):
    folder = os.path.join(tempfile.mkdtemp(), "dumps")
    subprocess.run([GRAPNEL, "opt", model, "--dump-dir", folder, "--quiet", *flags], check=True, cwd=ROOT)
    return folder


class Passes(PageCase):
    def text(self):
        return self.browser.js(f"return {TAB}.innerText")

    def click_text(self, css, text):
        """The first element that `css` finds with exactly this text."""
        self.browser.wait(f"[...document.querySelectorAll({css!r})].some((e) => e.textContent === {text!r})")
        self.browser.js("""const found = [...document.querySelectorAll(arguments[0])].find((e) => e.textContent === arguments[1]);
          document.querySelectorAll('[data-wanted]').forEach((e) => e.removeAttribute('data-wanted')); found.dataset.wanted = '';""", css, text)
        self.browser.click("[data-wanted]")

    def run_passes(self, path, **fields):
        self.show(self.serve(path))
        self.browser.click("#to-passes")
        self.browser.wait("document.querySelector('#tab-passes .ask button')")
        for name, text in fields.items():
            self.browser.js("document.querySelector(arguments[0]).value = ''", f"#tab-passes [name={name}]")
            self.browser.type(f"#tab-passes [name={name}]", text)
        self.browser.click("#tab-passes .ask button")

    def test_table_moves_the_slider_and_tells_the_rewrites(self):
        folder = dumps_of(MEAN)
        out = os.path.join(folder, "page.html")
        subprocess.run([GRAPNEL, "timeline", folder, "--html", out], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
        for show in (lambda: self.show(self.serve(folder)), lambda: self.show("file://" + out)):
            show()
            self.browser.click("#to-passes")
            self.browser.wait("document.querySelectorAll('.stages tbody tr').length === 3")
            self.assertIn("11 nodes became 8, 10 edges 7; 4 rewrites", self.text())
            rows = self.browser.js("return [...document.querySelectorAll('.stages tbody tr')].map((r) => [...r.cells].slice(0, 8).map((c) => c.textContent))")
            self.assertEqual(rows[1], ["after model_pruner", "9 (\u22122)", "8 (\u22122)", "2", "", "", "", "2"])
            self.assertEqual(rows[2], ["after constant_folding", "8 (\u22121)", "7 (\u22121)", "1", "", "1", "", "2"])
            self.click_text(".stages .link", "after model_pruner")
            self.browser.wait("document.querySelector('.rewrites')")
            self.assertEqual(self.browser.js("return document.getElementById('stage-slider').value"), "2")
            self.assertIn("model_pruner/drop_unreachable: removes a node that no fetch depends on", self.text())
            self.click_text(".rewrites .link", "Min")
            self.browser.wait("document.querySelector('#panel h2').textContent === 'Min'")
            panel = self.browser.js("return document.getElementById('panel').innerText")
            self.assertIn("Removed by rewrite 1", panel)
            self.assertIn("removes a node that no fetch depends on", panel)
            self.assertTrue(self.browser.js("return location.hash").startswith("#graph=2"))

    def test_stages_that_changed_nothing_are_shown_when_asked_for(self):
        self.show(self.serve(dumps_of(MEAN)))
        self.browser.click("#to-passes")
        self.browser.wait("document.getElementById('all-stages')")
        self.browser.click("#all-stages")
        self.browser.wait("document.querySelectorAll('.stages tbody tr').length === 7")
        self.click_text(".stages .link", "before constant_folding")
        self.browser.wait(f"{TAB}.innerText.includes('This stage changed nothing')")
        self.browser.press("]")
        self.browser.wait(f"{TAB}.innerText.includes('constant_folding/fold')")

    def test_a_folder_without_a_ledger_says_how_to_get_one(self):
        folder = dumps_of(MEAN)
        for name in ("index.json", "ledger.jsonl", "timings.json"):
            os.remove(os.path.join(folder, name))
        self.show(self.serve(folder))
        self.browser.click("#to-passes")
        self.click_text(".stages .link", "after model_pruner")
        self.browser.wait(f"{TAB}.innerText.includes('--dump-dir')")
        self.assertIn("TF_DUMP_GRAPH_PREFIX", self.text())

    def test_a_ledger_of_another_run_is_not_believed(self):
        folder, other = dumps_of(MEAN), dumps_of("testdata/models/lenet")
        shutil.copy(os.path.join(other, "ledger.jsonl"), folder)
        self.show(self.serve(folder))
        self.browser.click("#to-passes")
        self.browser.wait(f"{TAB}.innerText.includes('ledger.jsonl: it does not match the stages')")

    def test_passes_run_from_the_page(self):
        self.run_passes(MEAN)
        self.browser.wait("document.querySelectorAll('.stages tbody tr').length === 3")
        self.browser.wait(f"{TAB}.innerText.includes('removes a node that no fetch depends on')")
        self.assertEqual(self.browser.js("return document.querySelectorAll('#stage-list option').length"), 4)
        self.assertIn("model_pruner/bypass_identity", self.text())
        self.click_text(".rewrites .link", "Min")
        self.browser.wait("document.querySelector('#panel .mark')?.textContent === 'removed'")
        self.browser.press("]")
        self.browser.wait("grapnel.summary.title === 'after constant_folding'")
        self.assertTrue(self.browser.js("return grapnel.view.boxes.some((b) => b.box.marks)"))

    def test_passes_and_limit_are_asked_for_as_by_flags(self):
        self.run_passes(MEAN, passes="constant_folding", limit="1", rewriter_config="min_graph_nodes: -1")
        self.browser.wait("document.querySelectorAll('.stages tbody tr').length === 2")
        self.assertIn("; 1 rewrite", self.text())
        self.assertNotIn("model_pruner", self.text())

    def test_what_did_not_happen_tells_the_condition(self):
        self.run_passes("testdata/rewrites/remapper.two_readers/graph.pbtxt", device="/device:CPU:0")
        self.browser.wait("document.getElementById('near-misses')")
        self.assertIn("remapper/fuse_bias", self.text())
        reason = self.browser.js("return document.querySelector('#near-misses ~ ul li').textContent")
        self.assertIn(": ", reason)
        name = self.browser.js("return document.querySelector('#near-misses ~ ul .link').textContent")
        self.browser.click("#near-misses ~ ul .link")
        self.browser.wait(f"grapnel.view.chosen?.box.name === {name!r}")

    def test_asks_why_a_node_is_not_rewritten(self):
        ask = "#tab-passes form:has([name=node]) button"
        self.show(self.serve("testdata/rewrites/remapper.two_readers/graph.pbtxt"))
        self.browser.click("#to-passes")
        self.browser.wait(f"document.querySelector('{ask}')")
        self.browser.type("#tab-passes [name=node]", "*")
        self.browser.click(ask)
        self.browser.wait("document.querySelector('.why-not li')")
        answer = self.browser.js("return document.querySelector('.why-not').innerText")
        self.assertIn("remapper/fuse_bias", answer)
        self.assertIn("To fix: ", answer)
        self.browser.js("document.querySelector('#tab-passes [name=node]').value = ''")
        self.browser.type("#tab-passes [name=node]", "nothere")
        self.browser.click(ask)
        self.browser.wait("document.querySelector('.why-not .problem')")
        self.assertIn("node 'nothere' not found", self.text())
        self.browser.complaints()  # of the answer

    def test_errors_are_said_in_words(self):
        self.run_passes(MEAN, fetch="nothere")
        self.browser.wait("document.querySelector('#tab-passes .problem')")
        self.assertIn("node 'nothere' not found", self.text())
        self.browser.complaints()  # of the answer
        path = os.path.join(tempfile.mkdtemp(), "bad.pbtxt")
        with open(path, "w", encoding="utf-8") as file:
            file.write('node { name: "y" op: "Relu" input: "missing" attr { key: "T" value { type: DT_FLOAT } } }\n')
        self.run_passes(path)
        self.browser.wait("document.querySelector('#tab-passes .problem')")
        self.assertIn("'missing'", self.text())
        self.browser.complaints()

    def test_a_file_of_a_model_says_where_passes_run(self):
        self.open_file(MEAN)
        self.browser.click("#to-passes")
        self.assertIn("grapnel serve MODEL", self.text())


if __name__ == "__main__":
    main()
