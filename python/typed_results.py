"""Makes results.py: a class for the result of each command, from the schemas of its documents (docs/schemas)."""

import json
import keyword
import pathlib
import re

# The attributes that results have in addition to the fields of their documents. A field with such a name gets no typed attribute.
OF_RESULTS = {"ok", "messages", "output", "json", "text", "data", "to_dict", "graph"}
OF_DICTS = set(dir(dict))
LINES = ("replay", "train")  # one document per line
BASES = {"opt": "GraphResult", "cut": "GraphResult", "run": "RunResult"}
NAMES = {"opt": "OptimizeResult", "run": "RunDocument"}
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
HEADER = '''"""The results of commands, with types. Made by typed_results.py from docs/schemas."""

from __future__ import annotations

from ._call import GraphResult, Result, RunResult
from ._fields import Fields, Own, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal
'''


def read_schemas(folder):
    return {path.stem: json.loads(path.read_text()) for path in sorted(pathlib.Path(folder).glob("*.json"))}


def schemas_of(command, schemas):
    """The names of a command's schemas; the one named like the command is first."""
    named = [name for name in schemas if name != "common" and schemas[name]["title"].split()[0] == command]
    return sorted(named, key=lambda name: name != command)


def camel(name):
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[-_ ]", name))


def singular(name):
    for end, instead in (("sses", "ss"), ("ches", "ch"), ("xes", "x"), ("ies", "y"), ("s", "")):
        if name.endswith(end):
            return name.removesuffix(end) + instead
    return name


def said_of(part):
    """The description of a list, which applies to the list's elements if these have none."""
    return {"description": part["description"]} if "description" in part else {}


class Writer:
    """Makes the classes of the objects in documents. A class comes before the classes whose objects contain its objects."""

    def __init__(self, schemas):
        self.schemas = schemas
        self.classes = {}  # name: text
        self.of_pieces = {}  # (schema, definition in it): class

    def look_up(self, reference, schema):
        file, _, path = reference.partition("#/$defs/")
        home = "common" if file or schema == "common" else schema
        return home, path, self.schemas[home]["$defs"][path]

    def class_of(self, part, schema, name, piece=None):
        """The class of an object with fields, made on first use. `piece`: the key in of_pieces."""
        while name in self.classes:
            name += "_"
        self.classes[name] = ""  # reserves the name
        if piece:
            self.of_pieces[piece] = name
        text = f'\n\nclass {name}(Fields):\n    """{part.get("description", "")}"""\n\n'
        for key, value in part["properties"].items():
            text += self.field(key, [(schema, name, value)], key in part["required"], OF_DICTS)
        del self.classes[name]
        self.classes[name] = text
        return name

    def type_of(self, part, schema, name):
        """(annotation, argument of field() for the objects in the field: "", "one=X", "list_of=X", "map_of=X")."""
        if "$ref" in part:
            home, piece, inner = self.look_up(part["$ref"], schema)
            if "properties" not in inner:
                return self.type_of(inner, home, name)
            if (home, piece) not in self.of_pieces:
                self.class_of(inner, home, camel(piece) if home == "common" else camel(home) + camel(piece), (home, piece))
            made = self.of_pieces[home, piece]
            return made, "one=Own" if self.classes[made] == "" else f"one={made}"
        if "anyOf" in part:
            types = [self.type_of(said_of(part) | inner, schema, name) for inner in part["anyOf"]]
            texts = dict.fromkeys("str" if text.startswith("Literal[") and len(types) > 2 else text for text, _ in types)
            return " | ".join(texts), "".join(wrap for _, wrap in types)
        if "enum" in part:
            return f"Literal[{', '.join(repr(word) for word in part['enum'])}]", ""
        if "const" in part:
            return f"Literal[{part['const']!r}]", ""
        if "properties" in part:
            made = self.class_of(part, schema, name)
            return made, f"one={made}"
        kind = part.get("type")
        if kind == "array":
            text, wrap = self.type_of(said_of(part) | part["items"], schema, name)
            return f"list[{text}]", wrap.replace("one=", "list_of=")
        if kind == "object":
            text, wrap = self.type_of(said_of(part) | part["additionalProperties"], schema, name)
            return f"dict[str, {text}]", wrap.replace("one=", "map_of=")
        if isinstance(kind, list):
            return " | ".join(PLAIN[word] for word in kind), ""
        return PLAIN.get(kind, "Any"), ""

    def field(self, key, parts, is_required, taken):
        """The line that declares a field. `parts`: the definition of the field in each schema that has it: (schema, prefix of its class names, its part)."""
        first = parts[0][2]
        doc, types = first.get("description", ""), {}
        for schema, prefix, part in parts:
            inner = camel(singular(key) if "array" in json.dumps(part) else key)
            text, wrap = self.type_of(part, schema, prefix + inner)
            types.setdefault(text, wrap)
        texts = list(dict.fromkeys(text.removesuffix(" | None") for text in types))
        if not is_required or any(text.endswith(" | None") for text in types):
            texts.append("None")
        wraps = [wrap.partition("=") for wrap in types.values() if wrap]
        several = f"({', '.join(kind for _, _, kind in wraps)})" if len(wraps) > 1 else ""
        words = [f"{wraps[0][0]}={several or wraps[0][2]}" if wraps else "", "" if is_required else "optional=True"]
        words.append("deprecated=True" if first.get("deprecated") else "")
        name = key + "_" if keyword.iskeyword(key) or key in taken else key
        more = "".join(f", {word}" for word in words if word)
        return f"    {name}: {' | '.join(texts)} = field({key!r}, {doc!r}{more})\n"

    def result(self, command):
        """The class of a command's result: the fields of all its documents; for documents in lines, those of each line."""
        name, base = NAMES.get(command, camel(command) + "Result"), BASES.get(command, "Result")
        of = schemas_of(command, self.schemas)
        doc = self.schemas[of[0]]["description"]
        text = f'\n\nclass {name}({base}):\n    """{doc}"""\n\n'
        if command in LINES:
            line = self.class_of(self.schemas[of[0]], of[0], name.removesuffix("Result") + "Line")
            return name, text + f"    lines: list[{line}] = field('lines', {doc!r}, list_of={line})\n"
        parts, required = {}, {}
        for schema in of:
            prefix = name.removesuffix("Result") if schema == of[0] else camel(schema)
            for key, part in self.schemas[schema]["properties"].items():
                if key not in OF_RESULTS and not (base == "RunResult" and key == "values"):
                    parts.setdefault(key, []).append((schema, prefix, part))
                    required[key] = required.get(key, True) and key in self.schemas[schema]["required"]
        return name, text + "".join(self.field(key, said, required[key], ()) for key, said in parts.items())


def results(commands, schemas):
    """({command: class}, the module's text)."""
    writer = Writer(schemas)
    made = {command: writer.result(command) for command in commands if schemas_of(command, schemas)}
    text = HEADER + "".join(writer.classes.values()) + "".join(text for _, text in made.values())
    names = sorted(name for name, _ in made.values())
    return {command: name for command, (name, _) in made.items()}, text + f"\n\n__all__ = {names!r}\n"
