"""Runs a command under callgrind and reads its output: instructions in total, and by function. The same command on the same files
gives the same count to about one in ten thousand, on any machine: valgrind emulates a fixed CPU, and here the environment is fixed too.
"""
import collections
import os
import pathlib
import re
import subprocess

# The whole environment of a counted program.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": "/"}

Profile = collections.namedtuple("Profile", "total own inclusive")  # own, inclusive: {function: instructions}


def short_name(name):
    """A function's name without template arguments, parameters and the mark of a recursion, so that it is stable under changes of
    compiler flags or template arguments."""
    name = re.sub(r"'\d+$", "", name)
    name = name.replace("(anonymous namespace)", "{anonymous}").replace("operator()", "operator{}")
    kept, angles, braces = [], 0, 0
    for i, c in enumerate(name):
        operator = re.search(r"operator[<>=-]*$", name[:i]) and c in "<>"
        if c == "<" and not operator:
            angles += 1
        elif c == ">" and not operator and angles:
            angles -= 1
        elif not angles:
            braces += (c == "{") - (c == "}")
            if c == "(" and not braces:
                break
            kept.append(c)
    return "".join(kept).replace("{anonymous}", "(anonymous namespace)").replace("operator{}", "operator()").strip()


def read_profile(lines):
    """A callgrind.out file of one event. Callees count once for each call path, so a recursion's inclusive count is an upper
    bound."""
    names, own, inclusive = {}, collections.Counter(), collections.Counter()
    function, total, is_call = "", 0, False

    def named(text):
        number, _, name = text.partition(" ")
        if name:
            names[number] = short_name(name)
        return names.get(number, number)

    called = ""
    for line in lines:
        line = line.rstrip("\n")
        if line.startswith("fn="):
            function = named(line[3:])
        elif line.startswith("cfn="):
            called = named(line[4:])
        elif line.startswith("calls="):
            is_call = True
        elif line.startswith("totals:"):
            total = int(line.split()[1])
        elif line[:1] in "+-*0123456789" and line[:1]:
            cost = int(line.split()[1]) if " " in line else 0
            if not is_call:
                own[function] += cost
            if not is_call or called != function:
                inclusive[function] += cost
            is_call = False
    return Profile(total or sum(own.values()), own, inclusive)


def count(command, folder, out):
    """The profile of a command that runs in `folder`. An exit code of 2 or more is an error with the command's output."""
    out = pathlib.Path(out)
    run = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--log-file=/dev/null", *command],
                         cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                         text=True, check=False)
    if run.returncode not in (0, 1):
        raise RuntimeError(f"'{' '.join(map(os.fspath, command))}' ended with {run.returncode}: {run.stderr.strip()[-500:]}")
    with open(out, encoding="utf-8", errors="replace") as lines:
        return read_profile(lines)
