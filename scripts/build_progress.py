#!/usr/bin/env python3
"""Runs `cmake --build`, shows the progress and an estimate of the time left, and explains a failure.

usage: build_progress.py FOLDER [ARGUMENT...]     FOLDER is configured for Ninja; the arguments are those of `cmake --build`

On a terminal the progress is one line, which is rewritten; elsewhere it is a line a minute. Other output of the build passes through:
warnings, the whole command and output of a step that failed, and with -v all commands. The exit status is that of the build.
GRAPNEL_PROGRESS_SECONDS is the time between two lines.
"""

import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

# Seconds of one core for a step, by its description: measured in a release build without ccache. The first that matches counts.
SECONDS = [(re.compile(pattern), seconds) for pattern, seconds in [
    (r"Building CUDA object", 7.0),
    (r"Building CXX object .*\.pch$", 4.7),
    (r"Building CXX object kernels/cpu/linalg/eigen/", 12.0),
    (r"Building CXX object kernels/cpu/.*/(linalg|sparse|state)/", 2.7),
    (r"Building CXX object kernels/", 1.6),
    (r"Building CXX object passes/", 0.4),
    (r"Building CXX object lib/.*/batch_\d+\.", 5.5),
    (r"Building CXX object lib/(support|doctor/checks)/", 0.5),
    (r"Building CXX object lib/(trace/gradients|debugger|serve)/", 2.1),
    (r"Building CXX object lib/(trace|job|policy|doctor|tfdbg)/", 1.5),
    (r"Building CXX object lib/", 1.0),
    (r"Building CXX object", 1.7),
    (r"", 0.1),
]]
WINDOW = 120  # seconds
MARK = "\x01"  # begins the lines with which ninja reports a step
STEP = re.compile(MARK + r"(\d+)/(\d+)" + MARK + r"(.*)")
# Steps of CMake itself, before the first step of the build.
PREPARATIONS = re.compile(r"Re-checking globbed directories|Re-running CMake")
RELEASE_MEGABYTES = 400  # what a whole release build takes on the disk
CAUSES = [
    (re.compile(r"No space left on device|Disk quota exceeded"), "disk"),
    (re.compile(r"\bKilled\b|signal 9|[Oo]ut of memory|Cannot allocate memory|bad_alloc"), "memory"),
    (re.compile(r"Permission denied|Read-only file system"), "permission"),
]


def say(text):
    print(f"x: {text}", file=sys.stderr, flush=True)


def seconds_of(step):
    return next(seconds for pattern, seconds in SECONDS if pattern.search(step))


def duration(seconds):
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def free_megabytes(folder):
    return shutil.disk_usage(folder).free / 1e6


def jobs_of(arguments):
    """The number of steps that ninja runs at once."""
    given = re.search(r"(?:^| )(?:-j|--parallel)[ =]?(\d+)", " ".join(arguments))
    return int(given[1] if given else os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or 0) or len(os.sched_getaffinity(0))


def targets_of(arguments):
    targets, is_target = [], False
    for argument in arguments:
        if argument.startswith("-"):
            is_target = argument in ("--target", "-t")
            if argument.startswith("--target="):
                targets.append(argument.partition("=")[2])
        elif is_target:
            targets.append(argument)
    return targets


class Build:
    """The steps of a build: those that are planned, and those that are done."""

    def __init__(self, folder, arguments):
        self.folder = folder
        self.command = ["cmake", "--build", folder, *arguments]
        self.jobs = min(jobs_of(arguments), len(os.sched_getaffinity(0)))
        self.environment = {**os.environ, "NINJA_STATUS": f"{MARK}%f/%t{MARK}"}
        self.planned, self.seconds_planned, self.done, self.seconds_done = 0, 0.0, 0, 0.0
        self.is_verbose = not {"-v", "--verbose"}.isdisjoint(arguments)
        self.failed, self.causes = [], collections.Counter()
        self.start()

    def start(self):
        self.begin = time.monotonic()
        self.recent = collections.deque([(self.begin, 0.0)])  # when a step ended, and the table's seconds until then

    def plan(self):
        """Asks ninja for the steps, without running them: of a second name of build.ninja, because a dry run of a file that CMake
        may have to make again ends there."""
        alias = os.path.join(self.folder, "plan.ninja")
        try:
            if not os.path.lexists(alias):
                os.symlink("build.ninja", alias)
            dry = ["ninja", "-C", self.folder, "-f", "plan.ninja", "-n", *targets_of(self.command[3:])]
            listed = subprocess.run(dry, env=self.environment, capture_output=True, text=True, errors="replace").stdout
        except OSError:  # without a plan there is no estimate; the build itself says what is wrong
            return
        for line in listed.splitlines():
            if (step := STEP.match(line)) and not PREPARATIONS.search(step[3]):
                self.planned += 1
                self.seconds_planned += seconds_of(step[3])

    def finish(self, step):
        self.done += 1
        self.seconds_done += seconds_of(step)
        self.recent.append((time.monotonic(), self.seconds_done))

    def seconds_left(self):
        """The table's seconds at the speed of the last two minutes, because objects from ccache and other programs change it; in the
        first 20 s partly at the table's own speed."""
        now, left = time.monotonic(), max(0.0, self.seconds_planned - self.seconds_done)
        while len(self.recent) > 2 and now - self.recent[1][0] > WINDOW:
            self.recent.popleft()
        since, done_then = self.recent[0]
        speed = (self.seconds_done - done_then) / max(0.001, now - since)
        trust = min(1.0, (now - self.begin) / 20) if speed else 0.0
        return trust * left / max(0.001, speed) + (1 - trust) * left / self.jobs

    def announce(self):
        if not self.planned:
            return
        seconds = self.seconds_planned / self.jobs
        text = f"{self.planned} step{'s' * (self.planned > 1)} to build {self.folder}"
        if seconds >= 30:
            text += (f", about {duration(seconds)}: an estimate from a release build, for {self.jobs} idle core{'s' * (self.jobs > 1)} of "
                     "2.6 GHz and an empty ccache. The time left follows the real speed")
        say(text)
        needed = RELEASE_MEGABYTES * min(1.0, self.planned / 750)
        if (free := free_megabytes(self.folder)) < needed:
            say(f"warning: {self.folder} has {free:.0f} MB free, and these steps may need {needed:.0f} MB")

    def run(self, display):
        process = subprocess.Popen(self.command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   errors="replace")
        step = ""
        try:
            for line in process.stdout:
                if reported := STEP.match(line):
                    step = reported[3]
                    if not PREPARATIONS.search(step):
                        self.finish(step)
                        display.show(self, step)
                    if self.is_verbose:
                        display.write(f"{step}\n")
                    continue
                if line.startswith("FAILED: "):
                    self.failed.append(step)
                if self.failed or line.startswith("ninja: error"):
                    self.causes.update(cause for pattern, cause in CAUSES if pattern.search(line))
                if not line.startswith(("ninja: no work to do", "ninja: build stopped")):
                    display.write(line)
            status = process.wait()
        except KeyboardInterrupt:  # ninja receives it too, and removes what its steps have half written
            process.wait()
            status = 130
        display.clear()
        return status

    def explain(self, status):
        if status == 0:
            elapsed = time.monotonic() - self.begin
            say(f"built {self.done} step{'s' * (self.done != 1)} in {duration(elapsed)}" if self.planned else f"{self.folder} is up to date")
            return
        if status == 130:
            say("interrupted")
        for step in self.failed:
            say(f"this step failed, its output is above: {step}")
        if not self.failed and status != 130:
            say("the build could not start, its message is above")
        if self.causes["disk"] or free_megabytes(self.folder) < 20:
            say(f"a disk is full: {free_megabytes(self.folder):.0f} MB are free in {self.folder}, {free_megabytes(tempfile.gettempdir()):.0f} MB "
                f"in {tempfile.gettempdir()}. Free some space")
        elif self.causes["memory"]:
            say("a compiler ran out of memory. Close other programs, or allow one job: CMAKE_BUILD_PARALLEL_LEVEL=1")
        elif self.causes["permission"]:
            say(f"{self.folder} cannot be written. Was it made by another user?")
        left = max(0, self.planned - self.done) + len(self.failed)
        say(f"the same command continues the build: {left} of {self.planned} steps are left" if left else "then run the same command again")


class Terminal:
    """One line, which is rewritten."""

    def __init__(self):
        self.is_shown = False

    def show(self, build, step):
        text = f"{build.done}/{build.planned} steps, about {duration(build.seconds_left())} left: {step}"
        columns = shutil.get_terminal_size().columns
        sys.stderr.write(f"\r{text[:columns - 1]}\x1b[K")
        sys.stderr.flush()
        self.is_shown = True

    def clear(self):
        if self.is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self.is_shown = False

    def write(self, line):
        self.clear()
        sys.stdout.write(line)
        sys.stdout.flush()


class Log:
    """A line a minute."""

    def __init__(self):
        self.last = time.monotonic()

    def show(self, build, step):
        if (now := time.monotonic()) - self.last >= float(os.environ.get("GRAPNEL_PROGRESS_SECONDS", 60)):
            self.last = now
            say(f"{build.done} of {build.planned} steps after {duration(now - build.begin)}, about {duration(build.seconds_left())} left")

    def clear(self):
        pass

    def write(self, line):
        sys.stdout.write(line)
        sys.stdout.flush()


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    build = Build(sys.argv[1], sys.argv[2:])
    build.plan()
    build.announce()
    build.start()
    status = build.run(Terminal() if sys.stderr.isatty() else Log())
    build.explain(status)
    return status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
