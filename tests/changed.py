#!/usr/bin/env python3
"""Chooses the tests of a change, for `./x test --changed [REVISION]`.

  changed.py REVISION FOLDER   prints the tests to run for the files that differ from REVISION, and why; writes FOLDER/gtests,
                               FOLDER/ctest and FOLDER/lit: regular expressions of the gtest directories to build, of the tests
                               and of the text tests
  changed.py --touches STAGE REVISION   exit 0 if a file that a stage of .ci/run watches differs from REVISION: threads, count, fuzz;
                               else 1, with a line that says so
  changed.py --self-test       shows that it chooses

A source file of a library or a command chooses the tests that can call it: gtests and commands that include its header, directly
or through others. A source without a header of its own counts with the header of its library that it includes first. A file of a pass or a kernel chooses the tests
that name its rules or ops, and those that run the default passes or cases. The build system chooses all tests.
"""

import functools
import json
import pathlib
import re
import subprocess
import sys

from check_rooms import INCLUDE, ROOT, room_of

# Checks of the sources, which take seconds.
ALWAYS = ["rooms", "names", "local_names", "prose", "tally", "documents.self_test", "public_headers"]
EVERYTHING = re.compile(r"CMakeLists\.txt$|CMakePresets\.json$|^cmake/|^x$|^\.ci/|^tests/(lit\.cfg\.py|unittest\.sh)$|^lib/proto/|\.(cmake|in)$")
# Commands that run the whole default pipeline unless --passes names passes.
PIPELINE = {"opt", "bisect", "reduce", "passes", "check", "compare", "blame", "replay", "train", "convert"}
RUNS_KERNELS = {"run", "replay", "compare", "blame", "doctor", "debug", "train", "check", "check-gradients", "opt", "bisect", "reduce"}


# The test of x and of the scripts that it runs.
DEVELOPER_SCRIPT = "tests/tools/developer_script_test.py"


class Choice:
    """The chosen tests, each with the reasons."""

    def __init__(self):
        self.gtests, self.text_tests, self.others, self.everything = {}, {}, {}, []

    def add(self, kind, names, why):
        for name in names:
            kind.setdefault(name, []).append(why)


@functools.cache
def text(path):
    return (ROOT / path).read_text(errors="replace")


@functools.cache
def files(*patterns):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns], cwd=ROOT, capture_output=True, text=True)
    return [name for name in listed.stdout.splitlines() if (ROOT / name).exists()]


@functools.cache
def includes(path):
    """The files of the repository that a file includes, and the sources that belong to these headers."""
    found = []
    for line in text(path).splitlines():
        if (match := INCLUDE.match(line)) and room_of(match[1]) and (ROOT / match[1]).exists():
            found += [match[1], *sources_of(match[1])]
    return found


@functools.cache
def sources_of(header):
    """The source with the header's name, and those without a header of their own that define what it declares, or register something
    with it."""
    source = header.removesuffix(".h") + ".cpp"
    return ([source] if (ROOT / source).exists() else []) + without_header().get(header, [])


@functools.cache
def without_header():
    """{header of a library: the library's sources without a header of their own that may belong to it}: it is the first of the
    library's headers that they include, or no source has its name."""
    found = {}
    for name in files("lib/*.cpp"):
        if (ROOT / (name.removesuffix(".cpp") + ".h")).exists():
            continue
        own = [match[1] for line in text(name).splitlines() if (match := INCLUDE.match(line)) and room_of(match[1]) == room_of(name)]
        for header in own:
            if header == own[0] or not (ROOT / (header.removesuffix(".h") + ".cpp")).exists():
                found.setdefault(header, []).append(name)
    return found


def reached_from(starts):
    """The files of the repository that the code in `starts` can call: what they include, and what that includes."""
    reached, left = set(), list(starts)
    while left:
        path = left.pop()
        if path not in reached:
            reached.add(path)
            left += includes(path)
    return reached


@functools.cache
def reached_by_commands():
    """{command: the files that it can call}, except passes and kernels."""
    reached = {}
    for name in files("tools/*.cpp"):
        if found := re.findall(r'GRAPNEL_COMMAND\(\s*"([a-z-]+)"', text(name)):
            reached.update(dict.fromkeys(found, reached_from([name])))
    return reached


@functools.cache
def reached_by_gtests():
    """{directory of gtests: the files that they can call}."""
    directories = {}
    for name in files("tests/*.cpp"):
        directories.setdefault(name.split("/")[1], []).append(name)
    return {directory: reached_from(names) for directory, names in directories.items()
            if any(name.endswith("_test.cpp") for name in names)}


@functools.cache
def text_tests():
    """{path: the commands that it runs}; None for those that run scripts, which may run any command."""
    tests = {}
    for name in files("tests/*.gtxt", "tests/*.pbtxt", "tests/*.test"):
        if re.match(r"tests/(bench|fuzz|python)/|.*/inputs/", name):
            continue
        runs = " ".join(re.findall(r"RUN:(.*)", text(name)))
        tests[name] = None if re.search(r"\b(python3|bash|sh) ", runs) else set(re.findall(r"grapnel ([a-z-]+)", runs))
    return tests


def that_run(commands):
    return [name for name, runs in text_tests().items() if runs is None or runs & set(commands)]


def that_name(words, among=None):
    pattern = re.compile(r"(?<![\w])(" + "|".join(map(re.escape, sorted(words))) + r")(?![\w])") if words else None
    return [name for name in (text_tests() if among is None else among) if pattern and pattern.search(text(name))]


def commands_that_call(path):
    """All commands for a file that only passes, kernels or other registered code calls."""
    return [command for command, reached in reached_by_commands().items() if path in reached] or [*reached_by_commands()]


def gtests_that_call(path):
    """For a file that only registered code calls, those that call any file of its library."""
    directories = [directory for directory, reached in reached_by_gtests().items() if path in reached]
    library = f"lib/{room_of(path)}/"
    if not any(path in reached for reached in reached_by_commands().values()):
        for directory, reached in reached_by_gtests().items():
            if any(other.startswith(library) for other in reached):
                directories.append(directory)
    return ["threads", *directories]


def scripts_that_run(commands):
    """The tests in Python whose scripts call one of the commands."""
    pattern = re.compile("[\"'](" + "|".join(commands) + ")[\"']") if commands else None
    chosen = []
    for name in files("tests/python/*_test.py"):
        if pattern and pattern.search(text(name)):
            chosen.append("python." + pathlib.PurePosixPath(name).stem)
    if {"opt", "run"} & set(commands):
        chosen += ["python.random_graphs"]
    if "serve" in commands:
        chosen += ["browser"]
    return chosen


def choose_code(choice, path):
    commands = commands_that_call(path)
    choice.add(choice.gtests, gtests_that_call(path), f"{path}, which they can call")
    choice.add(choice.text_tests, that_run(commands), f"{path}, which a command of theirs can call")
    choice.add(choice.others, scripts_that_run(commands), f"{path}, which a command of theirs can call")
    choice.add(choice.others, ["fuzz", "interrupt", "library", "wheel"], path)


def choose_pass(choice, path):
    optimizer = pathlib.PurePosixPath(path).parts[1].removesuffix(".cpp").removesuffix(".h")
    names = set(re.findall(r'\.name = "(\w+)"', text(path))) | {optimizer, pathlib.PurePosixPath(path).stem}
    if not re.search(r'\.name = "', text(path)):  # shared by the optimizer's files
        names |= {pathlib.PurePosixPath(name).stem for name in files(f"passes/{optimizer}")}
    choice.add(choice.gtests, ["passes", "job", "check", "threads", "policy", "doctor"], path)
    choice.add(choice.text_tests, that_name(names), f"{path}: names {' or '.join(sorted(names)[:4])}")
    choice.add(choice.text_tests, [name for name in files("tests/passes") if name in text_tests() and f"/{optimizer}/" in name], path)
    pipeline = [name for name in that_run(PIPELINE) if "--passes" not in text(name)]
    choice.add(choice.text_tests, pipeline, f"{path}: runs the default passes")
    choice.add(choice.others, scripts_that_run(PIPELINE), f"{path}: runs passes")
    choice.add(choice.others, ["wheel", "fuzz"], path)


def ops_of(path):
    return set(re.findall(r'_KERNEL\(\s*"(\w+)"', text(path))) | set(re.findall(r'\{"([A-Z]\w+)"', text(path)))


def choose_kernel(choice, path):
    parts = pathlib.PurePosixPath(path).parts
    ops = ops_of(path)
    if not ops and len(parts) > 3:  # shared by the files of its family
        ops = set().union(*map(ops_of, files(f"{'/'.join(parts[:-1])}/*.cpp")))
    choice.add(choice.gtests, ["kernels", "exec", "trace", "threads", "job", "check", "doctor", "watch", "debugger"], path)
    choice.add(choice.others, ["fuzz", "wheel", "cuda"] + scripts_that_run(RUNS_KERNELS), path)
    replays = that_name(["replay"], that_run(RUNS_KERNELS))
    choice.add(choice.text_tests, replays, f"{path}: replays cases")
    if ops:
        choice.add(choice.text_tests, that_name(ops), f"{path}: names {', '.join(sorted(ops)[:4])}")
        # A case folder names its ops in a graph, not in the test.
        choice.add(choice.text_tests, [name for name in that_run(RUNS_KERNELS) if "testdata" in text(name)], f"{path}: runs a graph of testdata")
    else:
        choice.add(choice.text_tests, that_run(RUNS_KERNELS), f"{path}: runs kernels")


def choose_test(choice, path):
    pure = pathlib.PurePosixPath(path)
    directory = pure.parts[1]
    if path in text_tests():
        return choice.add(choice.text_tests, [path], "it changed")
    if path == DEVELOPER_SCRIPT:
        return choice.add(choice.others, ["developer_script"], "it changed")
    if directory == "reference":
        return choose_by_name(choice, path)
    if pure.suffix in (".cpp", ".h") and directory != "fuzz":
        choice.add(choice.gtests, [directory, "threads"], path)
    elif directory in ("python", "browser") and pure.stem.endswith("_test"):
        choice.add(choice.others, [f"{directory}.{pure.stem}"], "it changed")
    elif directory in ("fuzz", "wheel", "library", "python", "browser", "cuda"):
        choice.add(choice.others, [directory] + (["python.random_graphs"] if directory == "fuzz" else []), path)
        choice.add(choice.text_tests, that_name([pure.name]), f"{path}: names it")
    elif pure.suffix not in (".cpp", ".h"):
        choose_by_name(choice, path)


def choose_by_name(choice, path):
    """Tests that name a file of testdata, docs, scripts or tests, or one of the folders that it is in."""
    pure = pathlib.PurePosixPath(path)
    if that_name({pure.name}, [DEVELOPER_SCRIPT]):
        choice.add(choice.others, ["developer_script"], f"{path}: {DEVELOPER_SCRIPT} names it")
    names = {pure.name, pure.parent.name} if pure.parts[0] != "testdata" else {pure.name, *pure.parts[1:-1]}
    is_reference = path.startswith("tests/reference/")  # scripts turn it into documents
    if is_reference:
        choice.add(choice.others, ["documents"], path)
    if pure.parts[0] == "testdata" or (len(pure.parts) > 2 and pure.parts[0] == "tests" and not is_reference):
        choice.add(choice.text_tests, that_name(names), f"{path}: names it")
        for name in files("tests/*_test.cpp"):
            if that_name(names, [name]):
                choice.add(choice.gtests, [pathlib.PurePosixPath(name).parent.name], f"{path}: {name} names it")
        for name in files("tests/python/*_test.py", "tests/browser/*_test.py"):
            if that_name(names, [name]):
                directory, stem = pathlib.PurePosixPath(name).parts[1], pathlib.PurePosixPath(name).stem
                choice.add(choice.others, [f"{directory}.{stem}"], f"{path}: names it")
    else:
        choice.add(choice.text_tests, that_name({pure.name}), f"{path}: names it")
        choice.add(choice.text_tests, ["tests/tools/generated_docs.test"], f"{path}: compares documents with what makes them")


def choose(paths):
    choice = Choice()
    for path in paths:
        top = path.split("/")[0]
        if EVERYTHING.search(path) or not (ROOT / path).exists():
            choice.everything.append(path)
        elif top in ("lib", "tools") and path.endswith((".cpp", ".h")):
            choose_code(choice, path)
        elif top in ("lib", "tools"):  # the page's scripts, the demo
            choice.add(choice.gtests, ["serve", "render"], path)
            choice.add(choice.text_tests, that_run(["serve", "view", "diff", "timeline"]) + that_name([path.split("/")[-1]]), path)
            choice.add(choice.others, ["browser", "wheel"], path)
        elif top == "passes":
            choose_pass(choice, path)
        elif top == "kernels":
            choose_kernel(choice, path)
        elif top == "python":
            choice.add(choice.others, ["wheel", "python.wheel_test"], path)
        elif top == "tests" and path.count("/") > 1:
            choose_test(choice, path)
        elif top in ("testdata", "docs", "scripts") or path.endswith(".md"):
            choose_by_name(choice, path)
            choice.add(choice.others, ["documents"], path)
    return choice


def lines(choice):
    """What was chosen, and why."""
    if choice.everything:
        yield f"all tests: {choice.everything[0]}" + (f" and {len(choice.everything) - 1} more files" if len(choice.everything) > 1 else "")
        return
    for what, kind in (("gtests", choice.gtests), ("text tests", choice.text_tests), ("other tests", choice.others)):
        by_why = {}
        for name, reasons in sorted(kind.items()):
            by_why.setdefault(reasons[0], []).append(name)
        for why, names in by_why.items():
            shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
            yield f"{len(names)} {what}: {shown}\n    {why}"
    yield "always: " + ", ".join(ALWAYS)


def write(choice, folder):
    folder.mkdir(parents=True, exist_ok=True)
    if choice.everything:
        gtests, ctest, lit = "", "", ""
    else:
        names = [re.escape(name) for name in [*choice.gtests]] + [rf"{re.escape(name)}(\..*)?" for name in [*choice.others, *ALWAYS]]
        if choice.text_tests:
            names += ["lit", "documents"]
        gtests = "|".join(sorted(choice.gtests)) or "none"
        ctest = f"^({'|'.join(sorted(names))})$"
        lit = f":: ({'|'.join(re.escape(name.removeprefix('tests/')) for name in sorted(choice.text_tests))})$"
    for name, value in (("gtests", gtests), ("ctest", ctest), ("lit", lit)):
        (folder / name).write_text(value)


def changed_since(revision):
    changed = subprocess.run(["git", "diff", "--name-only", revision], cwd=ROOT, capture_output=True, text=True)
    if changed.returncode:
        sys.exit(f"changed.py: {changed.stderr.strip()}")
    new = subprocess.run(["git", "ls-files", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    return sorted({*changed.stdout.splitlines(), *new.stdout.splitlines()})


WATCHED = {
    "threads": r"tests/threads/|tests/tsan\.supp|kernels/common/",
    "count": r"(lib|passes|kernels|tools|tests/bench)/.*\.(cpp|h|inc|py|json)$",
    "fuzz": r"tests/fuzz/.*(\.cpp|\.h|_test\.py)$",
}


def watches(stage, path):
    """True if the stage runs what is in the file."""
    if EVERYTHING.search(path) or re.match(WATCHED[stage], path):
        return True
    if stage == "fuzz":
        return path in reached_from(files("tests/fuzz/*_fuzz.cpp"))
    if stage == "threads":
        return path in reached_by_gtests()["threads"] or path in reached_from(files(*THREADED)) or bool(
            path.startswith("kernels/cpu/") and re.search(kernels_of_tsan(), path))
    return False


@functools.cache
def kernels_of_tsan():
    presets = json.loads(text("CMakePresets.json"))["configurePresets"]
    return next(preset["cacheVariables"]["GRAPNEL_KERNELS"] for preset in presets if preset["name"] == "tsan")


# Beside tests/threads, the sources of the program that runs under ThreadSanitizer: tests/CMakeLists.txt.
THREADED = re.findall(r"\b(\w+/\w+_test)\.cpp", (ROOT / "tests/CMakeLists.txt").read_text().split("grapnel_threads_test")[0])
THREADED = [f"tests/{name}.cpp" for name in THREADED]


def self_test():
    problems = []

    def expect(path, gtests=(), text_tests=(), others=(), but_not=()):
        choice = choose([path])
        chosen = {**choice.gtests, **choice.text_tests, **choice.others}
        problems.extend(f"{path} does not choose {name}" for name in (*gtests, *text_tests, *others) if name not in chosen)
        problems.extend(f"{path} chooses {name}" for name in but_not if name in chosen)

    expect("lib/ir/graph.cpp", ["ir", "io", "serve", "passes"], ["tests/tools/diff.test"], ["wheel", "browser", "python.random_graphs"])
    expect("lib/doctor/doctor.h", ["doctor"], ["tests/tools/doctor.test"], but_not=["ir", "exec", "tests/tools/query.test", "browser"])
    expect("passes/remapper/fuse_bias.cpp", ["passes"], ["tests/passes/remapper/fuse_bias.gtxt"], ["python.random_graphs"], ["trace", "render"])
    expect("kernels/cpu/array/fill.cpp", ["kernels"], ["tests/kernels/fill.gtxt"], ["fuzz"], ["serve", "tests/tools/place.test"])
    expect("tools/place.cpp", [], ["tests/tools/place.test"], [], ["exec", "tests/kernels/fill.gtxt"])
    expect("tests/kernels/fill.gtxt", [], ["tests/kernels/fill.gtxt"], [], ["kernels"])
    expect("scripts/build_progress.py", [], [], ["developer_script"], ["kernels"])
    expect("tests/reference/op_differences.txt", [], ["tests/tools/generated_docs.test"], ["documents"], ["kernels", "tests/kernels/fill.gtxt"])
    expect("testdata/collatz/graph.pb", ["serve"], [], [], ["tests/kernels/fill.gtxt"])
    for stage, path, expected in (("threads", "lib/exec/executor.cpp", True), ("threads", "lib/doctor/doctor.cpp", False),
                                  ("threads", "kernels/cpu/math/cast.cpp", True), ("threads", "kernels/cpu/text/regex.cpp", False),
                                  ("fuzz", "lib/io/bundle.cpp", True), ("fuzz", "kernels/cpu/math/cast.cpp", False), ("count", "docs/reference/cli.md", False),
                                  ("count", "lib/ir/graph.cpp", True), ("fuzz", "CMakeLists.txt", True)):
        if watches(stage, path) != expected:
            problems.append(f"{stage} {'does not watch' if expected else 'watches'} {path}")
    if not choose(["CMakeLists.txt"]).everything or choose(["LICENSE"]).everything:
        problems.append("the build system chooses all tests, a license none")
    return problems


def main():
    if sys.argv[1:] == ["--self-test"]:
        problems = self_test()
        print("\n".join(problems) or "chooses what it should")
        return 1 if problems else 0
    if sys.argv[1:2] == ["--touches"]:
        stage, revision = sys.argv[2:]
        touched = [path for path in changed_since(revision) if watches(stage, path)]
        print(f"{stage}: {touched[0]}" if touched else f"{stage}: no file that it watches differs from {revision[:12]}")
        return 0 if touched else 1
    choice = choose(changed_since(sys.argv[1]))
    print("\n".join(lines(choice)))
    write(choice, pathlib.Path(sys.argv[2]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
