"""Several models of one server: each with its own tabs, stages and slider, one at a time or side by side."""
import os
import subprocess
import tempfile

import page_case

LENET, COLLATZ = "testdata/models/lenet", "testdata/collatz"
TAB = "document.querySelector('#model-tabs [data-model=\"{}\"]')"
FRAMES = "grapnel.row.frames.map(({contentWindow}) => contentWindow)"
READY = f"{FRAMES}.length === 2 && {FRAMES}.every((w) => w.document.documentElement?.dataset.ready && w.grapnel.view.boxes.length > 0)"


class Models(page_case.PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.dumps = os.path.join(tempfile.mkdtemp(), "dumps")
        subprocess.run([page_case.GRAPNEL, "opt", LENET, "--dump-dir", cls.dumps, "-o", cls.dumps + ".pb", "--quiet"], check=True, cwd=page_case.ROOT)

    def choose(self, model):
        self.browser.js(f"{TAB.format(model)}.click()")
        self.browser.wait(f"{TAB.format(model)}.getAttribute('aria-selected') === 'true' && grapnel.row.modelOf(grapnel.index) === {model}")

    def shown(self):
        return self.browser.js("return {title: document.getElementById('title').textContent, stages: !document.getElementById('stages').hidden,"
                               " most: document.getElementById('stage-slider').max, note: document.getElementById('stage-note').textContent, tab: grapnel.tab}")

    def test_each_model_has_its_own_slider_tabs_and_view(self):
        self.show(self.serve(LENET, self.dumps))
        self.assertEqual(self.browser.js("return [...document.getElementById('model-tabs').children].map((tab) => tab.textContent)"), ["lenet", "dumps"])
        self.assertEqual((self.shown()["title"], self.shown()["stages"]), ("lenet", False), "one graph needs no slider")
        self.toggle("conv2d_1")
        self.browser.click("#to-nodes")
        self.choose(1)
        self.browser.wait("document.getElementById('stage-note').textContent.startsWith('1 of ')")
        stages = int(self.shown()["most"])
        self.assertGreater(stages, 5)
        self.browser.wait("grapnel.tab === 'graph'")
        self.assertTrue(self.browser.js("return document.getElementById('to-run').hidden"), "a stage cannot be run, the other model can")
        self.browser.press("]")
        self.browser.wait("document.getElementById('stage-note').textContent.startsWith('2 of ')")
        self.browser.press("[", "[", "[")
        self.browser.wait("document.getElementById('stage-note').textContent.startsWith('1 of ')")
        self.browser.js(f"const slider = document.getElementById('stage-slider'); slider.value = {stages}; slider.dispatchEvent(new Event('input'))")
        self.browser.wait(f"document.getElementById('stage-note').textContent.startsWith('{stages + 1} of ')")
        self.choose(0)
        self.browser.wait("grapnel.tab === 'nodes' && document.querySelector('#tab-nodes tbody tr')")
        self.assertTrue(self.box("conv2d_1")["open"], "as it was left")
        self.choose(1)
        self.browser.wait(f"document.getElementById('stage-note').textContent.startsWith('{stages + 1} of ')")
        self.browser.js("history.back()")
        self.browser.wait("grapnel.row.modelOf(grapnel.index) === 0")

    def test_what_passes_make_of_a_model_is_among_its_stages(self):
        self.show(self.serve(COLLATZ, LENET))
        self.choose(1)
        self.browser.click("#to-passes")
        self.browser.js("return fetch('api/1/passes' + location.search, {method: 'POST', headers: {'X-Grapnel-Token': new URLSearchParams(location.search).get('token')}, body: '{}'})"
                        ".then((answer) => answer.json()).then(({entry}) => grapnel.added(entry, 'graph'))")
        self.browser.wait("!document.getElementById('stages').hidden && Number(document.getElementById('stage-slider').max) > 3")
        self.assertEqual(self.browser.js("return grapnel.row.modelOf(grapnel.index)"), 1)
        self.choose(0)
        self.browser.wait("document.getElementById('stages').hidden")

    def test_side_by_side_each_is_a_page_of_its_own(self):
        self.show(self.serve(LENET, self.dumps))
        self.toggle("conv2d_1")
        self.browser.click("#beside")
        self.browser.wait(READY)
        self.assertEqual(self.browser.js(f"return {FRAMES}.map((w) => w.document.getElementById('title').textContent)"), ["lenet", "dumps"])
        self.assertTrue(self.browser.js(f"return {FRAMES}[0].grapnel.view.boxes.some(({{box, inner}}) => box.name === 'conv2d_1' && inner)"), "as it was")
        self.browser.js(f"{FRAMES}[1].grapnel.stages.step(1); {FRAMES}[0].document.getElementById('to-ops').click()")
        self.browser.wait(f"{FRAMES}[1].document.getElementById('stage-note').textContent.startsWith('2 of ') && {FRAMES}[0].grapnel.tab === 'ops'")
        self.assertEqual(self.browser.js(f"return {FRAMES}[1].grapnel.tab"), "graph", "the other's tab stays")
        self.browser.wait("location.hash.includes('beside=1') && location.hash.includes('tab%3Dops') && location.hash.includes('graph%3D2')")
        dark = self.browser.js(f"{FRAMES}[0].document.getElementById('theme').click(); return document.documentElement.classList.contains('dark')")
        self.browser.wait(f"{FRAMES}.every((w) => w.document.documentElement.classList.contains('dark') === {str(not dark).lower()})")
        self.show(self.browser.js("return location.href"))  # the address alone
        self.browser.wait(READY)
        self.browser.wait(f"{FRAMES}[0].grapnel.tab === 'ops' && {FRAMES}[1].document.getElementById('stage-note').textContent.startsWith('2 of ')")
        self.choose(1)
        self.browser.wait("grapnel.row.frames.length === 0 && document.getElementById('stage-note').textContent.startsWith('2 of ')")
        self.assertFalse(self.browser.js("return document.body.classList.contains('beside')"))

    def test_one_model_has_no_row_of_models(self):
        self.show(self.serve(self.dumps))
        self.assertTrue(self.browser.js("return document.getElementById('models').hidden"))

    def test_models_of_one_file_name_are_told_apart(self):
        self.show(self.serve("testdata/models/lenet/graph.pb", "testdata/harmonic_mean/graph.pb"))
        self.assertEqual(self.browser.js("return [...document.getElementById('model-tabs').children].map((tab) => tab.textContent)"),
                         ["lenet/graph.pb", "harmonic_mean/graph.pb"])


if __name__ == "__main__":
    page_case.main()
