"""Files that change while they are served."""
import os
import shutil
import subprocess
import tempfile

import page_case
from page_case import GRAPNEL, ROOT, PageCase


class Reload(PageCase):
    def test_a_changed_file_is_shown_with_the_same_things_open(self):
        path = os.path.join(tempfile.mkdtemp(), "model.pb")
        subprocess.run([GRAPNEL, "convert", "testdata/models/lenet", "-o", path, "--quiet"], check=True, cwd=ROOT)
        self.show(self.serve(path))
        self.browser.click("#to-run")
        self.browser.wait("[...document.querySelectorAll('#tab-run button')].some((e) => e.textContent === 'Run')")
        self.browser.js("[...document.querySelectorAll('#tab-run button')].find((e) => e.textContent === 'Run').click()")
        self.browser.wait("document.querySelector('#color option[value=run-health]')")
        self.browser.click("#to-graph")
        self.toggle("conv2d_1")
        self.browser.js("grapnel.view.select(grapnel.view.boxes.find((b) => b.box.op === 'Conv2D'))")
        self.browser.wait("document.querySelector('#panel h2').textContent === 'Conv2D'")
        subprocess.run([GRAPNEL, "opt", path, "--device", "", "-o", path + ".new", "--quiet"], check=True, cwd=ROOT)
        shutil.copyfile(path + ".new", path)  # in place, as a script may write it
        self.browser.wait("!document.getElementById('counts').textContent.startsWith('64 ops')")
        self.assertTrue(self.box("conv2d_1")["open"])
        self.assertFalse(self.browser.js("return !!document.querySelector('#color option[value=run-health]')"), "that run was of another graph")
        self.assertIn("read again", self.browser.js("return document.getElementById('announce').textContent"))

        with open(path, "wb") as file:
            file.write(b"\x00\x01 not a graph")
        self.browser.wait("document.getElementById('counts').textContent.includes('not reloaded')")
        self.assertIn("model.pb", self.browser.js("return document.getElementById('counts').textContent"))
        self.assertGreater(len(self.boxes()), 8, "what was shown stays")
        shutil.copyfile(path + ".new", path)
        self.browser.wait("!document.getElementById('counts').textContent.includes('not read')")


if __name__ == "__main__":
    page_case.main()
