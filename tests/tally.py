#!/usr/bin/env python3
"""Counts the cases in ctest's JUnit file: tally.py FILE says what was skipped and why, a line each, and last
'N passed, N failed, N skipped'.

A program that closes with its own counts (gtest, lit, unittest) gives those; any other counts as one case.
"""

import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

TESTS = pathlib.Path(__file__).parent
# Features that tests/lit.cfg.py may find missing.
FEATURES = {
    "full": "runs with --full",
    "shared": "needs graphs that are not in the repository",
    "emulated-gpu": "needs CUDA's compiler",
}


def total(pattern, text):
    return sum(int(n) for n in re.findall(pattern, text, re.MULTILINE))


def cases(text):
    """(passed, failed, skipped) as the runner says, or None when it says nothing."""
    if "Total Discovered Tests:" in text:  # lit
        return (
            total(r"^  (?:Passed|Expectedly Failed|Passed With Retry) *: (\d+)", text),
            total(r"^  (?:Failed|Unexpectedly Passed|Unresolved|Timed Out) *: (\d+)", text),
            total(r"^  (?:Unsupported|Skipped) *: (\d+)", text),
        )
    if re.search(r"^Ran \d+ tests? in", text, re.MULTILINE):  # unittest
        failed = total(r"\b(?:failures|errors|unexpected successes)=(\d+)", text)
        skipped = total(r"\bskipped=(\d+)", text)
        return total(r"^Ran (\d+) test", text) - failed - skipped, failed, skipped
    if re.search(r"^\[==========\] \d+ tests? from .* ran", text, re.MULTILINE):  # gtest
        return (
            total(r"^\[  PASSED  \] (\d+) test", text),
            total(r"^\[  FAILED  \] (\d+) test", text),
            total(r"^\[  SKIPPED \] (\d+) test", text),
        )
    return None


def required(path):
    """Why lit leaves a file out: what it requires, in words."""
    names = re.findall(r"REQUIRES: *(.*)", (TESTS / path).read_text(errors="replace"))
    features = [name.strip() for line in names for name in line.split(",")]
    return ", ".join(FEATURES.get(feature, "needs " + feature) for feature in features)


def skips(test, text):
    """(name, reason) of each case that the runner says it skipped."""
    for path in re.findall(r"^  grapnel :: (\S+)$", "".join(re.findall(r"^Unsupported Tests.*?\n\n", text, re.DOTALL | re.MULTILINE)), re.MULTILINE):
        yield path, required(path)
    for name, reason in re.findall(r"^\[ RUN      \] (\S+)\n(?:\S+: Skipped\n)?((?:(?!\[).*\n)*)\[  SKIPPED \]", text, re.MULTILINE):
        yield f"{test} {name}", " ".join(reason.split())
    for name, reason in re.findall(r"^(\w+) \([\w.]+\)(?:\n.*)? \.\.\. skipped ['\"](.*)['\"]$", text, re.MULTILINE):
        yield f"{test} {name}", reason


def main():
    passed = failed = skipped = 0
    for test in ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
        name, status, text = test.get("name"), test.get("status"), test.findtext("system-out") or ""
        counts = cases(text) or (status == "run", 0, status in ("notrun", "disabled"))
        if status == "fail" and not counts[1]:  # a crash, or a runner that failed before its cases
            counts = (counts[0], 1, counts[2])
        passed, failed, skipped = passed + counts[0], failed + counts[1], skipped + counts[2]
        told = list(skips(name, text))
        if len(told) < counts[2]:  # a program that skipped itself: its last words say why
            told.append((name, (text.strip().splitlines() or ["it did not say why"])[-1]))
        for what, why in told:
            print(f"skipped {what}: {why}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")


if __name__ == "__main__":
    main()
