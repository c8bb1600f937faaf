"""The initial view of a page: scopes and functions that a command line requests, large enough to read, and what a
diff found."""
import os
import subprocess
import tempfile

import page_case

# Fully visible frames, by the name of their scope or function.
SEEN = """const {view} = grapnel, [w, h] = view.size(), {x, y, zoom} = view.at;
  return [...new Set(view.boxes.flatMap((box) => (box.inner?.frames ?? []).filter((frame) => {
      const left = (box.x + frame.x) * zoom + x, top = (box.y + frame.y) * zoom + y;
      return zoom >= 0.85 && left >= 0 && top >= 0 && left + frame.w * zoom <= w && top + frame.h * zoom <= h;
    }).map((frame) => (frame.isFunction ? grapnel.summary.bodies[frame.body].name : box.box.path))))];"""


class Opened(page_case.PageCase):
    def test_a_scope_far_down(self):
        self.open_file("testdata/models/transformer_block", "--scope", "functional_1_1/dense_5_1")
        self.assertIn("functional_1_1/dense_5_1", self.browser.js(SEEN))
        opened = self.browser.js("return grapnel.view.boxes.filter((box) => box.inner).map((box) => box.box.path)")
        inside = {path for path in opened if path.startswith("functional_1_1/dense_5_1/")}
        self.assertEqual(set(opened) - inside, {"functional_1_1", "functional_1_1/dense_5_1"})  # and no sibling

    def test_a_function_in_the_op_that_calls_it(self):
        self.open_file("testdata/collatz", "--function", "while_cond_true_1887")
        self.assertIn("while_cond_true_1887", self.browser.js(SEEN))

    def test_all_to_a_depth_and_not_folded(self):
        self.open_file("testdata/models/lenet", "--depth", "1")
        boxes = self.browser.js("return grapnel.view.boxes.length")
        self.open_file("testdata/models/lenet", "--depth", "0")
        self.assertLess(self.browser.js("return grapnel.view.boxes.length"), boxes)

    def test_what_a_diff_found_is_in_sight_wherever_it_is(self):
        folder = tempfile.mkdtemp()
        files = [os.path.join(folder, name) for name in ("before.gtxt", "after.gtxt")]
        for file, op in zip(files, ("Abs", "Exp")):
            with open(file, "w") as text:
                print("%x = Placeholder {dtype=float}", file=text)
                last, ends = "x", []  # so many lines pass each scope that the picture has no columns
                for i, scope in enumerate("qwertzuiopasdfghjkly"):  # one below the other, each another one
                    ops = ["Neg", "Tanh", "Relu", "Sqrt", "Sigmoid"][i % 5 :] + (["Elu"] * i) + [op if scope == "k" else "Abs"]
                    for j, each in enumerate(ops):
                        waits = "".join(f", ^{end}" for end in ends[-6:-1]) if j == 0 else ""
                        print(f"%{scope}/op_{j} = {each}(%{last}{waits})", file=text)
                        last = f"{scope}/op_{j}"
                    ends.append(last)
        out = os.path.join(folder, "page.html")
        subprocess.run([page_case.GRAPNEL, "diff", *files, "-o", out, "--quiet"], cwd=page_case.ROOT, stdout=subprocess.DEVNULL)
        self.show("file://" + out)
        seen = self.browser.js("""const {view} = grapnel, marked = view.boxes.filter(({box, inner}) => box.marks && !inner);
            return [view.at.zoom, view.isWhole, marked.map((box) => [box.box.name, view.isInSight(box)])];""")
        self.assertGreater(seen[0], 0.8)
        self.assertEqual(seen[1:], [False, [["k", True]]])


if __name__ == "__main__":
    page_case.main()
