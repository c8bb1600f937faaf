#!/usr/bin/env python3
"""How far from zero a value may be where a case folder expects zero or little: `atol`, from the expected values alone.

    python3 tools/tolerance.py CASE ...      writes it anew into each case.json that has a number for each fetch

AbsoluteTolerance in lib/check/comparison.h is the same rule, and a test holds testdata against it.
needs: numpy
"""
# mypy: ignore-errors
import json
import os
import sys

import numpy as np


def atol_of(a, rtol):
    """`rtol` of the median magnitude: sums of numbers of both signs come near zero, and are off by a part of what was added.
    Never more than a tenth of what the smallest fifth of the elements stays below, so that none passes for zero where
    magnitudes spread over many powers of ten. 0 where nothing is rounded."""
    if a.dtype.kind not in "fc" and a.dtype.name != "bfloat16":
        return 0.
    parts = np.stack([a.real, a.imag]) if a.dtype.kind == "c" else a
    size = np.abs(parts.astype(np.float64)).ravel()
    size = np.sort(size[np.isfinite(size) & (size > 0)])
    if not size.size:
        return 0.
    last = size.size - 1
    return float(f"{min(rtol * size[last // 2], size[last // 5] / 10):.1e}")


def main(folders):
    for folder in folders:
        path = os.path.join(folder, "case.json")
        with open(path) as f:
            case = json.load(f)
        if not isinstance(case.get("atol"), dict):
            continue
        for name, file in case["fetches"].items():
            case["atol"][name] = atol_of(np.load(os.path.join(folder, file)), case["rtol"])
        with open(path, "w") as f:
            json.dump(case, f, indent=1)
            f.write("\n")


if __name__ == "__main__":
    main(sys.argv[1:])
