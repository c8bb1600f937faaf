"""What notebooks ask an object that shows itself."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Shown:
    """Shows itself in notebooks, as _notebook.py has it."""

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        from ._notebook import bundle

        return bundle(self)

    def _repr_html_(self) -> str | None:
        return self._repr_mimebundle_().get("text/html")
