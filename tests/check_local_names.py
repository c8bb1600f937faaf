#!/usr/bin/env python3
"""Checks that files of a library can be compiled together (the batches of cmake/libraries.cmake): a name in an unnamed namespace, or of
a static function, is in one file of its library, and in no header that files of this library include. Otherwise two files clash, or one
silently calls the function of the other. An alias may be repeated word for word.

  check_local_names.py [ROOT]        prints each such name; exit 1 when there is one
  check_local_names.py --self-test   shows that it can fail

Reads sources as clang-format leaves them: declarations of a namespace begin in the first column.
"""

import pathlib
import re
import sys
import tempfile

LIBRARY = re.compile(r"grapnel_library\(([^)]*)\)")
INCLUDE = re.compile(r'^#include "(lib/[^"]+)"', re.M)
NAMESPACE = re.compile(r"(?:inline )?namespace(?: ([\w:]+))? {$")
QUOTED_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|//.*')
NO_DECLARATION = re.compile(r"(?:template|public|private|protected|friend|extern|static_assert|using namespace|GRAPNEL_\w+\()")
TYPE = re.compile(r"(?:class|struct|union|enum(?: class)?) (?:GRAPNEL_\w+ )?(?:alignas\(\w+\) )?(\w+)(?![\w:])")


def declarations(text):
    """Yields (line number, scope, whether it is local to the file, text on one line) of the declarations at namespace scope. The text
    ends with the first brace or semicolon; that of enums and constants, which may declare several names, with the semicolon."""
    scopes, number, declaration = [], 0, ""
    for at, line in enumerate(text.splitlines(), 1):
        if not declaration:
            if match := NAMESPACE.match(line):
                scopes.append(match[1] or "")
                continue
            if line.startswith("}  // namespace") and scopes:
                scopes.pop()
                continue
            if not re.match(r"[A-Za-z_]", line) or NO_DECLARATION.match(line):
                continue
            number = at
        code = QUOTED_OR_COMMENT.sub(lambda match: "" if match[0].startswith("//") else '""', line)
        declaration += code.strip() + " "
        names_several = re.match(r"(?:static |inline )?(?:enum|const)", declaration) and not re.search(r"\)(?: const)? {", declaration)
        if re.search(";" if names_several else "[{;]", code):
            yield number, "::".join(filter(None, scopes)), "" in scopes or declaration.startswith("static "), declaration
            declaration = ""


def names_of(declaration):
    """Yields (name, text of an alias or "")."""
    if match := re.match(r"using (\w+) = ([^;]*)", declaration):
        yield match[1], match[2]
    if declaration.startswith("using"):
        return
    match = TYPE.match(declaration)
    if match:
        yield match[1], ""
    if match := re.match(r"enum(?! class)[^{;]*{([^}]*)", declaration):
        for enumerator in re.findall(r"(?:^|,)\s*(\w+)", match[1]):
            yield enumerator, ""
    if re.match(r"(?:class|struct|union|enum) ", declaration):
        return
    head = re.match(r"[^=({;[]*", declaration)[0]
    while "<" in head and (shorter := re.sub(r"<[^<>]*>", "", head)) != head:
        head = shorter
    if (match := re.search(r"[\s&*](\w+)\s*$", head)) and "operator" not in head:
        yield match[1], ""
    if re.match(r"(?:static |inline )?const", declaration):  # a = 1, b = 2
        for more in re.findall(r",\s*[*&]?(\w+)\s*=", re.sub(r"\([^()]*\)|{[^{}]*}", "", declaration)):
            yield more, ""


def libraries(root):
    """The files of each library that is compiled in batches."""
    for path in sorted((root / "lib").rglob("CMakeLists.txt")):
        match = LIBRARY.search(path.read_text())
        if not match or "ONE_BY_ONE" in match[1].split():
            continue
        folders = re.search(r"\bFOLDERS ([^A-Z]*)", match[1])
        below = [path.parent, *(path.parent / folder for folder in (folders[1].split() if folders else []))]
        yield sorted(file for folder in below for file in folder.glob("*.cpp"))


class Checker:
    def __init__(self, root):
        self.root, self.texts, self.reached, self.exported = root, {}, {}, {}

    def text(self, name):
        if name not in self.texts:
            path = self.root / name
            self.texts[name] = path.read_text(errors="replace") if path.exists() else ""
        return self.texts[name]

    def headers_of(self, name):
        """The headers that a file includes, directly or not."""
        seen, stack = set(), [name]
        while stack:
            for header in INCLUDE.findall(self.text(stack.pop())):
                if header not in seen:
                    seen.add(header)
                    stack.append(header)
        return seen

    def exports(self, header):
        """The names that a header declares, with their scopes."""
        if header not in self.exported:
            self.exported[header] = {(scope, name) for _, scope, is_local, text in declarations(self.text(header)) if not is_local
                                     for name, _ in names_of(text)}
        return self.exported[header]

    def problems_of(self, files):
        """The problems of one library."""
        headers, locals_ = set(), {}
        for path in files:
            file = path.relative_to(self.root).as_posix()
            headers |= self.headers_of(file)
            for number, scope, is_local, text in declarations(self.text(file)):
                for name, alias in names_of(text) if is_local else ():
                    locals_.setdefault((scope, name), {}).setdefault(file, (number, alias))
        in_header = {key: header for header in headers for key in self.exports(header)}
        for (scope, name), places in sorted(locals_.items()):
            where = [f"{file}:{number}" for file, (number, _) in sorted(places.items())]
            aliases = {alias for _, alias in places.values()}
            if len(where) > 1 and (len(aliases) > 1 or "" in aliases):
                yield f"{' and '.join(where)}: '{name}' is a local name of several files, which may be compiled together"
            if header := in_header.get((scope, name)):
                yield f"{where[0]}: '{name}' is a local name, and declared in {header}, which files of this library include"


def check(root):
    checker = Checker(root)
    return [problem for files in libraries(root) for problem in checker.problems_of(files)]


def self_test():
    def wrap(local, exported=""):
        return f"namespace g {{\nnamespace {{\n{local}\n}}  // namespace\n{exported}}}  // namespace g\n"

    pairs = [  # the local declarations of two files, and the name that they share, if any
        ("int Twice(int x) { return 2 * x; }", "void Twice() {}", "Twice"),
        ("constexpr int kA = 1, kB = 2;", "constexpr size_t kB = 3;", "kB"),
        ("enum { kOne = 1, kTwo = 2 };", "constexpr int kTwo = 3;", "kTwo"),
        ("struct Entry {\n  int key;\n};", "class Entry : public Base {\n};", "Entry"),
        ("template <typename T>\nvoid Visit(T t) {}", "std::map<std::string, std::vector<int>> Visit() {", "Visit"),
        ("std::vector<std::pair<int, int>>\nPairsOf(int x) {\n}", "bool PairsOf() {\n}", "PairsOf"),
        ("using Row = std::vector<int>;", "using Row = std::vector<float>;", "Row"),
        ("using Row = std::vector<int>;  // a", "using Row = std::vector<int>;", ""),
        ("int One() {\n  int Inner(0);\n}", "void Inner() {}", ""),
        ("enum class Kind { kOne };", "constexpr int kOne = 1;", ""),
        ("bool Class::Method() {}", "bool Other::Method() {}", ""),
        ("void Exported() {}", "", "Exported"),
        ("void Other() {}", "", ""),
    ]
    for first, second, shared in pairs:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {"lib/ir/CMakeLists.txt": "grapnel_library(ir FOLDERS sub LINK proto)\n", "lib/ir/a.cpp": wrap(first),
                               "lib/ir/sub/b.cpp": '#include "lib/ir/c.h"\n' + wrap(second, "void Exported() {}\n"),
                               "lib/ir/c.h": "namespace g {\nGRAPNEL_PUBLIC void Exported();\nnamespace h {\nvoid Other();\n}  // namespace h\n"
                                             "}  // namespace g\n",
                               "lib/shape/CMakeLists.txt": "grapnel_library(shape ONE_BY_ONE LINK ir)\n", "lib/shape/a.cpp": wrap("int A() {}"),
                               "lib/shape/b.cpp": wrap("int A() {}")}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            found = check(root)
            if len(found) != bool(shared) or (shared and f"'{shared}'" not in found[0]):
                return [f"self-test: {first!r} and {second!r}: expected '{shared}', got {found}"]
    return []


def main():
    if sys.argv[1:] == ["--self-test"]:
        problems = self_test()
    else:
        problems = check(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    print("\n".join(problems) if problems else "local names are unique in their libraries")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
