#!/usr/bin/env python3
"""Makes Debian's packages of a release build in which `grapnel_install` is built: grapnel, the program with its modules, manual
pages and completions, and libgrapnel-dev, for building against the library.

usage: deb.py BUILD_FOLDER OUT_FOLDER        writes OUT_FOLDER/{grapnel,libgrapnel-dev}_VERSION_amd64.deb
       deb.py --check OUT_FOLDER             installs, runs and removes them in a separate root, which mmdebstrap makes

The program's shared libraries are dependencies, found by dpkg-shlibdeps; CUDA's are not in Debian and belong to the machine. The modules are in /usr/lib/grapnel, static libraries beside the shared one in /usr/lib.
"""

import email.utils
import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from built_with import owners
from package import FONTS, ROOT, compiled_in, copy_licenses, made_at, main, said_by
from root import make_root, within

MAINTAINER = "The grapnel developers <grapnel@localhost>"
CONTROL = """Package: {name}
Version: {version}
Architecture: amd64
Maintainer: {maintainer}
Installed-Size: {kilobytes}
Depends: {depends}
{others}Section: {section}
Priority: optional
Description: {description}
"""
PROGRAM = """opens, optimizes, runs and debugs TensorFlow graphs
 grapnel shows what happens to a TensorFlow graph: it runs Grappler's passes
 and keeps which rule made each node from what, says why an op is on its
 device, diffs and draws graphs, executes them, and finds the op that made
 the first NaN. TensorFlow is not in it."""
LIBRARY = """library and headers of grapnel
 What programs that open, optimize or run TensorFlow graphs, and plugins of
 grapnel, are built with: headers, libgrapnel.so, static libraries, files for
 CMake and pkg-config."""
COPYRIGHT = """grapnel: opens, optimizes, runs and debugs TensorFlow graphs.

Copyright: (c) 2026 the grapnel developers
License: Apache-2.0, in /usr/share/common-licenses/Apache-2.0

What Debian says of the packages that are compiled into it is in licenses/.
"""
CHANGES = """grapnel ({version}) unstable; urgency=medium

  * What is new is in the project's documentation.

 -- {maintainer}  {when}
"""


def install(build, component, top):
    command = ["cmake", "--install", str(build), "--prefix", str(top / "usr"), "--component", component, "--strip"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def write_zipped(path, content):
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as zipped:
        zipped.write(content)


def squeeze_manuals(folder):
    for page in sorted(folder.glob("*.1")):
        write_zipped(f"{page}.gz", page.read_bytes())
        page.unlink()


def shared_depends(top):
    """The output of dpkg-shlibdeps for the programs, modules and shared libraries of a folder."""
    files = [*(top / "usr/bin").glob("*"), *sorted((top / "usr/lib").rglob("*.so"))]
    files = [str(file) for file in files if file.name != "grapnel_cuda.so"]
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "debian").mkdir()
        (pathlib.Path(folder) / "debian/control").write_text("Source: grapnel\n\nPackage: grapnel\nArchitecture: amd64\n")
        said = subprocess.run(["dpkg-shlibdeps", "-O", *files], cwd=folder, capture_output=True, text=True)
    if said.returncode:
        sys.exit(f"deb: dpkg-shlibdeps: {said.stderr}")
    return re.search(r"^shlibs:Depends=(.*)$", said.stdout, re.M)[1]


def write_sums(top):
    files = sorted(file for file in (top / "usr").rglob("*") if file.is_file() and not file.is_symlink())
    lines = [f"{hashlib.md5(file.read_bytes()).hexdigest()}  {file.relative_to(top)}\n" for file in files]
    (top / "DEBIAN/md5sums").write_text("".join(lines))


def build_deb(top, out, **fields):
    (top / "DEBIAN").mkdir(exist_ok=True)
    write_sums(top)
    size = sum(file.lstat().st_size for file in (top / "usr").rglob("*") if not file.is_dir())
    control = CONTROL.format(kilobytes=size // 1024 + 1, maintainer=MAINTAINER, **fields)
    (top / "DEBIAN/control").write_text(control)
    when = made_at()
    for path in [top, *top.rglob("*")]:
        if path.is_dir():
            path.chmod(0o755)
        elif not path.is_symlink():
            path.chmod(0o755 if path.parent.name == "bin" else 0o644)
        os.utime(path, (when, when), follow_symlinks=False)
    file = out / f"{fields['name']}_{fields['version']}_amd64.deb"
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(when)}
    command = ["dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(top), str(file)]
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    print(f"{file}: {file.stat().st_size / 1e6:.0f} MB")


def add_documents(top, name, version, packages):
    folder = top / "usr/share/doc" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "LICENSE").unlink(missing_ok=True)
    (folder / "copyright").write_text(COPYRIGHT)
    changes = CHANGES.format(version=version, maintainer=MAINTAINER, when=email.utils.formatdate(made_at()))
    write_zipped(folder / "changelog.gz", changes.encode())
    copy_licenses(packages, folder / "licenses")


def make(build, out):
    version = said_by(str(build / "bin/grapnel"), "--version").split()[1]
    out.mkdir(parents=True, exist_ok=True)
    inside = compiled_in(build) | set(owners(FONTS).values())
    with tempfile.TemporaryDirectory() as temporary:
        top = pathlib.Path(temporary) / "program"
        install(build, "program", top)
        squeeze_manuals(top / "usr/share/man/man1")
        add_documents(top, "grapnel", version, inside)
        depends = shared_depends(top)
        others = "Recommends: libedit2\nSuggests: libgrapnel-dev\n"
        build_deb(top, out, name="grapnel", version=version, depends=depends, others=others, section="science", description=PROGRAM)
        top = pathlib.Path(temporary) / "library"
        install(build, "library", top)
        add_documents(top, "libgrapnel-dev", version, inside)
        taken = json.loads((build / "generated/tools/built_with.json").read_text())
        linked = [name for name, entry in taken.items() if entry["how"] == "linked" and entry["version"]]
        depends = ", ".join([f"grapnel (= {version})", shared_depends(top), *linked])
        (top / "DEBIAN").mkdir()
        (top / "DEBIAN/triggers").write_text("activate-noawait ldconfig\n")
        build_deb(top, out, name="libgrapnel-dev", version=version, depends=depends, others="", section="libdevel", description=LIBRARY)


PROGRAM_CHECK = """
dpkg --install /root/grapnel.deb
cd /root
grapnel --version
grapnel replay testdata/models/lenet -q
grapnel view testdata/models/lenet -o picture.svg
grapnel opt testdata/models/lenet -o graph.pb -q
test -s /usr/share/man/man1/grapnel-opt.1.gz
rm -f picture.svg graph.pb
dpkg --purge grapnel
"""
LIBRARY_CHECK = """
dpkg --install /root/grapnel.deb /root/libgrapnel-dev.deb
cd /root/docs/examples
for static in OFF ON; do
  cmake -S . -B build-$static -D STATIC=$static
  cmake --build build-$static --target collatz
  build-$static/collatz
done
c++ -std=c++20 collatz.cpp $(pkg-config --cflags --libs grapnel) -o collatz
./collatz
rm -r build-* collatz
dpkg --purge libgrapnel-dev grapnel
"""
NOTHING_LEFT = """
left=$(find / -xdev -name '*grapnel*' -not -path '/root/*' -not -path '/var/log/*' -not -path '/proc/*')
test -z "$left" || { echo "left behind: $left"; exit 1; }
echo installed, ran and removed
"""


def check_in_root(script, debs, files, packages=()):
    """Installs the packages in a root that has only their dependencies and `packages`, and runs a script there."""
    depends = [said_by("dpkg-deb", "--field", str(deb), "Depends").strip() for deb in debs]
    depends = [field for field in ", ".join(depends).split(", ") if not field.startswith("grapnel ")]
    with tempfile.TemporaryDirectory() as temporary:
        root = make_root(pathlib.Path(temporary) / "root", ", ".join([*depends, *packages]))
        for deb in debs:
            shutil.copyfile(deb, root / "root" / (deb.name.partition("_")[0] + ".deb"))
        for file in files:
            shutil.copytree(ROOT / file, root / "root" / file)
        (root / "root/script").write_text("set -e\n" + script + NOTHING_LEFT)
        run = within(root, "/bin/sh", "/root/script")
        print(run.stdout + run.stderr, end="")
        if run.returncode:
            sys.exit(f"{', '.join(map(str, debs))}: does not install, run and go (exit code {run.returncode})")


def check(out):
    debs = [file for name in ("grapnel", "libgrapnel-dev") for file in out.glob(f"{name}_*_amd64.deb")]
    check_in_root(PROGRAM_CHECK, debs[:1], ["testdata/models/lenet"])
    check_in_root(LIBRARY_CHECK, debs, ["docs/examples"], ["g++", "cmake", "make", "pkg-config"])


if __name__ == "__main__":
    main(__doc__, make, check)
