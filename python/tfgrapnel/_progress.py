"""Shows the progress of long work: a tqdm bar if tqdm is installed, else a line on stderr."""

from __future__ import annotations

import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PATIENCE_S = 1.0  # the same as that of `grapnel` on a terminal
_BETWEEN_S = 0.2

_wanted: bool | None = None


def progress(shown: bool | None = None) -> None:
    """Sets whether work that takes longer than a second shows its progress: passes, checks, cases, runs, steps,
    models of a fleet.

    shown: True or False; None (the default): only in a notebook or on a terminal.
    """
    global _wanted

    _wanted = shown


def _is_wanted():
    if _wanted is not None:
        return _wanted
    return "ipykernel" in sys.modules or sys.stderr is not None and sys.stderr.isatty()


class _Line:
    """A progress line that is rewritten in place, for use without tqdm."""

    def __init__(self):
        self._width = 0

    def draw(self, text, done, total, seconds):
        if total:
            text += f", {done:,} of {total:,}"
        self._write(f"{text} ... {seconds:.0f} s")

    def _write(self, text):
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def close(self):
        self._write("")
        self._write("")


class _Bar:
    def __init__(self, tqdm):
        self._tqdm = tqdm
        self._bar: Any = None

    def draw(self, text, done, total, seconds):
        total = total or None
        if self._bar is None:
            self._bar = self._tqdm(desc=text, total=total, file=sys.stderr, leave=False)
        bar = self._bar
        if bar.total != total:
            bar.reset(total)
        bar.start_t = time.time() - seconds
        bar.n = done
        bar.bar_format = None if total else "{desc} [{elapsed}]"
        bar.set_description_str(text, refresh=False)
        bar.refresh()

    def close(self):
        if self._bar is not None:
            self._bar.close()


def _drawn():
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tqdm warns in a notebook without ipywidgets, where its bar is text
        try:
            from tqdm.auto import tqdm  # type: ignore[import-untyped]
        except ImportError:
            return _Line()
    return _Bar(tqdm)


class Working:
    """Shows the progress of one command after its first second."""

    def __init__(self, command: str):
        self._command = {"opt": "optimize"}.get(command, command)
        self._begin = time.monotonic()
        self._next = self._begin + _PATIENCE_S
        self._drawn: Any = None

    def __enter__(self) -> Any:
        return self._show if _is_wanted() else None

    def _show(self, what, done, total):
        now = time.monotonic()
        if now < self._next:
            return
        if self._drawn is None:
            self._drawn = _drawn()
        self._drawn.draw(f"{self._command}: {what}" if what else self._command, done, total, now - self._begin)
        self._next = now + _BETWEEN_S

    def __exit__(self, *_: object) -> None:
        if self._drawn is not None:
            self._drawn.close()
