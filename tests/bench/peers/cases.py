"""Case folders as the peers' processes read them, and how far what they compute is from what is expected."""
import json
import os

import numpy as np


def tensor(name):
    return name if ":" in name else name + ":0"


def read_case(case):
    """({tensor: what is fed}, {tensor: what is expected})."""
    with open(os.path.join(case, "case.json"), encoding="utf-8") as file:
        info = json.load(file)
    return tuple({tensor(k): np.load(os.path.join(case, v)) for k, v in info[part].items()} for part in ("feeds", "fetches"))


def distance(fetches, outputs):
    """The largest difference, as a part of the spread of what is expected."""
    far = 0.0
    for want, got in zip(fetches.values(), outputs):
        spread = float(np.std(want)) + 1e-6 if want.dtype.kind == "f" else 1
        far = max(far, float(np.max(np.abs(want.astype("f8") - got)) / spread))
    return far
