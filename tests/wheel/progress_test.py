"""The progress shown for work that takes longer than a second."""

import io
import os
import re
import subprocess
import sys
import time

import pytest
import tfgrapnel as tg


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def as_it_was():
    yield
    tg.progress()


@pytest.fixture
def shown(lenet, monkeypatch):
    """Works for 1.4 s, and returns what is written to stderr meanwhile."""

    def work(stderr):
        monkeypatch.setattr(sys, "stderr", stderr)
        with pytest.raises(tg.Error, match="time"):
            tg.run(lenet, repeat=2_000_000_000, timeout=1.4)
        return stderr.getvalue()

    return work


def test_nothing_in_a_script(shown):
    assert shown(io.StringIO()) == ""


def test_nothing_of_what_is_short(lenet, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    lenet.optimize(fetch="Identity")
    assert sys.stderr.getvalue() == ""


def test_a_bar_on_a_terminal(shown):
    said = shown(Terminal())
    assert "run: run:" in said and "/2000000000 [00:01<" in said
    tg.progress(False)
    assert shown(Terminal()) == ""


def test_a_bar_in_a_notebook(shown, monkeypatch):
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    assert "run: run:" in shown(io.StringIO())


def test_a_line_without_tqdm(shown, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    tg.progress(True)
    lines = shown(io.StringIO()).split("\r")
    assert lines[1].startswith("run: run, ") and lines[1].endswith(" of 2,000,000,000 ... 1 s")
    assert lines[-2].strip() == lines[-1] == ""


def test_a_notebook_without_widgets(tmp_path):
    """tqdm warns there, which does not concern the user of a model."""
    (tmp_path / "tqdm").mkdir()
    (tmp_path / "tqdm" / "__init__.py").touch()
    (tmp_path / "tqdm" / "auto.py").write_text("import warnings\nwarnings.warn('IProgress not found')\ntqdm = None\n")
    code = "from tfgrapnel import _progress; print(type(_progress._drawn()).__name__)"
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert (done.stdout, done.stderr) == ("_Bar\n", "")


def test_passes_are_named(monkeypatch):
    @tg.pass_
    def slow(edit):
        time.sleep(1.3)

    monkeypatch.setattr(sys, "stderr", Terminal())
    tg.load("testdata/models/lenet").optimize(fetch="Identity", passes="slow")
    tg.unregister("slow")
    assert "optimize: slow [00:01]" in sys.stderr.getvalue()


def test_models_of_a_fleet(monkeypatch, tmp_path):
    from tfgrapnel import fleet

    def slow(job, task):
        time.sleep(0.3)
        return {"models": len(task["paths"]), "inspected": 0, "failed": 0, "written": 0}

    monkeypatch.setattr(fleet._Job, "do", slow)
    monkeypatch.setattr(sys, "stderr", Terminal())
    done = fleet.run([f"{i}.pb" for i in range(40)], tmp_path / "rows")
    assert done.models == 40
    assert re.search(r"fleet.run: models: +\d+%.*\| \d+/40 \[00:0[1-5]<", sys.stderr.getvalue()), sys.stderr.getvalue()
