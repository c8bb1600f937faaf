"""Which of many cases a test runs: under AddressSanitizer, where a command takes about eight times as long, one in four."""
import os

STEP = 4 if "ASAN_OPTIONS" in os.environ else 1


def sample(cases):
    return cases[::STEP] if len(cases) > 8 else cases
