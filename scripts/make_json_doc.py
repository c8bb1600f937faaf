#!/usr/bin/env python3
"""Writes the table of docs/reference/json.md from docs/schemas.

usage: make_json_doc.py            writes it
       make_json_doc.py --check    exit 1 if the table is not up to date
"""

import json
import pathlib
import sys

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
BEGIN, END = "<!-- Made by scripts/make_json_doc.py. -->\n", "<!-- The end of what is made. -->\n"


def table():
    rows = ["| schema | printed by | format | contents |", "|---|---|---|---|"]
    for path in sorted((DOCS / "schemas").glob("*.json")):
        schema = json.loads(path.read_text())
        if path.name == "common.json":
            continue
        number = schema["properties"]["format"]["const"]
        title = schema["title"].replace("|", "\\|")
        rows.append(f"| [{path.stem}](../schemas/{path.name}) | `{title}` | {number} | {schema['description']} |")
    return "\n".join(rows) + "\n"


def main():
    doc = DOCS / "reference" / "json.md"
    text = doc.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    wanted = before + BEGIN + "\n" + table() + "\n" + END + after
    if "--check" not in sys.argv:
        doc.write_text(wanted)
        return 0
    if text == wanted:
        return 0
    print("the table in docs/reference/json.md does not match docs/schemas: run scripts/make_json_doc.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
