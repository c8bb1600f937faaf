"""Times the page beside TensorBoard's Graphs, Netron and Model Explorer: from navigation to a drawn graph, in one browser, in one run.

usage: page_bench.py GRAPNEL MODEL... [--repeat N] [--limit SECONDS] [--python PYTHON]

PYTHON (default: .venv/bin/python) has tensorboard and, to time them, netron, ai-edge-model-explorer and its adapter for GraphDefs,
ai-edge-model-explorer-adapter. Servers are up before the first navigation; each picture is the first in a new browser. A graph counts
as drawn if: grapnel has all boxes of the first picture on the canvas; TensorBoard has a g.node and no progress bar; Netron's body has
the class 'default' and a g.node; Model Explorer has a canvas and no loading message. The longest block is the longest task of the
main thread until then; heap is the main thread's.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "browser"))
import driver  # noqa: E402

# Searches shadow roots, which TensorBoard consists of.
FIND = """const find = (root, css) => { const hit = root.querySelector(css); if (hit) return hit;
  for (const e of root.querySelectorAll('*')) { if (e.shadowRoot) { const inner = find(e.shadowRoot, css); if (inner) return inner; } } };"""
SHOWN = FIND + "const e = find(document, '#progress-msg, paper-progress'); const busy = e && e.getBoundingClientRect().height > 0; return !!find(document, 'g.node') && !busy;"
DRAWN = {
    "grapnel": "return document.documentElement.dataset.ready === 'yes' && grapnel.view.drawn > 0",
    "tensorboard": SHOWN,
    "model explorer": FIND + "return !!find(document, 'canvas') && !/Processing|Loading/.test(document.body.innerText)",
    "netron": "return document.body.classList.contains('default') && !!document.querySelector('g.node')",
}


def wait_for_port(port, seconds=60):
    import socket
    end = time.time() + seconds
    while time.time() < end:
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)


# Runs in every page before its own scripts.
LONGEST = """window.longestBlock = 0;
new PerformanceObserver((list) => { for (const e of list.getEntries()) window.longestBlock = Math.max(window.longestBlock, e.duration); })
  .observe({type: 'longtask', buffered: true});"""


def servers(grapnel, model, python, folder):
    """{name: (process, url)}"""
    found = {}
    process = subprocess.Popen([grapnel, "serve", "--quiet", model], stdout=subprocess.PIPE, text=True)
    found["grapnel"] = process, process.stdout.readline().strip()
    graph = os.path.join(folder, "graph.pb")
    subprocess.run([grapnel, "convert", model, "-o", graph, "--quiet"], check=True)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    logdir, port = os.path.join(folder, "log"), driver.free_port()
    os.makedirs(logdir)
    subprocess.run([grapnel, "convert", model, "--to", "event", "-o", os.path.join(logdir, "events.out.tfevents.1.host"), "--quiet"], check=True)
    process = subprocess.Popen([python, "-m", "tensorboard.main", "--logdir", logdir, "--port", str(port), "--load_fast=false"], **quiet)
    found["tensorboard"] = process, f"http://127.0.0.1:{port}/#graphs"
    wait_for_port(port)
    if subprocess.run([python, "-c", "import netron"], **quiet).returncode == 0:
        port = driver.free_port()
        process = subprocess.Popen([python, "-c", f"import netron, time; netron.start({graph!r}, address=('127.0.0.1', {port}), browse=False); time.sleep(9999)"], **quiet)
        found["netron"] = process, f"http://127.0.0.1:{port}/"
        wait_for_port(port)
    explorer = os.path.join(os.path.dirname(os.path.abspath(python)), "model-explorer")
    if os.path.exists(explorer):
        port = driver.free_port()
        process = subprocess.Popen([explorer, graph, "--no_open_in_browser", "--skip_health_check", "--port", str(port)], **quiet)
        asked = urllib.parse.quote(json.dumps({"models": [{"url": graph, "adapterId": "builtin_graphdef"}]}))
        found["model explorer"] = process, f"http://127.0.0.1:{port}/?data={asked}"
        wait_for_port(port)
    time.sleep(3)
    return found


def time_one(name, url, limit):
    browser = driver.Browser()
    try:
        browser.go("about:blank")
        if name == "netron":  # its cookie dialog would cover the graph
            browser.go(url)
            browser.js("localStorage.setItem('consent', Date.now()); document.cookie = 'consent=' + Date.now() + ';path=/'")
            browser.go("about:blank")
        browser.before_pages(LONGEST)
        start = time.time()
        browser.go(url)
        while time.time() - start < limit:
            if browser.js(DRAWN[name]):
                seconds = time.time() - start
                return seconds, browser.js("return performance.memory.usedJSHeapSize / 1e6"), browser.js("return window.longestBlock")
            time.sleep(0.02)
        return None
    except RuntimeError as error:  # a tab that crashes shows nothing
        print(f"{name}: {str(error).splitlines()[0]}", file=sys.stderr)
        return None
    finally:
        browser.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("grapnel")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--python", default=".venv/bin/python")
    arguments = parser.parse_args()
    print(f"{'model':24}{'viewer':14}{'seconds':>9}{'heap MB':>9}{'block ms':>10}")
    for model in arguments.models:
        with tempfile.TemporaryDirectory() as folder:
            found = servers(arguments.grapnel, model, arguments.python, folder)
            for name, (process, url) in found.items():
                runs = [time_one(name, url, arguments.limit) for _ in range(arguments.repeat)]
                done = [run for run in runs if run]
                label = os.path.basename(model.rstrip("/"))
                if done:
                    print(f"{label:24}{name:14}{statistics.median(r[0] for r in done):9.2f}{max(r[1] for r in done):9.1f}{max(r[2] for r in done):10.0f}", flush=True)
                else:
                    print(f"{label:24}{name:14}{'never':>9}", flush=True)
                process.terminate()
                process.wait()


if __name__ == "__main__":
    main()
