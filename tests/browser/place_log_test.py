"""The tab Placement with a log of TensorFlow's: requested, placed and logged devices side by side."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from page_case import ROOT, PageCase, main  # noqa: E402

LOGS = "testdata/placement_logs/"
RESULT = "document.getElementById('log-result')"
ROWS = "return [...document.querySelectorAll('.log tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


class PlaceLog(PageCase):
    def compare(self, graph, log, as_file=True):
        self.show(self.serve(graph))
        self.browser.click("#to-place")
        self.again(log, as_file)

    def again(self, log, as_file=True):
        self.browser.js(f"{RESULT}.replaceChildren()")
        if as_file:
            self.browser.js("""const all = new DataTransfer(); all.items.add(new File([arguments[0]], 'program.log'));
              document.getElementById('log-file').files = all.files;""", log)
        else:
            self.browser.js("document.getElementById('log-file').value = ''; document.getElementById('log-text').value = arguments[0];", log)
        self.browser.click("#log-start")
        self.browser.wait("document.querySelector('#log-result h2, #log-result .problem')")

    def text(self):
        return self.browser.js(f"return {RESULT}.innerText")

    def test_the_lines_of_this_trace_are_found(self):
        log = text_of(LOGS + "trace_tower_2/placement.log")
        for as_file in (True, False):
            self.compare(LOGS + "trace_tower_2/tower_23.pb", log, as_file)
            self.assertIn("0 of them on another device than here", self.text())
            self.assertIn("of 3 graphs in the log with these nodes", self.text())
            rows = self.browser.js(ROWS)
            self.assertTrue(all(row[3] == row[4] for row in rows), rows)

    def test_rows_that_differ_come_first_with_the_reason(self):
        self.compare(LOGS + "rewritten_mlp/graph.pb", text_of(LOGS + "rewritten_mlp/placement.log"))
        self.assertIn("not in the log as here", self.text())
        shown = self.browser.js(ROWS)
        self.assertTrue(all(row[6] for row in shown), "each has a reason")
        self.browser.js("const list = document.querySelector('.log-which'); list.value = 'all'; list.dispatchEvent(new Event('change'));")
        everything = self.browser.js(ROWS)
        self.assertGreater(len(everything), len(shown))
        self.assertEqual(everything[:len(shown)], shown)
        name = self.browser.js("return document.querySelector('.log .link').textContent")
        self.browser.click(".log .link")
        self.browser.wait(f"document.querySelector('#panel p')?.textContent.startsWith({name!r})")

    def test_lines_that_cannot_be_read_are_counted_and_numbered(self):
        self.compare(LOGS + "cut_by_text/graph.pb", text_of(LOGS + "cut_by_text/placement.log"))
        self.assertRegex(self.text(), r"program\.log: \d+ lines? cannot be read, the first is line \d+")

    def test_a_log_of_something_else_is_said_in_words(self):
        self.compare(LOGS + "cut_by_text/graph.pb", "nothing here\n")
        self.assertIn("program.log: no line places a node in a known format", self.text())
        self.again("".join(f"other/n{i}: (MatMul): /job:localhost/replica:0/task:0/device:CPU:0\n" for i in range(5)))
        self.assertIn("it has other graphs", self.text())

    def test_a_log_that_is_missing_or_empty(self):
        self.compare(LOGS + "cut_by_text/graph.pb", "", as_file=False)
        self.assertIn("Choose a file or paste lines first", self.text())
        self.again(" \n", as_file=False)
        self.assertIn("the pasted text is empty", self.text())
        self.browser.complaints()  # of the answer

    def test_stages_of_a_folder_are_placed_too(self):
        self.show(self.serve("testdata/dumps/small"))
        self.assertFalse(self.browser.js("return document.getElementById('to-place').hidden"))


if __name__ == "__main__":
    main()
