"""Buttons and legend are beside the drawing and never on it, for any width of the window and any theme."""
import driver
import page_case

# Rectangles that share a point: [what, what] of buttons, legend, panel against the canvas and against each box on it.
MEET = """const canvas = grapnel.views()[0].canvas.getBoundingClientRect(), wrong = [];
const meet = (a, b) => a.left < b.right - 0.5 && b.left < a.right - 0.5 && a.top < b.bottom - 0.5 && b.top < a.bottom - 0.5;
const others = [...document.querySelectorAll("header, .bar, .tools button, #legend-box, #legend, #panel")].map((e) => [e.id || e.textContent, e.getBoundingClientRect()]);
for (const [name, rectangle] of others) if (rectangle.width > 0 && meet(rectangle, canvas)) wrong.push([name, "canvas"]);
const view = grapnel.views()[0];
for (const box of view.boxes) {
  const left = canvas.left + view.at.x + box.x * view.at.zoom, top = canvas.top + view.at.y + box.y * view.at.zoom;
  const seen = {left, top, right: left + box.w * view.at.zoom, bottom: top + box.h * view.at.zoom};
  for (const [name, rectangle] of others) if (rectangle.width > 0 && meet(rectangle, seen)) wrong.push([name, box.box.name]);
}
return wrong;"""
FITS = """const view = grapnel.views()[0]; grapnel.view.boxes.length && view.fit();
return view.at.x >= 0 && view.at.y >= 0 && view.at.x + view.frame.w * view.at.zoom <= view.canvas.clientWidth + 0.5;"""


class Room(page_case.PageCase):
    @classmethod
    def setUpClass(cls):
        cls.servers = []

    @classmethod
    def tearDownClass(cls):
        cls.browser = type("None", (), {"close": lambda self: None})()
        super().tearDownClass()

    def tearDown(self):
        pass

    def look(self, width, dark):
        self.browser = driver.Browser(width, 900, dark)
        try:
            for path in ("testdata/models/transformer_block", "testdata/collatz"):
                self.show(self.serve(path))
                self.browser.js("document.getElementById('close-all').click()")
                for word in ("", "op:Identity"):
                    if word:
                        self.browser.js("grapnel.filtering.hide('op:Identity'); document.getElementById('filter').click()")
                        self.browser.wait("document.querySelector('#panel .entry')")
                    self.assertTrue(self.browser.js(FITS), f"{path} {width} {word}")
                    self.assertEqual(self.browser.js(MEET), [], f"{path} {width} {word}")
                self.browser.js("grapnel.view.select(grapnel.view.boxes[0])")
                for tab in self.browser.js("return grapnel.tabs.names"):
                    self.browser.js("grapnel.openTab(arguments[0])", tab)
                    if tab == "graph":
                        self.assertEqual(self.browser.js(MEET), [], f"{path} {width} chosen")
                    aside = self.browser.js("return document.documentElement.scrollWidth - innerWidth")
                    self.assertLessEqual(aside, 0, f"{path} {width} {tab} is wider than the window")
            self.assertEqual(self.browser.complaints(), [])
        finally:
            self.browser.close()

    def test_at_900_pixels(self):
        self.look(900, dark=False)

    def test_at_1400_pixels_and_dark(self):
        self.look(1400, dark=True)

    def test_at_700_pixels(self):
        self.look(700, dark=False)


if __name__ == "__main__":
    page_case.main()
