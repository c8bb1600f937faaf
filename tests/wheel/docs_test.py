"""The examples of docs/guide/python.md, typed in, and the answers of docs/guide/python-questions.md."""

import doctest
import pathlib
import re

import pytest
from conftest import ROOT


@pytest.fixture
def beside_testdata(tmp_path, monkeypatch):
    (tmp_path / "testdata").symlink_to(ROOT / "testdata")
    monkeypatch.chdir(tmp_path)


def blocks_of(text):
    return re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)


def test_examples(beside_testdata):
    blocks = blocks_of((ROOT / "docs" / "guide" / "python.md").read_text())
    names = {}
    for block in blocks:
        exec(compile(block, "docs/guide/python.md", "exec"), names)
    assert len(blocks) > 5
    assert (pathlib.Path("lenet.dot")).exists()


def test_questions(beside_testdata):
    text = (ROOT / "docs" / "guide" / "python-questions.md").read_text()
    beginning, *questions = re.split(r"^\*\*(?=\d+\. )", text, flags=re.M)
    assert [question.partition(".")[0] for question in questions] == [str(i) for i in range(1, 26)]
    runner, names = doctest.DocTestRunner(), {}
    for part in (beginning, *questions):
        [block] = blocks_of(part)
        lines = [line for line in block.splitlines() if line.startswith((">>>", "..."))]
        assert part == beginning or len(lines) <= 3 and max(map(len, lines)) <= 120, part
        test = doctest.DocTestParser().get_doctest(block, names, part.splitlines()[0], "docs/guide/python-questions.md", 0)
        runner.run(test, clear_globs=False)
        names = test.globs
    assert runner.summarize(verbose=False).failed == 0
