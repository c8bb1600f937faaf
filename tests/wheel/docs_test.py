"""The examples of docs/python.md, typed in."""

import pathlib
import re

from conftest import ROOT


def test_examples(tmp_path, monkeypatch):
    (tmp_path / "testdata").symlink_to(ROOT / "testdata")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    names = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    assert len(blocks) > 5
    assert (pathlib.Path("lenet.dot")).exists()
