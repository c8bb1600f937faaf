"""The tab Ops: the ops of a model."""
import json
import os

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

    def test_a_saved_model_is_its_network(self):
        summary = json.load(open(os.path.join(page_case.ROOT, "testdata/keras_models/cnn_plain/summary.json"), encoding="utf-8"))
        weights = 4 * sum(layer["parameters"] for layer in summary["layers"])
        for show in (lambda path: self.show(self.serve(path)), self.open_file):
            show("testdata/keras_models/cnn_plain/model")
            self.browser.click("#to-ops")
            rows = dict(zip(self.rows(0), zip(self.rows(2), self.rows(3))))
            for op in ("SaveV2", "RestoreV2", "AssignVariableOp"):
                self.assertNotIn(op, rows)
            self.assertRegex(rows["Conv2D"][0], r"^[1-9][\d,]+ \([1-9]")
            self.assertRegex(rows["VarHandleOp"][1], rf"^{weights:,} \(99")
            self.assertIn("a batch of 1", self.browser.js("return document.querySelector('#tab-ops p:last-child').textContent"))

    def test_layers_have_the_colors_of_their_work(self):
        self.show(self.serve("testdata/keras_models/cnn_plain/model"))
        for by in ("flops", "bytes"):
            self.browser.js(f"const e = document.getElementById('color'); e.value = '{by}'; e.dispatchEvent(new Event('change'))")
            names = self.browser.js(f"return grapnel.view.boxes.filter((b) => b.box.{by} > 0).map((b) => b.box.layer ?? b.box.name)")
            self.assertTrue({"conv2d", "conv2d_1", "dense"} <= set(names), names)
        cost = "return grapnel.view.boxes.find((b) => (b.box.layer ?? b.box.name) === arguments[0]).box.bytes ?? 0"
        self.assertGreater(self.browser.js(cost, "dense"), 100 * self.browser.js(cost, "flatten"))


if __name__ == "__main__":
    page_case.main()
