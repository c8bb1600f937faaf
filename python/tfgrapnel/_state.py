"""Functions with state: the values of their variables and tables."""

from __future__ import annotations

from ._errors import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    import tempfile
    from typing import Any


def _captures(function):
    """{placeholder: captured object}, and {id of a handle: variable}."""
    count = len(function.inputs) - len(function.captured_inputs)
    captures = {tensor.name: value for tensor, value in zip(function.inputs[count:], function.captured_inputs)}
    return captures, {id(variable.handle): variable for variable in function.graph.variables if hasattr(variable, "handle")}


def has_state(function: Any) -> bool:
    """True if a ConcreteFunction writes variables, or has tables or iterators: then its state cannot become constants."""
    from ._capture import capture_state  # type: ignore[attr-defined]

    captures, variables = _captures(function)
    resources = [value for value in captures.values() if value.dtype.name == "resource"]
    return any(id(value) not in variables for value in resources) or capture_state.writes(function.graph.as_graph_def())


def case_of(function: Any) -> tempfile.TemporaryDirectory[str]:
    """A ConcreteFunction as a case folder, with the current values of its variables and tables, and no values to compare with."""
    import tempfile

    from ._capture import capture as tool  # type: ignore[attr-defined]

    captures, variables = _captures(function)
    folder = tempfile.TemporaryDirectory(prefix="tfgrapnel-")
    try:
        graph, init = tool.kept(function, captures, variables)
        held = {name.split(":")[0]: variables[id(value)].numpy() for name, value in captures.items() if id(value) in variables}
        given = {name: value.numpy() for name, value in tool.with_value(captures).items()}
        tool.write_case(folder.name, graph, given, {}, variables=held, init=init)
    except tool.CaptureError as error:
        raise Error(str(error)) from None
    return folder
