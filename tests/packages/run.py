#!/usr/bin/env python3
"""Makes all packages of a release, and looks at each: that it installs, runs and goes, that the bill of materials is one and names
them all, and that a clone built in the same place gives the same bytes.

usage: run.py [--once]       --once: without the second build, which takes as long as the first

Debian's archive is read, and folders are mounted: it is run as root.
"""

import hashlib
import io
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OUT = ROOT / "build" / "dist"
VENV = ROOT / "build" / "packages" / "venv"
SPDX_TOOLS = "spdx-tools==0.8.5"
KINDS = ("grapnel_*.deb", "libgrapnel-dev_*.deb", "grapnel-*-x86_64.tar.gz", "grapnel-*-root.tar.gz", "tfgrapnel-*.whl")
# $1: a clone, $2: the place of this one, $3: where the packages go.
AGAIN = """
mount --make-rprivate /
mount --bind "$3" /mnt
mount --bind "$1" "$2"
cd "$2"
CCACHE_DISABLE=1 ./x release build/dist
cp build/dist/* /mnt
"""


def run(*command, cwd=ROOT):
    print("+", *command, flush=True)
    subprocess.run([str(word) for word in command], check=True, cwd=cwd)


def digests(folder):
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.iterdir()) if file.is_file()}


def members(file):
    """Name and bytes of each file in a package."""
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as archive:
            yield from ((name, archive.read(name)) for name in archive.namelist())
        return
    data = file.read_bytes()
    if file.suffix == ".deb":
        data = subprocess.run(["dpkg-deb", "--fsys-tarfile", file], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        yield from ((member.name, archive.extractfile(member).read()) for member in archive if member.isfile())


def inside(file):
    return {name: hashlib.sha256(data).hexdigest() for name, data in members(file)}


def differing(first, second):
    return sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))


def check_bill():
    """spdx-tools finds it valid; it names every file with its digest, and something inside of each."""
    [bill] = OUT.glob("*.spdx.json")
    if not (VENV / "bin" / "pyspdxtools").exists():
        venv.create(VENV, with_pip=True)
        run(VENV / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", SPDX_TOOLS)
    run(VENV / "bin" / "pyspdxtools", "--infile", bill)
    document = json.loads(bill.read_text())
    said = {package["packageFileName"]: package for package in document["packages"] if "packageFileName" in package}
    holders = {relation["spdxElementId"] for relation in document["relationships"] if relation["relationshipType"] == "CONTAINS"}
    files = digests(OUT)
    for kind in KINDS:
        [file] = OUT.glob(kind)
        entry = said[file.name]
        assert entry["checksums"][0]["checksumValue"] == files[file.name], file
        assert entry["SPDXID"] in holders, f"{file}: nothing is inside"
    assert len(said) == len(KINDS), sorted(said)
    print(f"{bill.name}: valid, {len(document['packages'])} packages")


def check_names():
    """Sources are named from the repository's folder on, whichever clone ccache has an object of, and no kernel has a hash of the
    folder in its name (kernels/cuda/CMakeLists.txt)."""
    for name in ("grapnel", "libgrapnel.so"):
        data = (ROOT / "build" / "release" / "bin" / name).read_bytes()
        names = set(re.findall(rb"[\w./-]*lib/trace/[\w./-]*\.(?:cpp|h)\b", data))
        others = sorted(found.decode() for found in names if not found.startswith(b"lib/"))
        if others or not names:
            sys.exit(f"{name} names {others or 'no sources'}")
    [package] = OUT.glob("grapnel_*.deb")
    for name, data in members(package):
        if name.endswith("grapnel_cuda.so") and (hashed := re.search(rb"_GLOBAL__N__\w+", data)):
            sys.exit(f"{name}: a kernel lies in a namespace without a name: {hashed[0].decode()}")


def check_again(revision):
    with tempfile.TemporaryDirectory() as temporary:
        clone, again = pathlib.Path(temporary) / "clone", pathlib.Path(temporary) / "again"
        again.mkdir()
        run("git", "clone", "--quiet", "--no-checkout", ROOT, clone)
        run("git", "checkout", "--quiet", revision, cwd=clone)
        run("unshare", "--mount", "bash", "-ec", AGAIN, "again", clone, ROOT, again)
        files = digests(OUT)
        others = differing(files, digests(again))
        for name in others:
            if name.endswith((".deb", ".tar.gz", ".whl")) and (OUT / name).exists() and (again / name).exists():
                print(f"{name}: {', '.join(differing(inside(OUT / name), inside(again / name))) or 'the same files inside'}")
        if others:
            sys.exit(f"other bytes of: {', '.join(others)}")
    print(f"the same bytes of {len(files)} files")


def main():
    if sys.argv[1:] not in ([], ["--once"]):
        sys.exit(__doc__)
    revision = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    run("./x", "release", OUT)
    [tarball] = OUT.glob("grapnel-*-x86_64.tar.gz")
    for script, place in (("package", tarball), ("deb", OUT), ("root", OUT)):
        run(sys.executable, f"scripts/{script}.py", "--check", place)
    run("sha256sum", "--check", "--quiet", "SHA256SUMS", cwd=OUT)
    check_names()
    check_bill()
    if sys.argv[1:] == []:
        check_again(revision)


if __name__ == "__main__":
    main()
