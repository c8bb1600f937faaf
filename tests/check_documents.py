#!/usr/bin/env python3
"""Holds the documents of --json against docs/schemas.

  check_documents.py FOLDER      FOLDER has what text tests printed (record_documents.sh): each document fits a schema of its command,
                                 and each schema, list and optional field was met with something in it, unless tests were filtered
  check_documents.py --self-test shows that it can fail

Of what is no document it looks at the rest that keeps them as they are said to be: schemas are closed and described, each command
with --json has one, and tools/document.cpp alone writes documents.
"""

import functools
import json
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "docs" / "schemas"
COMMON = "common.json"


class Schemas:
    """The schemas by name, with common.json's pieces put into each."""

    def __init__(self, texts):
        self.by_name = {}
        common = json.loads(texts[COMMON])["$defs"]
        for file, text in texts.items():
            schema = json.loads(text.replace(f'"{COMMON}#', '"#'))
            if file != COMMON:
                self.by_name[file.removesuffix(".json")] = {**schema, "$defs": {**common, **schema.get("$defs", {})}}
        self.common = common

    @classmethod
    def read(cls):
        return cls({path.name: path.read_text() for path in sorted(SCHEMAS.glob("*.json"))})

    @functools.cache
    def validator(self, name):
        from jsonschema import Draft202012Validator

        return Draft202012Validator(self.by_name[name])

    def worst_of(self, name, document):
        from jsonschema.exceptions import best_match

        return best_match(self.validator(name).iter_errors(document))

    def of_command(self, command):
        return {name: schema for name, schema in self.by_name.items() if name == command or self.command_of(name) == command}

    def command_of(self, name):
        """`check-list` is of `check`, `check-gradients-list` of `check-gradients`."""
        titled = self.by_name[name]["title"].split()
        return titled[0]


def problems_of_schema(name, schema, common):
    """What a schema lacks: what it says of `properties` must be all, and said in words."""
    found = []

    def look(part, where):
        if not isinstance(part, dict):
            return
        if "properties" in part:
            if part.get("additionalProperties") is not False or "required" not in part:
                found.append(f"{name}: {where}: additionalProperties: false and required are missing")
            for key, value in part["properties"].items():
                if "description" not in value:
                    found.append(f"{name}: {where}.{key}: has no description")
                look(value, f"{where}.{key}")
        for key in ("items", "additionalProperties"):
            look(part.get(key), f"{where}[]")
        for value in part.get("anyOf", []):
            look(value, where)

    look(schema, "")
    for key, value in schema.get("$defs", {}).items():
        if key not in common:
            look(value, key)
    if schema.get("required", [])[:1] != ["format"] or not isinstance(schema["properties"]["format"].get("const"), int):
        found.append(f"{name}: does not begin with \"format\" and its number")
    return found


class Met:
    """Which lists, maps and optional fields of the schemas had something in them."""

    def __init__(self):
        self.wanted, self.met = set(), set()

    def want(self, name, schema):
        self._want(schema, schema, name, set())

    def _want(self, schema, part, where, inside):
        part, where = self._resolve(schema, part, where)
        if where in inside:
            return
        inside = inside | {where}
        for alternative in part.get("anyOf", []):
            self._want(schema, alternative, where, inside)
        for key, value in part.get("properties", {}).items():
            self.wanted.add(f"{where}.{key}")
            self._want(schema, value, f"{where}.{key}", inside)
        for key in ("items", "additionalProperties"):
            if isinstance(part.get(key), dict):
                self._want(schema, part[key], f"{where}[]", inside)

    def note(self, name, schema, document):
        self._note(schema, schema, name, document)

    def _note(self, schema, part, where, value):
        part, where = self._resolve(schema, part, where)
        for alternative in part.get("anyOf", []):
            if alternative != {"type": "null"} and value is not None:
                self._note(schema, alternative, where, value)
        if isinstance(value, dict):
            named = part.get("properties", {})
            for key, inner in value.items():
                if key in named:
                    is_always_empty = named[key].get("type") == "null" or named[key].get("maxItems") == 0
                    if is_always_empty or inner not in (None, [], {}):
                        self.met.add(f"{where}.{key}")
                    self._note(schema, named[key], f"{where}.{key}", inner)
                elif isinstance(part.get("additionalProperties"), dict):
                    self._note(schema, part["additionalProperties"], f"{where}[]", inner)
        elif isinstance(value, list) and "items" in part:
            for inner in value:
                self._note(schema, part["items"], f"{where}[]", inner)

    @staticmethod
    def _resolve(schema, part, where):
        """A piece that several share is one thing wherever it is met."""
        while "$ref" in part:
            key = part["$ref"].removeprefix("#/$defs/")
            where = key if key in schema["$defs"] else where
            part = schema["$defs"][key]
        return part, where


def documents_of(text):
    """[(command, document)] of what was recorded; an error where it is not JSON."""
    command, _, rest = text.partition("\n")
    decoder, at, found = json.JSONDecoder(parse_constant=lambda word: (_ for _ in ()).throw(ValueError(f"{word} is not JSON"))), 0, []
    while at < len(rest):
        document, at = decoder.raw_decode(rest, at)
        while at < len(rest) and rest[at].isspace():
            at += 1
        found.append(document)
    return command, found


def misfit(schemas, command, document, met):
    """Why a document fits no schema of its command; None where it does."""
    if not isinstance(document, dict) or next(iter(document), None) != "format":
        return "does not begin with \"format\""
    candidates = schemas.of_command(command.split()[0])
    likeliest = sorted(candidates, key=lambda name: len(document.keys() ^ candidates[name]["properties"].keys()))
    for name in likeliest:
        if schemas.validator(name).is_valid(document):
            met.note(name, candidates[name], document)
            return None
    if not likeliest:
        return "the command has no schema"
    error = schemas.worst_of(likeliest[0], document)
    return f"{likeliest[0]}.json: {'/'.join(map(str, error.absolute_path))}: {error.message[:400]}"


def check_recorded(schemas, folder, is_whole):
    found, met, seen = [], Met(), set()
    for name, schema in schemas.by_name.items():
        met.want(name, schema)
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        text = path.read_text(errors="replace")
        if text.rstrip("\n").count("\n") == 0 or text in seen:
            continue
        seen.add(text)
        try:
            command, documents = documents_of(text)
        except ValueError as error:
            found.append(f"grapnel {text.partition(chr(10))[0]}: printed no JSON: {error}")
            continue
        for document in documents:
            found += [f"grapnel {command}: {why}" for why in [misfit(schemas, command, document, met)] if why]
    if is_whole:
        never = sorted(met.wanted - met.met)
        found += [f"{place}: no test met it with something in it" for place in never]
    return found, len(seen)


def check_sources():
    found = []
    for path in sorted((ROOT / "tools").glob("*.cpp")):
        if path.name != "document.cpp" and re.search(r"\bOStream \w+[({]|json::Array|json::Object", path.read_text()):
            found.append(f"tools/{path.name}: writes JSON by itself: documents are written by WriteDocument of tools/document.h")
    return found


def check_schemas(schemas):
    found = []
    for name, schema in schemas.by_name.items():
        found += problems_of_schema(name, schema, schemas.common)
    sections = re.split(r"^## ", (ROOT / "docs" / "reference" / "cli.md").read_text(), flags=re.M)[1:]
    commands = {section.split("\n")[0] for section in sections if "\n  --json " in section} | {"view"}
    of_schemas = {schemas.command_of(name) for name in schemas.by_name}
    found += [f"{command}: has --json and no schema in docs/schemas" for command in sorted(commands - of_schemas)]
    found += [f"docs/schemas: no command {command} has --json" for command in sorted(of_schemas - commands)]
    return found


def self_test():
    texts = {
        COMMON: '{"$defs": {"node": {"type": "string"}}}',
        "cut.json": '{"title": "cut", "type": "object", "additionalProperties": false, "required": ["format", "nodes"], "properties": '
        '{"format": {"const": 1}, "nodes": {"type": "array", "items": {"$ref": "common.json#/$defs/node"}}, "left": {"type": "integer"}}}',
    }
    schemas, met = Schemas(texts), Met()
    met.want("cut", schemas.by_name["cut"])
    assert misfit(schemas, "cut x", {"format": 1, "nodes": []}, met) is None
    assert met.wanted - met.met == {"cut.nodes", "cut.left"}, met.met
    assert misfit(schemas, "cut x", {"format": 1, "nodes": ["a"], "left": 0}, met) is None
    assert met.wanted == met.met
    assert "unexpected" in misfit(schemas, "cut x", {"format": 1, "nodes": [], "more": 1}, met)
    assert misfit(schemas, "cut x", {"format": 2, "nodes": []}, met)
    assert misfit(schemas, "cut x", {"nodes": [], "format": 1}, met) == 'does not begin with "format"'
    assert misfit(schemas, "opt x", {"format": 1}, met) == "the command has no schema"
    assert documents_of('cut x\n{"format": 1}\n{\n}\n') == ("cut x", [{"format": 1}, {}])
    assert len(problems_of_schema("cut", schemas.by_name["cut"], {})) == 3  # descriptions
    try:
        documents_of('cut x\n{"format": NaN}')
    except ValueError:
        return 0
    return 1


def main():
    if sys.argv[1] == "--self-test":
        return self_test()
    schemas = Schemas.read()
    found = check_sources() + check_schemas(schemas)
    if not pathlib.Path(sys.argv[1]).is_dir():
        found.append(f"{sys.argv[1]}: is not there: the text tests (lit) come first")
    is_whole = not os.environ.get("LIT_FILTER")
    recorded, count = check_recorded(schemas, sys.argv[1], is_whole)
    found += recorded
    print("\n".join(found[:100]))
    print(f"{count} different documents, {len(schemas.by_name)} schemas, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
