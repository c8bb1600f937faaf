"""The address holds every choice at once: a copied link opens the same view."""
import os
import subprocess
import tempfile

import page_case

HASH = "return location.hash"
CHOOSE = "const select = document.querySelector(arguments[0]); select.value = arguments[1]; select.dispatchEvent(new Event('change'));"
OPEN = "return [...grapnel.view.open].sort()"
CALLS = """
%x = Placeholder {dtype=float, shape=[2]}
%call = PartitionedCall(%x) {f=@outer}
func @outer(%a: float) -> (r: float) {
  %s/one = Relu(%a)
  %s/two = Tanh(%s/one)
  %t/one = Exp(%s/two)
  %k = Const 2.5
  %t/two = Mul(%t/one, %k)
  return %t/two
}
"""


class Address(page_case.PageCase):
    def choose(self, css, value):
        """Chooses in a list. The address must have changed before the next task of the page."""
        self.browser.js(CHOOSE, css, value)
        self.assertEqual(self.browser.js("return document.querySelector(arguments[0]).value", css), value)

    def again(self):
        """Opens the address in a page without history."""
        self.show(self.browser.js("return location.href"))

    def color(self):
        return self.browser.js("return document.getElementById('color').value")

    def file(self, text):
        path = os.path.join(tempfile.mkdtemp(), "graph.gtxt")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_colors(self):
        self.show(self.serve("testdata/models/lenet"))
        for color in ("device", "flops", "none", "bytes"):
            self.choose("#color", color)
            self.assertIn(f"color={color}", self.browser.js(HASH))
            self.again()
            self.assertEqual(self.color(), color)
        self.choose("#color", "op")
        self.assertNotIn("color", self.browser.js(HASH))
        self.again()
        self.assertEqual(self.color(), "op")

    def test_colors_in_a_file(self):
        self.open_file("tests/serve/inputs/clusters.gtxt")
        self.choose("#color", "cluster")
        self.assertIn("color=cluster", self.browser.js(HASH))
        self.again()
        self.assertEqual(self.color(), "cluster")

    def test_colors_of_a_comparison(self):
        folder = tempfile.mkdtemp()
        for name, op in (("a", "Relu"), ("b", "Tanh")):
            with open(f"{folder}/{name}.gtxt", "w", encoding="utf-8") as file:
                file.write(f"%x = Placeholder {{dtype=float, shape=[2]}}\n%y = {op}(%x)\n")
        subprocess.run([page_case.GRAPNEL, "diff", f"{folder}/a.gtxt", f"{folder}/b.gtxt", "-o", f"{folder}/d.html", "-q"], check=False,
                       stdout=subprocess.DEVNULL)
        self.show(f"file://{folder}/d.html")
        self.assertEqual(self.color(), "marks")
        self.choose("#color", "device")
        self.assertIn("color=device", self.browser.js(HASH))
        self.again()
        self.assertEqual(self.color(), "device")
        self.browser.click("#how-side")
        self.browser.wait("grapnel.panes.on && location.hash.includes('side=1')")
        self.choose("#color", "op")
        self.assertIn("color=op", self.browser.js(HASH))
        self.again()
        self.browser.wait("grapnel.panes.on")
        self.assertEqual(self.color(), "op")

    def test_colors_of_a_placement(self):
        page = os.path.join(tempfile.mkdtemp(), "place.html")
        subprocess.run([page_case.GRAPNEL, "place", "testdata/models/lenet", "--devices", "cpu:2", "--html", page, "-q"], check=True, cwd=page_case.ROOT)
        self.show(f"file://{page}")
        self.assertEqual(self.color(), "device", "the default of a placement")
        self.choose("#color", "marks")
        self.assertIn("color=marks", self.browser.js(HASH))
        self.again()
        self.assertEqual(self.color(), "marks")

    def test_a_scope_that_was_closed_in_a_function_stays_closed(self):
        self.show(self.serve(self.file(CALLS)))
        if not self.box("call", "PartitionedCall")["open"]:
            self.toggle("call", "PartitionedCall")
        self.browser.wait("grapnel.view.boxes.some(({box}) => box.name === 's' && box.kind === 'scope')")
        if self.box("s")["open"]:
            self.toggle("s")
        if not self.box("t")["open"]:
            self.toggle("t")
        self.browser.wait("location.hash.includes(encodeURIComponent('>'))")
        before = self.browser.js(OPEN)
        self.again()
        self.assertEqual(self.browser.js(OPEN), before)

    def test_a_node_without_a_box(self):
        self.show(self.serve(self.file(CALLS)))
        self.browser.type("#search", "k")
        self.browser.wait("[...document.querySelectorAll('#results [role=option]')].some((one) => one.textContent.startsWith('Const  k'))")
        self.browser.js("[...document.querySelectorAll('#results [role=option]')].find((one) => one.textContent.startsWith('Const  k')).click()")
        self.browser.wait("document.getElementById('panel').textContent.startsWith('Const') && location.hash.includes('node=')")
        self.again()
        self.browser.wait("document.getElementById('panel').textContent.startsWith('Const')")
        self.browser.js("grapnel.view.select(undefined)")
        self.assertNotIn("node=", self.browser.js(HASH))

    def test_the_graphs_to_compare(self):
        self.show(self.serve("testdata/models/lenet", "testdata/models/train_step", "testdata/harmonic_mean"))
        self.browser.js("grapnel.openTab('diff')")
        self.browser.wait("document.getElementById('diff-a')")
        self.choose("#diff-a", "2")
        self.assertIn("compare=2%2C", self.browser.js(HASH))
        self.choose("#diff-b", "1")
        self.assertIn("compare=2%2C1", self.browser.js(HASH))
        self.again()
        self.browser.wait("document.getElementById('diff-a')?.value === '2' && document.getElementById('diff-b').value === '1'")

    def test_stages_and_which_of_them_are_listed(self):
        folder = os.path.join(tempfile.mkdtemp(), "dumps")
        subprocess.run([page_case.GRAPNEL, "opt", "testdata/harmonic_mean", "--dump-dir", folder, "--quiet"], check=True, cwd=page_case.ROOT)
        self.show(self.serve(folder))
        self.browser.js("grapnel.openTab('passes')")
        self.browser.wait("document.getElementById('all-stages')")
        self.browser.click("#all-stages")
        self.assertIn("stages=all", self.browser.js(HASH))
        self.choose("#stage-list", "2")
        self.browser.wait("location.hash.includes('graph=2')")
        self.again()
        self.browser.wait("grapnel.index === 2 && document.getElementById('all-stages')?.checked")
        self.browser.click("#all-stages")
        self.browser.wait("!location.hash.includes('stages=')")


if __name__ == "__main__":
    page_case.main()
