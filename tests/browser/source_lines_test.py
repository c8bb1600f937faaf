"""The lines of the program that made nodes: in the panel, and in the search."""
import os
import subprocess
import tempfile

import page_case

STACK = "return [...document.querySelectorAll('#panel p.line .link')].map((line) => line.textContent)"
HERE = "return [...document.querySelectorAll('#panel pre.source .here')].map((line) => line.textContent)"
FOUND = "return [...document.querySelectorAll('#results [role=option] > span')].map((hit) => hit.textContent)"


class SourceLines(page_case.PageCase):
    def traced(self):
        path = os.path.join(tempfile.mkdtemp(), "collatz.pb")
        subprocess.run([page_case.GRAPNEL, "trace", "collatz", "-o", path, "--quiet"], check=True, cwd=page_case.ROOT)
        return path

    def search(self, text):
        self.browser.type("#search", text)
        self.browser.wait("!document.getElementById('results').hidden && document.getElementById('results').children.length > 0")

    def see(self):
        self.search("floordiv")
        self.browser.click("#results [role=option]:last-of-type")
        self.browser.wait("document.querySelectorAll('#panel p.line').length > 0")
        stack = self.browser.js(STACK)
        self.assertGreaterEqual(len(stack), 3, "the line, the branch and the loop")
        self.assertTrue(stack[0].startswith("examples.cpp:"), stack)
        self.browser.click("#panel p.line .link")
        self.browser.wait("document.getElementById('search').value.includes('examples.cpp:')"
                          " && !document.getElementById('results').hidden")
        found = self.browser.js(FOUND)
        self.assertTrue(any("floordiv" in hit for hit in found), found)
        self.assertFalse(any("mod" in hit for hit in found), found)

    def test_a_server_shows_the_text_of_files_below_it(self):
        self.show(self.serve(self.traced()))
        self.see()
        here = self.browser.js(HERE)
        self.assertIn("FloorDiv(n, 2)", here[0])

    def test_a_file_does_too(self):
        self.open_file(self.traced())
        self.see()

    def test_other_files_are_not_read(self):
        # The graph names a file of this machine that is not below the model nor the working folder.
        secret = os.path.join(tempfile.mkdtemp(), "secret.py")
        with open(secret, "w") as file:
            file.write("\n".join(f"password_{i} = {i}" for i in range(60)))
        text = os.path.join(tempfile.mkdtemp(), "graph.pbtxt")
        subprocess.run([page_case.GRAPNEL, "trace", "collatz", "-o", text, "--quiet"], check=True, cwd=page_case.ROOT)
        with open(text) as file:
            graph = file.read().replace("lib/trace/examples.cpp", secret)
        with open(text, "w") as file:
            file.write(graph)
        self.show(self.serve(text))
        self.search("while/loop_counter")
        self.browser.click("#results [role=option]")
        self.browser.wait("document.querySelectorAll('#panel p.line').length > 0")
        self.assertEqual(self.browser.js(HERE), [])


if __name__ == "__main__":
    page_case.main()
