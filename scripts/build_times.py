#!/usr/bin/env python3
"""Shows where the time of a build goes: compile seconds and object bytes by directory, and the headers that cost most.

usage: build_times.py FOLDER [--json] [--rows N] [--trace N]

  --rows N    how many headers to show, 15 by default; 0: all
  --trace N   also compiles N of the objects again, with clang's -ftime-trace, and shows the seconds that it spent on each header

The seconds are those of ninja's log: wall-clock time of each object's latest compilation, one job among others. ccache.log, which
`./x build` lets ccache write, says which of them came from the cache: their seconds are those of copying a file, and the tables count
such objects without them. The headers are those of ninja's log of dependencies.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Without ccache.log: a compilation is never faster than this, and a hit rarely slower.
FASTEST = 0.25
PCH = "/cmake_pch.hxx"


class Object:
    """A compiled source: seconds is None if they are unknown or those of ccache."""

    def __init__(self, name, source, command, size):
        self.name, self.source, self.command, self.size = name, source, command, size
        self.seconds, self.is_cached, self.headers, self.precompiled = None, False, [], frozenset()

    @property
    def directory(self):
        if PCH in "/" + self.source:
            return "precompiled headers"
        return str(pathlib.PurePosixPath(self.source).parent)


def relative(path, folder):
    """The path from the repository's root on, 'generated/...' for what the build made, or an absolute path."""
    path = pathlib.Path(os.path.normpath(folder / path))
    for root in (folder, ROOT):
        if path.is_relative_to(root):
            return str(path.relative_to(root))
    return str(path)


def read_objects(folder):
    objects = {}
    for entry in json.loads((folder / "compile_commands.json").read_text()):
        name = re.search(r" -o (\S+)", entry["command"])[1]
        if (folder / name).exists():
            objects[name] = Object(name, relative(entry["file"], folder), entry["command"], (folder / name).stat().st_size)
    return objects


def read_seconds(folder):
    """{output: seconds of the latest run of its step}; of a step with several outputs, the last output."""
    latest, steps = {}, {}
    for line in (folder / ".ninja_log").read_text().splitlines():
        if not line.startswith("#"):
            begin, end, _, output, command = line.split("\t")
            latest[relative(output, folder)] = (int(begin), int(end), command)
    for output, step in latest.items():
        steps[step] = output
    return {output: (end - begin) / 1000 for (begin, end, _), output in steps.items()}


def read_cached(folder):
    """{source: whether its latest compilation came from ccache}; None without ccache.log."""
    log = folder / "ccache.log"
    if not log.exists():
        return None
    cached, source = {}, ""
    for line in log.read_text(errors="replace").splitlines():
        if line.startswith("# "):
            source = relative(line[2:], folder)
        elif line.endswith("_cache_hit"):
            cached[source] = True
        elif line == "cache_miss":
            cached[source] = False
    return cached


def read_headers(folder):
    """{object: the headers that it was compiled from}."""
    listed = subprocess.run(["ninja", "-C", folder, "-n", "-t", "deps"], capture_output=True, text=True, check=True).stdout
    headers, name = {}, ""
    for line in listed.splitlines():
        if line.startswith("    "):
            headers[name].append(line.strip())
        elif ": #deps" in line:
            name = line.partition(": #deps")[0]
            headers[name] = []
    return headers


def measure(folder):
    """The objects of the build with all that is known, the seconds of other steps, and whether ccache.log is there."""
    objects, seconds, cached, headers = read_objects(folder), read_seconds(folder), read_cached(folder), read_headers(folder)
    for one in objects.values():
        spent = seconds.pop(one.name, None)
        known = (cached or {}).get(one.source)
        one.is_cached = spent is not None and (spent < FASTEST if known is None else known)
        one.seconds = None if one.is_cached else spent
        of_object = headers.get(one.name, [])
        read = (relative(path, folder) for path in of_object if PCH not in "/" + path)
        one.headers = [header for header in read if header != one.source and not header.endswith(".cpp")]  # a batch includes its files
        pch = next((path for path in of_object if path.endswith(PCH)), None)
        if pch:
            one.precompiled = frozenset(relative(path, folder) for path in headers.get(f"{relative(pch, folder)}.pch", []))
    return list(objects.values()), seconds, cached is not None


def directories_of(objects):
    rows = {}
    for one in objects:
        row = rows.setdefault(one.directory, {"directory": one.directory, "objects": 0, "cached": 0, "seconds": 0.0, "slowest": "", "slowest_seconds": 0.0,
                                              "object_bytes": 0})
        row["objects"] += 1
        row["cached"] += one.is_cached
        row["object_bytes"] += one.size
        if one.seconds is not None:
            row["seconds"] += one.seconds
            if one.seconds > row["slowest_seconds"]:
                row["slowest"], row["slowest_seconds"] = pathlib.PurePosixPath(one.source).name, one.seconds
    return sorted(rows.values(), key=lambda row: (-row["seconds"], -row["object_bytes"]))


def headers_of(objects, folder):
    """For each header what a change of it recompiles, and what the compiler reads of it: not if it is precompiled."""
    rows = {}
    for one in objects:
        for header in set(one.headers):
            row = rows.setdefault(header, {"header": header, "objects": 0, "seconds": 0.0, "readers": 0, "bytes": 0, "is_own": False})
            row["objects"] += 1
            row["seconds"] += one.seconds or 0.0
            row["readers"] += header not in one.precompiled
    for header, row in rows.items():
        path = pathlib.Path(header)
        places = [path] if path.is_absolute() else [ROOT / path, folder / path]
        row["bytes"] = next((place.stat().st_size for place in places if place.exists()), 0)
        row["is_own"] = not path.is_absolute()
        row["bytes_read"] = row["bytes"] * row["readers"]
    return list(rows.values())


def trace(objects, folder, count):
    """Compiles objects of all directories again: seconds by header (with what it includes), and of the front and the back end."""
    timed = sorted((one for one in objects if one.source.endswith(".cpp") and one.precompiled), key=lambda one: one.name)
    chosen = timed[:: max(1, len(timed) // count)][:count]
    seconds, files, parts = collections.Counter(), collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:

        def compile_one(numbered):
            number, one = numbered
            words, out = shlex.split(one.command), pathlib.Path(scratch) / f"{number}.o"
            words[words.index("-o") + 1] = str(out)
            words = [word for word in words if "compiler_launcher" not in word and word != "ccache"]
            subprocess.run([*words, "-w", "-ftime-trace", "-ftime-trace-granularity=500"], cwd=folder, check=True)
            return json.loads(out.with_suffix(".json").read_text())["traceEvents"]

        for events in pool.map(compile_one, enumerate(chosen)):
            own = collections.Counter()
            for event in events:
                if event["name"] == "Source":
                    own[relative(event["args"]["detail"], folder)] += event["dur"] / 1e6
                elif event["name"] in ("Total Frontend", "Total Backend", "Total ExecuteCompiler"):
                    parts[event["name"].removeprefix("Total ")] += event["dur"] / 1e6
            seconds.update(own)
            files.update(own.keys())
    return {"objects": [one.source for one in chosen], "compiler_seconds": parts["ExecuteCompiler"], "frontend_seconds": parts["Frontend"],
            "backend_seconds": parts["Backend"],
            "headers": [{"header": name, "seconds": spent, "objects": files[name]} for name, spent in seconds.most_common()]}


def table(head, rows):
    """Columns as wide as they need: the first to the left, numbers to the right."""
    cells = [head, *([f"{cell:,.1f}" if isinstance(cell, float) else f"{cell:,}" if isinstance(cell, int) else cell for cell in row] for row in rows)]
    is_number = [all(not isinstance(row[i], str) or row[i] == "-" for row in rows) for i in range(len(head))]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    for row in cells:
        print("  ".join(cell.rjust(width) if number else cell.ljust(width) for cell, width, number in zip(row, widths, is_number)).rstrip())
    print()


def show(report, count):
    objects, cached = report["objects"], report["cached"]
    print(f"{report['folder']}: {objects} objects, {report['seconds']:,.0f} s of compilation (one core), {report['object_bytes'] / 1e6:,.0f} MB; "
          f"{report['other_seconds']:,.0f} s of other steps (protoc, archives, links)")
    if cached:
        source = "ccache.log says so" if report["has_ccache_log"] else f"presumably: without ccache.log, those of less than {FASTEST} s"
        print(f"{cached} of these objects came from ccache ({source}): their seconds say nothing, and the tables "
              "leave them out. For all seconds, remove the folder, and build with CCACHE_RECACHE=1")
    print()
    table(["directory", "objects", "cached", "seconds", "MB", "slowest file", "its seconds"],
          [[row["directory"], row["objects"], row["cached"], row["seconds"] if row["cached"] < row["objects"] else "-", row["object_bytes"] / 1e6,
            row["slowest"], row["slowest_seconds"] or "-"] for row in report["directories"]])
    rows = report["headers"]
    own = sorted((row for row in rows if row["is_own"]), key=lambda row: (-row["seconds"], -row["objects"], row["header"]))
    print("Headers of the repository by what a change of them recompiles: objects, and their seconds")
    table(["header", "objects", "seconds", "KB"], [[row["header"], row["objects"], row["seconds"], row["bytes"] / 1e3] for row in own[:count]])
    read = sorted(rows, key=lambda row: (-row["bytes_read"], row["header"]))
    print("Headers by what the compiler reads of them: objects that read it because it is not precompiled for them, and their bytes together")
    table(["header", "readers", "KB", "MB read"], [[row["header"], row["readers"], row["bytes"] / 1e3, row["bytes_read"] / 1e6] for row in read[:count]])
    if traced := report.get("trace"):
        print(f"{len(traced['objects'])} objects compiled again: {traced['compiler_seconds']:.1f} s, of which the front end (parsing, templates) "
              f"{traced['frontend_seconds']:.1f} s and the back end (optimization, code) {traced['backend_seconds']:.1f} s")
        print("Headers by the seconds of the front end in these objects, with what each includes")
        table(["header", "objects", "seconds"], [[row["header"], row["objects"], row["seconds"]] for row in traced["headers"][:count]])


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rows", type=int, default=15)
    parser.add_argument("--trace", type=int, default=0, metavar="N")
    options = parser.parse_args()
    folder = options.folder.resolve()
    if not (folder / ".ninja_log").exists() or not (folder / "compile_commands.json").exists():
        sys.exit(f"build_times: {options.folder} is not a folder with a build: run ./x build first")
    objects, other, has_log = measure(folder)
    report = {
        "folder": str(options.folder), "objects": len(objects), "cached": sum(one.is_cached for one in objects), "has_ccache_log": has_log,
        "seconds": sum(one.seconds or 0.0 for one in objects), "object_bytes": sum(one.size for one in objects),
        "other_seconds": sum(other.values()), "directories": directories_of(objects), "headers": headers_of(objects, folder),
    }
    if options.trace:
        report["trace"] = trace(objects, folder, options.trace)
    if options.json:
        print(json.dumps(report, indent=1))
    else:
        show(report, options.rows or None)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:
        sys.exit(0)
