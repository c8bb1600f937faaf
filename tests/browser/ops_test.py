"""The tab Ops: the ops of a model."""
import page_case

TEXT = "return [...document.querySelectorAll('#tab-ops tbody tr')].map((row) => row.children[arguments[0]].textContent)"


class Ops(page_case.PageCase):
    def rows(self, column):
        self.browser.wait("document.querySelectorAll('#tab-ops tbody tr').length > 0")
        return self.browser.js(TEXT, column)

    def see(self):
        self.browser.click("#to-ops")
        self.assertEqual(self.rows(0)[0], "Conv2D", "the most FLOPs first")
        self.assertIn(" %)", self.rows(2)[0])
        self.browser.type("#tab-ops input", "bias")
        self.assertEqual(self.rows(0), ["BiasAdd"])
        self.browser.click("#tab-ops tbody .link")
        self.browser.wait("[...document.querySelectorAll('#tab-nodes tbody tr')].every((row) => row.children[1].textContent === 'BiasAdd')"
                          " && document.querySelectorAll('#tab-nodes tbody tr').length > 0")
        self.assertIn("tab=nodes&op=BiasAdd", self.browser.js("return location.hash"))

    def test_a_server_tells_the_ops_of_a_model(self):
        self.show(self.serve("testdata/models/lenet"))
        self.see()

    def test_a_file_does_too(self):
        self.open_file("testdata/models/lenet")
        self.see()

    def test_columns_sort(self):
        self.show(self.serve("testdata/models/lenet"))
        self.browser.click("#to-ops")
        self.rows(0)
        self.browser.click("#tab-ops th:nth-child(2) button")
        counts = [int(text.replace(",", "")) for text in self.rows(1)]
        self.assertEqual(counts, sorted(counts, reverse=True))
        self.assertEqual(sum(counts), 64)


if __name__ == "__main__":
    page_case.main()
