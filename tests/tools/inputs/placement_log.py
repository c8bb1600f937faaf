"""Compares what `run --log-device-placement` says of a case with TensorFlow's log, placement.log in the case's folder.

usage: placement_log.py CASE DEVICES        exit 1 and the lines that only one has, when there are any

The numbers that names end in count what each program made, and NoOp and IdentityN stand where calls and loops were, in more
places or fewer: both are passed over. Every other node must be there as often, with its op and device.
"""
import collections
import os
import re
import subprocess
import sys


def lines(text):
    nodes = [re.sub(r"/_\d+", "/_N", line) for line in text.splitlines() if re.match(r"\S+: \(\w+\): /job:", line)]
    return collections.Counter(line for line in nodes if not re.search(r": \((NoOp|IdentityN)\): ", line))


def main():
    case, devices = sys.argv[1:]
    command = ["grapnel", "run", case, "--devices", devices, "--log-device-placement"]
    ours = lines(subprocess.run(command, capture_output=True, text=True, check=True).stderr)
    with open(os.path.join(case, "placement.log"), encoding="utf-8") as f:
        theirs = lines(f.read())
    for sign, only in ("ours", ours - theirs), ("theirs", theirs - ours):
        for line in sorted(only.elements()):
            print(sign, line)
    print(f"{sum((ours & theirs).values())} lines alike")
    return ours != theirs


if __name__ == "__main__":
    sys.exit(main())
