#!/usr/bin/env python3
"""Takes the pictures of the page in docs/pictures whose graphs are in testdata or in ../shared, with Chromium.

usage: make_page_pictures.py GRAPNEL [NAME...]     (of PICTURES below; default: all)
"""

import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "browser"))
import driver  # noqa: E402

MOBILENET = "../shared/corpus/cases/mobilenet_v2"
CHOOSE = "grapnel.view.select(grapnel.view.boxes.find(({box}) => box.name.startsWith(arguments[0])))"
# Name: what is served, what is done there, and what then holds.
PICTURES = {
    "page-first": ("testdata/models/lenet", [], "true"),
    "page-function": ("testdata/collatz", [("grapnel.enter(grapnel.summary.bodies.findIndex(({name}) => name.startsWith('while_body')))",)],
                      "document.getElementById('crumbs').textContent.includes('while_body')"),
    "page-flops": (MOBILENET, [("const choice = document.getElementById('color'); choice.value = 'flops'; grapnel.colour()",), (CHOOSE, "block_2")],
                   "document.querySelector('#panel h2').textContent.startsWith('block_2')"),
    "page-node": ("testdata/models/lenet", [("grapnel.source.search('op:Conv2D').then(({hits: [hit]}) => grapnel.go(hit.body, hit.node))",)],
                  "document.querySelector('#panel h2').textContent === 'Conv2D'"),
}


def take(browser, grapnel, name):
    path, steps, holds = PICTURES[name]
    server = subprocess.Popen([grapnel, "serve", "--quiet", path], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        browser.go(server.stdout.readline().strip())
        browser.wait("document.documentElement.dataset.ready")
        for script, *arguments in steps:
            browser.js(script, *arguments)
        browser.wait(holds)
        browser.js("grapnel.view.draw()")
        out = ROOT / "docs" / "pictures" / f"{name}.png"
        browser.picture(out)
        if shutil.which("pngquant"):  # a third of the size
            subprocess.run(["pngquant", "--force", "--skip-if-larger", "--output", str(out), "128", str(out)])
        print(out)
    finally:
        server.terminate()
        server.wait()


def main(grapnel, *names):
    browser = driver.Browser(1400, 900)
    try:
        for name in names or PICTURES:
            take(browser, grapnel, name)
    finally:
        browser.close()


if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(PICTURES):
    sys.exit(__doc__)
main(str(pathlib.Path(sys.argv[1]).resolve()), *sys.argv[2:])
