#!/usr/bin/env python3
"""Computes `atol` of a case folder, the absolute tolerance for expected values near zero, from these values and `rtol`.

    python3 tools/tolerance.py CASE ...      rewrites atol in each case.json that has one per fetch; a CASE may be a zip file

AbsoluteTolerance in lib/check/comparison.h is the same rule; a test compares testdata with it.
needs: numpy, and case_archive.py next to this file
"""
# mypy: ignore-errors
import json
import os
import sys

import numpy as np

if __package__:                                               # in the Python package
    from . import case_archive
else:
    import case_archive


def atol_of(a, rtol):
    """Returns `rtol` times the median magnitude of the nonzero finite elements: sums of numbers with both signs can be
    near zero, but their error is relative to the terms. The tolerance is at most a tenth of the 20th percentile of
    magnitudes, so that small elements cannot pass as zero when magnitudes span many powers of ten. 0 for dtypes that are
    not rounded, such as integers and strings, and if there is no such element."""
    if a.dtype.kind not in "fc" and a.dtype.name != "bfloat16":
        return 0.
    parts = np.stack([a.real, a.imag]) if a.dtype.kind == "c" else a
    size = np.abs(parts.astype(np.float64)).ravel()
    size = np.sort(size[np.isfinite(size) & (size > 0)])
    if not size.size:
        return 0.
    last = size.size - 1
    return float(f"{min(rtol * size[last // 2], size[last // 5] / 10):.1e}")


def rewrite(folder):
    path = os.path.join(folder, "case.json")
    with open(path) as f:
        case = json.load(f)
    if not isinstance(case.get("atol"), dict):
        return
    for name, file in case["fetches"].items():
        case["atol"][name] = atol_of(np.load(os.path.join(folder, file)), case["rtol"])
    with open(path, "w") as f:
        json.dump(case, f, indent=1)
        f.write("\n")


def main(cases):
    for case in cases:
        with case_archive.unpacked(case) as folder:
            rewrite(folder)
            if folder != case:
                case_archive.pack(folder, case)


if __name__ == "__main__":
    main(sys.argv[1:])
