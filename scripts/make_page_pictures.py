#!/usr/bin/env python3
"""Takes the pictures of the page in docs/pictures, with Chromium. Their graphs are in testdata or in ../shared, except page-train's:
../shared/corpus/make_corpus.py makes it in build/corpus.

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
OPTIMIZE = "opt testdata/models/lenet -o {folder}/b.pb -q"
COMPARE = "diff testdata/models/lenet {folder}/b.pb -o {folder}/page.html -q"
FUSE = ["opt ../shared/corpus/cases/mobilenet_v2 --onednn on -o {folder}/b.pb -q", "diff ../shared/corpus/cases/mobilenet_v2 {folder}/b.pb -o {folder}/page.html -q"]
PLACE = "place ../shared/corpus/cases/mirrored_4 --devices cpu:4 --html {folder}/page.html"
NUMBERS = "view testdata/models/lenet --node-data tests/render/inputs/times.csv -o {folder}/page.html -q"
TIMELINE = ["opt testdata/models/lenet --dump-dir {folder}/dumps -o {folder}/b.pb -q", "timeline {folder}/dumps --html {folder}/page.html"]
DEBUG = "../shared/tfdbg_logdirs/mnist_nan_FULL_HEALTH"
DEBUGGER = "grapnel.tabs?.tab('debugger').folder?.drawn && document.querySelector('#tab-debugger .card h2')"
AFTER_REMAPPER = "[...document.querySelectorAll('.stages .link')].find((link) => link.textContent === 'after remapper')"
BREAK = "document.getElementById('run-break').value = 'op:Relu if max(abs(_)) > 0'"
DEVICES = "document.getElementById('place-devices').value = 'cpu:2,gpu:1'"


def press(css):
    """Two steps: wait until the element exists, and click on it."""
    return [f"document.querySelector('{css}')", (f"document.querySelector('{css}').click()",)]


# Name: what to serve, or the commands that make a page; what to do there (a script and its arguments, or what to wait for), and
# what must then hold.
PICTURES = {
    "page-first": ("testdata/models/lenet", [], "true"),
    "page-function": ("testdata/collatz", [("grapnel.enter(grapnel.summary.bodies.findIndex(({name}) => name.startsWith('while_body')))",)],
                      "document.getElementById('crumbs').textContent.includes('while_body')"),
    "page-flops": (MOBILENET, [("const choice = document.getElementById('color'); choice.value = 'flops'; grapnel.color()",), (CHOOSE, "block_2")],
                   "document.querySelector('#panel h2').textContent.startsWith('block_2')"),
    "page-train": ("build/corpus/resnet50_train", [], "true"),
    "page-functions": ("testdata/libraries/train_step.pb", press("#to-functions"), "document.querySelectorAll('#tab-functions .list tbody tr').length === 14"),
    "page-nodes": ("testdata/models/lenet", press("#to-nodes"), "document.querySelectorAll('#tab-nodes tbody tr').length > 20"),
    "page-ops": (MOBILENET, press("#to-ops"), "document.querySelectorAll('#tab-ops tbody tr').length > 5"),
    "page-stage": (TIMELINE, [("const stage = document.getElementById('stage-slider'); stage.value = 2; stage.dispatchEvent(new Event('input'))",)],
                   "document.getElementById('stage-slider').value === '2' && document.getElementById('panel').textContent.includes('changed')"),
    "page-passes": ("testdata/models/lenet", [*press("#to-passes"), *press("#tab-passes .ask button"), AFTER_REMAPPER, (AFTER_REMAPPER + ".click()",)],
                    "document.getElementById('tab-passes').textContent.includes('after remapper: 5 rewrites')"),
    "page-run": ("../shared/badcases/cases/cross_entropy_by_hand", [*press("#to-run"), *press("#run-start")], "document.querySelector('.result h2')"),
    "page-debug": ("testdata/models/lenet", [*press("#to-run"), "document.querySelector('#run-break-add')", (BREAK,), *press("#run-break-add"),
                   *press("#debug-start"), *press("#debug-continue:enabled")],
                   "document.querySelector('#debug-where .mark') && document.querySelector('.picture img')?.complete"),
    "page-place-form": ("testdata/models/train_step", [*press("#to-place"), "document.getElementById('place-devices')", (DEVICES,)], "true"),
    "page-place": ("testdata/models/train_step", [*press("#to-place"), "document.getElementById('place-devices')", (DEVICES,), *press("#place-start")],
                   "document.querySelector('#place-show')"),
    "page-debugger": (DEBUG, [], DEBUGGER),
    "page-debugger-graph": (DEBUG, [DEBUGGER, ("[...document.querySelectorAll('#tab-debugger .card button')].find((b) => b.textContent.startsWith('Show it')).click()",)],
                            "grapnel.tab === 'graph' && document.querySelector('#panel h2')?.textContent === 'Log'"),
    "page-node": ("testdata/models/lenet", [("grapnel.source.search('op:Conv2D', []).then(({hits: [hit]}) => grapnel.go(hit.body, hit.node))",)],
                  "document.querySelector('#panel h2').textContent === 'Conv2D'"),
    "page-diff": ([OPTIMIZE, COMPARE], [], "true"),
    "page-fusion": (FUSE, [(CHOOSE, "Conv1_relu")], "document.querySelector('#panel h2').textContent === '_FusedConv2D'"),
    "page-panes": ([OPTIMIZE, COMPARE], [("document.getElementById('how-side').click()",)],
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
        for step in steps:
            if isinstance(step, str):
                browser.wait(step)
            else:
                browser.js(*step)
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


if __name__ == "__main__":
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(PICTURES):
        sys.exit(__doc__)
    main(str(pathlib.Path(sys.argv[1]).resolve()), *sys.argv[2:])
