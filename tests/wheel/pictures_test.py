"""Pictures of the wheel, drawn by its own engine, equal the binary's byte for byte."""

import os
import pathlib

import pytest
from conftest import LENET, ROOT, SHARED

import tfgrapnel as tg

FEW = (LENET, "testdata/models/transformer_block", str(SHARED / "mnist_mlp_nan"), str(SHARED / "lstm_text"))
ALL = sorted(str(path) for folder in (ROOT / "testdata", SHARED) for name in ("graph.pb*", "*.zip") for path in folder.glob(f"**/{name}"))


def drawn(binary, tmp_path, suffix, *command):
    path = tmp_path / f"x.{suffix}"
    assert binary(*command, "-o", path, "--quiet")[0] in (0, 1)
    return path.read_bytes()


@pytest.mark.parametrize("model", ALL if "GRAPNEL_FULL" in os.environ else FEW)
def test_pictures_are_the_binarys(model, binary, tmp_path):
    if not pathlib.Path(model).exists():
        pytest.skip("no ../shared")
    assert tg.view(model, format="svg").data == drawn(binary, tmp_path, "svg", "view", model)
    assert tg.view(model, format="png").data == drawn(binary, tmp_path, "png", "view", model)


def test_a_picture_of_a_diff_is_the_binarys(lenet, binary, tmp_path):
    fast = tmp_path / "fast.pb"
    lenet.optimize(fetch="Identity", output=fast)
    ours = tmp_path / "ours.svg"
    tg.diff(LENET, fast, output=ours)
    assert ours.read_bytes() == drawn(binary, tmp_path, "svg", "diff", LENET, fast)


def test_what_cannot_be_drawn_is_said(lenet):
    with pytest.raises(tg.Error, match="a picture must be .dot, .svg, .png, .html or .json, by"):
        lenet.view(output="x.gif")
