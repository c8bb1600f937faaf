"""The first view of each of the 40 Keras models: all of it is in view and can be read, in a wide and in a narrow window."""
import os

import page_case

MODELS = os.path.join(page_case.ROOT, "testdata/keras_models")
SIZES = (1280, 800), (900, 700)
READABLE = 11  # pixels of the titles of boxes
# By window: models that are in view as a whole, but a little smaller than readable. That one has wide boxes side by side.
TOO_LARGE = {SIZES[0]: set(), SIZES[1]: {"residual"}}
SIGHT = """const {view} = grapnel, {at, frame} = view, [w, h] = view.size(), inner = {x: frame.w * at.zoom, y: frame.h * at.zoom};
return {text: 13 * at.zoom, isWhole: at.x >= 0 && at.y >= 0 && at.x + inner.x <= w + 0.5 && at.y + inner.y <= h + 0.5,
  fills: Math.max(inner.x / w, inner.y / h), open: view.boxes.filter((b) => b.inner).length, columns: frame.columns.first.length + 1};"""
# Edges between two boxes that run neither down nor to a column further to the right.
BACK = """const {frame} = grapnel.view;
return frame.edges.filter(({edge}) => !edge.up).map(({edge}) => [frame.boxes[edge.from], frame.boxes[edge.to]])
  .filter(([a, b]) => b.y < a.y + a.h && b.x < a.x + a.w).map(([a, b]) => [a.box.name, b.box.name]);"""
# Closed boxes whose list of kinds is complete and has another sum than the number of ops.
COUNTS = """return grapnel.view.boxes.filter(({box, inner}) => box.kind === 'scope' && !inner && !box.notes[0].endsWith('\u2026'))
  .filter(({box}) => box.ops !== box.notes[0].split(', ').reduce((sum, part) => sum + Number.parseInt(part, 10), 0)).map(({box}) => box.name);"""


class FirstView(page_case.PageCase):
    def tearDown(self):
        self.browser.view_size(1600, 900)
        super().tearDown()

    def test_all_is_in_view_and_readable(self):
        models = sorted(name for name in os.listdir(MODELS) if os.path.isdir(os.path.join(MODELS, name)))
        self.assertEqual(len(models), 40)
        small = {size: set() for size in SIZES}  # too small, or not wholly in view
        for model in models:
            url = self.serve(os.path.join(MODELS, model, "model"))
            for size in SIZES:
                self.browser.view_size(*size)
                self.show(url)
                sight = self.browser.js(SIGHT)
                if sight["text"] < READABLE or not sight["isWhole"]:
                    small[size].add(model)
                with self.subTest(model=model, size=size):
                    self.assertEqual(self.browser.js(BACK), [])
                    self.assertGreater(sight["fills"], 0.6, "most of the picture's place is empty")
                    self.assertEqual(self.browser.js(COUNTS), [], "a box holds another number of ops than it says")
            self.servers[-1].terminate()
            if page_case.PICTURES:
                self.browser.picture(os.path.join(page_case.PICTURES, f"first-{model}.png"))
        for size, names in small.items():
            self.assertEqual(names, TOO_LARGE[size], size)

    def test_columns_stay_when_a_box_opens_and_follow_the_window(self):
        columns = "return grapnel.view.frame.columns.first"
        self.browser.view_size(1280, 800)
        self.show(self.serve(os.path.join(MODELS, "unet", "model")))
        before = self.browser.js(columns)
        self.assertEqual(len(before), 1)
        self.toggle("down1_conv1")
        self.assertEqual(self.browser.js(columns), before)
        self.toggle("down1_conv1")
        self.browser.js("grapnel.view.fit()")
        self.browser.view_size(1280, 2000)
        self.browser.wait("grapnel.view.frame.columns.first.length === 0")
        self.browser.js("document.getElementById('fit').click()")
        self.browser.view_size(1280, 800)
        self.browser.wait("grapnel.view.frame.columns.first.length === 1")

    def test_a_loop_opens_beside_its_condition(self):
        self.show(self.serve(os.path.join(MODELS, "series_lstm", "model")))
        self.assertEqual([box["name"] for box in self.boxes() if box["open"]], [])
        self.toggle("lstm")
        self.toggle("while", "While")
        loop = self.box("while", "While")
        self.assertEqual([title.split(":")[0] for title in loop["title"]], ["cond", "body"])
        cond, body = self.browser.js("""return grapnel.view.boxes.find(({box, inner}) => inner && box.op === 'While').inner.frames
            .map(({x, y, w, h}) => ({x, y, w, h}));""")
        self.assertEqual(cond["y"], body["y"])
        self.assertGreater(body["x"], cond["x"] + cond["w"])
        ends = self.browser.js("""return grapnel.view.boxes.filter(({box}) => /^(arg|result) 4$/.test(box.op)).map(({box}) => [box.op, box.name])""")
        self.assertEqual(ends, [["arg 4", "zeros"], ["result 4", "zeros"]])
        names = self.browser.js("return grapnel.view.boxes.map(({box}) => box.name).filter((name) => name.includes('cell'))")
        self.assertEqual(names, ["lstm_cell", "lstm_cell"])


if __name__ == "__main__":
    page_case.main()
