#!/usr/bin/env python3
"""Runs grapnel_op_inputs on COUNT inputs, in processes of many inputs each, and goes on behind an input that ends one.

usage: op_inputs.py PROGRAM SEED COUNT FOLDER... [--batch N] [--timeout S]
Prints a line for each input that ended its process (a signal, a sanitizer's report, a time-out) with what was changed, and at the
end what became of all. Exit code 1 if there was one.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--batch", type=int, default=5000)
    parser.add_argument("--timeout", type=int, default=1800)
    parser.add_argument("--log", help="where a report goes, one file for each input")
    args = parser.parse_args()
    at = os.path.join(tempfile.mkdtemp(), "at")
    totals, bad, first = [0, 0, 0, 0], 0, 0
    while first < args.count:
        batch = min(args.batch, args.count - first)
        if os.path.exists(at):
            os.remove(at)
        command = [args.program, str(args.seed), str(batch), *args.folders, "--first", str(first)]
        try:
            run = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=args.timeout,
                                 env=dict(os.environ, OP_INPUTS_AT=at))
            code, err = run.returncode, run.stderr
        except subprocess.TimeoutExpired as expired:
            code, err = "time-out", (expired.stderr or b"").decode(errors="replace")
        if code == 0:
            counts = re.search(r"(\d+) ran, (\d+) failed, (\d+) refused, (\d+) cancelled", run.stdout)
            totals = [a + int(b) for a, b in zip(totals, counts.groups())]
            first += batch
            continue
        if not os.path.exists(at):
            sys.exit(f"{' '.join(command)}: exit {code}\n{err[-2000:]}")
        with open(at, encoding="utf-8", errors="replace") as file:
            number, what = file.read().split(" ", 1)
        bad += 1
        why = re.search(r"(ERROR: \w+Sanitizer: [\w-]+|runtime error: .*|Assertion .*failed)", err)
        frame = re.findall(r"#\d+ 0x\w+ in (grapnel::\S.*)", err)[:1]
        print(f"{number}: exit {code} {why[0][:160] if why else ''} {' '.join(frame)[:160]}\n  {what.strip()}", flush=True)
        if args.log:
            os.makedirs(args.log, exist_ok=True)
            with open(os.path.join(args.log, number), "w", encoding="utf-8") as file:
                file.write(what + err)
        first = int(number) + 1
    print(f"{args.count} inputs: {totals[0]} ran, {totals[1]} failed, {totals[2]} refused, {totals[3]} cancelled (of "
          f"processes that came to their end), {bad} bad")
    return 1 if bad else 0


sys.exit(main())
