"""A Keras callback that watches every tensor of training. This module needs TensorFlow."""

from __future__ import annotations

import os
import time

import tensorflow as tf  # type: ignore

from ._graph import DebugFolder, load
from ._tfgrapnel import DebugWatch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["TensorHealth"]


_roots: dict[str, int] = {}  # how often TensorFlow was set to write to each folder
_watching: TensorHealth | None = None

MODES = ("CURT_HEALTH", "CONCISE_HEALTH", "FULL_HEALTH", "FULL_TENSOR")


def _root(folder):
    """The folder under a name that TensorFlow has not used yet, since TensorFlow keeps the first writer for each name. The names of the
    writer's files contain the time in seconds."""
    known = os.path.realpath(folder)
    times = _roots.get(known, 0)
    _roots[known] = times + 1
    while times and any(f".{time.time():.0f}." in name for name in os.listdir(folder)):
        time.sleep(0.05)
    return os.path.join(folder, *["."] * times)


def _end_dumping():
    """Ends the recording, but does not close the writer: a function that was traced during the recording writes whenever it runs, and
    with a closed writer that would end the process."""
    from tensorflow.python.debug.lib import debug_events_writer  # type: ignore[import-untyped]

    writer = debug_events_writer.DebugEventsWriter
    close = writer.Close
    writer.Close = lambda self: None
    try:
        tf.debugging.experimental.disable_dump_debug_info()
    finally:
        writer.Close = close


class TensorHealth(tf.keras.callbacks.Callback):  # type: ignore
    """Records the health of every tensor of every step in a debug folder, and stops training at the first value that is not finite.

        health = TensorHealth("debug")
        model.fit(x, y, callbacks=[health])
        print(health.sentence)  # dense/Log (Log) made NaN x1 of 32 because ...

    dir: the folder, for `tfgrapnel.load`, `blame`, `doctor` and TensorBoard's Debugger V2.
    every: checks the recording each time after this many steps.
    tensor_debug_mode: what is recorded of a tensor, one of MODES; see tf.debugging.experimental.enable_dump_debug_info.

    sentence: the text of `blame` for the first bad tensor, also issued as a GrapnelWarning; None: everything was finite.
    first_bad: that tensor, as in the document of `blame`. step: the batch after which it was found, counted from 0 over all epochs.

    The training step is retraced without XLA for the recording, and once more with the model's own setting afterwards.
    """

    def __init__(self, dir: str | os.PathLike[str], *, every: int = 1, tensor_debug_mode: str = "FULL_HEALTH"):
        super().__init__()
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise ValueError(f"every: a number of steps was expected, not {every!r}")
        if tensor_debug_mode not in MODES:
            raise ValueError(f"tensor_debug_mode: a mode that records health was expected, {', '.join(MODES)}, not {tensor_debug_mode!r}")
        self.dir: str = os.fspath(dir)
        self.every = every
        self.tensor_debug_mode = tensor_debug_mode
        self.sentence: str | None = None
        self.first_bad: dict[str, Any] | None = None
        self.step: int = -1

    def _retrace(self, jit_compile):
        self.model.jit_compile = jit_compile
        self.model.make_train_function(force=True)

    def on_train_begin(self, logs: Any = None) -> None:
        global _watching

        if _watching is not None and _watching.params is self.params:
            raise ValueError("callbacks: one TensorHealth was expected: TensorFlow's debugger writes one folder at a time")
        _end_dumping()  # an error may have ended the previous training
        _watching = self
        os.makedirs(self.dir, exist_ok=True)
        self._jit_compile = getattr(self.model, "jit_compile", False)
        self._writer = tf.debugging.experimental.enable_dump_debug_info(
            _root(self.dir), tensor_debug_mode=self.tensor_debug_mode, circular_buffer_size=-1
        )
        self._watch, self._has_bad, self._next_reading = DebugWatch(self.dir), False, 0.0
        self._retrace(False)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.step += 1
        if (self.step + 1) % self.every == 0:
            self._look()

    def on_train_end(self, logs: Any = None) -> None:
        global _watching

        if self.sentence is None:
            self._next_reading = 0.0
            self._look()
        self._flush()
        _end_dumping()
        self._retrace(self._jit_compile)
        _watching = None

    def _flush(self):
        self._writer.FlushNonExecutionFiles()
        self._writer.FlushExecutionFiles()

    def _look(self):
        self._flush()
        self._has_bad |= self._watch.has_new_bad()
        begin = time.monotonic()
        if not self._has_bad or begin < self._next_reading:
            return
        self._has_bad = False
        folder = load(self.dir)
        assert isinstance(folder, DebugFolder)
        found = folder.blame()
        if found.first_bad is None:
            # Reading takes at most a tenth of the time: harmless values, such as a mask's -inf, may occur in each step, and the folder grows.
            self._next_reading = begin + 11 * (time.monotonic() - begin)
            return
        import warnings

        from ._errors import GrapnelWarning, stack_level

        self.first_bad = found.first_bad
        self.sentence = found.first_bad["text"]
        self.model.stop_training = True
        warnings.warn(f"training stops after step {self.step}: {self.sentence}", GrapnelWarning, stacklevel=stack_level())
