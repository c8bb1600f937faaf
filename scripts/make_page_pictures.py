#!/usr/bin/env python3
"""Takes the pictures of the page in docs/pictures whose graphs are in testdata or in ../shared, with Chromium.

usage: make_page_pictures.py GRAPNEL [NAME...]     (of PICTURES below; default: all)
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "browser"))
import driver  # noqa: E402

MOBILENET = "../shared/corpus/cases/mobilenet_v2"
CHOOSE = "grapnel.view.select(grapnel.view.boxes.find(({box}) => box.name.startsWith(arguments[0])))"
OPTIMISE = "opt testdata/models/lenet -o {folder}/b.pb -q"
COMPARE = "diff testdata/models/lenet {folder}/b.pb -o {folder}/page.html -q"
PLACE = "place ../shared/corpus/cases/mirrored_4 --devices cpu:4 --html {folder}/page.html"
NUMBERS = "view testdata/models/lenet --node-data tests/render/inputs/times.csv -o {folder}/page.html -q"
# Name: what is served, or what commands make a page; what is done there, and what then holds.
PICTURES = {
    "page-first": ("testdata/models/lenet", [], "true"),
    "page-function": ("testdata/collatz", [("grapnel.enter(grapnel.summary.bodies.findIndex(({name}) => name.startsWith('while_body')))",)],
                      "document.getElementById('crumbs').textContent.includes('while_body')"),
    "page-flops": (MOBILENET, [("const choice = document.getElementById('color'); choice.value = 'flops'; grapnel.colour()",), (CHOOSE, "block_2")],
                   "document.querySelector('#panel h2').textContent.startsWith('block_2')"),
    "page-node": ("testdata/models/lenet", [("grapnel.source.search('op:Conv2D').then(({hits: [hit]}) => grapnel.go(hit.body, hit.node))",)],
                  "document.querySelector('#panel h2').textContent === 'Conv2D'"),
    "page-diff": ([OPTIMISE, COMPARE], [], "true"),
    "page-panes": ([OPTIMISE, COMPARE], [("document.getElementById('how-side').click()",)],
                   "grapnel.views().length === 2 && grapnel.views().every(({boxes}) => boxes.length > 0)"),
    "page-placement": ([PLACE], [], "true"),
    "page-values": ([NUMBERS], [(CHOOSE, "conv2d_1")], "grapnel.swatches.length === 5 && document.getElementById('panel').textContent.includes('ms of 3 nodes')"),
    "page-models": ("testdata/models/lenet testdata/collatz", [("document.getElementById('beside').click()",)],
                    "grapnel.row.frames.length === 2 && grapnel.row.frames.every(({contentWindow: {grapnel, document}}) => document.documentElement.dataset.ready && grapnel.view.drawn > 0)"),
}


def take(browser, grapnel, name, folder):
    made, steps, holds = PICTURES[name]
    server = None
    if isinstance(made, str):
        server = subprocess.Popen([grapnel, "serve", "--quiet", *made.split()], stdout=subprocess.PIPE, text=True, cwd=ROOT)
        url = server.stdout.readline().strip()
    else:
        for command in made:
            subprocess.run([grapnel, *command.format(folder=folder).split()], stdout=subprocess.DEVNULL, cwd=ROOT)
        url = f"file://{folder}/page.html"
    try:
        browser.go("about:blank")
        browser.go(url)
        browser.wait("document.documentElement.dataset.ready")
        for script, *arguments in steps:
            browser.js(script, *arguments)
        browser.wait(holds)
        browser.js("for (const view of grapnel.views()) view.draw()")
        out = ROOT / "docs" / "pictures" / f"{name}.png"
        browser.picture(out)
        if shutil.which("pngquant"):  # a third of the size
            subprocess.run(["pngquant", "--force", "--skip-if-larger", "--output", str(out), "128", str(out)])
        print(out)
    finally:
        if server:
            server.terminate()
            server.wait()


def main(grapnel, *names):
    browser = driver.Browser(1400, 900)
    try:
        for name in names or PICTURES:
            with tempfile.TemporaryDirectory() as folder:
                take(browser, grapnel, name, folder)
    finally:
        browser.close()


if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(PICTURES):
    sys.exit(__doc__)
main(str(pathlib.Path(sys.argv[1]).resolve()), *sys.argv[2:])
