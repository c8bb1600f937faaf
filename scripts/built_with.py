#!/usr/bin/env python3
"""Writes the external components of a build, as Debian packages: built_with_table.h for `grapnel --version --verbose`,
built_with.json for the bill of materials of a release.

usage: built_with.py FOLDER BUILD_TYPE CPU HOW FILE... [HOW FILE...]...    HOW: linked:, opened:, headers:

Without dpkg, or if no package owns a file, the file's name replaces the package's.
"""

import json
import pathlib
import subprocess
import sys

HEADER = """// Made by scripts/built_with.py, when the build was configured.
#ifndef GRAPNEL_TOOLS_BUILT_WITH_TABLE_H_
#define GRAPNEL_TOOLS_BUILT_WITH_TABLE_H_

namespace grapnel {{

struct BuiltWith {{
  const char* how;  // "linked", "opened": by a module, "headers": no more than these
  const char* package;
  const char* version;  // or empty
}};
inline constexpr char kBuildType[] = "{build_type}", kKernelCpu[] = "{cpu}";
inline constexpr BuiltWith kBuiltWith[] = {{
{lines}}};

}}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_BUILT_WITH_TABLE_H_
"""


def owners(files):
    """{file: Debian package}, of those that dpkg knows, with or without /usr before them."""
    spellings = {}
    for file in files:
        bare = "/" + str(file).removeprefix("/usr").lstrip("/")
        for spelling in (str(file), bare, "/usr" + bare):
            spellings[spelling] = file
    try:
        said = subprocess.run(["dpkg", "-S", *sorted(spellings)], capture_output=True, text=True).stdout
    except FileNotFoundError:
        return {}
    found = {}
    for line in said.splitlines():
        packages, _, path = line.rpartition(": ")
        if path in spellings and not line.startswith("diversion by"):
            found[spellings[path]] = packages.split(",")[0].split(":")[0]
    return found


def about(packages):
    """{package: (version, source package, its version)} of Debian packages that are installed."""
    if not packages:
        return {}
    form = "${Package}\t${Version}\t${source:Package}\t${source:Version}\t${Status}\n"
    said = subprocess.run(["dpkg-query", "-W", "-f", form, *sorted(packages)], capture_output=True, text=True).stdout
    lines = [line.split("\t") for line in said.splitlines()]
    return {line[0]: tuple(line[1:4]) for line in lines if line[4].endswith(" installed")}


def main(folder, build_type, cpu, words):
    files, how = {}, None
    for word in words:
        if word.endswith(":"):
            how = word[:-1]
        else:
            files.setdefault(word, how)
    package_of = owners(files)
    versions = about(set(package_of.values()))
    taken = {}
    for file, how in files.items():
        package = package_of.get(file)
        version, source, source_version = versions.get(package, ("", "", ""))
        entry = taken.setdefault(package or pathlib.Path(file).name, {"how": how, "version": version, "files": []})
        entry["files"].append(file)
        if source:
            entry |= {"source": source, "source_version": source_version}
    taken = dict(sorted(taken.items()))
    lines = "".join(f'    {{"{entry["how"]}", "{name}", "{entry["version"]}"}},\n' for name, entry in taken.items())
    for name, text in (("built_with_table.h", HEADER.format(build_type=build_type, cpu=cpu, lines=lines)), ("built_with.json", json.dumps(taken, indent=1) + "\n")):
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


if __name__ == "__main__":
    if len(sys.argv) < 6 or not sys.argv[4].endswith(":"):
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), *sys.argv[2:4], sys.argv[4:])
