"""A libgomp that others have in the process: its threads stay as they were, and results are the binary's."""

import subprocess
import sys

import pytest

SCRIPT = """
import ctypes, sys

def openmp():
    return ctypes.CDLL("libgomp.so.1", ctypes.RTLD_GLOBAL)

if before:
    openmp().omp_set_num_threads(3)
import tfgrapnel as tg
if not before:
    tg.run("testdata/models/lenet")  # oneDNN is there first
    openmp().omp_set_num_threads(3)
def document(function, **options):
    try:
        return function(path, **options).json.encode()
    except tg.Error:  # there are no values for this network
        return b""

results = [tg.optimize(path).data, tg.view(path, format="dot").data, document(tg.run, threads=2), document(tg.blame)]
assert openmp().omp_get_max_threads() == 3, openmp().omp_get_max_threads()
sys.stdout.buffer.write(b"".join(results))
"""


@pytest.mark.parametrize("before", [True, False])
def test_openmp_of_others(before, network, binary, tmp_path):
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", f"before, path = {before}, {network!r}\n{SCRIPT}"], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    assert binary("opt", network, "-o", tmp_path / "opt.pb")[0] == 0
    expected = [
        (tmp_path / "opt.pb").read_bytes(),
        *(binary(*words)[1] for words in [("view", network, "-o", "-", "--format", "dot"), ("run", network, "--threads", 2, "--json"), ("blame", network, "--json")]),
    ]
    assert done.stdout == b"".join(expected)
