#!/usr/bin/env python3
"""The headers that an external program or plugin may include: those of cmake/public_headers.txt and their includes.

usage: public_headers.py --tree FOLDER GENERATED VERSION
                                                    writes them to FOLDER/grapnel, where "lib/ir/graph.h" is "grapnel/ir/graph.h",
                                                    and support/version.h, there and in GENERATED, which has protoc's headers
       public_headers.py --list GENERATED           prints them, a line each
       public_headers.py --doc                      writes the tables of docs/reference/library.md
       public_headers.py --check                    exit 1 if they are not up to date

Unchanged files of the tree are not touched, so that nothing is recompiled.
"""

import argparse
import hashlib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "cmake" / "public_headers.txt"
DOC = ROOT / "docs" / "reference" / "library.md"
INCLUDE = re.compile(r'^#include "(lib/[^"]+)"', re.M)
OURS = re.compile(r"\blib/(?=[a-z]+/[a-z0-9_/.]+\.h\b)")


def entries():
    """The headers of the list, as paths from the repository's root."""
    return [line for line in LIST.read_text().split("\n") if line and not line.startswith("#")]


def text_of(header, generated):
    """A header's text; "" for a header made by protoc if `generated` is not given."""
    path = ROOT / header
    if not path.exists() and generated:
        path = generated / header
    return path.read_text() if path.exists() else ""


def closure(generated=None):
    """{header: text} of the listed headers and of all that they include, sorted."""
    found, waiting = {}, entries()
    while waiting:
        header = waiting.pop()
        if header not in found:
            found[header] = text_of(header, generated)
            waiting += INCLUDE.findall(found[header])
    return dict(sorted(found.items()))


def installed(text):
    """The header's text with includes as users write them: our headers are below grapnel/."""
    return OURS.sub("grapnel/", text)


def write_if_changed(path, text):
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


VERSION_HEADER = '''// What this package of headers is: made with it.
#ifndef GRAPNEL_LIB_SUPPORT_VERSION_H_
#define GRAPNEL_LIB_SUPPORT_VERSION_H_

#define GRAPNEL_VERSION "{version}"
// Of all headers: what is compiled against one set fits only a library that was compiled with it.
#define GRAPNEL_HEADERS "{hash}"

#endif  // GRAPNEL_LIB_SUPPORT_VERSION_H_
'''


def write_tree(folder, generated, version):
    headers = closure(generated)
    headers.pop("lib/support/version.h", None)
    missing = [header for header, text in headers.items() if not text]
    if missing:
        sys.exit(f"public_headers.py: not found: {', '.join(missing)}")
    wanted = {folder / installed(header): installed(text) for header, text in headers.items()}
    digest = hashlib.sha256("".join(f"{header}\n{text}" for header, text in headers.items()).encode()).hexdigest()[:12]
    made = VERSION_HEADER.format(hash=digest, version=version)
    wanted[folder / "grapnel/support/version.h"] = made
    for old in (folder / "grapnel").rglob("*.h"):
        if old not in wanted:
            old.unlink()
    for path, text in wanted.items():
        write_if_changed(path, text)
    write_if_changed(generated / "lib/support/version.h", made)


def purpose(text):
    """The first sentence of a header's opening comment."""
    lines = []
    for line in text.split("\n"):
        if not line.startswith("// "):
            break
        lines.append(line[3:].strip())
    sentence = re.match(r"(.+?)(\.\s|\.?$)", " ".join(lines))
    return re.sub(r":$", "", sentence[1]) if sentence else ""


def table(headers):
    rows = [f"| `{installed(header)}` | {purpose(text).replace('|', chr(92) + '|')} |" for header, text in headers.items()]
    return "\n".join(["| header | what it is for |", "|---|---|", *rows])


def document(text):
    """docs/reference/library.md with its two tables regenerated."""
    headers, listed = closure(), entries()
    named = {header: text_of(header, None) for header in listed}
    made = {header for header, text in headers.items() if not text}
    others = {header: text for header, text in headers.items() if header not in named and header not in made}
    for label, rows in (("entries", named), ("included", others)):
        text = re.sub(rf"(<!-- made: {label} -->\n).*?(<!-- end -->)", lambda m: m[1] + table(rows) + "\n" + m[2], text, flags=re.S)
    return text


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--tree", nargs=3)
    parser.add_argument("--list", type=pathlib.Path)
    parser.add_argument("--doc", action="store_true")
    parser.add_argument("--check", action="store_true")
    flags = parser.parse_args()
    if flags.tree:
        folder, generated, version = flags.tree
        write_tree(pathlib.Path(folder), pathlib.Path(generated), version)
    elif flags.list:
        print("\n".join(closure(flags.list)))
    else:
        wanted = document(DOC.read_text())
        if flags.doc:
            DOC.write_text(wanted)
        elif DOC.read_text() != wanted:
            print("docs/reference/library.md does not list the public headers: run scripts/public_headers.py --doc")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
