#!/usr/bin/env python3
"""Runs the tests of the Python package with the wheel installed, in a virtual environment of its own without TensorFlow.

usage: run.py GRAPNEL [PYTEST_ARGUMENT...]    GRAPNEL: the binary that results are compared with
"""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
VENV = ROOT / "build" / "wheel" / "venv"
NEEDED = ("numpy==2.4.6", "ml_dtypes==0.6.0", "pyarrow==26.0.1", "pytest==9.2.0", "mypy==2.4.1", "pyright[nodejs]==1.1.414", "tqdm==4.70.1")
NEEDED += ("nbclient==0.11.0", "ipykernel==7.4.0")
# In a browser, under --full.
NEEDED_FULL = ("jupyterlab==4.6.6", "nbclassic==1.3.3")


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, **options)


wheels = sorted((ROOT / "build" / "wheel").glob("tfgrapnel-*-cp311-cp311-*.whl"))
if not wheels:
    print("skipped: no wheel (./x wheel)")
    sys.exit(77)
if "GRAPNEL_FULL" in os.environ:
    NEEDED += NEEDED_FULL
ready = VENV / "ready"
if not ready.exists() or not set(NEEDED) <= set(ready.read_text().splitlines()):
    run("/usr/bin/python3", "-m", "venv", "--clear", VENV)
    run(VENV / "bin/pip", "install", "--quiet", "--disable-pip-version-check", *NEEDED)
    ready.write_text("\n".join(NEEDED))
run(VENV / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--force-reinstall", wheels[-1])
environment = os.environ | {"GRAPNEL": str(pathlib.Path(sys.argv[1]).resolve())}
wanted = os.environ.get("GRAPNEL_TEST_FILTER", "wheel")
if wanted not in "wheel":
    sys.argv += ["-k", wanted]
tests = [] if any(argument.endswith(".py") for argument in sys.argv[2:]) else [ROOT / "tests" / "wheel"]
command = [VENV / "bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, *sys.argv[2:]]
code = subprocess.run([str(word) for word in command], cwd=ROOT, env=environment).returncode
sys.exit(0 if code == 5 else code)  # 5: no test is of that name
