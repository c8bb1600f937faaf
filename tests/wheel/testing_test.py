"""Assertions on models: their failure messages, and where their pictures go."""

import json
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
import tfgrapnel as tg
from tfgrapnel.testing import assert_all_finite, assert_budget, assert_fused, assert_placed, assert_same_graph

LOG = b"fetch %y\n%x = Placeholder {dtype=float, shape=[2]}\n%l = Log(%x)\n%y = Mul(%l, %x)\n"
DENSE = (
    b"fetch %y, %z\n%x = Placeholder {dtype=float, shape=[?,4]}\n%w = Placeholder {dtype=float, shape=[4,4]}\n"
    b"%m = MatMul(%x, %w)\n%b = BiasAdd(%m, [1.0,2.0,3.0,4.0])\n%y = Tanh(%b)\n%z = Exp(%b)\n"
)


@pytest.fixture(autouse=True)
def pictures(monkeypatch, tmp_path):
    monkeypatch.setattr("tfgrapnel.testing._folder", lambda: str(tmp_path))
    return tmp_path


def said_by(function, *arguments, **options):
    with pytest.raises(AssertionError) as failed:
        function(*arguments, **options)
    return str(failed.value)


def test_same_graph(lenet, pictures):
    assert_same_graph(lenet, "testdata/models/lenet")
    said = said_by(assert_same_graph, lenet, lenet.optimize().graph)
    assert "* Relu (BiasAdd + Conv2D + Relu -> _FusedConv2D)" in said
    page, svg = sorted(pictures.iterdir())
    assert said.endswith(f"picture: {page}") and page.name == "testing_test.py-test_same_graph.html"
    assert page.read_bytes().startswith(b"<!doctype html>") and svg.read_bytes().startswith(b"<?xml")


def test_same_graph_but_for_names():
    other = DENSE.replace(b"%b", b"%c")
    assert_same_graph(DENSE, other)
    assert "-> c" in said_by(assert_same_graph, DENSE, other, names=True)


def test_fused(lenet):
    assert_fused(lenet, "Conv2D + BiasAdd + Relu")
    assert_fused(lenet, "MatMul + BiasAdd + Tanh", at="sequential_1/dense_1")
    assert_fused(lenet, "MatMul + BiasAdd", at="*/dense_?_?/*", count=2)
    assert_fused(lenet, "Conv2D + BiasAdd", count=2)
    assert_fused(lenet.optimize().graph, "Conv2D + BiasAdd", count=2, fetch="Identity")  # it was already


def test_fused_after_other_passes():
    # The scale of a normalization is folded into the weights, and its offset becomes a BiasAdd.
    normalized = (
        b"fetch %y\n%x = Placeholder {dtype=float, shape=[1,4,4,2]}\n%w = Const [[[[1.0,2.0],[3.0,4.0]]]]\n"
        b"%c = Conv2D(%x, %w) {strides=[1,1,1,1], padding=\"VALID\"}\n%m = Mul(%c, [2.0,3.0])\n%a = AddV2(%m, [1.0,2.0])\n%y = Relu(%a)\n"
    )
    assert_fused(normalized, "Conv2D + BiasAdd + Relu", count=1)
    assert_fused(normalized, "Conv2D + BiasAdd + Relu", at="a")


def test_fused_in_a_function():
    call = (
        b"fetch %y\n%x = Placeholder {dtype=float, shape=[2,4]}\n%w = Placeholder {dtype=float, shape=[4,4]}\n"
        b"%y = PartitionedCall(%x, %w) {f=@dense}\nfunc @dense(%x: float, %w: float) -> (z: float) {\n  %m = MatMul(%x, %w)\n"
        b"  %b = BiasAdd(%m, [1.0,2.0,3.0,4.0])\n  %r = Relu(%b)\n  return %r\n}\n"
    )
    assert_fused(call, "MatMul + BiasAdd + Relu", count=1)


def test_fused_in_signatures(recwarn):
    """Of several signatures of one network, the default one counts. TensorFlow fuses a product of doubles with nothing."""
    folders = sorted(pathlib.Path("testdata/signatures/two_signatures").iterdir())
    assert len(folders) == 5
    for folder in folders:
        signature = json.loads((folder / "about.json").read_text())["signature"]
        fused = json.loads((folder / "ops.json").read_text())["on"].get("_FusedMatMul", 0)
        for options in ({}, {"signature": signature}):
            if fused:
                assert_fused(tg.load(folder / "model"), "MatMul + BiasAdd", count=fused, **options)
            else:
                assert "is not fused" in said_by(assert_fused, tg.load(folder / "model"), "MatMul + BiasAdd", **options)
    assert not recwarn.list


def test_left_in_parts():
    said = said_by(assert_fused, DENSE, "MatMul + BiasAdd + Tanh")
    assert re.match(r"MatMul \+ BiasAdd \+ Tanh is not fused in <bytes \d+>\n  not fused: 'm' \(_FusedMatMul 'b'\), 'b' \(", said), said
    assert "fused: 1 x MatMul + BiasAdd\n" in said
    said = said_by(assert_fused, DENSE.replace(b"Exp(%b)", b"Exp(%m)"), "MatMul + BiasAdd")
    assert "not fused: 'm' (MatMul), 'b' (BiasAdd)\n    remapper/fuse_bias: 'b': 'm' is read 2 times\n" in said
    with pytest.raises(ValueError, match=r"ops joined by \+ were expected, such as 'Conv2D \+ BiasAdd', not 'MatMul'"):
        assert_fused(DENSE, "MatMul")


def test_there_is_no_such_chain(lenet):
    said = said_by(assert_fused, lenet, "Conv2D + BiasAdd + Tanh")
    assert "Conv2D -> BiasAdd occurs at 'sequential_1/conv2d_1/BiasAdd', 'sequential_1/conv2d_1_2/BiasAdd', and is read by: 1 x Mul, 1 x Relu" in said
    assert "there is no Conv2d; did you mean Conv2D?" in said_by(assert_fused, lenet, "Conv2d + BiasAdd")
    assert "the chain occurs at: 'sequential_1/dense_1/Tanh'" in said_by(assert_fused, lenet, "MatMul + BiasAdd + Tanh", at="sequential_1/dense_9")
    said = said_by(assert_fused, lenet, "MatMul + BiasAdd", count=7)
    assert "is fused 3 times in testdata/models/lenet, 7 were expected\n  fused: 'sequential_1/dense_1/Tanh'" in said


def test_all_finite(lenet):
    assert_all_finite(lenet)
    assert_all_finite(LOG, {"x": np.array([1, 2], np.float32)})
    said = said_by(assert_all_finite, LOG, {"x": np.array([-1, 1], np.float32)})
    assert "l (Log) made NaN x1 of 2 because its input x:0 holds 1 negative number" in said
    assert "to fix it: take the log of max(x, 1e-7)" in said
    with pytest.raises(tg.Error, match="'x' .* needs a value"):
        assert_all_finite(LOG)


def test_placed(lenet):
    assert_placed(lenet, {"*/MatMul": "GPU", "*/Relu": "/device:GPU:0", "*": "/job:localhost/*"})
    assert_placed(lenet, {"*": "cpu:0"}, devices="cpu:1")
    said = said_by(assert_placed, lenet, {"*/MatMul": "CPU:0", "*/Matmul": "GPU:1"})
    assert "'*/MatMul': 3 of 3 nodes are not on CPU:0:\n    'sequential_1/dense_1/MatMul' is on /job:localhost" in said
    assert "no node matches '*/Matmul'; did you mean 'MatMul'?" in said
    assert "TensorFlow 2.21 has kernels for it on GPU, CPU" in said
    assert "1 of 1" not in said_by(assert_placed, lenet, {"*": "GPU:1"}, devices="cpu:1,gpu:2")


def test_budget(lenet):
    assert_budget(lenet, nodes=64, flops=300_000, bytes="40 kB", parameters=7000, peak_memory="25 kB")
    said = said_by(assert_budget, lenet, nodes=6, flops=1, bytes=2, parameters=3, peak_memory="2 kB")
    assert "nodes: the model has 64 nodes, 61 in 'sequential_1'; 6 at most" in said
    assert "flops: one run takes 282,160 FLOPs, 153,600 of them in this Conv2D (at 'sequential_1/conv2d_1/convolution'); 1 at most" in said
    assert all(name in said for name in ("file_size: the model's file or folder has", "parameters: ", "peak_memory: "))
    assert "the model's file or folder has 29.4 kB" in said_by(assert_budget, lenet.optimize().graph, bytes=30)
    assert_budget(DENSE, flops=1000, batch=2)
    assert "flops: not counted: 4 nodes with an unknown shape or a loop (batch=, shape=)" in said_by(assert_budget, DENSE, flops=10)
    with pytest.raises(ValueError, match="no budget was given"):
        assert_budget(lenet)
    with pytest.raises(TypeError, match="nodes: an integer or a text such as '25 MB' was expected, not 1.5"):
        assert_budget(lenet, nodes=1.5)


@pytest.mark.parametrize("options, expected", [([], "beside_pictures"), (["--grapnel-pictures=shown"], "shown")])
def test_pictures_of_pytest(tmp_path, options, expected):
    (tmp_path / "test_model.py").write_text(
        "from tfgrapnel.testing import assert_budget\n"
        f"def test_size():\n    assert_budget({DENSE!r}, flops=1, batch=2)\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junit-xml=beside.xml", *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout
    assert sorted(path.name for path in (tmp_path / expected).iterdir()) == ["test_model.py-test_size.html", "test_model.py-test_size.svg"]
    assert str(tmp_path / expected) in (tmp_path / "beside.xml").read_text()
    assert "testing.py" not in done.stdout.partition("short test summary")[0]  # the failure is the caller's


def test_without_pytest():
    program = "import sys, tfgrapnel.testing as t; assert 'pytest' not in sys.modules; assert t._folder().startswith('/tmp')"
    subprocess.run([sys.executable, "-c", program], check=True, env={})


@pytest.mark.parametrize("given", ["a/b", "<é>"])
def test_pictures_have_the_names_of_tests(pictures, given):
    said_by(assert_same_graph, LOG, DENSE)
    assert all(path.name.startswith("testing_test.py-test_pictures_have_the_names_of_tests-") for path in pictures.iterdir())


def test_wrong_arguments_are_named(lenet):
    for call, error in [
        (lambda: assert_fused(lenet, ["Conv2D", "BiasAdd"]), "chain: a string was expected, not "),
        (lambda: assert_fused(lenet, "Conv2D + BiasAdd", count="2"), "count: an integer was expected, not '2'"),
        (lambda: assert_all_finite(lenet, [1]), r"feed: \{tensor: array\} was expected, not an object of type list"),
        (lambda: assert_placed(lenet, ["*"]), r"expected: \{pattern of nodes: device\} was expected, not an object of type list"),
    ]:
        with pytest.raises(TypeError, match=f"^{error}"):
            call()
    for call, error in [
        (lambda: assert_fused(lenet, "Conv2D + BiasAdd", count=-1), "count: a number from 0 was expected, not -1"),
        (lambda: assert_placed(lenet, {}), "expected: empty"),
        (lambda: assert_budget(lenet, nodes=-3), "nodes: a number from 0 was expected, not -3"),
        (lambda: assert_budget(lenet, nodes=1, bytes="lots"), "bytes: expected bytes: .*, not 'lots'"),
        (lambda: assert_budget(lenet, node=3), "no budget was given: .*, but node$"),
    ]:
        with pytest.raises(ValueError, match=f"^{error}"):
            call()
    assert_budget(lenet, nodes=np.int64(64), flops=1e9)
    assert "is read by: 2 x BiasAdd; did you mean BiasAdd?" in said_by(assert_fused, lenet, "Conv2D + BiasAd")
