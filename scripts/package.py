#!/usr/bin/env python3
"""Makes a tarball of grapnel that runs without installation, and checks that it does.

usage: package.py BIN_FOLDER TARBALL    packs BIN_FOLDER/grapnel, its modules and what they need
       package.py --check TARBALL       unpacks it beside glibc alone and runs it there

All shared libraries are included except glibc's, which must match the machine's loader and kernel, and the GPU driver's and CUDA's,
which are larger than all others and belong to the machine. The program finds lib/ by its RPATH.
"""

import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

from built_with import owners

ROOT = pathlib.Path(__file__).resolve().parent.parent
GLIBC = re.compile(r"^(ld-linux.*|lib(c|m|mvec|pthread|dl|rt|util|resolv|anl|nsl|nss_.*|thread_db|BrokenLocale)\.so\..*)$")
LEFT_OUT = re.compile(r"^lib(cuda|nvidia|cublas|cublasLt|cudnn|nvrtc|nvJitLink)[-._]?.*\.so\..*$")
MODULES = ("grapnel_onednn.so", "grapnel_icu.so", "grapnel_eigen.so", "grapnel_cuda.so", "grapnel_http.so", "grapnel_picture.so")
# The fonts for the text in a PNG, which grapnel_picture.so draws.
FONTS = [pathlib.Path("/usr/share/fonts/truetype/dejavu") / name for name in ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf")]
# The library for line editing at a terminal, which is loaded by name and so is not listed as a
# dependency.
LOADED = ("libedit.so.2",)
# The name prefix of a PyPI license, PYPI + NAME_VERSION.txt; the others are from Debian.
PYPI = "pypi-"
README = """grapnel {version}: opens TensorFlow graphs, optimizes, runs and debugs them.

bin/grapnel --help says what it does; bin/grapnel replay testdata/models/lenet runs a model. Nothing is to be installed: lib/
holds every library that it needs but glibc (2.36 or later). Start it from any folder; move the whole tree, not bin/ alone.

bin/grapnel info --devices says what it can run on. {cuda}

The license of grapnel is in LICENSE, those of the libraries are in lib/licenses/.
"""
WITH_CUDA = (
    "The GPU's kernels are in bin/grapnel_cuda.so, which needs of the machine: the driver, cuBLASLt 13 and cuDNN 9, in "
    "/usr/local/cuda or on LD_LIBRARY_PATH."
)
WITHOUT_CUDA = "It was built without CUDA: the CPU is all."


def said_by(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def libraries(file):
    """{name: path} of the shared libraries that the loader finds for a file, and those not found with None."""
    found = {}
    for line in said_by("ldd", str(file)).splitlines():
        name, arrow, rest = line.strip().partition(" => ")
        if arrow:
            found[name] = None if "not found" in rest else pathlib.Path(rest.split(" (")[0])
    return found


def loaded_library(name):
    """Paths of a library that is loaded by name, and of its dependencies."""
    for line in said_by("/sbin/ldconfig", "-p").splitlines():
        if line.split(" ")[0].strip() == name and "x86-64" in line:
            path = pathlib.Path(line.rpartition(" => ")[2])
            return {name: path} | libraries(path)
    return {name: None}


def compiled_in(build):
    """Names of the packages whose code is in the program: linked archives, and headers."""
    taken = json.loads((build / "generated" / "tools" / "built_with.json").read_text())
    return {package for package, entry in taken.items() if entry["how"] != "opened"}


def copy_licenses(packages, folder):
    """Copies Debian's copyright file of each package to PACKAGE.txt. The bill of materials reads these file names."""
    folder.mkdir(parents=True)
    for package in sorted(packages):
        text = pathlib.Path("/usr/share/doc") / package / "copyright"
        if text.exists():
            shutil.copyfile(text, folder / f"{package}.txt")


def made_at():
    """The build time of a package in seconds since 1970: SOURCE_DATE_EPOCH, else the commit's time."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    return int(said_by("git", "-C", str(ROOT), "log", "-1", "--format=%ct"))


def write_tarball(top, tarball):
    """A reproducible archive: sorted names, one time, one owner."""
    when = made_at()

    def plain(entry):
        entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = when, 0, 0, "root", "root"
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
        return entry

    tarball.parent.mkdir(parents=True, exist_ok=True)
    with open(tarball, "wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=when) as zipped:
        with tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as out:
            out.add(top, arcname=top.name, filter=plain)  # folders are read in name order


def pack(bin_folder, tarball):
    version = said_by(str(bin_folder / "grapnel"), "--version").split()[1]
    name = f"grapnel-{version}"
    with tempfile.TemporaryDirectory() as temporary:
        top = pathlib.Path(temporary) / name
        (top / "bin").mkdir(parents=True)
        (top / "lib").mkdir()
        ours = [bin_folder / file for file in ("grapnel", *MODULES)]
        ours = [file for file in ours if file.exists()]
        for file in ours:
            subprocess.run(["strip", "-o", str(top / "bin" / file.name), str(file)], check=True)
        needed = {}
        for file in ours:
            needed |= libraries(file)
        for library in LOADED:
            needed |= loaded_library(library)
        needed = {n: path for n, path in needed.items() if not GLIBC.match(n) and not LEFT_OUT.match(n)}
        if missing := [n for n, path in needed.items() if path is None]:
            sys.exit(f"package: not found: {', '.join(missing)}")
        for file, path in needed.items():
            shutil.copy(path, top / "lib" / file)
        shared = owners([*needed.values(), *FONTS]).values()
        copy_licenses({*shared, *compiled_in(bin_folder.parent)}, top / "lib" / "licenses")
        for file in said_by("git", "-C", str(ROOT), "ls-files", "testdata", ":!testdata/keras_models").splitlines():
            (top / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, top / file)
        shutil.copy(ROOT / "LICENSE", top)
        cuda = WITH_CUDA if (top / "bin" / "grapnel_cuda.so").exists() else WITHOUT_CUDA
        (top / "README").write_text(README.format(version=version, cuda=cuda))
        write_tarball(top, tarball)
    print(f"{tarball}: {tarball.stat().st_size / 1e6:.0f} MB, {len(needed)} libraries")


SCRIPT = """
set -e
cd /grapnel-*
LD_DEBUG=libs LD_DEBUG_OUTPUT=/tmp/loaded bin/grapnel replay testdata/models/lenet -q
bin/grapnel replay testdata/models/lenet testdata/models/transformer_block testdata/functions/* testdata/ops/* -q
bin/grapnel view testdata/models/lenet -o /tmp/picture.svg
bin/grapnel view testdata/models/lenet -o /tmp/picture.png
bin/grapnel opt testdata/models/lenet -o /tmp/graph.pb -q
bin/grapnel info --devices
"""


def check(tarball):
    """A root with glibc, a shell and the package, entered by chroot in separate namespaces."""
    with tempfile.TemporaryDirectory() as temporary:
        root = pathlib.Path(temporary)
        for folder in ("proc", "tmp", "lib64", "bin", "dev", "lib/x86_64-linux-gnu"):
            (root / folder).mkdir(parents=True)
        with tarfile.open(tarball) as archive:
            archive.extractall(root)
        shutil.copy("/bin/sh", root / "bin")
        shutil.copy("/lib64/ld-linux-x86-64.so.2", root / "lib64")
        for name in ("libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libmvec.so.1"):
            shutil.copy(f"/lib/x86_64-linux-gnu/{name}", root / "lib/x86_64-linux-gnu")
        for device in ("null", "urandom"):
            (root / "dev" / device).touch()
        (root / "script").write_text(SCRIPT)
        inside = f"mount -t proc proc {root}/proc && mount --bind /dev/urandom {root}/dev/urandom && exec chroot {root} /bin/sh /script"
        run = subprocess.run(
            ["unshare", "--map-root-user", "--mount", "--pid", "--fork", "sh", "-c", inside],
            env={"PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
        )
        print(run.stdout + run.stderr, end="")
        loaded = "".join(file.read_text() for file in (root / "tmp").glob("loaded.*"))
        if "/lib/libdnnl.so" not in loaded:
            sys.exit(f"{tarball}: oneDNN was not loaded")
        pictures = [root / "tmp" / f"picture.{kind}" for kind in ("svg", "png")]
        if run.returncode or "failed" in run.stdout and ", 0 failed" not in run.stdout:
            sys.exit(f"{tarball}: does not run beside glibc alone (exit code {run.returncode})")
        if "</svg>" not in pictures[0].read_text() or pictures[1].read_bytes()[1:4] != b"PNG":
            sys.exit(f"{tarball}: the pictures are not valid")
    print(f"{tarball}: runs beside glibc alone")


def main(usage, make, check):
    """`--check PLACE`, or the two arguments of `make`."""
    arguments = [pathlib.Path(word).resolve() for word in sys.argv[1:] if word != "--check"]
    called = check if sys.argv[1:2] == ["--check"] else make
    if len(arguments) != (1 if called is check else 2):
        sys.exit(usage)
    called(*arguments)


if __name__ == "__main__":
    main(__doc__, pack, check)
