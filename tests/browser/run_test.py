"""Running and placing a graph from the page."""
import os
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from page_case import GRAPNEL, PageCase, ROOT, SLOWER, main  # noqa: E402

MEAN = "testdata/harmonic_mean"


def node(name, op, *inputs, dtype="T", **attributes):
    text = f'node {{ name: "{name}" op: "{op}" ' + "".join(f'input: "{i}" ' for i in inputs)
    if dtype:
        text += f'attr {{ key: "{dtype}" value {{ type: DT_FLOAT }} }} '
    text += "".join(f'attr {{ key: "{key}" value {{ {value} }} }} ' for key, value in attributes.items())
    return text + "}\n"


LOGARITHM = (node("x", "Placeholder", dtype="dtype", shape="shape { dim { size: -1 } dim { size: 2 } }") + node("model/log", "Log", "x")
             + node("model/root", "Sqrt", "x") + node("out", "AddV2", "model/log", "model/root"))
FAN = node("x", "Placeholder", dtype="dtype", shape="shape { }") + "".join(node(f"reader_{i}", "Neg", "x") for i in range(5300))


def graph(text):
    path = os.path.join(tempfile.mkdtemp(), "graph.pbtxt")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def npy(values, dims):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {dims}, }}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    path = os.path.join(tempfile.mkdtemp(), "value.npy")
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}f", *values))
    return path


class Run(PageCase):
    def open_run(self, path):
        self.show(self.serve(path))
        self.browser.click("#to-run")
        self.browser.wait("document.querySelector('#run-start')")

    def choose(self, css, value):
        self.browser.js("const s = document.querySelector(arguments[0]); s.value = arguments[1]; s.dispatchEvent(new Event('change'));", css, value)

    def run_it(self):
        self.browser.js("document.querySelector('.result').replaceChildren()")
        self.browser.click("#run-start")
        self.browser.wait("document.querySelector('.result h2, .result .problem') && !document.querySelector('#run-start').disabled")
        return self.result()

    def result(self):
        return self.browser.js("return document.querySelector('.result').innerText")

    def typed(self, css, text):
        self.browser.js("document.querySelector(arguments[0]).value = ''", css)
        self.browser.type(css, text)

    def test_case_gives_values_and_knows_the_answer(self):
        self.open_run(MEAN)
        self.assertEqual(self.browser.js("return document.querySelector('#feed-0-kind').value"), "case")
        text = self.run_it()
        self.assertIn("as the case expects", text)
        self.assertNotIn("not as the case", text)
        self.assertIn("No NaN and no infinity in 9 tensors.", text)
        with open(os.path.join(ROOT, MEAN, "out_0.npy"), "rb") as file:
            wanted = struct.unpack("<f", file.read()[-4:])[0]
        shown = self.browser.js("return [...document.querySelectorAll('.fetch .value')].at(-1).textContent")
        self.assertAlmostEqual(float(shown.strip("[]").split(",")[-1]), wanted, delta=abs(wanted) * 1e-3)

    def test_fill_is_random_and_its_result_is_a_file(self):
        self.open_run(graph(LOGARITHM))
        self.choose("#feed-0-kind", "normal")
        self.typed("#feed-0-shape", "300,2")
        self.assertIn("out:0 float[300,2]", self.run_it())
        url = self.browser.js("return document.querySelector('.fetch a').href")
        with urllib.request.urlopen(url) as answer:
            self.assertIn("attachment", answer.headers["Content-Disposition"])
            bytes_ = answer.read()
        self.assertEqual(bytes_[:6], b"\x93NUMPY")
        self.assertIn(b"(300, 2)", bytes_[:128])
        self.assertEqual(len(bytes_), 128 + 300 * 2 * 4)

    def test_first_nan_is_named_glows_and_is_told_in_the_panel(self):
        self.open_run(graph(LOGARITHM))
        self.choose("#feed-0-kind", "text")
        self.browser.type("#feed-0-text", "[[1, 0], [4, 9]]")
        text = self.run_it()
        self.assertIn("model/log made -inf x1 of 4 because its input x:0 holds 1 zero", text)
        rows = self.browser.js("return [...document.querySelectorAll('.tapped tbody tr')].map((row) => row.innerText)")
        self.assertEqual(rows[0].split("\t")[0], "x:0")
        self.assertTrue(any("model/log:0" in row and "-inf" in row for row in rows), rows)
        self.browser.js("[...document.querySelectorAll('.result h2 + p .link')].find((l) => l.textContent === 'model/log').click()")
        self.browser.wait("grapnel.tab === 'graph' && document.querySelector('#panel').innerText.includes('In the last run')")
        self.assertIn("-inf", self.browser.js("return document.querySelector('#panel').innerText"))
        self.assertEqual(self.browser.js("return document.getElementById('color').value"), "run-health")
        glowing = self.browser.js("return grapnel.view.boxes.filter((b) => grapnel.view.look.glows(b)).map((b) => b.box.path)")
        self.assertIn("model/log", glowing)
        self.assertNotIn("model/root", glowing)
        self.choose("#color", "run-time")
        self.assertIn("fifth", self.browser.js("return document.getElementById('legend').innerText"))

    def test_run_is_spread_over_devices(self):
        self.open_run(MEAN)
        self.typed("#run-devices", "cpu:2")
        self.assertIn("as the case expects", self.run_it())
        self.typed("#run-devices", "gpu:1")
        self.assertIn("as the case expects", self.run_it())
        self.assertIn("simulated on the CPU", self.browser.js("return document.getElementById('run-note').innerText"))
        self.typed("#run-devices", "tpu:1")
        self.assertIn("is neither a CPU nor a GPU", self.run_it())
        self.browser.complaints()

    def test_file_is_sent(self):
        self.open_run(graph(LOGARITHM))
        self.choose("#feed-0-kind", "file")
        self.browser.type("#feed-0-file", npy([1, 1, 1, 1], (2, 2)))
        self.browser.wait("document.querySelector('.feed [role=status]').textContent === 'float[2,2]'")
        text = self.run_it()
        self.assertIn("from 1 to 1, mean 1", text)
        self.browser.type("#feed-0-file", os.path.join(ROOT, "testdata/README.md"))
        self.browser.wait("document.querySelector('.feed .problem')")
        self.assertIn(".npy", self.browser.js("return document.querySelector('.feed .problem').textContent"))
        self.browser.complaints()  # the browser tells of the refusal too

    def test_errors_are_in_words_with_the_node(self):
        self.open_run(graph(LOGARITHM))
        self.choose("#feed-0-kind", "zeros")
        for shape, words in (("2,3", "'x'"), ("two", "'two' is not a dimension"), ("1000000,1000000", "too large")):
            self.typed("#feed-0-shape", shape)
            self.assertIn(words, self.run_it())
        self.typed("#feed-0-shape", "2,2")
        self.browser.type("#run-fetch", "nowhere")
        self.browser.click("#run-add")
        self.assertIn("node 'nowhere' not found", self.run_it())
        self.browser.complaints()

    def test_fetch_is_completed_by_names(self):
        self.open_run(graph(LOGARITHM))
        self.browser.type("#run-fetch", "roo")
        self.browser.wait("[...document.querySelectorAll('#run-names option')].some((o) => o.value === 'model/root')")
        self.browser.js("document.querySelector('#run-fetch').value = ''")
        self.browser.type("#run-fetch", "model/root")
        self.browser.press("Enter")
        self.browser.click(".chips li:first-child button")
        self.assertIn("model/root float[1,2]", self.run_it())

    def test_endless_loop_is_stopped(self):
        url = self.serve("tests/serve/inputs/long_loop.gtxt")
        server = self.servers[-1]
        self.show(url)
        self.browser.click("#to-run")
        self.browser.wait("document.querySelector('#run-start')")
        self.choose("#run-mode", "")
        self.browser.click("#run-start")
        self.browser.wait("/[1-9].* runs of nodes/.test(document.querySelector('.result').innerText)")
        self.browser.click("#run-stop")
        self.browser.wait("document.querySelector('.result').innerText.includes('Stopped')")
        self.browser.click("#run-start")
        self.browser.wait("document.querySelector('#run-stop')")
        began = time.time()
        server.terminate()
        self.assertEqual(server.wait(10), 0, "it ends while a graph runs")
        self.assertLess(time.time() - began, 5 * SLOWER)
        self.browser.go("about:blank")
        self.browser.complaints()

    def test_placement_is_shown_and_explained(self):
        self.show(self.serve(graph(LOGARITHM.replace('name: "model/root"', 'name: "model/root" device: "/device:CPU:1"'))))
        self.browser.click("#to-place")
        self.typed("#place-devices", "/device:CPU:0,/device:CPU:1")
        self.browser.click("#place-start")
        self.browser.wait("document.querySelector('#place-show')")
        text = self.browser.js("return document.querySelector('#tab-place .result').innerText")
        for words in ("4 nodes on 2 devices", "cpu:0\t3", "cpu:1\t1", "2 tensors cross between devices"):
            self.assertIn(words, text)
        self.browser.click("#place-show")
        self.browser.wait("grapnel.shown === 1 && grapnel.summary.marks?.by_device && grapnel.tab === 'graph'")
        self.assertIn("(soft)", self.browser.js("return document.getElementById('stage-list').selectedOptions[0].textContent"))
        self.assertEqual(self.browser.js("return document.getElementById('color').value"), "device")
        self.browser.js("grapnel.go(0, 2)")
        self.browser.wait("document.querySelector('#panel').innerText.includes('Why it is there')")
        self.assertIn("cpu:1", self.browser.js("return document.querySelector('#panel').innerText").lower())
        self.browser.click("#to-nodes")
        self.browser.js("grapnel.toModel(0)")
        self.browser.wait("grapnel.shown === 0 && !document.getElementById('to-place').hidden")
        self.browser.click("#to-place")
        self.browser.click("#place-start")
        self.browser.wait("!document.querySelector('#place-start').disabled")
        self.browser.click("#place-show")
        self.browser.wait("grapnel.shown === 1")
        self.assertEqual(len(self.browser.js("return grapnel.models")), 2, "the same placement is the same entry")

    def test_placement_that_fails_is_told(self):
        self.show(self.serve("testdata/placement/v1_no_kernel"))
        self.browser.click("#to-place")
        self.browser.click("#place-hard")
        self.browser.click("#place-start")
        self.browser.wait("document.querySelector('#tab-place .result .problem')")
        self.assertIn("Cannot assign a device", self.browser.js("return document.querySelector('#tab-place .result').innerText"))
        self.typed("#place-devices", "/etc/hostname")
        self.browser.click("#place-start")
        self.browser.wait("document.querySelector('#tab-place .result').innerText.includes('/etc/hostname')")
        self.browser.complaints()

    def test_every_reader_can_be_seen(self):
        path = graph(FAN)
        for show in (lambda: self.show(self.serve(path)), lambda: self.open_file(path)):
            show()
            self.browser.js("grapnel.go(0, 0)")
            seen = 200
            while seen < 5300:
                self.browser.wait(f"document.querySelectorAll('#panel li').length === {seen + 1}")
                self.browser.js("[...document.querySelectorAll('#panel li .link')].at(-1).click()")
                seen = min(seen + 2000, 5300)
            self.browser.wait("document.querySelectorAll('#panel li').length === 5300")
            names = self.browser.js("return new Set([...document.querySelectorAll('#panel li .link')].map((l) => l.textContent)).size")
            self.assertEqual(names, 5300)

    def test_every_marked_node_and_every_problem_can_be_seen(self):
        before, after, out = graph(FAN), graph(FAN.replace('op: "Neg"', 'op: "Abs"')), os.path.join(tempfile.mkdtemp(), "d.html")
        self.assertEqual(subprocess.run([GRAPNEL, "diff", before, after, "-o", out, "--quiet"], cwd=ROOT, stdout=subprocess.DEVNULL).returncode, 1)
        self.show("file://" + out)
        listed = self.browser.js("return grapnel.summary.marked_counts.reduce((a, b) => a + b)")
        self.assertGreaterEqual(listed, 5300)
        self.load_all()
        self.assertEqual(self.browser.js("return document.querySelectorAll('#panel li').length"), listed)
        broken = graph(FAN.replace('input: "x"', 'input: "y"'))
        self.show(self.serve(broken))
        self.load_all()
        self.assertEqual(self.browser.js("return new Set([...document.querySelectorAll('#panel li.problem')].map((l) => l.textContent)).size"),
                         self.browser.js("return grapnel.summary.problem_count"))

    def load_all(self):
        for _ in range(40):
            more = "[...document.querySelectorAll('#panel li .link')].filter((l) => /^and .* more$/.test(l.textContent))"
            count = self.browser.js(f"const links = {more}; links[0]?.click(); return links.length && document.querySelectorAll('#panel li').length")
            if not count:
                return
            self.browser.wait(f"document.querySelectorAll('#panel li').length > {count}")
        self.fail("there is always more")

    def test_file_has_no_server_behind_it(self):
        self.open_file(MEAN)
        for tab in ("run", "place"):
            self.assertTrue(self.browser.js(f"return document.getElementById('to-{tab}').hidden"))


if __name__ == "__main__":
    main()
