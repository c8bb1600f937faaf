"""Files of a fleet: models brought here, and the folder of its rows. What has :// in its path is fsspec's."""

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

# What pip calls it, where that is not the module's name.
_PACKAGES = {"dask": "'dask[distributed]'", "ray": "'ray[data]'"}
ROWS = "models.parquet"
# What `write` calls a file that is not whole yet: .host.process.thread
_HALF_WRITTEN = re.compile(r"\..+\.\d+\.\d+")


def need(module):
    """A module that only fleets use."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        name = module.partition(".")[0]
        if error.name != name:
            raise
        raise ImportError(f"tfgrapnel.fleet needs {name}: pip install {_PACKAGES.get(name, name)}", name=name) from None


def is_remote(path):
    return "://" in path and not path.startswith("file://")


def read_text(path):
    if is_remote(path):
        with need("fsspec").open(path, "rb") as file:
            return file.read().decode()
    with open(path.removeprefix("file://"), encoding="utf-8") as file:
        return file.read()


class Copy:
    """A model here: its path, the SHA-256 of its bytes and how many they are. Of a folder the hash is of names and hashes."""

    def __init__(self, path):
        self.path = os.path.abspath(path)  # who looks at it may have begun in another folder
        self._stamps = {}
        if os.path.isdir(path):
            hashes = [(name, *self._hash_in(name)) for name in sorted(_names_in(path))]
            self.bytes = sum(size for _, _, size in hashes)
            told = json.dumps([(name, content) for name, content, _ in hashes])
            self.content = hashlib.sha256(told.encode()).hexdigest()
        else:
            self.content, self.bytes = self._hash_of(path)

    def _hash_in(self, name):
        """A link to nothing, a pipe or a socket is no part of a model, and no reason that the rest is none."""
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
        """Whether its files are those that were hashed."""
        return all(_stamp_of(path) == stamp for path, stamp in self._stamps.items())


def _names_in(root):
    """Of all that is in a folder, and in the folders that it has links to, each of which is entered once."""

    def unreadable(error):
        raise error

    entered = set()
    for folder, folders, names in os.walk(root, onerror=unreadable, followlinks=True):
        place = os.path.realpath(folder)
        if place in entered:
            folders.clear()
            continue
        entered.add(place)
        folders.sort()  # which of two links is entered
        yield from (os.path.relpath(os.path.join(folder, name), root) for name in names)


def _stamp_of(path):
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


@contextlib.contextmanager
def here(path):
    """The Copy of a model, which is brought here where it is somewhere else. Raises what reading raises."""
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
    """Of a file its name alone: a web server that is asked what is in it hands out the whole."""
    if files.isfile(inner):
        return [inner]
    found = files.find(inner, detail=True)
    # S3's console and Hadoop put an object 'a/' where a folder is.
    names = [name for name, told in found.items() if told.get("type") != "directory" and not name.endswith("/")]
    if not names:
        raise FileNotFoundError(None, "no such file or folder" + _refusal(files, inner))
    return names


def _refusal(files, inner):
    """What `find` keeps to itself: a server that does not answer."""
    try:
        files.info(inner)
    except OSError as error:
        told = error if isinstance(error, PermissionError) else error.__cause__
        return f": {told}" if isinstance(told, OSError) else ""
    return ""


def demand_places(paths):
    """An ImportError where a library that reads some of these is not installed."""
    schemes = {scheme: path for path in paths if path and is_remote(path) for scheme in _schemes_of(path)}
    if not schemes:
        return
    fsspec = need("fsspec")
    for scheme, path in schemes.items():
        try:
            fsspec.get_filesystem_class(scheme)
        except ImportError as error:
            raise ImportError(f"{path}: {error}") from None
        except ValueError:  # there is none of that name: a row with an error
            pass


def _schemes_of(path):
    """Of 'zip://model.pb::s3://bucket/x.zip' both."""
    return [part.partition("://")[0] for part in path.split("::")]


class Folder:
    """Parquet files, one for each partition: part=3f/models.parquet. They appear when they are whole, in the place of the one before."""

    def __init__(self, path):
        self.path = path.removeprefix("file://").rstrip("/")
        self._remote: Any = None
        self._root = self.path
        if is_remote(path):
            self._remote, self._root = need("fsspec").core.url_to_fs(path)

    def _file(self, part):
        return posixpath.join(self._root, f"part={part}", ROWS)

    def parts(self):
        """The partitions that are there, sorted."""
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
        """Their paths, as DuckDB reads them: patterns."""
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
        # Two may write one partition at a time, when an engine took the first for dead.
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
        with contextlib.suppress(OSError):  # somebody keeps something there
            os.rmdir(os.path.dirname(path))

    def sweep(self):
        """Takes away what writers left that were ended."""
        if self._remote is None and os.path.isdir(self._root):
            for folder in self._folders():
                for file in os.scandir(folder):
                    if _HALF_WRITTEN.fullmatch(file.name):
                        os.unlink(file.path)

    @contextlib.contextmanager
    def alone(self):
        """Makes it, and is the only one that brings it up to date: an Error for another one. Of a remote folder nobody knows."""
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
            text = f"{self.path}: another run is bringing this folder up to date: wait until it is done, or use another folder"
            raise Error(text, self.path) from None
        except OSError:  # some file systems of networks have no locks
            pass
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                fcntl.flock(folder, fcntl.LOCK_UN)  # processes that were forked meanwhile have it too
            os.close(folder)
