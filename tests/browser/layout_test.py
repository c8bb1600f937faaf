"""Pictures of the page can be read, whatever is open: lines at right angles and under no box, words on no words and in their box, as the
browser itself measures them."""
import importlib.util
import os
import tempfile

import page_case

spec = importlib.util.spec_from_file_location("check_picture", os.path.join(page_case.ROOT, "tests/render/inputs/check_picture.py"))
check_picture = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_picture)

# Errors in the visible layout; arguments[0]: shrinks boxes by so much, to show that the check can fail.
WRONG = """const wrong = [], meter = document.createElement("canvas").getContext("2d"), hair = 0.1;
const meet = (a, b) => a.x0 < b.x1 - hair && b.x0 < a.x1 - hair && a.y0 < b.y1 - hair && b.y0 < a.y1 - hair;
const area = ({x, y, w, h}) => ({x0: x, y0: y, x1: x + w, y1: y + h});
const check = (frame) => {
  const boxes = frame.boxes.map(area), labels = frame.edges.filter(({label}) => label).map(({label: {x, y, w}}) =>
    ({x0: x, x1: x + w, y0: y - 8, y1: y}));
  for (const {edge, points} of frame.edges) {
    for (let i = 1; i < points.length; ++i) {
      const [[ax, ay], [bx, by]] = [points[i - 1], points[i]];
      if (Math.abs(ax - bx) > hair && Math.abs(ay - by) > hair) wrong.push(["slanting", edge.from, edge.to]);
      const piece = {x0: Math.min(ax, bx), x1: Math.max(ax, bx), y0: Math.min(ay, by), y1: Math.max(ay, by)};
      if (boxes.some((box) => meet(piece, box))) wrong.push(["under a box", edge.from, edge.to]);
      if (piece.x0 < 0 || piece.x1 > frame.w || piece.y0 < 0 || piece.y1 > frame.h) wrong.push(["outside", edge.from, edge.to]);
    }
  }
  labels.forEach((label, i) => {
    if (labels.slice(i + 1).some((other) => meet(label, other))) wrong.push(["words on words"]);
    if (boxes.some((box) => meet(label, box))) wrong.push(["words on a box"]);
  });
  boxes.forEach((box, i) => { if (boxes.slice(i + 1).some((other) => meet(box, other))) wrong.push(["box on box"]); });
  for (const {w, lines, inner, box} of frame.boxes) {
    for (const line of inner ? [] : lines) {
      let width = 0;
      for (const {text, font} of line) { meter.font = font; width += meter.measureText(text).width; }
      if (width > w - arguments[0]) wrong.push(["wider than its box", line.map(({text}) => text).join("")]);
    }
    for (const other of inner?.frames ?? []) check(other);
  }
};
for (const view of grapnel.views()) check(view.frame);
return wrong;"""
LINES = "return grapnel.view.frame.edges.map(({edge, points}) => JSON.stringify(points))"


class Layout(page_case.PageCase):
    def check(self, what):
        self.assertEqual(self.browser.js(WRONG, 0), [], what)

    def open_all(self):
        """Opens everything, two levels deep."""
        for _ in range(2):
            self.browser.js("""for (const {box, instance} of grapnel.view.boxes) {
                if (box.kind === "scope") grapnel.view.open.add(`${instance}|${box.scope}`);
                else if (box.calls?.length) grapnel.view.open.add(`${instance}>n${box.id}`);
              }
              globalThis.done = false;
              grapnel.view.update().then(() => { globalThis.done = true; });""")
            self.browser.wait("globalThis.done")

    def test_models_closed_and_open(self):
        for model in ("testdata/models/lenet", "testdata/models/transformer_block", "testdata/models/train_step", "testdata/collatz"):
            self.show(self.serve(model))
            self.check(model)
            self.open_all()
            self.check(f"{model}, opened")

    def test_the_corpus(self):
        folder = os.path.join(page_case.ROOT, "../shared/corpus/cases")
        if not os.path.isdir(folder):
            self.skipTest("no ../shared")
        for case in sorted(os.listdir(folder)):
            self.show(self.serve(os.path.join(folder, case)))
            self.check(case)

    def test_graphs_made_at_random(self):
        for seed in range(12):
            path = os.path.join(tempfile.mkdtemp(), "graph.pbtxt")
            with open(path, "w") as file:
                file.write(check_picture.graph(seed))
            self.show(self.serve(path))
            self.check(f"seed {seed}")
            self.open_all()
            self.check(f"seed {seed}, opened")

    def test_the_check_sees_what_is_wrong(self):
        self.show(self.serve("testdata/models/lenet"))
        self.assertTrue(self.browser.js(WRONG, 100))
        self.browser.js("const [a, b] = grapnel.view.frame.boxes; b.x = a.x; b.y = a.y;")
        self.assertIn(["box on box"], self.browser.js(WRONG, 0))

    def test_between_two_boxes_is_one_line(self):
        path = os.path.join(tempfile.mkdtemp(), "two.gtxt")
        with open(path, "w") as file:
            file.write("%x = Placeholder {dtype=float, shape=[2]}\n%y = Add(%x, %x, ^x)\n")
        self.show(self.serve(path))
        lines = self.browser.js("return grapnel.view.frame.edges.map(({points, words, under}) => [JSON.stringify(points), words?.full ?? '', under ?? -1])")
        self.assertEqual(len({points for points, _, _ in lines}), 1, lines)
        self.assertEqual([words for _, words, under in lines if under < 0], ["float[2] \u00d72 + control"])

    def test_a_loop_goes_round(self):
        self.show(self.serve(self.loop()))
        up = self.browser.js("""for (const box of grapnel.view.boxes) for (const frame of [grapnel.view.frame, ...box.inner?.frames ?? []]) {
          const found = frame.edges.find(({edge}) => edge.up);
          if (found) return {points: found.points, from: frame.boxes[found.edge.from], to: frame.boxes[found.edge.to]}; }""")
        first, last = up["points"][0], up["points"][-1]
        self.assertAlmostEqual(first[1], up["from"]["y"] + up["from"]["h"], msg="it leaves below")
        self.assertAlmostEqual(last[1], up["to"]["y"], msg="it comes from above")

    def loop(self):
        path = os.path.join(tempfile.mkdtemp(), "loop.pbtxt")
        float_type = 'attr { key: "T" value { type: DT_FLOAT } }'
        with open(path, "w") as file:
            file.write('node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }\n'
                       f'node {{ name: "merge" op: "Merge" input: "x" input: "next" {float_type} attr {{ key: "N" value {{ i: 2 }} }} }}\n'
                       f'node {{ name: "body" op: "Identity" input: "merge" {float_type} }}\n'
                       f'node {{ name: "next" op: "NextIteration" input: "body" {float_type} }}\n')
        return path

    def test_large_bodies_are_placed_at_once(self):
        path = os.path.join(tempfile.mkdtemp(), "wide.pbtxt")
        with open(path, "w") as file:
            file.write("".join(check_picture.graph(seed, f"g{seed}_") for seed in range(12)))
        self.show(self.serve(path))
        self.open_all()
        boxes = len(self.boxes())
        self.assertGreater(boxes, 100)
        self.browser.js("globalThis.took = undefined; const begin = performance.now(); grapnel.view.update().then(() => { globalThis.took = performance.now() - begin; })")
        self.assertLess(self.browser.wait("globalThis.took"), 1000 * page_case.SLOWER, f"{boxes} boxes")
        self.check("many boxes")

    def test_the_same_graph_is_placed_alike(self):
        self.show(self.serve("testdata/models/transformer_block"))
        first = self.browser.js(LINES)
        self.show(self.serve("testdata/models/transformer_block"))
        self.assertEqual(self.browser.js(LINES), first)


if __name__ == "__main__":
    page_case.main()
