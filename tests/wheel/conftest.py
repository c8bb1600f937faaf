import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHARED = ROOT.parent / "shared" / "corpus" / "cases"
LENET = "testdata/models/lenet"
NETWORKS = ("mobilenet_v2", "transformer_small", "mnist_mlp_nan")


@pytest.fixture(autouse=True)
def in_root(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.fixture
def binary():
    """Runs the binary: (exit code, standard output)."""

    def run(*arguments):
        done = subprocess.run([os.environ["GRAPNEL"], *map(str, arguments)], capture_output=True)
        return done.returncode, done.stdout

    return run


@pytest.fixture
def lenet():
    import tfgrapnel

    return tfgrapnel.load(LENET)


@pytest.fixture(params=[LENET, *NETWORKS])
def network(request):
    """A case folder."""
    path = request.param if request.param == LENET else SHARED / request.param
    if not pathlib.Path(ROOT / path).exists():
        pytest.skip("no ../shared")
    return str(path)
