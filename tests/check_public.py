#!/usr/bin/env python3
"""Checks that every class, struct and function of a public header (cmake/public_headers.txt and what those include) is marked
GRAPNEL_PUBLIC: binary and library are compiled with hidden visibility, so what is not marked is missing where a plugin wants it.

  check_public.py            prints what is not marked; exit 1 when anything is
  check_public.py --fix      marks it
  check_public.py --self-test
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
from public_headers import closure  # noqa: E402

MARK = "GRAPNEL_PUBLIC"
# Inline by nature, no definition that a linker sees, or an instance of a member of a marked class.
UNMARKED = re.compile(r"(template|extern template|using|typedef|inline|constexpr|static|static_assert|enum|friend|namespace|union|GRAPNEL_\w+)\b|extern \"C\"")
TYPE = re.compile(r"(class|struct)\s+(?:alignas\([^)]*\)\s*)?(\w+)\s*(final\b)?\s*(:[^:]|$)")
LEADING = re.compile(r"(\[\[\w+\]\]\s*)*")


def blanked(text):
    """The text with comments, strings and preprocessor lines as blanks, every character in its place."""
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*'
    return re.sub(pattern, lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.M | re.S)


def statements(text):
    """(where it starts, its words up to a brace or semicolon, whether it ends in a brace) of all that stands in a namespace."""
    clean, depth, start, round_depth = blanked(text), 0, 0, 0
    for at, letter in enumerate(clean):
        if letter in "()" and depth == 0:
            round_depth += 1 if letter == "(" else -1
        if letter not in "{};" or (round_depth > 0 and depth == 0):
            continue  # braces of a default argument are not a block
        if depth == 0 and letter != "}":
            words = clean[start:at]
            lead = len(words) - len(words.lstrip())
            if words.strip():
                yield start + lead, words.strip(), letter == "{"
            start = at + 1
            if letter == "{" and not re.match(r"\s*(inline\s+)?namespace\b|\s*extern\s*$", words):
                depth = 1
        elif letter == "{":
            depth += 1
        elif letter == "}" and depth > 0:
            depth -= 1
            start = at + 1
        elif letter == "}":
            start = at + 1


def places(text):
    """Where a mark is missing: offsets, each with what is to be marked."""
    for start, words, is_block in statements(text):
        if MARK in words or UNMARKED.match(words):
            continue
        if is_block:
            match = TYPE.match(words)
            if match:
                yield start + match.start(2), f"{match[1]} {match[2]}"
        elif "(" in words and not re.match(r"(class|struct)\b", words):
            lead = LEADING.match(words).end()
            yield start + lead, re.sub(r"\s+", " ", words[lead:].split("(")[0])


def fix(text):
    for at, _ in reversed(list(places(text))):
        text = text[:at] + MARK + " " + text[at:]
    include = '#include "lib/support/public.h"\n'
    if MARK in text and include not in text:
        ours = [m for m in re.finditer(r'#include "lib/[^"]+"\n', text)]
        after = [m for m in ours if m[0] < include]
        outside = re.search(r'#include "(?!lib/)[^"]+"\n', text)
        standard = list(re.finditer(r"#include <[^>]+>\n", text))
        if after:
            at = after[-1].end()
        elif ours:
            at = ours[0].start()
        elif outside:
            at = outside.start()
        elif standard:
            at, include = standard[-1].end(), "\n" + include
        else:
            at = re.search(r"#define \w+_H_\n\n", text).end()
            include += "\n"
        text = text[:at] + include + text[at:]
    return text


def self_test():
    text = 'namespace a {\n// class X {\nclass B;\nclass C : public D {\n  void F();\n};\nstruct GRAPNEL_PUBLIC E {};\n' \
           'int F(int x = g("{"));\ninline int G() { return 1; }\ntemplate <typename T>\nint H(T);\nenum class K { k };\n}\n'
    found = [what for _, what in places(text)]
    assert found == ["class C", "int F"], found
    assert not list(places(fix(text + "#include <string>\n")))
    print("ok")
    return 0


def main():
    if "--self-test" in sys.argv:
        return self_test()
    code = 0
    for header in closure():
        path = ROOT / header
        if not path.exists() or header == "lib/support/public.h":
            continue
        text = path.read_text()
        if "--fix" in sys.argv:
            if fix(text) != text:
                path.write_text(fix(text))
            continue
        for at, what in places(text):
            print(f"{header}:{text.count(chr(10), 0, at) + 1}: {what} is not marked {MARK}; tests/check_public.py --fix does it")
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
