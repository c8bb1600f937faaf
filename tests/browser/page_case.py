"""Common code of the page's tests: a browser, servers that end with the tests, boxes to click at."""
import os
import subprocess
import sys
import tempfile
import time
import unittest

import driver

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GRAPNEL = os.environ.get("GRAPNEL", os.path.join(ROOT, "build/release/bin/grapnel"))
SLOWER = int(os.environ.get("GRAPNEL_SLOWER", "1"))  # how many times slower GRAPNEL may be: one with a sanitizer is
PICTURES = os.environ.get("GRAPNEL_PICTURES")  # a folder: each test leaves what it saw there

BOXES = """return grapnel.view.boxes.map((b) => ({name: b.box.name, op: b.box.op ?? "", kind: b.box.kind, open: !!b.inner, x: b.x, y: b.y,
  w: b.w, h: b.h, instance: b.instance, key: b.instance + '|' + b.box.key, title: (b.inner?.frames ?? []).map((f) => f.title ?? "")}));"""


class PageCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = driver.Browser()
        cls.servers = []

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        for server in cls.servers:
            server.terminate()
            server.wait(10)
            server.stdout.close()

    def tearDown(self):
        if PICTURES:
            self.browser.picture(os.path.join(PICTURES, self.id().split(".")[-1] + ".png"))
        self.assertEqual(self.browser.complaints(), [])

    def serve(self, *paths):
        server = subprocess.Popen([GRAPNEL, "serve", "--quiet", *paths], stdout=subprocess.PIPE, text=True, cwd=ROOT)
        self.servers.append(server)
        url = server.stdout.readline().strip()
        self.assertTrue(url.startswith("http://127.0.0.1:"), url)
        return url

    def show(self, url):
        self.browser.go("about:blank")
        self.browser.go(url)
        self.browser.wait("document.documentElement?.dataset.ready")

    def open_file(self, path, *flags):
        folder = tempfile.mkdtemp()
        out = os.path.join(folder, "page.html")
        subprocess.run([GRAPNEL, "view", path, "-o", out, "--quiet", *flags], check=True, cwd=ROOT)
        self.show("file://" + out)
        return out

    def boxes(self):
        return self.browser.js(BOXES)

    def box(self, name, op=None):
        """The first box with this name; waits five seconds for a graph that is still being laid out."""
        end = time.time() + 5
        while True:
            boxes = self.boxes()
            found = [box for box in boxes if box["name"] == name and op in (None, box["op"])]
            if found:
                return found[0]
            self.assertLess(time.time(), end, f"no box {name}: {[box['name'] for box in boxes]}")
            time.sleep(0.03)

    def point(self, box, dx, dy):
        """The window position of a point of a box."""
        at = self.browser.js("const c = grapnel.view.canvas.getBoundingClientRect(); return {...grapnel.view.at, left: c.left, top: c.top};")
        return at["left"] + at["x"] + (box["x"] + dx) * at["zoom"], at["top"] + at["y"] + (box["y"] + dy) * at["zoom"]

    def toggle(self, name, op=None):
        """Double-clicks the box, or its title bar if it is open."""
        box = self.box(name, op)
        self.browser.js("const box = grapnel.view.boxes.find((b) => b.instance + '|' + b.box.key === arguments[0]); grapnel.view.center(box); grapnel.view.draw();",
                        box["key"])
        x, y = self.point(box, box["w"] / 2, 12)
        done = f"grapnel.view.boxes.some((b) => b.instance + '|' + b.box.key === {box['key']!r} && !!b.inner !== {str(box['open']).lower()})"
        for again in (True, True, False):  # on a busy machine two clicks may be too far apart to be one double click
            self.browser.click_at(x, y, 2)
            try:
                return self.browser.wait(done, 4 if again else 20)
            except AssertionError:
                if not again:
                    raise


def main():
    why = driver.missing()
    if why:
        print(why)
        sys.exit(77)
    unittest.main()
