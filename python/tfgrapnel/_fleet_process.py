"""Processes that inspect models: one for each requesting thread, kept for the next model."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_START = "import sys; sys.path.append(sys.argv[1]); from tfgrapnel._fleet_child import main; main(int(sys.argv[2]))"
_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LEAST_MEMORY = 100 * 10**6
_UNITS = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


class _Inspector:
    def __init__(self, memory):
        self.memory = memory
        command = [sys.executable, "-c", _START, _FOLDER, str(memory)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, task):
        """Sends a task and yields the lines of the answer; raises BrokenPipeError if the process ends meanwhile."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(task) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.endswith("\n"):
                yield line
        raise BrokenPipeError

    def end(self):
        """Ends the process and returns its exit status."""
        assert self.process.stdin is not None and self.process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.stdout.close()
        self.process.kill()
        return self.process.wait()


class Stopped(Exception):
    """A stop was requested."""


class Stop:
    """Stops the work of other threads: ends the processes that inspect models for them, and prevents that they start further ones."""

    def __init__(self):
        self._is_set = False
        self._busy: set[_Inspector] = set()

    def set(self):
        self._is_set = True
        for inspector in list(self._busy):
            inspector.process.kill()

    def demand_work(self):
        """Raises Stopped if a stop was requested."""
        if self._is_set:
            raise Stopped

    @contextlib.contextmanager
    def over(self, inspector):
        self._busy.add(inspector)  # comes before demand_work(), so that a stop in between ends this process too
        try:
            self.demand_work()
            yield
        except BrokenPipeError:
            self.demand_work()
            raise
        finally:
            self._busy.discard(inspector)


_idle: list[_Inspector] = []
os.register_at_fork(after_in_child=_idle.clear)


@atexit.register
def _end_all():
    while _idle:
        _idle.pop().end()


def _take(memory):
    while True:
        try:
            inspector = _idle.pop()
        except IndexError:  # there is no idle process, or another thread took it
            return _Inspector(memory)
        if inspector.memory == memory and inspector.process.poll() is None:
            return inspector
        inspector.end()


def bytes_of(size):
    """Parses "4G", "500M" or a number."""
    text = str(size).strip().upper().removesuffix("B")
    try:
        unit = _UNITS.get(text[-1:], 1)
        limit = int(float(text[:-1]) * unit) if text[-1:] in _UNITS else int(text)
    except (ValueError, OverflowError):
        raise ValueError(f"memory: a size such as '4G' or '500M' was expected, not {size!r}") from None
    if limit < _LEAST_MEMORY:
        least = f"{_LEAST_MEMORY // 10**6}M"
        raise ValueError(f"memory: {least} or more was expected, since the process itself needs that, not {size!r}")
    return limit


def look(task, shown, stop):
    """Inspects a model in another process; returns the columns of its row. task: the request to that process, with "path", "base", "timeout"
    and "memory"; shown: {local path: path in messages}; stop: a Stop, which raises Stopped."""
    inspector = _take(bytes_of(task["memory"]))
    row: dict[str, Any] = {}
    doing, is_done = "", False
    try:
        with stop.over(inspector):
            answers = inspector.ask(task)
            while not is_done:
                line = next(answers)
                for there, here in shown.items():
                    line = line.replace(json.dumps(there)[1:-1], json.dumps(here)[1:-1])
                columns = json.loads(line)
                doing = columns.pop("next", "")
                is_done = not doing
                for name, found in columns.items():
                    row[name] = row[name] + found if name in row else found
        _idle.append(inspector)
    except BrokenPipeError:
        row["error"] = (f"{doing}: " if doing else "") + _ending(inspector.process.wait(), task)
    finally:
        if not is_done:
            inspector.end()
    return row


def _ending(status, task):
    if status == -signal.SIGALRM:
        return f"took more than {task['timeout']:g} s (timeout=)"
    if status < 0:
        return f"ended by {signal.Signals(-status).name}; its memory was limited to {task['memory']} (memory=)"
    return f"ended with status {status}; its memory was limited to {task['memory']} (memory=)"
