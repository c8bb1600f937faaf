#!/usr/bin/env python3
"""Runs a program that makes its inputs from a seed (grapnel_op_inputs, grapnel_mutants) on COUNT of them, in processes of many inputs
each, and goes on behind an input that ends one.

usage: many_inputs.py PROGRAM SEED COUNT FOLDER... [--batch N] [--timeout S] [--start N] [--log DIR] [OPTION OF PROGRAM...]
Prints a line for each input that ended its process (a signal, a sanitizer's report, a time-out) with what was changed, what the program
itself found bad, and at the end what became of all. Exit code 1 if there was one.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def report(number, code, what, err, log):
    why = re.search(r"(ERROR: \w+Sanitizer: [\w-]+|runtime error: .*|Assertion .*failed|(?:not done|was cut short) .*)", err)
    frame = re.findall(r"#\d+ 0x\w+ in (grapnel::\S.*)", err)[:1]
    print(f"{number}: exit {code} {why[0][:160] if why else ''} {' '.join(frame)[:160]}\n  {what.strip()}", flush=True)
    if log:
        os.makedirs(log, exist_ok=True)
        with open(os.path.join(log, number), "w", encoding="utf-8") as file:
            file.write(what + err)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--batch", type=int, default=5000)
    parser.add_argument("--timeout", type=int, default=1800, help="of a process, in seconds")
    parser.add_argument("--start", type=int, default=0, help="the first input")
    parser.add_argument("--log", help="where a report goes, one file for each input")
    args, options = parser.parse_known_args()
    at = os.path.join(tempfile.mkdtemp(), "at")
    totals, bad, gave_up, first = {}, 0, 0, args.start
    while first < args.start + args.count:
        batch = min(args.batch, args.start + args.count - first)
        if os.path.exists(at):
            os.remove(at)
        command = [args.program, str(args.seed), str(batch), *args.folders, "--first", str(first), *options]
        try:
            run = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=args.timeout,
                                 env=dict(os.environ, FUZZ_AT=at))
            code, out, err = run.returncode, run.stdout, run.stderr
        except subprocess.TimeoutExpired as expired:
            code, out, err = "time-out", (expired.stdout or b"").decode(errors="replace"), ""
        *found, last = out.rstrip("\n").split("\n")
        counts = re.findall(r"(\d+) ([a-z ]+)", last.partition(": ")[2]) if re.match(r"\d+ inputs", last) else []
        for line in found if counts else out.splitlines():
            bad += bool(re.match(r"\d+: ", line))
            print(line, flush=True)
        if counts:
            totals = {name: totals.get(name, 0) + int(n) for n, name in counts}
            first += batch
            continue
        if not os.path.exists(at):
            sys.exit(f"{' '.join(command)}: exit {code}\n{err[-2000:]}")
        number, what = read(at).split(" ", 1)
        err += read(at + ".err")
        first = int(number) + 1
        if code == 2 and "(--timeout)" in err:  # as for a user whose --timeout a kernel does not notice
            gave_up += 1
            continue
        bad += 1
        report(number, code, what, err, args.log)
    said = ", ".join(f"{n} {name}" for name, n in totals.items() if name != "bad")
    print(f"{args.count} inputs: {said} (of processes that came to their end), {gave_up} that did not hear --timeout, {bad} bad")
    return 1 if bad else 0


sys.exit(main())
