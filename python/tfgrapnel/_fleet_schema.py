"""The columns of a fleet's rows. FORMAT increases when the columns change."""

from __future__ import annotations

from ._errors import Error
from ._fleet_files import ROWS, need

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

FORMAT = 2
WORKS = ("info", "ops", "scopes", "layers", "doctor", "blame", "fusions", "policy", "place")
USUAL = WORKS[:-1]  # `place` supposes devices
DEBUG_FOLDER = "debug folder"  # the kind of a row

_TEXT, _NUMBER = "string", "int64"
_COLUMNS = {
    "path": _TEXT,
    "content": _TEXT,
    "key": _TEXT,
    "kind": _TEXT,
    "error": _TEXT,
    "bytes": _NUMBER,
    "version": _TEXT,
    "format": _NUMBER,
}
_TEXTS_OF_FINDINGS = "graph work check_name severity node function scope source what expected advice fingerprint"
# The columns that contain lists.
TABLES = {
    "graphs": dict(title=_TEXT, nodes=_NUMBER, function_nodes=_NUMBER, functions=_NUMBER, variables=_NUMBER)
    | dict(constants=_NUMBER, constant_bytes=_NUMBER, flops=_NUMBER, peak_bytes=_NUMBER, open=_NUMBER, producer=_NUMBER),
    "signatures": dict.fromkeys("graph signature side key tensor dtype shape".split(), _TEXT),
    "ops": dict(graph=_TEXT, op=_TEXT, dtype=_TEXT, nodes=_NUMBER),
    "scopes": dict(graph=_TEXT, function=_TEXT, scope=_TEXT, nodes=_NUMBER, hash=_TEXT),
    "layers": dict(graph=_TEXT, layer=_TEXT, class_name=_TEXT, shape=_TEXT, parameters=_NUMBER, trainable=_NUMBER, flops=_NUMBER),
    "devices": dict(graph=_TEXT, device=_TEXT, nodes=_NUMBER, weights=_NUMBER, peak_bytes=_NUMBER, open=_NUMBER),
    "findings": dict.fromkeys(_TEXTS_OF_FINDINGS.split(), _TEXT),
    "problems": dict(graph=_TEXT, problem=_TEXT),
    "failures": dict(work=_TEXT, error=_TEXT),
}
_MARK = b"tfgrapnel.fleet"


def schema() -> pa.Schema:
    """The pyarrow.Schema of rows.

    path; content: SHA-256 of the file, or of a folder's names and hashes; key: a hash of everything that determines the row; a row with
    the same key is up to date; kind: "GraphDef", "SavedModel", ..., "debug folder"; error: why it could not be inspected, or not
    completely; bytes: size of its files; version: that of tfgrapnel; format: FORMAT. And lists: graphs, signatures, ops, scopes, layers,
    devices, findings, problems, failures (a work that failed, and why).
    """
    pa = need("pyarrow")
    types = {_TEXT: pa.string(), _NUMBER: pa.int64()}
    fields = [pa.field(name, types[type], nullable=name not in ("path", "key")) for name, type in _COLUMNS.items()]
    for name, table in TABLES.items():
        element = pa.struct([(column, types[type]) for column, type in table.items()])
        fields.append(pa.field(name, pa.list_(pa.field("element", element))))
    return pa.schema(fields, {_MARK: str(FORMAT).encode()})


def demand_format(store):
    """Raises Error if a file of a Folder has another version's format."""
    for part in store.parts():
        file = f"{store.path}/part={part}/{ROWS}"
        try:
            found = store.schema(part)
        except need("pyarrow").ArrowInvalid as error:
            raise Error(f"{file}: cannot be read as Parquet: {error}; delete it to inspect its models again", file) from None
        written = (found.metadata or {}).get(_MARK)
        if written is None:
            raise Error(f"{file}: not written by tfgrapnel.fleet: rows of format {FORMAT} were expected; use another folder", file)
        if written != str(FORMAT).encode() or not found.equals(schema()):
            told = written.decode() if written != str(FORMAT).encode() else f"{FORMAT} with other columns"
            raise Error(f"{file}: its rows have format {told}, this tfgrapnel writes format {FORMAT}: use another folder", file)
