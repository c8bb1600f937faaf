"""What a command line asks to be open: scopes and functions, as large as they can be read."""
import page_case

# Frames in sight as a whole, by the name of their scope or function.
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


if __name__ == "__main__":
    page_case.main()
