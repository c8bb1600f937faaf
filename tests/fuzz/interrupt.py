#!/usr/bin/env python3
"""Ends grapnel at random moments, and cuts files short that it reads: nothing is torn, and nothing is left.

  interrupt.py [--rounds N] [--cuts N] [--seed N] GRAPNEL      exit 1 when something is wrong

Each round starts a command that writes, over what an earlier one wrote, and ends it by SIGKILL, SIGTERM or SIGINT. Whatever its
output is then must be whole: the older or the newer one. What SIGKILL leaves must be gone when the next command has written
there, and after the other signals nothing may be there at all. Then commands read files that are cut short meanwhile: each must
answer as it does for the whole file, or with one error that names it.
"""

import argparse
import filecmp
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

MODEL = "testdata/models/lenet"


def left_over(folder):
    return [str(path) for path in folder.rglob(".grapnel-*")]


class Interrupted:
    """A command that writes into a folder, and what must hold there at any moment."""

    def __init__(self, grapnel, folder):
        self.grapnel, self.folder = grapnel, folder
        folder.mkdir()

    def run(self, *arguments):
        return subprocess.run([self.grapnel, *arguments], capture_output=True, text=True)

    def start(self):
        return subprocess.Popen([self.grapnel, *self.command()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def finish(self):
        done = self.run(*self.command())
        assert done.returncode == 0, done.stderr

    def reads(self, path):
        done = self.run("info", str(path))
        assert done.returncode == 0 and "cut off" not in done.stdout, f"{path} is torn: {done.stdout} {done.stderr}"


class Converts(Interrupted):
    def command(self):
        return ["opt", MODEL, "-q", "-o", str(self.folder / "out.pb")]

    def check(self):
        out = self.folder / "out.pb"
        if not hasattr(self, "whole"):
            self.whole = self.folder.parent / "whole.pb"
            shutil.copy(out, self.whole)
        assert filecmp.cmp(out, self.whole, shallow=False), f"{out} is torn"


class Dumps(Interrupted):
    def command(self):
        return ["opt", MODEL, "-q", "--dump-dir", str(self.folder / "dumps")]

    def finish(self):
        shutil.rmtree(self.folder / "dumps", ignore_errors=True)
        super().finish()

    def check(self):
        for path in (self.folder / "dumps").iterdir():
            if path.suffix == ".json":
                json.loads(path.read_text())
        files = sorted((self.folder / "dumps").glob("*.pbtxt"))
        if files:
            self.reads(random.choice(files))


class Saves(Interrupted):
    def command(self):
        return ["run", str(self.folder / "save.gtxt"), "--fetch", "saved", "-q"]

    def finish(self):
        prefix = self.folder / "checkpoint" / "values"
        (self.folder / "save.gtxt").write_text(SAVE.replace("PREFIX", str(prefix)))
        (self.folder / "load.gtxt").write_text(LOAD.replace("PREFIX", str(prefix)))
        super().finish()

    def check(self):
        done = self.run("run", str(self.folder / "load.gtxt"), "--fetch", "sum")
        assert done.returncode == 0, f"the checkpoint is torn: {done.stderr}"


# Random values, so that no two checkpoints are equal; their checksums distinguish old from new.
SAVE = """
%shape = Const int32[1] [200000]
%values = RandomUniform(%shape) {dtype=float}
%save = SaveV2("PREFIX", ["a"], [""], %values)
%saved = Identity(%shape, ^save)
"""
LOAD = """
%a = RestoreV2("PREFIX", ["a"], [""]) {dtypes=[float]}
%sum = Sum(%a, [0])
"""


def end_at_random(kind, longest, kinds):
    process = kind.start()
    time.sleep(random.uniform(0, longest))
    ended_by = random.choice(kinds)
    process.send_signal(ended_by)
    process.wait()
    return ended_by, process.returncode == -ended_by


def interrupt(kinds, rounds):
    """Gives how many were ended before they were done, and how many names SIGKILL left for the next to clear away."""
    ended = left = 0
    for kind in kinds:
        kind.finish()
        before = time.time()
        kind.finish()
        kind.longest = (time.time() - before) * 1.1
        kind.check()
    for i in range(rounds):
        kind = kinds[i % len(kinds)]
        by, early = end_at_random(kind, kind.longest, [signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
        ended += early
        kind.check()
        names = left_over(kind.folder)
        assert by == signal.SIGKILL or not names, f"{by.name} left {names}"
        left += len(names)
        if names or i % 50 == 0:
            kind.finish()
            assert not left_over(kind.folder), f"not cleared away: {left_over(kind.folder)}"
    return ended, left


def cut_short(grapnel, folder, cuts):
    """Gives how many commands were told that their file was cut short."""
    folder.mkdir()
    model, told = folder / "large.pb", 0
    whole = folder / "whole.pb"
    made = folder / "make.gtxt"
    lines = ["%c0 = Const float[1] [1]"] + [f"%c{i} = Add(%c{i - 1}, {i}.5)" for i in range(1, 60000)]
    made.write_text("\n".join(lines) + "\n")
    subprocess.run([grapnel, "convert", str(made), "-o", str(whole)], check=True, capture_output=True)
    commands = [["info", str(model)], ["opt", str(model), "-q", "-o", str(folder / "out.pb")],
                ["diff", str(model), str(whole)], ["view", str(model), "-o", str(folder / "out.dot")],
                ["query", str(model), "SELECT count(*) FROM nodes"], ["convert", str(model), "-o", str(folder / "out.pbtxt")],
                ["cut", str(model), "--outputs", "c9", "-o", str(folder / "cut.pb")], ["place", str(model), "--devices", "cpu:1"],
                ["run", str(model), "--fetch", "c9"]]
    times = []
    for command in commands:
        shutil.copy(whole, model)
        before = time.time()
        subprocess.run([grapnel, *command], capture_output=True)
        times.append(time.time() - before)
    i = attempts = 0
    while told < cuts:
        attempts += 1
        assert attempts < 40 * cuts, f"only {told} commands were told"
        command = commands[i % len(commands)]
        shutil.copy(whole, model)
        process = subprocess.Popen([grapnel, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(random.uniform(0.002, times[i % len(commands)]))
        if process.poll() is None:
            os.truncate(model, random.choice([0, 1, 5000, random.randrange(whole.stat().st_size), whole.stat().st_size - 1]))
        i += 1
        try:
            out, err = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            raise AssertionError(f"{command} hangs on a file that is cut short")
        assert process.returncode >= 0, f"{command} ends by signal {-process.returncode}: {err}"
        if process.returncode == 2:
            assert "large.pb" in err, f"{command} does not name its file: {err}"
            told += "cut short" in err or "were gone" in err
    return told


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("grapnel", metavar="GRAPNEL")
    parser.add_argument("--rounds", type=int, default=30, help="commands that are ended")
    parser.add_argument("--cuts", type=int, default=9, help="commands whose file is cut short")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random.seed(options.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        kinds = [kind(options.grapnel, folder / kind.__name__) for kind in (Converts, Dumps, Saves)]
        try:
            ended, left = interrupt(kinds, options.rounds)
            told = cut_short(options.grapnel, folder / "cuts", options.cuts)
        except AssertionError as problem:
            sys.exit(str(problem))
    print(f"{options.rounds} rounds, {ended} ended before they were done: nothing torn; SIGKILL left {left} names, all cleared "
          f"away. {told} commands told of a file that was cut short.")


if __name__ == "__main__":
    main()
