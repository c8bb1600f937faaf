"""Packs the files of a case folder into one zip file, which grapnel opens like the folder.

The same files give the same bytes: their order is that of their names, and the archive holds neither times nor compressed data,
which would depend on the version of zlib.
"""
# mypy: ignore-errors
import contextlib
import os
import tempfile
import zipfile


def is_archive(path):
    return os.path.isfile(path) and zipfile.is_zipfile(path)


def pack(folder, archive):
    """Writes all files of `folder` into the file `archive`, which appears when it is complete."""
    unfinished = archive + ".part"
    with zipfile.ZipFile(unfinished, "w") as target:
        for name in sorted(os.listdir(folder)):
            member = zipfile.ZipInfo(name)                    # its date is 1980-01-01
            member.create_system, member.external_attr = 3, 0o644 << 16  # on Unix, as a file that all may read
            with open(os.path.join(folder, name), "rb") as source:
                target.writestr(member, source.read())
    os.replace(unfinished, archive)


@contextlib.contextmanager
def unpacked(case):
    """The folder of a case: `case` itself or, for an archive, a temporary folder with its files."""
    if not is_archive(case):
        yield case
        return
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(case) as archive:
            archive.extractall(folder)
        yield folder
