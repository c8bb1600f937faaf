"""The methods that notebooks call to show an object."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Shown:
    """An object that notebooks show through _notebook.py."""

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        from ._notebook import bundle

        return bundle(self)

    def _repr_html_(self) -> str | None:
        return self._repr_mimebundle_().get("text/html")
