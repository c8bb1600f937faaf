#!/usr/bin/env python3
"""Takes the first picture of networks as grapnel, TensorBoard and Model Explorer show it, into docs/pictures/first-NAME-VIEWER.png.

needs: Chromium, tensorboard==2.21.0 and ai-edge-model-explorer==0.1.34 (in a virtual environment of its own: it brings Flask)
usage: make_peer_pictures.py GRAPNEL FOLDER TENSORBOARD MODEL_EXPLORER [NAME...]

FOLDER: the output of scripts/network_graphs.py. TENSORBOARD, MODEL_EXPLORER: the two programs. Each gets the frozen GraphDef (Model
Explorer 0.1.34, which reports "Error" for these, gets the output of `grapnel convert`) and a window of 1,400 by 900 pixels. The
picture is taken when it has not changed for a while: it is what a user sees first. Prints how long that took from the page's request
on.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "browser"))
import driver  # noqa: E402

STILL_SECONDS, MOST_SECONDS = 45, 300  # TensorBoard takes long to read large weights, and shows no progress
# Model Explorer draws with WebGL, here without a GPU.
WEBGL = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")


class Server:
    """A program that serves pages, until `close`."""

    def __init__(self, url, *command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.url = url or self.process.stdout.readline().strip()
        while url and self.process.poll() is None:
            try:
                urllib.request.urlopen(url, timeout=5).close()
                return
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                time.sleep(0.3)

    def close(self):
        self.process.terminate()
        self.process.wait()


def show_grapnel(program, model):
    server = Server(None, program, "serve", "--quiet", model)
    return server, server.url


def show_tensorboard(program, model, folder, grapnel):
    subprocess.run([grapnel, "convert", model, "-o", f"{folder}/events.out.tfevents.0.grapnel", "--quiet"], check=True)
    port = driver.free_port()
    url = f"http://127.0.0.1:{port}/"
    server = Server(url, program, "--logdir", folder, "--port", str(port), "--load_fast=false")
    return server, url + "#graphs"


def show_model_explorer(program, model, folder, grapnel):
    converted = f"{folder}/{pathlib.Path(model).stem}.json"
    subprocess.run([grapnel, "convert", model, "--to", "model-explorer", "-o", converted, "--quiet"], check=True)
    port = driver.free_port()
    url = f"http://127.0.0.1:{port}/"
    server = Server(url, program, "--no_open_in_browser", "--host=127.0.0.1", f"--port={port}")
    data = urllib.parse.quote('{"models":[{"url":"%s"}]}' % converted)
    return server, f"{url}?data={data}"


def settle(browser, out, begins_empty):
    """Takes pictures until two, STILL_SECONDS apart, are equal and differ from the empty first one; returns the time of the last
    change."""
    start = changed = time.time()
    browser.picture(out)
    first = last = out.read_bytes()
    while time.time() - start < MOST_SECONDS:
        time.sleep(0.25)
        browser.picture(out)
        seen = out.read_bytes()
        if seen != last:
            last, changed = seen, time.time()
        elif (seen != first or not begins_empty) and time.time() - changed > STILL_SECONDS:
            break
    return changed - start


def take(name, viewer, opened):
    server, url = opened
    browser = driver.Browser(1400, 900, arguments=WEBGL if viewer == "model-explorer" else ())
    out = ROOT / "docs" / "pictures" / f"first-{name}-{viewer}.png"
    try:
        browser.go(url)
        seconds = settle(browser, out, viewer != "grapnel")
    finally:
        browser.close()
        server.close()
    if shutil.which("pngquant"):  # a third of the size
        subprocess.run(["pngquant", "--force", "--skip-if-larger", "--output", str(out), "64", str(out)], check=False)
    print(f"{out.relative_to(ROOT)}: {seconds:.1f} s", flush=True)


def main(program, folder, board, explorer, *names):
    program, board, explorer = (str(pathlib.Path(p).absolute()) for p in (program, board, explorer))
    for name in names or sorted(path.stem for path in pathlib.Path(folder).glob("*.pb")):
        model = str((pathlib.Path(folder) / f"{name}.pb").resolve())
        with tempfile.TemporaryDirectory() as logs:
            take(name, "grapnel", show_grapnel(program, model))
            take(name, "tensorboard", show_tensorboard(board, model, logs, program))
            take(name, "model-explorer", show_model_explorer(explorer, model, logs, program))


if len(sys.argv) < 5:
    sys.exit(__doc__)
main(*sys.argv[1:])
