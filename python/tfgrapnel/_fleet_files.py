"""Files of a fleet: models brought here, and the folder of its rows. What has :// in its path is fsspec's."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import os
import posixpath
import tempfile
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What pip calls it, where that is not the module's name.
_PACKAGES = {"dask": "'dask[distributed]'", "ray": "'ray[data]'"}
ROWS = "models.parquet"


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
        if os.path.isdir(path):
            names = sorted(
                os.path.relpath(os.path.join(folder, name), path) for folder, _, names in os.walk(path) for name in names
            )
            hashes = {name: _hash_of(os.path.join(path, name)) for name in names}
            self.bytes = sum(size for _, size in hashes.values())
            told = json.dumps([(name, content) for name, (content, _) in hashes.items()])
            self.content = hashlib.sha256(told.encode()).hexdigest()
        else:
            self.content, self.bytes = _hash_of(path)


def _hash_of(path):
    if os.path.exists(path) and not os.path.isfile(path):
        raise OSError(None, "neither a file nor a folder")
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return digest, file.tell()


@contextlib.contextmanager
def here(path):
    """The Copy of a model, which is brought here where it is somewhere else. Raises what reading raises."""
    if not is_remote(path):
        yield Copy(path.removeprefix("file://"))
        return
    files, inner = need("fsspec").core.url_to_fs(path)
    with tempfile.TemporaryDirectory(prefix="tfgrapnel-") as folder:
        copy = os.path.join(folder, posixpath.basename(inner.rstrip("/")) or "model")
        found = files.find(inner)
        if not found:
            raise FileNotFoundError(None, "no such file or folder")
        for name in found:
            inside = name[len(inner.rstrip("/")) :].lstrip("/")
            if ".." in inside.split("/"):
                raise OSError(None, f"a name with '..' in it: {name}")
            target = os.path.join(copy, inside) if inside else copy
            os.makedirs(os.path.dirname(target), exist_ok=True)
            files.get_file(name, target)
        yield Copy(copy)


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
            folders = [entry.path for entry in os.scandir(self._root) if entry.name.startswith("part=")]
            names = [name for folder in folders if os.path.exists(name := f"{folder}/{ROWS}")]
        else:
            names = []
        return sorted(name.split("/")[-2].removeprefix("part=") for name in names)

    def files(self):
        """Their paths, as DuckDB reads them."""
        scheme = self.path.partition("://")[0] + "://" if self._remote is not None else ""
        return [scheme + self._file(part).removeprefix(scheme) for part in self.parts()]

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
            for entry in os.scandir(self._root):
                if entry.name.startswith("part="):
                    for file in os.scandir(entry.path):
                        if file.name.startswith("."):
                            os.unlink(file.path)
