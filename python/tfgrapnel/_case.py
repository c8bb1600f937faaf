"""Makes case folders from TensorFlow's results."""

from __future__ import annotations

import os

from ._errors import Error
from ._graph import Graph, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from numpy.typing import ArrayLike


def _is_session(model):
    return hasattr(model, "run") and hasattr(model, "graph") and hasattr(model, "list_devices")


def _write(model, given, folder, fetch, signature, options):
    from ._capture import capture as tool  # type: ignore[attr-defined]

    try:
        if isinstance(model, (str, os.PathLike)):
            named = {"signature": signature} if signature else {}
            tool.saved_model(os.fspath(model), dict(given or {}), folder, **named, **options)
        elif _is_session(model):
            tool.session(model, dict(given or {}), fetch, folder, **options)
        else:
            tool.function(model, () if given is None else given, folder, **options)
    except TypeError as error:  # raised for a keyword that this kind of model does not take
        text = str(error)
        if "unexpected keyword argument" not in text or error.__traceback__ is None or error.__traceback__.tb_next is not None:
            raise
        raise TypeError("capture" + text[text.index("()"):]) from None
    except tool.CaptureError as error:
        raise Error(str(error), os.fspath(model) if isinstance(model, (str, os.PathLike)) else None) from None


def capture(
    model: Any,
    given: Mapping[Any, Any] | Sequence[Any] | ArrayLike | None = None,
    output: str | os.PathLike[str] | None = None,
    *,
    fetch: Any = None,
    signature: str | None = None,
    **options: Any,
) -> Graph:
    """Runs a model in TensorFlow, saves graph, inputs and outputs as a case folder, and opens it.

    model: a tf.function, ConcreteFunction, Keras model or Python function; the path of a SavedModel; a tf.compat.v1.Session.
    given: the arguments of the call: a list; for a SavedModel {input: array}, where other inputs get random values; for a
        Session {tensor: array}.
    output: the folder, or a file name that ends in .zip; by default a temporary folder, which lives as long as the returned graph.
    fetch: for a Session: a tensor or several, by name or as objects.
    signature: for a SavedModel; default: serving_default.

    Options: freeze=True: variables become constants, if nothing writes them; steps: arguments of further calls, in order;
    check=True: runs the captured graph again by itself, and compares; rtol, atol: tolerances of outputs; about: {...} for case.json; for a
    function kwargs={...}; for a SavedModel tags, seed for random values, dim for unknown dimensions.

    Needs TensorFlow. Raises Error if the model cannot be captured.
    """
    if fetch is None and _is_session(model):
        raise TypeError("fetch: required for a Session")
    if fetch is not None and not _is_session(model):
        raise TypeError("fetch: only for a Session; for a function all results are captured")
    if signature is not None and not isinstance(model, (str, os.PathLike)):
        raise TypeError("signature: only for the path of a SavedModel")
    folder = None
    if output is None:
        import tempfile

        folder = tempfile.TemporaryDirectory(prefix="tfgrapnel-")
        output = folder.name
    _write(model, given, os.fspath(output), fetch, signature, options)
    case = load(output)
    assert isinstance(case, Graph)
    if folder is not None:
        case._kept = (*case._kept, folder)
    return case
