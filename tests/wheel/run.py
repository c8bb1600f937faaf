#!/usr/bin/env python3
"""Runs the tests of the Python package with the wheel installed, in a virtual environment of its own without TensorFlow.

usage: run.py GRAPNEL [PYTEST_ARGUMENT...]    GRAPNEL: the binary that results are compared with

With GRAPNEL_FULL set the environment has the engines of fleets too, Ray, Spark (which needs Java) and Dask, servers of notebooks, and
PyTorch.
"""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NEEDED = ("numpy==2.4.6", "ml_dtypes==0.6.0", "pyarrow==26.0.1", "pytest==9.2.0", "mypy==2.4.1", "pyright[nodejs]==1.1.414", "tqdm==4.70.1")
NEEDED += ("nbclient==0.11.0", "ipykernel==7.4.0")
NEEDED_IN_FULL = (
    "ray[data]==2.60.0",
    "pyspark==4.3.0",
    "dask[distributed]==2026.8.0",
    "duckdb==2.0.0",
    "s3fs==2026.9.0",
    "moto[server]==5.2.5",
    "jupyterlab==4.6.6",
    "nbclassic==1.3.3",
    "torch==2.15.0",
)
IS_FULL = "GRAPNEL_FULL" in os.environ
VENV = ROOT / "build" / "wheel" / ("venv-full" if IS_FULL else "venv")


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, **options)


wheels = sorted((ROOT / "build" / "wheel").glob("tfgrapnel-*-cp311-cp311-*.whl"))
if not wheels:
    print("skipped: no wheel (./x wheel)")
    sys.exit(77)
ready, needed = VENV / "ready", (*NEEDED, *(NEEDED_IN_FULL if IS_FULL else ()))
if not ready.exists() or ready.read_text() != "\n".join(needed):
    run("/usr/bin/python3", "-m", "venv", "--clear", VENV)
    run(VENV / "bin/pip", "install", "--quiet", "--disable-pip-version-check", *needed)
    ready.write_text("\n".join(needed))
run(VENV / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--force-reinstall", wheels[-1])
environment = os.environ | {"GRAPNEL": str(pathlib.Path(sys.argv[1]).resolve())}
wanted = os.environ.get("GRAPNEL_TEST_FILTER", "wheel")
if wanted not in "wheel":
    sys.argv += ["-k", wanted]
tests = [] if any(argument.endswith(".py") for argument in sys.argv[2:]) else [ROOT / "tests" / "wheel"]
command = [VENV / "bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, *sys.argv[2:]]
code = subprocess.run([str(word) for word in command], cwd=ROOT, env=environment).returncode
sys.exit(0 if code == 5 else code)  # 5: no test is of that name
