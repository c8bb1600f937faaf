"""The visible graph is saved as a file: SVG, PNG, DOT and the graph's text, from a server's page and from a page that is a file."""
import os
import subprocess
import tempfile

import page_case

CATCH = """globalThis.saved = [];
URL.createObjectURL = (blob) => { saved.push({blob}); return "#"; };
HTMLAnchorElement.prototype.click = function () { saved.at(-1).name = this.download; };"""
READ = """globalThis.texts = undefined;
Promise.all(saved.map(({blob}) => blob.text())).then((texts) => { globalThis.texts = texts; });"""
# The rectangles, words and lines of an SVG, read by the browser's own parser.
PARSED = """const picture = new DOMParser().parseFromString(arguments[0], "image/svg+xml"), all = (tag) => [...picture.querySelectorAll(tag)];
return {wrong: all("parsererror").length, boxes: all("rect").length, words: all("text").map((text) => text.textContent), lines: all("path").length,
  width: Number(picture.documentElement.getAttribute("width")), fills: all("rect").map((rect) => rect.getAttribute("fill"))};"""


class Export(page_case.PageCase):
    def save(self, kind):
        """The files that a menu entry saves: [name, text]."""
        self.browser.js(CATCH)
        self.browser.click("#export summary")
        self.browser.js("[...document.querySelectorAll('#export button')].find((button) => button.textContent === arguments[0]).click()", kind)
        self.browser.wait("saved.length > 0 && saved.every((file) => file.name)")
        self.browser.js(READ)
        texts = self.browser.wait("globalThis.texts")
        self.assertFalse(self.browser.js("return document.getElementById('export').open"), "the menu closes")
        return list(zip(self.browser.js("return saved.map((file) => file.name)"), texts))

    def closed(self):
        return [box for box in self.boxes() if not box["open"]]

    def check_svg(self):
        [(name, text)] = self.save("SVG")
        self.assertEqual(name, "lenet.svg")
        svg = self.browser.js(PARSED, text)
        self.assertEqual(svg["wrong"], 0)
        self.assertGreaterEqual(svg["boxes"], len(self.boxes()))
        for box in self.closed():
            title = box["op"] or box["name"]
            self.assertTrue(any(title in words for words in svg["words"]), f"{title} is not in {svg['words']}")
        drawn = self.browser.js("return grapnel.view.frame.edges.length")
        self.assertGreaterEqual(svg["lines"], drawn)
        self.assertGreaterEqual(svg["width"], self.browser.js("return grapnel.view.frame.w"))
        self.assertTrue(all(fill == "none" or fill.startswith("#") for fill in svg["fills"]), "colors are written out")
        self.assertNotIn("var(", text)

    def check_dot(self):
        [(name, text)] = self.save("DOT")
        self.assertEqual(name, "lenet.dot")
        statements = [line.strip() for line in text.splitlines()]
        nodes = [line for line in statements if line.startswith('"') and "->" not in line]
        self.assertEqual(len(nodes), len(self.closed()))
        named = {line.split(" [label=")[0] for line in nodes}
        edges = [line.removesuffix(";").split(" [")[0].split(" -> ") for line in statements if " -> " in line]
        self.assertGreaterEqual(len(edges), len(nodes) - 2)
        self.assertTrue(all(end in named for edge in edges for end in edge), edges)
        self.assertEqual(text.count("subgraph"), len(self.boxes()) - len(nodes))
        self.assertEqual(text.count("{"), text.count("}"))

    def check_png(self):
        self.save("PNG")
        size = self.browser.js("""globalThis.size = undefined;
          createImageBitmap(saved[0].blob).then((picture) => { globalThis.size = [picture.width, picture.height]; });""") or self.browser.wait("globalThis.size")
        wide, high = self.browser.js("return [grapnel.view.frame.w, grapnel.view.frame.h]")
        self.assertGreaterEqual(size[0], wide)
        self.assertGreaterEqual(size[1], high)
        self.assertEqual(self.browser.js("return saved[0].blob.type"), "image/png")

    def test_a_served_page(self):
        self.show(self.serve("testdata/models/lenet"))
        self.check_svg()
        self.check_dot()
        self.check_png()
        [(name, text)] = self.save("Text")
        self.assertEqual(name, "lenet.gtxt")
        self.assertEqual(text.count("= Conv2D("), 2)

    def test_a_page_that_is_a_file(self):
        self.open_file("testdata/models/lenet")
        self.check_svg()
        self.check_dot()
        self.check_png()
        self.assertTrue(self.browser.js("return [...document.querySelectorAll('#export button')].find((b) => b.textContent === 'Text').disabled"))

    def test_what_is_open_and_the_theme_are_as_they_are_seen(self):
        self.show(self.serve("testdata/collatz"))
        light = self.save("SVG")[0][1]
        self.assertIn("body: while_body", light)
        self.browser.js("document.getElementById('theme').click(); document.getElementById('close-all').click()")
        self.browser.wait("!grapnel.view.boxes.some((box) => box.inner)")
        dark = self.save("SVG")[0][1]
        self.assertNotIn("body: while_body", dark)
        ground = self.browser.js("return grapnel.view.look.theme.canvas")
        self.assertIn(f'fill="{ground}"', dark)
        self.assertNotIn(f'fill="{ground}"', light)

    def test_two_graphs_side_by_side_are_two_files(self):
        page = os.path.join(tempfile.mkdtemp(), "diff.html")
        subprocess.run([page_case.GRAPNEL, "diff", "testdata/harmonic_mean", "testdata/harmonic_mean_print", "-o", page, "-q"], cwd=page_case.ROOT, stdout=subprocess.DEVNULL)
        self.show("file://" + page)
        self.browser.js("document.getElementById('how-side').click()")
        self.browser.wait("grapnel.views().length === 2 && grapnel.views().every((view) => view.boxes.length > 0)")
        names = [name for name, _ in self.save("DOT")]
        self.assertEqual([name.split(".")[-2:] for name in names], [["a", "dot"], ["b", "dot"]])


if __name__ == "__main__":
    page_case.main()
