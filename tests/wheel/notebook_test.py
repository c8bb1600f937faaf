"""Graphs and results in notebook cells, and the notebooks of docs/notebooks."""

import base64
import json
import os
import pathlib
import re
import subprocess
import sys
import zlib
from html import escape

import numpy as np
import pytest
from conftest import LENET, ROOT

import tfgrapnel as tg

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
FIRST = [path for path in NOTEBOOKS if path.stem == "the-first-nan"]
LOG_OF_ZERO = b"fetch %y\n%x = Placeholder {dtype=float, shape=[2]}\n%log = Log(%x)\n%y = Identity(%log)\n"


def page_of(html):
    packed = re.search(r'\("tfgrapnel-[0-9a-f]{16}", \d+, "([\w+/=]+)"\);</script>', html)
    return zlib.decompress(base64.b64decode(packed[1])) if packed else None


def picture_of(html):
    found = re.search(r'src="data:image/svg\+xml;base64,([\w+/=]+)"', html)
    return base64.b64decode(found[1]) if found else None


def shown(thing):
    bundle = thing._repr_mimebundle_()
    assert bundle["text/plain"].startswith(repr(thing))
    assert thing._repr_html_() == bundle.get("text/html")
    json.dumps(bundle)
    return bundle


def test_a_graph(lenet, binary, tmp_path):
    bundle = shown(lenet)
    assert picture_of(bundle["text/html"]) == lenet.view(format="svg").data
    assert base64.b64decode(bundle["image/png"]) == lenet.view(format="png").data
    binary("view", LENET, "-o", tmp_path / "x.html")
    assert page_of(bundle["text/html"]) == (tmp_path / "x.html").read_bytes()
    assert lenet._repr_html_() == bundle["text/html"]  # the same each time


def test_what_commands_found(lenet, tmp_path):
    fast = lenet.optimize(fetch="Identity", dump_dir=tmp_path)
    bundles = {
        "optimize": shown(fast),
        "diff": shown(tg.diff(lenet, fast.graph)),
        "view": shown(lenet.view(depth=1)),
        "timeline": shown(tg.timeline(tmp_path)),
        "place": shown(tg.place(lenet, devices="cpu:1,gpu:1")),
        "blame": shown(tg.blame(tg.load(LOG_OF_ZERO), feed={"x": np.zeros(2, np.float32)})),
    }
    for name, bundle in bundles.items():
        assert page_of(bundle["text/html"]).startswith(b"<!doctype html>"), name
        assert picture_of(bundle["text/html"]).startswith(b"<?xml"), name
        assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG"), name
    assert "<pre" in bundles["blame"]["text/html"] and "Log" in bundles["blame"]["text/html"]
    assert "<title>lenet \u2192 lenet, optimized" in page_of(bundles["diff"]["text/html"]).decode()


def test_what_was_found_is_told_beside_the_picture(lenet, tmp_path):
    fast = lenet.optimize(fetch="Identity", dump_dir=tmp_path / "dumps")
    written = [path.stat().st_mtime_ns for path in sorted((tmp_path / "dumps").iterdir())]
    html = shown(fast)["text/html"]
    assert [path.stat().st_mtime_ns for path in sorted((tmp_path / "dumps").iterdir())] == written
    assert f"64 \u2192 {fast.nodes_after} nodes; {fast.rewrites} rewrites: 5 fused nodes, " in html
    assert re.search(r"<td[^>]*>remapper/fuse_bias_activation</td><td[^>]*>3</td><td[^>]*>\d+</td>", html)
    assert f"{sum(int(times) for times in re.findall(r'<td[^>]*>[^<]*</td><td[^>]*>([0-9]+)</td><td', html))}" == f"{fast.rewrites}"
    html = shown(tg.load(b"fetch %x\n%x = Placeholder {dtype=float}\n").optimize())["text/html"]
    assert "1 \u2192 1 nodes; 0 rewrites: 0 fused nodes, 0 nodes removed</div>" in html and "<table" not in html

    story = tg.diff(lenet, fast.graph).text
    assert len(story.splitlines()) > 10
    assert escape(story) in shown(tg.diff(lenet, fast.graph, output=tmp_path / "diff.html"))["text/html"]

    placed = tg.place(lenet, devices="cpu:1,gpu:1")
    html = shown(placed)["text/html"]
    assert "nodes by scope and device" in html and "nodes by reason and device" in html and "first possible device" in html
    impossible = tg.place(tg.load(b"%c = Const \"A\"\n%s = StringLower(%c) @gpu:0\n"), devices="cpu:1,gpu:1", hard=True)
    html = shown(impossible)["text/html"]
    assert not impossible.ok and "no supported kernel for GPU devices" in html and "<script" not in html


def test_what_has_no_picture_shows_its_text(lenet, tmp_path):
    """With aligned columns whatever the page's style is; results that are slow to compute are not recomputed."""
    (tmp_path / "policy.toml").write_text('[ops]\nforbidden = ["Conv2D"]\n')
    results = (
        tg.info(lenet),
        tg.doctor(lenet),
        tg.check(lenet, policy=tmp_path / "policy.toml"),
        tg.compare(lenet, lenet.optimize(fetch="Identity").graph),
        lenet.why_not("model_pruner"),
    )
    for result in results:
        html = shown(result)["text/html"]
        assert re.search("<pre style=[^>]*font-family:monospace[^>]*>", html)
        assert str(result).splitlines()[0].replace("'", "&#x27;") in html
        assert "<script" not in html
    assert "text/html" not in shown(tg.replay(LENET))


def test_a_debug_folder():
    html = shown(tg.load("testdata/tfdbg/mnist_nan_FULL_HEALTH"))["text/html"]
    assert page_of(html).startswith(b"<!doctype html>")
    assert "<pre" in html


def test_values_are_heat_maps():
    graph = tg.load(b'fetch %y\n%x = Placeholder {dtype=float, shape=[2,3]}\n%y = Log(%x)\n%s = Const {dtype=string, value="<a>"}\n')
    done = tg.run(graph, feed={"x": np.arange(6, dtype=np.float32).reshape(2, 3)}, fetch=["y", "s"])
    html = shown(done)["text/html"]
    (image,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)', html)
    svg = base64.b64decode(image).decode()
    assert all(word in svg for word in (">y</text>", "← axis 0<", ">axis 1 →<", "<linearGradient", "data:image/png;base64,"))
    assert "<b>y</b> float[2,3]" in html and "<b>s</b> string[]" in html
    assert "<script" not in html


def test_a_large_page_stays_out(lenet, monkeypatch):
    from tfgrapnel import _notebook

    monkeypatch.setattr(_notebook, "_LARGEST_PAGE", 1000)
    html = shown(lenet)["text/html"]
    assert page_of(html) is None and "<script" not in html
    assert picture_of(html) == lenet.view(format="svg").data
    assert "graph.view(output=&#x27;graph.html&#x27;) writes it" in html
    monkeypatch.setattr(_notebook, "_LARGEST_PICTURE", 1000)
    bundle = shown(lenet)
    assert picture_of(bundle["text/html"]) is None and "image/png" not in bundle


def test_a_page_of_too_many_nodes_is_not_made(lenet, monkeypatch):
    """It would take seconds, and is omitted."""
    from tfgrapnel import _notebook

    view, formats = _notebook._view, []

    def seen(model, format, **options):
        formats.append(format)
        return view(model, format, **options)

    monkeypatch.setattr(_notebook, "_view", seen)
    monkeypatch.setattr(_notebook, "_MOST_NODES", 63)
    html = shown(lenet)["text/html"]
    assert set(formats) == {"svg", "png"}
    assert page_of(html) is None and "has more than 1.5 MB" in html and "graph.view(" in html
    assert picture_of(html)


def test_names_are_data():
    html = shown(tg.load(b'%x = Const {dtype=string, value="</script><b>"}\n%y = Identity(%x)\n'))["text/html"]
    assert "</script><b>" not in html


@pytest.mark.parametrize("path", NOTEBOOKS if "GRAPNEL_FULL" in os.environ else FIRST, ids=lambda path: path.stem)
def test_notebook(path, tmp_path):
    made = tmp_path / path.name
    code = (
        "import nbclient, nbformat, sys\n"
        "notebook = nbformat.read(sys.argv[1], 4)\n"
        "nbclient.NotebookClient(notebook, timeout=120, kernel_name='python3', resources={'metadata': {'path': sys.argv[3]}}).execute()\n"
        "nbformat.write(notebook, sys.argv[2])\n"
    )
    subprocess.run([sys.executable, "-c", code, path, made, path.parent], check=True)
    cells = [cell for cell in json.loads(made.read_text())["cells"] if cell["cell_type"] == "code"]
    outputs = [output for cell in cells for output in cell["outputs"]]
    said = ["".join(output["text"]) for output in outputs if output.get("name") == "stderr"]
    assert all("GrapnelWarning: <bytes 1>" in text and "its input layer/Relu:0 holds" in text for text in said)  # of the first NaN alone
    pages = [output for output in outputs if page_of("".join(output.get("data", {}).get("text/html", "")))]
    assert len(pages) >= 2
    assert not [cell for cell in json.loads(path.read_text())["cells"] if cell.get("outputs")], "kept without outputs"
