#!/usr/bin/env python3
"""Writes a header of typed builders for each family of ops: OUT/math.h and so on, and OUT/all.h. Run by the build.

usage: make_op_builders.py lib/ir/op_table.txt lib/trace/op_families.txt OUT

A builder takes the op's tensors, then the attributes that cannot be inferred from them and have no default, then the
others as a struct. Grammar of the table: lib/ir/op_table.h.
"""
import pathlib
import re
import sys

CPP_WORDS = set("""alignas and asm auto bool break case catch char class compl const continue default delete do double else enum
explicit export extern false float for friend goto if inline int long mutable namespace new not operator or private protected
public register return short signed sizeof static struct switch template this throw true try typedef typeid typename union
unsigned using virtual void volatile while xor t call options where name""".split())
SINGLE = {"string": "std::string", "int": "int64_t", "float": "float", "bool": "bool", "type": "DataType", "shape": "grapnel::Shape",
          "tensor": "Literal", "func": "std::string"}


class Cursor:
    """Reads a line of the table from left to right."""

    def __init__(self, text):
        self.text, self.at = text, 0

    def take(self, what):
        if not self.text.startswith(what, self.at):
            return False
        self.at += len(what)
        return True

    def match(self, pattern):
        found = re.compile(pattern).match(self.text, self.at)
        if not found:
            sys.exit(f"make_op_builders.py: cannot read {self.text[self.at:self.at + 60]!r} of {self.text[:40]!r}")
        self.at = found.end()
        return found.group(0)

    def balanced(self):
        """The value that starts here, up to a ", " or the closing bracket around it."""
        begin, depth = self.at, 0
        while self.at < len(self.text):
            c = self.text[self.at]
            if c == '"':
                self.match(r'"(\\.|[^"\\])*"')
                continue
            if c in "[{(":
                depth += 1
            elif c in "]})":
                if depth == 0:
                    break
                depth -= 1
            elif depth == 0 and self.text.startswith(", ", self.at):
                break
            self.at += 1
        return self.text[begin:self.at]


def arguments(cursor):
    found = []
    cursor.match(r"\(")
    while not cursor.take(")"):
        name = cursor.match(r"[^:]+")
        cursor.match(":")
        kind = cursor.match(r"[^,) ]+")
        rank = cursor.match(r" rank [\d.]+") if cursor.text.startswith(" rank ", cursor.at) else ""
        if cursor.take(" is "):
            cursor.balanced()
        found.append((name, kind, rank))
        cursor.take(", ")
    return found


def attributes(cursor):
    found = []
    if not cursor.take(" {"):
        return found
    while not cursor.take("}"):
        name = cursor.match(r"[^:]+")
        cursor.match(":")
        kind = cursor.match(r"list\(\w+\)|\w+")
        allowed = default = minimum = None
        if cursor.take(" in "):
            allowed = cursor.match(r"\[[^\]]*\]")
        if cursor.take(" >= "):
            minimum = cursor.match(r"-?\d+")
        if cursor.take(" = "):
            default = cursor.balanced()
        found.append((name, kind, allowed, minimum, default))
        cursor.take(", ")
    return found


def identifier(name):
    name = re.sub(r"\W", "_", name)
    return name + "_" if name in CPP_WORDS else name


def dtype(name):
    return f"proto::DT_{name.upper()}"


def value(kind, text):
    """The default as C++; None if it has no simple form."""
    if kind.startswith("list("):
        inner = kind[5:-1]
        if text == "[]":
            return "{}"
        parts, cursor = [], Cursor(text[1:-1])
        while cursor.at < len(cursor.text):
            parts.append(value(inner, cursor.balanced()))
            cursor.take(", ")
        return None if None in parts else "{" + ", ".join(parts) + "}"
    if kind == "string":
        return text if text.isascii() else None
    if kind in ("int", "bool"):
        return "INT64_MIN" if text == "-9223372036854775808" else text
    if kind == "float":
        if text in ("inf", "-inf"):
            return text.replace("inf", "std::numeric_limits<float>::infinity()")
        return text + ("f" if re.search(r"[.e]", text) else ".0f")
    if kind == "type":
        return dtype(text)
    if kind == "shape":
        return "grapnel::Shape()" if text == "?" else None if "?" in text else "grapnel::Shape(llvm::ArrayRef<int64_t>{%s})" % text[1:-1]
    return None


def cpp_type(kind):
    return f"std::vector<{SINGLE[kind[5:-1]]}>" if kind.startswith("list(") else SINGLE[kind]


def parameter_type(kind):
    return {"string": "llvm::StringRef", "func": "llvm::StringRef", "int": "int64_t", "float": "float", "bool": "bool",
            "type": "DataType"}.get(kind, f"const {cpp_type(kind)}&")


def wrapped(text, width=98):
    lines, line = [], ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = "  " + word
        else:
            line = f"{line} {word}" if line else word
    return lines + [line]


def builder(op, inputs, outputs, attrs, flags):
    follows = set()
    for _, kind, _ in inputs:
        kind = kind.rstrip("&")
        if "*" in kind:
            follows.add(kind.split("*")[0])
            kind = kind.split("*")[1]
        follows.add(kind.removesuffix("..."))
    given = [attr for attr in attrs if attr[0] not in follows]
    needed = [attr for attr in given if attr[4] is None]
    optional = [attr for attr in given if attr[4] is not None]

    def shown(args):
        return "(" + ", ".join(f"{name}: {kind}{rank}" for name, kind, rank in args) + ")"

    comment = wrapped(f"{op}{shown(inputs)} -> {shown(outputs)}")
    for name, kind, allowed, minimum, default in attrs:
        if allowed or minimum is not None:
            comment += wrapped(f"  {name}: {kind}" + (f" in {allowed}" if allowed else "") + (f" >= {minimum}" if minimum is not None else ""))
    notes = [flag for flag in flags if flag.startswith(("stateful", "deprecated"))]
    if notes:
        comment += ["  " + ", ".join(notes)]
    out = [f"// {line}" for line in comment]

    out.append(f"struct {op}Options {{")
    for name, kind, _, _, default in optional:
        plain = value(kind, default)
        if plain is None:
            out.append(f"  std::optional<{cpp_type(kind)}> {identifier(name)};  // {default[:60]}")
        else:
            out.append(f"  {cpp_type(kind)} {identifier(name)} = {plain};")
    out += ["  std::string name = {};  // of the node; empty: the op's", "};"]

    lists = [("*" in kind or "..." in kind) for _, kind, _ in outputs]
    if len(outputs) == 0:
        result = "Operation"
    elif len(outputs) == 1:
        result = "Values" if lists[0] else "Value"
    else:
        result = f"{op}Outputs"
        out.append(f"struct {result} {{")
        for (name, _, _), many in zip(outputs, lists):
            out.append(f"  {'Values' if many else 'Value'} {identifier(name)};")
        out.append("};")
    parameters = ["Tracer& t"] + [f"const Operand& {identifier(name)}" for name, _, _ in inputs]
    parameters += [f"{parameter_type(kind)} {identifier(name)}" for name, kind, _, _, _ in needed]
    parameters += [f"const {op}Options& options = {{}}", "grapnel::SourceLocation where = grapnel::SourceLocation()"]
    out.append(f"inline {result} {op}({', '.join(parameters)}) {{")
    out.append(f"  OpCall call(t, \"{op}\", options.name, where);")
    out += [f"  call.Input({identifier(name)});" for name, _, _ in inputs]
    for name, kind, _, _, _ in needed:
        out.append(f"  call.{'Function' if 'func' in kind else 'Attr'}(\"{name}\", {identifier(name)});")
    for name, kind, _, _, _ in optional:
        out.append(f"  call.{'Function' if 'func' in kind else 'Attr'}(\"{name}\", options.{identifier(name)});")
    if len(outputs) == 0:
        out.append("  return call.Make();")
    elif len(outputs) == 1:
        out.append(f"  return call.{'List' if lists[0] else 'Single'}(0);")
    else:
        out.append("  return {" + ", ".join(f"call.{'List' if many else 'Single'}({i})" for i, many in enumerate(lists)) + "};")
    return out + ["}", ""]


def main():
    table, families, folder = (pathlib.Path(argument) for argument in sys.argv[1:4])
    family_of = {}
    for line in families.read_text().splitlines():
        if not line.startswith("#"):
            family, ops = line.split(": ")
            family_of.update((op, family) for op in ops.split())
    bodies = {}
    for line in table.read_text().splitlines():
        if line.startswith("#"):
            continue
        cursor = Cursor(line)
        op = cursor.match(r"[\w>]+")
        if not op.isidentifier() or op.startswith("_"):
            continue  # made by TensorFlow itself, not by programs
        inputs = arguments(cursor)
        cursor.match(" -> ")
        outputs = arguments(cursor)
        attrs = attributes(cursor)
        flags = cursor.text[cursor.at:].strip(" []").split(", ")
        bodies.setdefault(family_of.get(op, "internal"), []).extend(builder(op, inputs, outputs, attrs, flags))
    folder.mkdir(parents=True, exist_ok=True)
    for family, body in bodies.items():
        guard = f"GRAPNEL_LIB_TRACE_OPS_{family.upper()}_H_"
        text = "\n".join([f"// Typed builders of TensorFlow's {family} ops, made by scripts/make_op_builders.py from the op table.",
                          f"#ifndef {guard}", f"#define {guard}", "", '#include "lib/trace/op_call.h"', "", "namespace grapnel::ops {", "",
                          *body, "}  // namespace grapnel::ops", "", f"#endif  // {guard}", ""])
        path = folder / f"{family}.h"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    every = "".join(f'#include "lib/trace/ops/{family}.h"\n' for family in sorted(bodies))
    (folder / "all.h").write_text(f"// Typed builders of every op of TensorFlow 2.21, by family.\n#pragma once\n{every}")


if __name__ == "__main__":
    main()
