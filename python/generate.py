#!/usr/bin/env python3
"""Writes _commands.py, with a function for each command, from the descriptions of the commands, and results.py, with a class for the
result of each command that has a document, from the schemas of its documents.

usage: generate.py FOLDER OUTPUT SCHEMAS     FOLDER has the module _tfgrapnel, OUTPUT is a folder, SCHEMAS docs/schemas
"""

import keyword
import pathlib
import re
import sys
import textwrap

sys.path.insert(0, sys.argv[1])
import _tfgrapnel  # noqa: E402
from typed_results import read_schemas, results  # noqa: E402

NOT_FUNCTIONS = {"serve", "debug", "completion", "man", "git-setup"}
NAMES = {"opt": "optimize"}
# Options that are not keywords: Python has logging, warnings, and .text and .json of a result instead. Plugins link with the
# binary.
NOT_KEYWORDS = {"json", "quiet", "verbose", "log-level", "color", "plugin"}
RESULTS = {"reduce": "GraphResult"}  # classes of the results of commands without a document
# Commands for which Graph has a handwritten method.
OF_GRAPH = {"query": None, "run": None}
MODELS = ("MODEL", "A")
HEADER = '''"""Commands as functions. Made by generate.py from the descriptions of the commands."""

from __future__ import annotations

from . import results
from ._call import GraphResult, Result, Spec, call
from ._errors import with_nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from typing import Any

    Model = Any  # what `load` takes
    Path = str | os.PathLike[str]
'''


def python_name(name):
    name = name.lower().replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def default_of(argument):
    if argument["type"] == "flag":
        return False
    if argument["is_list"]:
        return ()
    text = argument["default"]
    try:
        return int(text) if argument["type"] == "integer" else float(text) if argument["type"] == "number" else text or None
    except ValueError:  # no default
        return None


def kind_of(argument):
    """The type of an argument: "model" or "size" (bytes) for some texts, else argument["type"]."""
    if argument["type"] == "text" and (argument["by_position"] or re.search("MODEL|BASE", argument["shown_as"])):
        return "model"
    return "size" if argument["shown_as"] == "SIZE" else argument["type"]


def annotation(argument):
    if argument["type"] == "flag":
        return "bool"
    if argument["by_position"]:
        return "Model" if not argument["is_list"] else "Model | Sequence[Model]"
    if kind_of(argument) == "size":
        return "int | str | None"
    if kind_of(argument) == "model" and not argument["is_list"]:
        return "Model | None"
    if argument["is_list"]:
        if argument["name"] == "feed":
            return "Mapping[str, Any] | Sequence[str] | str"
        return "Mapping[str, Any] | Sequence[Any] | str"
    text = "Path" if re.search("FILE|DIR|PREFIX", argument["shown_as"]) else "str"
    kind = {"integer": "int", "number": "float"}.get(argument["type"], text)
    return kind if default_of(argument) is not None else kind + " | None"


def described(argument):
    text = argument["help"]
    if argument["choices"]:
        text += f" ({', '.join(argument['choices'])})"
    if argument["shown_as"] and not argument["choices"] and argument["shown_as"] not in ("TEXT", "INT", "FLOAT"):
        text += f" [{argument['shown_as']}]"
    text = re.sub(r"(?<![\w-])--([a-z][a-z-]+)", lambda option: python_name(option[1]), text)
    return textwrap.fill(f"{python_name(argument['name'])}: {text}", 112, initial_indent="    ", subsequent_indent="        ")


def arguments_of(command):
    kept = [argument for argument in command["arguments"] if argument["name"] not in NOT_KEYWORDS]
    of_all = [argument for argument in kept if argument["name"] in ("threads", "memory")]
    own = [argument for argument in kept if argument not in of_all]
    return sorted(own, key=lambda argument: not argument["by_position"]) + of_all


def parameters(arguments, receiver=None):
    by_position = [a for a in arguments if a["by_position"]]
    named = [a for a in arguments if not a["by_position"]]
    texts = [receiver] if receiver else []
    if receiver:
        by_position = by_position[1:]
    for a in by_position:
        default = "" if a["required"] and not receiver else " = ()" if a["is_list"] else " = None"
        texts.append(f"{python_name(a['name'])}: {annotation(a)}{default}")
    texts.append("*")
    # Required options have no default, except outputs, which can be files in memory.
    for a in named:
        is_needed = a["required"] and a["name"] != "output"
        texts.append(f"{python_name(a['name'])}: {annotation(a)}" + ("" if is_needed else f" = {default_of(a)!r}"))
    return ", ".join(texts)


def docstring(command, arguments, indent):
    raised = "Raises Error if the input or an option is invalid."
    text = f'{indent}"""{command["help"][0].upper()}{command["help"][1:]}.\n\n'
    text += textwrap.indent("\n".join(described(a) for a in arguments), indent) + "\n\n"
    return text + f'{indent}{raised}\n{indent}"""\n'


def function(command):
    name, arguments = NAMES.get(command["name"], python_name(command["name"])), arguments_of(command)
    result = RESULTS.get(command["name"], "Result")
    specs = "\n".join(
        f"    {python_name(a['name'])!r}: Spec({a['name']!r}, {kind_of(a)!r}, {a['by_position']!r}, {a['is_list']!r}, "
        f"{None if a['by_position'] and not a['is_list'] else default_of(a)!r}),"
        for a in arguments
    )
    keywords = {a["name"]: python_name(a["name"]) + "=" for a in command["arguments"] if a["name"] not in NOT_KEYWORDS}
    if any(a["name"] == "json" for a in command["arguments"]):
        keywords["json"] = "to_dict()"
    return (
        f"\n\n_{name} = {{\n{specs}\n}}\n_{name}_keywords = {keywords!r}\n\n\n"
        f"@with_nearest\ndef {name}({parameters(arguments)}) -> {result}:\n{docstring(command, arguments, '    ')}"
        f"    return call({command['name']!r}, _{name}, _{name}_keywords, locals(), {result})\n"
    )


def method(command):
    arguments = arguments_of(command)
    if command["name"] in OF_GRAPH or not arguments or arguments[0]["name"] not in MODELS:
        return ""
    name, result = NAMES.get(command["name"], python_name(command["name"])), RESULTS.get(command["name"], "Result")
    model = python_name(arguments[0]["name"])
    return (
        f"\n    @with_nearest\n    def {name}({parameters(arguments, 'self')}) -> {result}:\n{docstring(command, arguments[1:], '        ')}"
        f"        given = locals()\n        given[{model!r}] = given.pop('self')\n"
        f"        return call({command['name']!r}, _{name}, _{name}_keywords, given, {result})\n"
    )


commands = [c for c in _tfgrapnel.commands() if c["name"] not in NOT_FUNCTIONS]
names = [NAMES.get(c["name"], python_name(c["name"])) for c in commands]
documents = [c["name"] for c in commands if any(a["name"] == "json" for a in c["arguments"])]
classes, text_of_results = results(documents, read_schemas(sys.argv[3]))
RESULTS |= {command: f"results.{name}" for command, name in classes.items()}
folder = pathlib.Path(sys.argv[2])
(folder / "results.py").write_text(text_of_results)
with open(folder / "_commands.py", "w") as out:
    out.write(HEADER)
    out.writelines(function(c) for c in commands)
    out.write(f"\n\n__all__ = {names!r}\n")
    out.write('\n\nclass GraphCommands:\n    """The commands that take a model, as methods."""\n')
    out.writelines(method(c) for c in commands)
