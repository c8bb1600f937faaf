"""The tab Functions: a row for each Python function, which opens into its traces."""
import page_case

LIBRARY = "testdata/libraries/train_step.pb"
ROWS = "return [...document.querySelectorAll('#tab-functions .list tbody tr')].map((row) => row.textContent)"


class Functions(page_case.PageCase):
    def rows(self):
        self.browser.wait("document.querySelectorAll('#tab-functions .list tbody tr').length > 0")
        return self.browser.js(ROWS)

    def see(self):
        self.assertIn("__inference_train_step_694", self.browser.js("return document.getElementById('crumbs').textContent"),
                      "a library opens at its largest entry point")
        self.browser.click("#to-functions")
        rows = self.rows()
        self.assertEqual(len(rows), 14, "three Python functions and eleven traces")
        self.assertTrue(rows[0].startswith("\u25be forward 4 traces"), rows[0])
        self.assertIn("superseded", rows[1])
        self.assertIn("__inference___backward_forward_87_201", rows[1])
        self.assertIn("lacks dropout/ (8 nodes)", rows[4])
        self.assertIn("lr = 0.5, a constant (mul/x, mul_1/x)", rows[9])
        self.assertIn("normalize 3 traces, one body", rows[10])
        self.browser.click("#tab-functions .opener")
        self.assertEqual(len(self.rows()), 10, "forward is closed")
        self.browser.type("#tab-functions input", "normalize")
        self.assertEqual(len(self.rows()), 4)
        self.browser.click("#tab-functions .inner .link")
        self.browser.wait("document.getElementById('crumbs').textContent.includes('__inference_normalize_47')")

    def test_a_server_tells_the_traces(self):
        self.show(self.serve(LIBRARY))
        self.see()

    def test_a_file_does_too(self):
        self.open_file(LIBRARY)
        self.see()

    def test_parts_of_ops_stand_together(self):
        self.show(self.serve("testdata/libraries/control_flow.pb"))
        self.browser.click("#to-functions")
        self.assertTrue(any(row.startswith("\u25be cond_true 2 functions") for row in self.rows()))


if __name__ == "__main__":
    page_case.main()
