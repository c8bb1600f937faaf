"""Shows graphs and results in notebook cells. Commands make the pages and pictures; this file embeds them in a cell."""

from __future__ import annotations

import os

from . import _tfgrapnel
from ._call import temporary_name
from ._errors import Error
from ._passes import definitions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


# The size limits: of the compressed page in base64, which a notebook stores with each output, and of an SVG picture, in bytes.
_LARGEST_PAGE = 1_500_000
# A node takes at least 30 bytes of the compressed page. A page with more nodes would be too large, so it is not made.
_MOST_NODES = 60_000
_LARGEST_PICTURE = 1_000_000
_LEAST_HEIGHT, _MOST_HEIGHT = 420, 680  # of a page, in pixels
_MOST_VALUES = 12
_MOST_RULES = 20

# Options with which graphs are shown in a notebook: keywords of `view`.
view_options: dict[str, Any] = {}


class Drawing:
    """The content of a cell: text (HTML), a page that its script opens, and a picture for places where scripts do not run.

    page: () -> bytes of HTML, or None.
    picture: (format) -> bytes of SVG or PNG, or None.
    whole: the call that writes the whole page if it is too large for a notebook; is_large: True if this is known before the page is made.
    """

    def __init__(
        self,
        title: str,
        page: Callable[[], bytes | None] = lambda: None,
        picture: Callable[[str], bytes | None] = lambda format: None,
        text: str = "",
        whole: str = "",
        is_large: bool = False,
    ):
        self.title = title
        self._page = page
        self._picture = picture
        self._text = text
        self._whole = whole
        self._is_large = is_large

    def bundle(self, shown_else: str) -> dict[str, Any]:
        """{MIME type: data}. `shown_else` is its plain text."""
        import base64

        svg, png, problem = None, None, ""
        try:
            svg = self._picture("svg")
            if svg and len(svg) <= _LARGEST_PICTURE:
                png = self._picture("png")
        except Error as error:
            problem = f"\nno picture: {error}"
        made: dict[str, Any] = {"text/plain": shown_else + problem}
        made["text/html"] = self._html(svg)
        if png:
            made["image/png"] = base64.b64encode(png).decode()
        return made

    def _html(self, svg):
        page = None if self._is_large else self._packed()
        note = ""
        if self._is_large or page and len(page) > _LARGEST_PAGE:
            size = f"{len(page) / 1e6:.1f} MB" if page else f"more than {_LARGEST_PAGE / 1e6:.1f} MB"
            page, note = None, f"<div>The interactive page has {size}, which is too large for a notebook: {_escaped(self._whole)} writes it.</div>"
        if svg and len(svg) > _LARGEST_PICTURE:
            svg = None
        parts = [self._text, _image(self.title, svg, page), note, _script(page, svg)]
        return f'<div style="max-width:100%;overflow-x:auto">{"".join(parts)}</div>'

    def _packed(self):
        import base64
        import zlib

        page = self._page()
        return None if page is None else base64.b64encode(zlib.compress(page, 9)).decode()


def _escaped(text):
    from html import escape

    return escape(text)


def _preformatted(text):
    # The style keeps columns aligned, since the style sheet of a saved page may not do so.
    style = f"white-space:pre-wrap;margin:4px 0;line-height:1.35;font-family:monospace;max-height:{_MOST_HEIGHT}px;overflow:auto"
    return f'<pre style="{style}">{_escaped(text)}</pre>' if text else ""


def _name_of(page):
    import hashlib

    return "tfgrapnel-" + hashlib.sha256(page.encode()).hexdigest()[:16]


def _image(title, svg, page):
    import base64

    if svg is None and page is None:
        return ""
    kept = f' class="{_name_of(page)}"' if page else ""
    if svg is None:
        return f"<div{kept}>{_escaped(title)}</div>"
    source = "data:image/svg+xml;base64," + base64.b64encode(svg).decode()
    return f'<img{kept} alt="{_escaped(title)}" title="{_escaped(title)}" style="max-width:100%" src="{source}">'


def _height(svg):
    import re

    found = re.search(rb'<svg[^>]* height="(\d+)"', svg or b"")
    return max(_LEAST_HEIGHT, min(_MOST_HEIGHT, int(found[1]) + 160)) if found else _MOST_HEIGHT


def _script(page, svg):
    if page is None:
        return ""
    with open(os.path.join(os.path.dirname(__file__), "_notebook.js")) as file:
        code = file.read()
    return f'<script>{code}("{_name_of(page)}", {_height(svg)}, "{page}");</script>'


def _view(model, format, **options):
    from ._commands import view

    return view(model, format=format, **(view_options | options)).data


# Options that write files, or check what the first run has checked.
_ONCE = ("--output=", "--html=", "--format=", "--ledger=", "--dump-dir=", "--partitions=", "--check-values")


def _printed(result, *options):
    """Runs a command again with more options, without writing its files, and returns the text that it prints."""
    words = result._arguments.line(as_document=False, with_output=False)
    end = words.index("--")
    line = [words[0], *(word for word in words[1:end] if not word.startswith(_ONCE)), *options, *words[end:]]
    try:
        return _tfgrapnel.call(line, result._arguments.feeds, lambda severity, text: None, definitions(), None)[1]
    except _tfgrapnel.Error as error:
        raise Error(str(error)) from None


def _again(result, option, suffix):
    """Runs a command again with this output, and returns the bytes that it writes."""
    file = _tfgrapnel.MemoryFile(temporary_name("drawing") + suffix)
    _printed(result, f"--{option}={file.name}")
    return file.read()


def _with_output(result, format):
    return _again(result, "output", "." + format)


def of_graph(graph: Any, text: str = "", **options: Any) -> Drawing:
    """Shows a graph as `view` does, below a text (HTML)."""
    whole = "graph.view(output='graph.html')"
    is_large = len(graph) > _MOST_NODES and not view_options
    pictures = (lambda: _view(graph, "html", **options), lambda format: _view(graph, format, **options))
    return Drawing(repr(graph), *pictures, text=text, whole=whole, is_large=is_large)


def _table(columns, rows):
    """Rows as HTML; numbers are aligned on the right."""

    def cell(tag, value):
        side = "right" if isinstance(value, int) else "left"
        return f'<{tag} style="text-align:{side};padding:1px 10px 1px 0">{f"{value:,}" if isinstance(value, int) else _escaped(value)}</{tag}>'

    head = "".join(cell("th", name) for name in columns)
    body = "".join(f"<tr>{''.join(cell('td', value) for value in row)}</tr>" for row in rows)
    return f'<table style="margin:4px 0;border-collapse:collapse"><tr>{head}</tr>{body}</table>'


def _rewrites(result):
    """What the rules of `optimize` did: a sentence, and a table of the rules, the most frequent first."""
    import json

    rules: dict[str, list[Any]] = {}
    fused = removed = 0
    for line in _again(result, "ledger", ".jsonl").splitlines():
        rewrite = json.loads(line)
        name = "/".join(filter(None, (rewrite["pass"], rewrite.get("rule"))))
        row = rules.setdefault(name, [name, 0, 0, rewrite["node"]])
        row[1] += 1
        row[2] += len(rewrite["removed"])
        fused += rewrite.get("rule", "").startswith("fuse_")
        removed += len(rewrite["removed"])
    before, after = result.nodes_before, result.nodes_after
    text = f"<div>{before:,} \u2192 {after:,} nodes; {result.rewrites:,} rewrites: {fused:,} fused nodes, {removed:,} nodes removed</div>"
    rows = sorted(rules.values(), key=lambda row: (-row[1], row[0]))
    shown = _table(("rule", "times", "removed", "first at"), rows[:_MOST_RULES]) if rows else ""
    return text + shown + (f"<div>and {len(rows) - _MOST_RULES} more rules</div>" if len(rows) > _MOST_RULES else "")


def _of_optimize(result):
    return of_graph(result.graph, _rewrites(result))


def _of_view(result):
    return Drawing(repr(result), lambda: _with_output(result, "html"), lambda format: _with_output(result, format), whole="output='graph.html'")


def _of_diff(result):
    title = f"{result._arguments.positions[0]} and {result._arguments.positions[1]}"
    pictures = (lambda: _with_output(result, "html"), lambda format: _with_output(result, format))
    return Drawing(title, *pictures, text=_preformatted(_printed(result)), whole="output='diff.html'")


def _of_timeline(result):
    from ._commands import diff

    folder = result._arguments.positions[0]
    files = [stage["file"] for stage in result.stages if stage.get("file")]
    ends = [os.path.join(folder, name) for name in (files[0], files[-1])] if files else []

    def picture(format):  # shows the changes of all stages together
        return _with_output(diff(*ends), format) if ends else None

    return Drawing(folder, lambda: _again(result, "html", ".html"), picture, _preformatted(result.text), "html='timeline.html'")


def _of_placement(result):
    from ._graph import Graph

    path = result._arguments.positions[0]
    model = os.path.splitext(os.path.basename(os.path.normpath(path)))[0]

    def picture(format):
        file = _tfgrapnel.MemoryFile(f"{temporary_name('place')}/{model}, placed.pb")  # a picture's title is the last part
        file.write(_again(result, "output", ".pb"))
        return _view(Graph.in_memory(file), format, color_by="device")

    if not result.ok:
        return Drawing(path, text=_preformatted("\n".join([result.error, *result.to_dict().get("advice", ())])))
    text = _preformatted(_printed(result, "--table"))
    return Drawing(path, lambda: _again(result, "html", ".html"), picture, text, "html='placement.html'")


def _of_blame(result):
    path = result._arguments.positions[0]
    text = _preformatted(result.text)
    if os.path.isdir(path) and _tfgrapnel.is_debug_folder(path):
        return Drawing(path, lambda: _again(result, "html", ".html"), text=text, whole="html='blame.html'")
    bad = result.first_bad or result.first_any
    if not bad:
        return Drawing(path, text=text)
    node = f"{bad['function']}/{bad['node']}" if bad.get("function") else bad["node"]
    graph = next((word.removeprefix("--graph=") for word in result._arguments.options if word.startswith("--graph=")), None)
    options = {"around": node, "hops": 2} | ({"graph": graph} if graph else {})
    whole = f"view(output='graph.html', around='{node}')"
    return Drawing(node, lambda: _view(path, "html", **options), lambda format: _view(path, format, **options), text, whole)


def _value(name, value):
    import base64

    dtype, dims, elements = value
    head = f"<b>{_escaped(name)}</b> {dtype}[{','.join(map(str, dims))}]"
    if isinstance(elements, str):  # describes a handle, which exists only during a run
        return f"<div>{head}: {_escaped(elements)}</div>"
    try:
        svg, layout, colors = _tfgrapnel.heat_map(value, name)
    except _tfgrapnel.Error as error:  # strings, or empty
        return f"<div>{head}: {_escaped(str(error))}</div>"
    data = base64.b64encode(svg.encode()).decode()
    image = f'<img alt="heat map of {_escaped(name)}" style="max-width:100%;display:block;margin:2px 0" src="data:image/svg+xml;base64,{data}">'
    return f"<div style=\"margin:4px 0 10px\">{head}{image}<small>{_escaped(layout)}; {_escaped(colors)}</small></div>"


def _of_run(result):
    shown = result._values[:_MOST_VALUES]
    text = "".join(_value(name, value) for name, value in shown)
    if len(result._values) > len(shown):
        text += f"<div>and {len(result._values) - len(shown)} more</div>"
    said = result.messages.strip()
    return Drawing("values", text=text + _preformatted(said)) if text else None


def _of_text(result):
    return Drawing(repr(result), text=_preformatted(str(result)))


# The functions that show the results of commands. Other commands have no picture, and computing their text would run them again.
_OF_COMMANDS = {
    "blame": _of_blame,
    "check": _of_text,
    "compare": _of_text,
    "diff": _of_diff,
    "doctor": _of_text,
    "info": _of_text,
    "opt": _of_optimize,
    "passes": _of_text,
    "place": _of_placement,
    "run": _of_run,
    "timeline": _of_timeline,
    "view": _of_view,
}


def _drawing_of(shown):
    from ._call import GraphResult, Result
    from ._graph import DebugFolder, Graph
    from ._tensorflow import PlacementLog, Timeline

    if isinstance(shown, Graph):
        return of_graph(shown)
    if isinstance(shown, GraphResult) and shown._arguments.command not in _OF_COMMANDS:
        return of_graph(shown.graph)
    if isinstance(shown, DebugFolder):
        return _of_blame(shown.blame())
    if isinstance(shown, Timeline):
        return _of_timeline(shown._result) if shown._result else None
    if isinstance(shown, PlacementLog):
        return of_graph(shown.graph, color_by="device") if shown.graphs else None
    assert isinstance(shown, Result)
    draw = _OF_COMMANDS.get(shown._arguments.command)
    return draw(shown) if draw else None


def bundle(shown: object) -> dict[str, Any]:
    """{MIME type: data} for a graph or a result; only plain text if there is no page or picture of it."""
    try:
        drawing = _drawing_of(shown)
        return drawing.bundle(repr(shown)) if drawing else {"text/plain": repr(shown)}
    except Error as error:  # raised if its file no longer exists
        return {"text/plain": f"{shown!r}\nno picture: {error}"}
