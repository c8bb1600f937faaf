#!/usr/bin/env python3
"""Counts the cases in ctest's JUnit file: tally.py FILE says what was skipped and why, a line each, and last
'N passed, N failed, N skipped: no GPU (11 tests), without --full (3 tests)'.

A program that says its own counts (gtest, lit, unittest, tests/cuda) gives those; any other counts as one case. `--self-test`
counts what is written below.
"""

import collections
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

TESTS = pathlib.Path(__file__).parent
# Features that tests/lit.cfg.py may find missing.
FEATURES = {"full": "without --full", "shared": "no ../shared", "emulated-gpu": "no nvcc", "release": "only in release"}

Counts = collections.namedtuple("Counts", "passed failed skipped")  # skipped: [(name, reason, tests)]


def total(pattern, text):
    return sum(int(n) for n in re.findall(pattern, text, re.MULTILINE))


def lines(pattern, text):
    return re.findall(pattern, text, re.MULTILINE)


def required(path):
    """What lit leaves a file out for: the first feature that it requires and that may be missing."""
    try:
        names = lines(r"REQUIRES: *(.*)", (TESTS / path).read_text(errors="replace"))
    except OSError:
        names = []
    features = [name.strip() for line in names for name in line.split(",")]
    return next((FEATURES[f] for f in features if f in FEATURES), "needs " + ", ".join(features or ["more than it says"]))


def of_lit(test, text):
    listed = re.search(r"^Unsupported Tests.*?\n\n", text, re.DOTALL | re.MULTILINE)
    return Counts(
        total(r"^  (?:Passed|Expectedly Failed|Passed With Retry) *: (\d+)", text),
        total(r"^  (?:Failed|Unexpectedly Passed|Unresolved|Timed Out) *: (\d+)", text),
        [(path, required(path), 1) for path in lines(r"^  grapnel :: (\S+)$", listed[0] if listed else "")],
    )


def of_unittest(test, text):
    failed = total(r"\b(?:failures|errors|unexpected successes)=(\d+)", text)
    skipped = [(f"{test} {name}", reason, 1) for name, reason in lines(r"^(\w+) \([\w.]+\)(?:\n.*)? \.\.\. skipped ['\"](.*)['\"]$", text)]
    return Counts(total(r"^Ran (\d+) test", text) - failed - len(skipped), failed, skipped)


def of_gtest(test, text):
    """By the line of each test, so that a program that ends in the midst of one has counted those before."""
    began = lines(r"^\[ RUN      \] (\S+)", text)
    passed = set(lines(r"^\[       OK \] (\S+) \(", text))
    skipped = [
        (f"{test} {name}", " ".join(reason.split()), 1)
        for name, reason in lines(r"^\[ RUN      \] (\S+)\n(?:\S+: Skipped\n)?((?:(?!\[).*\n)*)\[  SKIPPED \]", text)
    ]
    return Counts(len(passed), len(set(began)) - len(passed) - len(skipped), skipped)


def of_cuda(test, text):
    return Counts(total(r"^(\d+) passed, ", text), total(r"^\d+ passed, (\d+) failed", text), [])


RUNNERS = [
    (r"Total Discovered Tests:", of_lit),
    (r"^Ran \d+ tests? in", of_unittest),
    (r"^\[==========\] Running \d+ test", of_gtest),
    (r"^\d+ passed, \d+ failed$", of_cuda),
]


def count(test, status, text):
    counts = next((of(test, text) for sign, of in RUNNERS if re.search(sign, text, re.MULTILINE)), None)
    if counts is None and status in ("notrun", "disabled"):  # it skipped itself; its last words say why, and what it costs
        said = (text.strip().splitlines() or ["it did not say why"])[-1]
        words = re.fullmatch(r"skipped: (.*?)(?: \((\d+) tests?\))?", said)
        return Counts(0, 0, [(test, words[1] if words else said, int(words[2] or 1) if words else 1)])
    counts = counts or Counts(int(status == "run"), 0, [])
    if status == "fail" and not counts.failed:  # a crash, a leak, or a runner that failed beside its cases
        counts = counts._replace(failed=1)
    return counts


def report(cases):
    passed, failed, costs = 0, 0, collections.Counter()
    for case in cases:
        counts = count(*case)
        passed, failed = passed + counts.passed, failed + counts.failed
        for name, reason, tests in counts.skipped:
            yield f"skipped {name}: {reason}"
            costs[reason.split(": ")[0]] += tests
    skips = ", ".join(f"{reason} ({n} test{'s' * (n != 1)})" for reason, n in sorted(costs.items()))
    yield f"{passed} passed, {failed} failed, {sum(costs.values())} skipped" + (": " + skips if skips else "")


def self_test():
    gtest = """[==========] Running 4 tests from 1 test suite.
[ RUN      ] A.Good
[       OK ] A.Good (0 ms)
[ RUN      ] A.Bad
x.cpp:1: Failure
[  FAILED  ] A.Bad (0 ms)
[ RUN      ] A.Skips
x.cpp:3: Skipped
no ../shared: ops is not there
[  SKIPPED ] A.Skips (0 ms)
[ RUN      ] A.Worse
"""
    closed = "[  FAILED  ] A.Worse (1 ms)\n[==========] 4 tests from 1 test suite ran. (1 ms total)\n[  PASSED  ] 1 test.\n[  FAILED  ] 2 tests\n"
    lit = "Unsupported Tests (1):\n  grapnel :: tools/gpu.test\n\nTotal Discovered Tests: 4\n  Unsupported: 1 (25%)\n  Passed     : 2\n  Failed     : 1\n"
    unit = "test_a (x.A.test_a) ... skipped 'no reason'\nRan 3 tests in 1s\n\nFAILED (failures=1, skipped=1)\n"
    expected = [
        ((("gtest", "fail", gtest + closed),), "1 passed, 2 failed, 1 skipped: no ../shared (1 test)"),
        ((("crash", "fail", gtest),), "1 passed, 2 failed, 1 skipped: no ../shared (1 test)"),
        ((("leak", "fail", gtest[:90].replace("A.Bad", "A.Good") + "\nERROR: LeakSanitizer"),), "1 passed, 1 failed, 0 skipped"),
        ((("lit", "fail", lit),), "2 passed, 1 failed, 1 skipped: no nvcc (1 test)"),
        ((("unit", "fail", unit),), "1 passed, 1 failed, 1 skipped: no reason (1 test)"),
        ((("cuda", "notrun", "skipped: no GPU (11 tests)\n"),), "0 passed, 0 failed, 11 skipped: no GPU (11 tests)"),
        ((("cuda", "fail", "FAILED sum: 1 is 2\n10 passed, 1 failed\n"),), "10 passed, 1 failed, 0 skipped"),
        ((("plain", "run", ""), ("plain", "fail", "")), "1 passed, 1 failed, 0 skipped"),
    ]
    wrong = [(cases, got, want) for cases, want in expected if (got := list(report(cases))[-1]) != want]
    for cases, got, want in wrong:
        print(f"{cases[0][0]}: '{got}', expected is '{want}'")
    return 1 if wrong else 0


def main():
    if sys.argv[1] == "--self-test":
        return self_test()
    tests = ElementTree.parse(sys.argv[1]).getroot().iter("testcase")
    for line in report((t.get("name"), t.get("status"), t.findtext("system-out") or "") for t in tests):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
