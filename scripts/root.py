#!/usr/bin/env python3
"""Makes the root of a container from Debian with mmdebstrap: the program's package and its dependencies.

usage: root.py DEB OUT_FOLDER      writes OUT_FOLDER/grapnel-VERSION-root.tar.gz and OUT_FOLDER/Containerfile
       root.py --check OUT_FOLDER  unpacks it and runs the program in it

`podman build -t grapnel OUT_FOLDER` makes an image of both. Debian's release and its servers are those of this machine's apt.
"""

import gzip
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

from package import ROOT, made_at, main, said_by

LISTS = [pathlib.Path("/etc/apt/sources.list"), *sorted(pathlib.Path("/etc/apt/sources.list.d").glob("*"))]
# Manual pages, which a container does not need, are left out; licenses stay.
LEFT_OUT = ["path-exclude=/usr/share/man/*", "path-exclude=/usr/share/locale/*", "path-exclude=/usr/share/doc/*",
            "path-include=/usr/share/doc/*/copyright", "path-include=/usr/share/doc/grapnel/*"]
CONTAINERFILE = """# grapnel {version} on Debian {release}: podman build -t grapnel . && podman run --rm -v "$PWD:/work" grapnel info model.pb
FROM scratch
ADD {tarball} /
WORKDIR /work
ENTRYPOINT ["/usr/bin/grapnel"]
CMD ["--help"]
"""


def release():
    """Debian's code name, as in "bookworm"."""
    lines = pathlib.Path("/etc/os-release").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)["VERSION_CODENAME"].strip('"')


def sources():
    """This machine's apt sources of Debian itself, in the older form, which mmdebstrap reads from standard input."""
    lines = []
    for file in LISTS:
        if file.suffix == ".sources":
            for block in file.read_text().split("\n\n"):
                fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and line[0] not in " #")
                if "debian" in fields.get("Signed-By", "debian") and "deb" in fields.get("Types", "").split():
                    for uri in fields["URIs"].split():
                        lines += [f"deb {uri} {suite} {fields['Components']}" for suite in fields["Suites"].split()]
        elif file.suffix == ".list" and file.exists():
            lines += [line for line in file.read_text().splitlines() if line.startswith("deb ")]
    named = [line for line in lines if any(word.split("-")[0] == release() for word in line.split())]
    return "\n".join(dict.fromkeys(named)) + "\n"


def debootstrap(target, depends, *options):
    """Calls mmdebstrap for the packages of a Depends: field; `target` is a folder or a tarball."""
    wanted = ",".join(part.split("(")[0].split("|")[0].strip() for part in depends.split(","))
    command = ["mmdebstrap", "--quiet", "--variant=essential", f"--include={wanted}", "--aptopt=Apt::Install-Recommends \"false\""]
    command += [*options, release(), str(target), "-"]
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(made_at())}
    made = subprocess.run(command, input=sources(), capture_output=True, text=True, env=environment)
    if made.returncode:
        sys.exit(f"root: mmdebstrap: {made.stdout}{made.stderr}")


def make_root(folder, depends):
    """A folder with a Debian root that has the packages of a Depends: field."""
    debootstrap(folder, depends)
    return folder


def within(root, *command):
    """Runs a command in a root, in separate namespaces."""
    inside = f'mount -t proc proc {root}/proc && exec chroot {root} "$@"'
    return subprocess.run(["unshare", "--mount", "--pid", "--fork", "sh", "-c", inside, "sh", *command], capture_output=True, text=True,
                          env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8"})


def make(deb, out):
    version = said_by("dpkg-deb", "--field", str(deb), "Version").strip()
    depends = said_by("dpkg-deb", "--field", str(deb), "Depends")
    tarball = out / f"grapnel-{version}-root.tar.gz"
    with tempfile.TemporaryDirectory() as temporary:
        plain = pathlib.Path(temporary) / "root.tar"
        hooks = [f"--customize-hook=copy-in {deb} /", f'--customize-hook=chroot "$1" dpkg --install /{deb.name}',
                 f'--customize-hook=rm "$1/{deb.name}"']
        thin = [f"--dpkgopt={line}" for line in LEFT_OUT]
        debootstrap(plain, depends, *thin, *hooks)
        with open(plain, "rb") as source, open(tarball, "wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=made_at()) as zipped:
            shutil.copyfileobj(source, zipped)
    (out / "Containerfile").write_text(CONTAINERFILE.format(version=version, release=release(), tarball=tarball.name))
    print(f"{tarball}: {tarball.stat().st_size / 1e6:.0f} MB")


def check(out):
    [tarball] = out.glob("grapnel-*-root.tar.gz")
    with tempfile.TemporaryDirectory() as temporary:
        root = pathlib.Path(temporary)
        with tarfile.open(tarball) as archive:
            archive.extractall(root)
        shutil.copytree(ROOT / "testdata/models/lenet", root / "work/lenet")
        for command in ("replay /work/lenet -q", "view /work/lenet -o /work/x.svg", "view /work/lenet -o /work/x.png"):
            run = within(root, "/usr/bin/grapnel", *command.split())
            print(run.stdout + run.stderr, end="")
            if run.returncode:
                sys.exit(f"{tarball}: grapnel {command}: exit code {run.returncode}")
        if (root / "work/x.png").read_bytes()[1:4] != b"PNG":
            sys.exit(f"{tarball}: the picture is not valid")
    print(f"{tarball}: runs")


if __name__ == "__main__":
    main(__doc__, make, check)
