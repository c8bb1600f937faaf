"""A libgomp that others use in the process, such as PyTorch: its threads are unaffected, and results equal the binary's."""

import importlib.util
import subprocess
import sys

import pytest

SCRIPT = """
import sys

class OpenMP:
    def __init__(self):
        import ctypes

        self.library = ctypes.CDLL("libgomp.so.1", ctypes.RTLD_GLOBAL)
        self.library.omp_set_num_threads(3)

    def threads(self):
        return self.library.omp_get_max_threads()

class PyTorch:
    def __init__(self):
        import torch

        self.torch = torch
        torch.set_num_threads(3)
        self.a, self.b = torch.rand(300, 400), torch.rand(400, 200)
        self.product = self.a @ self.b

    def threads(self):
        assert self.torch.equal(self.a @ self.b, self.product)
        return self.torch.get_num_threads()

if before:
    host = Host()
import tfgrapnel as tg
if not before:
    tg.run("testdata/models/lenet")  # oneDNN is there first
    host = Host()
def document(function, **options):
    try:
        return function(path, **options).json.encode()
    except tg.Error:  # there are no values for this network
        return b""

results = [tg.optimize(path).data, tg.view(path, format="dot").data, document(tg.run, threads=2), document(tg.blame)]
assert host.threads() == 3, host.threads()
sys.stdout.buffer.write(b"".join(results))
"""


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("host", ["OpenMP", "PyTorch"])
def test_openmp_of_others(host, before, network, binary, tmp_path):
    if host == "PyTorch" and not importlib.util.find_spec("torch"):
        pytest.skip("without --full: no PyTorch")
    script = f"before, path = {before}, {network!r}\n{SCRIPT.replace('Host', host)}"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    assert binary("opt", network, "-o", tmp_path / "opt.pb")[0] == 0
    expected = [
        (tmp_path / "opt.pb").read_bytes(),
        *(binary(*words)[1] for words in [("view", network, "-o", "-", "--format", "dot"), ("run", network, "--threads", 2, "--json"), ("blame", network, "--json")]),
    ]
    assert done.stdout == b"".join(expected)
