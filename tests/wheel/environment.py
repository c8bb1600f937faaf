"""The virtual environments of the Python package's tests: without TensorFlow, with the wheel of build/wheel installed."""

import os
import pathlib
import subprocess

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


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, **options)


def make(is_full):
    """The environment's folder, made if it is missing or has other packages; with `is_full`, it has fleet engines, notebook servers
    and PyTorch. None: there is no wheel."""
    wheels = sorted((ROOT / "build" / "wheel").glob("tfgrapnel-*-cp311-cp311-*.whl"))
    if not wheels:
        return None
    folder = ROOT / "build" / "wheel" / ("venv-full" if is_full else "venv")
    pip = (folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check")
    ready, needed = folder / "ready", (*NEEDED, *(NEEDED_IN_FULL if is_full else ()))
    if not ready.exists() or ready.read_text() != "\n".join(needed):
        run("/usr/bin/python3", "-m", "venv", "--clear", folder)
        run(*pip, *needed)
        ready.write_text("\n".join(needed))
    run(*pip, "--no-deps", "--force-reinstall", wheels[-1])
    return folder
