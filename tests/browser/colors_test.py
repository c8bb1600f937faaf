"""Colors of XLA clusters."""
import page_case

LEGEND = "document.getElementById('legend').textContent"
FILL = """const box = grapnel.view.boxes.find((b) => (b.box.path ?? b.box.name) === arguments[0]); return grapnel.view.look.fillOf(box) ?? null;"""


class Colors(page_case.PageCase):
    def choose(self, color):
        self.browser.js("const select = document.getElementById('color'); select.value = arguments[0]; select.dispatchEvent(new Event('change'))", color)
        self.assertEqual(self.browser.js("return document.getElementById('color').value"), color)

    def fill(self, path):
        return self.browser.js(FILL, path)

    def test_xla_clusters_have_colors(self):
        for show in (lambda: self.show(self.serve("tests/serve/inputs/clusters.gtxt")), lambda: self.open_file("tests/serve/inputs/clusters.gtxt")):
            show()
            self.choose("cluster")
            for name in ("cluster_0", "cluster_1", "step", "function compiled"):
                self.assertIn(name, self.browser.js(f"return {LEGEND}"))
            self.assertEqual(self.fill("m"), self.fill("n"))
            self.assertNotEqual(self.fill("m"), self.fill("o"))
            self.assertIsNone(self.fill("x"))
            self.browser.js("grapnel.view.select(grapnel.view.boxes.find((b) => b.box.name === 'm'))")
            self.browser.wait("document.getElementById('panel').textContent.includes('XLA cluster cluster_0')")

    def test_a_graph_without_clusters_has_no_such_choice(self):
        self.show(self.serve("testdata/models/lenet"))
        self.assertNotIn("cluster", self.browser.js("return [...document.getElementById('color').options].map((o) => o.value)"))


if __name__ == "__main__":
    page_case.main()
