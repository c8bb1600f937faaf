#!/usr/bin/env python3
"""Counts the cases in ctest's JUnit file: tally.py FILE prints 'N passed, N failed, N skipped'.

A program that closes with its own counts (gtest, lit, unittest) gives those; any other counts as one case.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree


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


def main():
    passed = failed = skipped = 0
    for test in ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
        status = test.get("status")
        counts = cases(test.findtext("system-out") or "") or (status == "run", 0, status in ("notrun", "disabled"))
        if status == "fail" and not counts[1]:  # a crash, or a runner that failed before its cases
            counts = (counts[0], 1, counts[2])
        passed, failed, skipped = passed + counts[0], failed + counts[1], skipped + counts[2]
    print(f"{passed} passed, {failed} failed, {skipped} skipped")


if __name__ == "__main__":
    main()
