#!/usr/bin/env python3
"""Runs the tests of the Python package with the wheel installed, in a separate virtual environment without TensorFlow.

usage: run.py GRAPNEL [PYTEST_ARGUMENT...]    GRAPNEL: the binary that results are compared with

With GRAPNEL_FULL set, the environment also has the fleet engines Ray, Spark (which needs Java) and Dask, notebook servers, and
PyTorch.
"""

import os
import pathlib
import subprocess
import sys

import environment

venv = environment.make(environment.IS_FULL)
if not venv:
    print("skipped: no wheel (./x wheel)")
    sys.exit(77)
variables = os.environ | {"GRAPNEL": str(pathlib.Path(sys.argv[1]).resolve())}
wanted = os.environ.get("GRAPNEL_TEST_FILTER", "wheel")
if wanted not in "wheel":
    sys.argv += ["-k", wanted]
tests = [] if any(argument.endswith(".py") for argument in sys.argv[2:]) else [environment.ROOT / "tests" / "wheel"]
command = [venv / "bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, *sys.argv[2:]]
code = subprocess.run([str(word) for word in command], cwd=environment.ROOT, env=variables).returncode
sys.exit(0 if code == 5 else code)  # 5: no test has that name
