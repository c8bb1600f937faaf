"""Files of a fleet: local copies of models, and the folder of its rows. Paths with :// are handled by fsspec."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import os
import posixpath
import re
import tempfile
import threading

from ._errors import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# pip's name of a package, if it is not the module's name.
_PACKAGES = {"dask": "'dask[distributed]'", "ray": "'ray[data]'"}
ROWS = "models.parquet"
# The name that `write` gives to an unfinished file: .host.process.thread
_HALF_WRITTEN = re.compile(r"\..+\.\d+\.\d+")


def need(module):
    """Imports a module that only fleets use."""
    with parts_of(module.partition(".")[0]):
        return importlib.import_module(module)


@contextlib.contextmanager
def parts_of(package):
    """Reports that `package`, or a part of it that pip does not always install, is missing: Ray Data needs pandas."""
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or package).partition(".")[0]
        if name.startswith("tfgrapnel"):
            raise
        used_by = "" if name == package else f" for {package}"
        raise ImportError(f"tfgrapnel.fleet needs {name}{used_by}: pip install {_PACKAGES.get(name, name)}", name=name) from None


def is_remote(path):
    return "://" in path and not path.startswith("file://")


def read_text(path):
    if is_remote(path):
        with need("fsspec").open(path, "rb") as file:
            return file.read().decode()
    with open(path.removeprefix("file://"), encoding="utf-8") as file:
        return file.read()


class Copy:
    """A local model: its path, the SHA-256 of its bytes and their number. A folder's hash covers names and hashes."""

    def __init__(self, path):
        self.path = os.path.abspath(path)  # the process that inspects may have another current folder
        self._stamps = {}
        if os.path.isdir(path):
            hashes = [(name, *self._hash_in(name)) for name in sorted(_names_in(path))]
            self.bytes = sum(size for _, _, size in hashes)
            told = json.dumps([(name, content) for name, content, _ in hashes])
            self.content = hashlib.sha256(told.encode()).hexdigest()
        else:
            self.content, self.bytes = self._hash_of(path)

    def _hash_in(self, name):
        """The hash and size of a file in the folder. A dangling link, a pipe or a socket counts as "no file", not as an error."""
        path = os.path.join(self.path, name)
        return self._hash_of(path) if os.path.isfile(path) else ("no file", 0)

    def _hash_of(self, path):
        if os.path.exists(path) and not os.path.isfile(path):
            raise OSError(None, "neither a file nor a folder")
        self._stamps[os.path.abspath(path)] = _stamp_of(path)
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            return digest, file.tell()

    def is_as_it_was(self):
        """True if the model's files have not changed since they were hashed."""
        return all(_stamp_of(path) == stamp for path, stamp in self._stamps.items())


def _names_in(root):
    """Lists all files of a folder, following links to folders; each folder is entered once."""

    def unreadable(error):
        raise error

    entered = set()
    for folder, folders, names in os.walk(root, onerror=unreadable, followlinks=True):
        place = os.path.realpath(folder)
        if place in entered:
            folders.clear()
            continue
        entered.add(place)
        folders.sort()  # a fixed order: of two links to a folder, the first is entered
        yield from (os.path.relpath(os.path.join(folder, name), root) for name in names)


def _stamp_of(path):
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


@contextlib.contextmanager
def here(path):
    """The Copy of a model, which is downloaded if it is remote. Raises the errors of reading it."""
    if not is_remote(path):
        yield Copy(path.removeprefix("file://"))
        return
    files, inner = need("fsspec").core.url_to_fs(path)
    with tempfile.TemporaryDirectory(prefix="tfgrapnel-") as folder:
        copy = os.path.join(folder, posixpath.basename(inner.rstrip("/")) or "model")
        for name in _files_in(files, inner):
            inside = name[len(inner.rstrip("/")) :].lstrip("/")
            if ".." in inside.split("/"):
                raise OSError(None, f"a name with '..' in it: {name}")
            target = os.path.join(copy, inside) if inside else copy
            os.makedirs(os.path.dirname(target), exist_ok=True)
            files.get_file(name, target)
        yield Copy(copy)


def _files_in(files, inner):
    """The names of a model's files. A file is not listed like a folder, since a web server would then send the whole file."""
    if files.isfile(inner):
        return [inner]
    found = files.find(inner, detail=True)
    # S3's console and Hadoop store a folder as an object named 'a/'.
    names = [name for name, told in found.items() if told.get("type") != "directory" and not name.endswith("/")]
    if not names:
        raise FileNotFoundError(None, "no such file or folder" + _refusal(files, inner))
    return names


def _refusal(files, inner):
    """The text of an error that `find` does not report, such as that of a server that does not answer; else ''."""
    try:
        files.info(inner)
    except OSError as error:
        told = error if isinstance(error, PermissionError) else error.__cause__
        return f": {told}" if isinstance(told, OSError) else ""
    return ""


def demand_places(paths):
    """Raises ImportError if a library that reads some of these paths is not installed."""
    schemes = {scheme: path for path in paths if path and is_remote(path) for scheme in _schemes_of(path)}
    if not schemes:
        return
    fsspec = need("fsspec")
    for scheme, path in schemes.items():
        try:
            fsspec.get_filesystem_class(scheme)
        except ImportError as error:
            raise ImportError(f"{path}: {error}") from None
        except ValueError:  # no library has this name; the row gets an error
            pass


def _schemes_of(path):
    """The protocols of a URL: for 'zip://model.pb::s3://bucket/x.zip' both, zip and s3."""
    return [part.partition("://")[0] for part in path.split("::")]


class Folder:
    """Parquet files, one for each partition: part=3f/models.parquet. A complete file replaces the previous one atomically."""

    def __init__(self, path):
        self.path = path.removeprefix("file://").rstrip("/")
        self._remote: Any = None
        self._root = self.path
        if is_remote(path):
            self._remote, self._root = need("fsspec").core.url_to_fs(path)

    def _file(self, part):
        return posixpath.join(self._root, f"part={part}", ROWS)

    def parts(self):
        """The existing partitions, sorted."""
        if self._remote is not None:
            self._remote.invalidate_cache()
            names = self._remote.glob(posixpath.join(self._root, "part=*", ROWS))
        elif os.path.isdir(self._root):
            names = [name for folder in self._folders() if os.path.exists(name := f"{folder}/{ROWS}")]
        else:
            names = []
        return sorted(name.split("/")[-2].removeprefix("part=") for name in names)

    def _folders(self):
        return [entry.path for entry in os.scandir(self._root) if entry.name.startswith("part=") and entry.is_dir()]

    def files(self):
        """The paths of the partitions' files, as patterns for DuckDB."""
        scheme = self.path.partition("://")[0] + "://" if self._remote is not None else ""
        return [scheme + re.sub(r"[*?[]", r"[\g<0>]", self._file(part).removeprefix(scheme)) for part in self.parts()]

    def schema(self, part):
        parquet = need("pyarrow.parquet")
        return parquet.read_schema(self._file(part), filesystem=self._remote)

    def read(self, part):
        """The rows of a partition, or None."""
        import io

        parquet = need("pyarrow.parquet")
        try:
            if self._remote is not None:
                self._remote.invalidate_cache()
                data = self._remote.cat_file(self._file(part))
            else:
                with open(self._file(part), "rb") as file:
                    data = file.read()
        except FileNotFoundError:
            return None
        return parquet.ParquetFile(io.BytesIO(data)).read()

    def write(self, part, table):
        import io

        data = io.BytesIO()
        need("pyarrow.parquet").write_table(table, data, compression="zstd")
        path = self._file(part)
        if self._remote is not None:
            self._remote.pipe_file(path, data.getvalue())
            return
        os.makedirs(os.path.dirname(path), exist_ok=True)
        # Two workers may write the same partition at the same time, if an engine assumes that the first has died.
        half = f"{os.path.dirname(path)}/.{os.uname().nodename}.{os.getpid()}.{threading.get_ident()}"
        with open(half, "wb") as file:
            file.write(data.getvalue())
        os.replace(half, path)

    def remove(self, part):
        path = self._file(part)
        if self._remote is not None:
            self._remote.rm_file(path)
            return
        os.unlink(path)
        with contextlib.suppress(OSError):  # fails if the folder contains other files
            os.rmdir(os.path.dirname(path))

    def sweep(self):
        """Removes files left behind by interrupted writers."""
        if self._remote is None and os.path.isdir(self._root):
            for folder in self._folders():
                for file in os.scandir(folder):
                    if _HALF_WRITTEN.fullmatch(file.name):
                        os.unlink(file.path)

    @contextlib.contextmanager
    def alone(self):
        """Creates the folder and locks it; raises Error if another run is updating it. A remote folder cannot be locked."""
        if self._remote is not None:
            yield
            return
        import fcntl

        os.makedirs(self._root, exist_ok=True)
        folder = os.open(self._root, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(folder)
            text = f"{self.path}: another run is updating this folder: wait until it is done, or use another folder"
            raise Error(text, self.path) from None
        except OSError:  # some network file systems have no locks
            pass
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                fcntl.flock(folder, fcntl.LOCK_UN)  # unlocks explicitly, since processes forked meanwhile hold the lock too
            os.close(folder)
