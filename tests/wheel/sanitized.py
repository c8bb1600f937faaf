#!/usr/bin/env python3
"""Runs the tests of the Python package with a module of a build with sanitizers, in run.py's environment.

usage: sanitized.py ASAN_BUILD GRAPNEL [PYTEST_ARGUMENT...]    GRAPNEL: a binary of a release build

Python itself has no sanitizer, so the runtime is preloaded, and memory that Python leaves allocated does not count as a leak. The module's
operator delete (tools/memory_guard.cpp) frees what libstdc++'s operator new made: both are malloc's. Tests of time,
memory and types, which need the wheel, are skipped, and so are those in Chromium, which does not start with the runtime.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import environment
from environment import ROOT, run

TOOLS = ROOT / "build" / "wheel" / "cp311" / "tools" / "bin"
QUICKJS = ROOT / "build" / "wheel" / "cp311" / "quickjs"
PACKAGES = ("tfgrapnel", "tfgrapnel_pytest")
LEFT_OUT = "test_an_older_processor or test_types or test_import_is_light or test_memory_does_not_grow"
FILES_LEFT_OUT = ("fleet_test.py", "fleet_engines_test.py", "notebook_browser_test.py")  # fleets limit memory


def flags_of(build):
    text = (build / "CMakeCache.txt").read_text()
    return " ".join(re.search(rf"^CMAKE_CXX_FLAGS{kind}:STRING=(.*)$", text, re.M)[1] for kind in ("", "_DEBUG"))


def make(build, into, preload):
    """The package as a folder for PYTHONPATH."""
    folder = into / "build"
    variables = os.environ | {"PATH": f"{TOOLS}:{os.environ['PATH']}"}
    nanobind = subprocess.run([TOOLS / "python", "-m", "nanobind", "--cmake_dir"], capture_output=True, text=True, check=True).stdout.strip()
    flags = f"{flags_of(build)} -shared-libsan"
    [quickjs] = QUICKJS.glob("*/*/quickjs.h")
    run("cmake", "-S", ROOT / "python", "-B", folder, "-G", "Ninja", f"-DGRAPNEL_BUILD={build}", f"-Dnanobind_DIR={nanobind}",
        f"-DGRAPNEL_QUICKJS={quickjs.parent}",
        f"-DCMAKE_CXX_FLAGS={flags}", "-DCMAKE_CXX_COMPILER=clang++-14", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache",
        f"-DPython_EXECUTABLE={TOOLS / 'python'}", f"-DCMAKE_INSTALL_PREFIX={into / 'package'}", env=variables)
    run("cmake", "--build", folder, "--target", "_tfgrapnel", env=variables)
    run("cmake", "--build", folder, env=variables | preload)  # runs the module
    shutil.rmtree(into / "package", ignore_errors=True)
    run("cmake", "--install", folder, stdout=subprocess.DEVNULL)
    for package in PACKAGES:
        shutil.copytree(ROOT / "python" / package, into / "package" / package, dirs_exist_ok=True)
    return into / "package"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    build, binary = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    venv = environment.make(is_full=False)
    if not venv:
        sys.exit("sanitized.py: no wheel: ./x wheel makes it")
    runtime = subprocess.run(["clang++-14", "-print-file-name=libclang_rt.asan-x86_64.so"], capture_output=True, text=True, check=True)
    options = {"LD_PRELOAD": runtime.stdout.strip(), "ASAN_OPTIONS": "detect_leaks=0:intercept_tls_get_addr=0:alloc_dealloc_mismatch=0",
               "UBSAN_OPTIONS": "print_stacktrace=1", "ASAN_SYMBOLIZER_PATH": "/usr/lib/llvm-14/bin/llvm-symbolizer"}
    package = make(build, build / "wheel", options)
    variables = os.environ | options | {"PYTHONPATH": str(package), "GRAPNEL": str(binary)}
    left_out = ["-k", f"not ({LEFT_OUT})", *(f"--ignore={ROOT / 'tests' / 'wheel' / name}" for name in FILES_LEFT_OUT)]
    run(venv / "bin" / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *left_out, ROOT / "tests" / "wheel", *sys.argv[3:],
        cwd=ROOT, env=variables)


if __name__ == "__main__":
    main()
