"""The methods that notebooks call to show an object."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar


class Shown:
    """An object that notebooks show."""

    # {MIME type: data} for an object. __init__.py sets it to _notebook.bundle, which imports the files that import this one.
    _bundle: ClassVar[Callable[[Shown], dict[str, Any]]]

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return self._bundle()

    def _repr_html_(self) -> str | None:
        return self._repr_mimebundle_().get("text/html")
