"""Timing: processes, work done by a peer's process, sides in turns, memory, other work beside it, and how time grows with size."""
import contextlib
import json
import math
import os
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

LIMIT = 120  # seconds that a peer has for one work
ANSWER = b"answer: "


class TooLong(Exception):
    pass


class Failed(Exception):
    pass


def run(command, limit=LIMIT, fine=(0,)):
    """Seconds of a whole process, from making it to its end, its output thrown away. An exit code that is not `fine` is Failed, with
    what it said."""
    command = [os.fspath(part) for part in command]
    with tempfile.TemporaryFile() as said, open(os.devnull, "r+b") as null:
        streams = [(os.POSIX_SPAWN_DUP2, file.fileno(), stream) for stream, file in enumerate((null, null, said))]
        begin = time.perf_counter()
        pid = os.posix_spawnp(command[0], command, os.environ, file_actions=streams)
        timer = threading.Timer(limit, os.kill, (pid, signal.SIGKILL))
        timer.start()
        _, status = os.waitpid(pid, 0)
        seconds = time.perf_counter() - begin
        timer.cancel()
        code = os.waitstatus_to_exitcode(status)
        if code == -signal.SIGKILL and seconds >= limit:
            raise TooLong
        if code not in fine:
            said.seek(0)
            raise Failed(f"{' '.join(command[:3])} ended with {code}: {' '.join(said.read().decode(errors='replace').split())[-300:]}")
        return seconds


def peak_memory(command, limit=LIMIT, fine=(0,)):
    """The most bytes that a process had resident, files that it maps included. GNU time is small, so that a process made by it
    does not begin with this one's pages."""
    with tempfile.NamedTemporaryFile("r") as out:
        run(["/usr/bin/time", "-f", "%M", "-o", out.name, *command], limit, fine)
        return 1024 * int(out.read().split()[-1])


def others_busy(seconds=0.4):
    """The part of all cores' time that is in use, while this process waits."""
    def times():
        with open("/proc/stat", encoding="ascii") as file:
            fields = [int(word) for word in file.readline().split()[1:9]]
        return sum(fields), fields[3] + fields[4]

    whole, rested = times()
    time.sleep(seconds)
    whole_now, rested_now = times()
    return 1 - (rested_now - rested) / max(1, whole_now - whole)


@contextlib.contextmanager
def spinning(count):
    """`count` processes that never rest, for as long as this lasts."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        time.sleep(0.2 if count else 0)
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


class Worker:
    """A peer in a process of its own, which reads requests as lines of JSON and answers each with one. It is started when first
    asked, and ended when it took too long."""

    def __init__(self, python, script, **env):
        self.command, self.env, self.process = [os.fspath(python), os.fspath(script)], os.environ | env, None
        self.loaded = None  # what it was last told to load, until it ends

    def ask(self, work, limit=LIMIT, **arguments):
        if not self.process:
            self.process = subprocess.Popen(self.command, env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, bufsize=0)
            self.ask("ready", 300)
        try:
            self.process.stdin.write((json.dumps({"work": work} | arguments) + "\n").encode())
            answer = self._answer(time.monotonic() + limit)
        except (TooLong, OSError):
            self.close()
            raise
        if answer is None:
            self.close()
            raise Failed(f"the process died at '{work}'")
        if isinstance(answer, dict) and "error" in answer:
            raise Failed(answer["error"])
        return answer

    def _answer(self, end):
        """The next answer; what libraries print before the first is passed over. None where the process has ended."""
        text, out = b"", self.process.stdout
        while not text.endswith(b"\n") or not text.splitlines()[-1].startswith(ANSWER):
            if not select.select([out], [], [], max(0, end - time.monotonic()))[0]:
                raise TooLong
            part = os.read(out.fileno(), 1 << 16)
            if not part:
                return None
            text += part
        return json.loads(text.splitlines()[-1].removeprefix(ANSWER))

    def close(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = self.loaded = None

    def load(self, **arguments):
        """The answer to 'load', which is asked again only where it was something else before."""
        if not self.loaded or self.loaded[0] != arguments:
            self.loaded = arguments, self.ask("load", **arguments)
        return self.loaded[1]


def serve(works):
    """The other end of a Worker: answers requests by functions {name: function(**arguments)} until there are no more. What they
    print goes to stderr."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = works[request.pop("work")](**request)
        except Exception as error:  # pylint: disable=broad-except
            answer = {"error": f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"}
        print(ANSWER.decode() + json.dumps(answer), file=out, flush=True)


def timed(call, repeat):
    """The median seconds of a call in this process."""
    seconds = []
    for _ in range(repeat):
        begin = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds)


def take_turns(sides, budget=10.0, least=3, most=15):
    """{name: median seconds, or why there is none} of sides {name: function that returns seconds}, one after the other in turns, so
    that what else the machine does falls on all alike. A side takes turns until it has had `budget` seconds, and at least `least`
    unless one alone takes that long. Where grapnel itself gives no time, that is Failed."""
    found, spent, ended = {name: [] for name in sides}, dict.fromkeys(sides, 0.0), {}
    for _ in range(most):
        for name, side in sides.items():
            had = len(found[name])
            if name in ended or (had and spent[name] >= budget and (had >= least or spent[name] / had >= budget)):
                continue
            begin = time.perf_counter()
            try:
                found[name].append(side())
            except (TooLong, Failed) as error:
                if name == "grapnel":
                    raise
                ended[name] = str(error) or f"over {LIMIT} s"
            spent[name] += time.perf_counter() - begin
    return {name: ended.get(name) or statistics.median(found[name]) for name in sides}


def exponent(sizes, seconds, start=0.0):
    """The power of size by which time grows: the slope of the line nearest to (log size, log(seconds - start)), `start` what a process
    takes that has nothing to do. None where fewer than two points have more than that."""
    points = [(math.log(n), math.log(s - start)) for n, s in zip(sizes, seconds) if isinstance(s, (int, float)) and s > 1.05 * start]
    if len(points) < 2:
        return None
    mean_x, mean_y = (statistics.fmean(axis) for axis in zip(*points))
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
