"""Notebooks as JupyterLab, nbclassic and a frame with VS Code's policy show them, saved and opened again without a kernel."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
from conftest import LENET, ROOT

import tfgrapnel as tg

sys.path.insert(0, str(ROOT / "tests" / "browser"))
import driver  # noqa: E402

PICTURES = os.environ.get("GRAPNEL_PICTURES")  # a folder: each test leaves what it saw there
pytestmark = [
    pytest.mark.skipif("GRAPNEL_FULL" not in os.environ, reason="--full"),
    pytest.mark.skipif(driver.missing() is not None, reason=str(driver.missing())),
]

# Open frames, and visible pictures, anywhere in the page.
FRAMES = "[...document.querySelectorAll('iframe[srcdoc]')].filter((f) => f.contentDocument?.documentElement?.dataset.ready)"
STILL = "[...document.querySelectorAll('img[class^=tfgrapnel], img[src^=\"data:image/svg\"]')].filter((i) => i.naturalWidth > 100)"
# From a webview of VS Code's notebooks: webviewGenericCspSource is the source of its own files.
POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' https: http: data:; font-src 'self' https:; connect-src https:; child-src https: data:"
)
SANDBOX = "allow-same-origin allow-pointer-lock allow-scripts allow-downloads allow-forms"


@pytest.fixture(params=[False, True], ids=["light", "dark"])
def browser(request):
    made = driver.Browser(width=1300, height=1000, dark=request.param)
    made.is_dark, made.name = request.param, request.node.name
    yield made
    made.close()


def keep_picture(browser):
    if PICTURES:
        browser.picture(pathlib.Path(PICTURES) / f"{browser.name}.png")


@pytest.fixture
def notebook(tmp_path):
    """A notebook that was run and saved: the same graph twice, and a comparison."""
    graph = tg.load(LENET)
    shown = [graph, graph, tg.diff(LENET, graph.optimize(fetch="Identity").graph)]
    cells = [
        {
            "cell_type": "code",
            "id": f"cell-{i}",
            "metadata": {},
            "source": "graph",
            "execution_count": i + 1,
            "outputs": [{"output_type": "execute_result", "execution_count": i + 1, "metadata": {}, "data": thing._repr_mimebundle_()}],
        }
        for i, thing in enumerate(shown)
    ]
    document = {"cells": cells, "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}}
    path = tmp_path / "x.ipynb"
    path.write_text(json.dumps(document | {"nbformat": 4, "nbformat_minor": 5}))
    return path


@contextlib.contextmanager
def server(program, folder, environment):
    port = driver.free_port()
    command = [sys.executable, "-m", program, "--no-browser", "--allow-root", f"--port={port}", "--ServerApp.token=", "--ServerApp.password="]
    settings = [f"--ServerApp.root_dir={folder}", "--ServerApp.disable_check_xsrf=True"]
    with subprocess.Popen([*command, *settings], env=environment, cwd=folder, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(600):
                with contextlib.suppress(urllib.error.URLError, ConnectionError):
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/api").close()
                    break
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()  # it would wait for a kernel that is starting; the kernel ends with it


def environment_of(folder, dark=False):
    paths = {name: str(folder / name) for name in ("JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")}
    settings = folder / "JUPYTER_CONFIG_DIR" / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    theme = "JupyterLab Dark" if dark else "JupyterLab Light"
    (settings / "themes.jupyterlab-settings").write_text(json.dumps({"theme": theme}))
    (settings / "notification.jupyterlab-settings").write_text(json.dumps({"fetchNews": "false"}))
    return os.environ | paths | {"JUPYTERLAB_SETTINGS_DIR": str(settings.parent.parent)}


def trust(path, environment):
    subprocess.run([sys.executable, "-m", "jupyter", "trust", str(path)], env=environment, check=True, capture_output=True)


def check_pages(browser, dark):
    """All frames are open, each with its own page, dark or light like the notebook."""
    browser.wait(f"({FRAMES}).length >= 2", 60)
    browser.wait(f"({FRAMES}).every((f) => f.contentDocument.documentElement.classList.contains('dark') === {json.dumps(dark)})")
    assert browser.js(f"return ({FRAMES}).every((f) => f.contentWindow.grapnel.view.boxes.length > 3)")
    assert browser.js("return globalThis.grapnel === undefined")
    assert browser.js(f"return ({FRAMES}).every((f) => f.clientWidth > 500 && f.clientHeight >= 400)")
    frame = f"({FRAMES})[0]"
    before = browser.js(f"return {frame}.contentWindow.grapnel.view.boxes.length")
    browser.js(f"{frame}.contentDocument.getElementById('close-all').click()")
    browser.wait(f"{frame}.contentWindow.grapnel.view.boxes.length !== {before}")
    assert browser.js(f"return ({FRAMES})[1].contentWindow.grapnel.view.boxes.length") == before  # of another cell


@pytest.mark.parametrize("is_trusted", [True, False], ids=["trusted", "untrusted"])
def test_jupyterlab(browser, notebook, tmp_path, is_trusted):
    environment = environment_of(tmp_path, browser.is_dark)
    if is_trusted:
        trust(notebook, environment)
    with server("jupyterlab", notebook.parent, environment) as url:
        browser.go(f"{url}/lab/tree/{notebook.name}")
        if is_trusted:
            check_pages(browser, browser.is_dark)
        else:
            browser.wait(f"({STILL}).length >= 2", 60)
            assert browser.js(f"return ({FRAMES}).length") == 0
        keep_picture(browser)


@pytest.mark.parametrize("is_trusted", [True, False], ids=["trusted", "untrusted"])
def test_nbclassic(browser, notebook, tmp_path, is_trusted):
    environment = environment_of(tmp_path)
    if is_trusted:
        trust(notebook, environment)
    with server("nbclassic", notebook.parent, environment) as url:
        browser.go(f"{url}/notebooks/{notebook.name}")
        if is_trusted:
            check_pages(browser, False)  # its pages are white, whatever the system is
            assert browser.js("return document.querySelectorAll('.output_scroll').length") == 0
        else:
            browser.wait(f"({STILL}).length >= 2", 60)
            assert browser.js(f"return ({FRAMES}).length") == 0
        keep_picture(browser)


def frame_of(notebook, sandbox):
    """The outputs as a page in a frame, as a webview has them."""
    outputs = [cell["outputs"][0]["data"]["text/html"] for cell in json.loads(notebook.read_text())["cells"]]
    inner = notebook.with_name("inner.html")
    meta = f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    inner.write_text(f"<!doctype html><html><head>{meta}</head><body>{''.join(outputs)}</body></html>")
    outer = notebook.with_name("outer.html")
    outer.write_text(f'<!doctype html><body><iframe id="outer" sandbox="{sandbox}" src="inner.html" width="1200" height="900"></iframe>')
    return outer


@contextlib.contextmanager
def files(folder):
    port = driver.free_port()
    with subprocess.Popen([sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"], cwd=folder, stderr=subprocess.DEVNULL) as process:
        try:
            time.sleep(1)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def enter(browser):
    browser.wait("document.getElementById('outer').contentDocument?.readyState === 'complete'")
    browser.call("POST", "/frame", {"id": {driver.ELEMENT: browser.find("#outer")}})


def test_a_frame_with_the_policy_of_vs_code(browser, notebook):
    frame_of(notebook, SANDBOX)
    with files(notebook.parent) as url:
        browser.go(f"{url}/outer.html")
        enter(browser)
        browser.js("document.body.dataset.vscodeThemeKind = arguments[0]", "vscode-dark" if browser.is_dark else "vscode-light")
        browser.js("document.body.style.background = arguments[0]", "#1f1f1f" if browser.is_dark else "#ffffff")
        check_pages(browser, browser.is_dark)
        keep_picture(browser)


def test_scripts_switched_off(browser, notebook):
    frame_of(notebook, "allow-same-origin")
    with files(notebook.parent) as url:
        browser.go(f"{url}/outer.html")
        still = STILL.replace("document.", "document.getElementById('outer').contentDocument.")
        browser.wait(f"({still}).length === 3")
        keep_picture(browser)
