"""ONNX Runtime, asked by measure.Worker: default sessions with two threads, made from the file."""
import gc
import os
import time

import onnxruntime

import measure
from cases import distance, read_case

loaded = {}


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def make(model):
    """Seconds to make a session."""
    begin = time.perf_counter()
    made = session(model)
    took = time.perf_counter() - begin
    del made
    gc.collect()
    return took


def load(model, case):
    """Makes a session to be timed, and says how far its outputs are from those that are expected, as a part of their spread."""
    feeds, fetches = read_case(case)
    made = session(model)
    far = distance(fetches, made.run(list(fetches), feeds))
    loaded.update(call=lambda: made.run(list(fetches), feeds))
    return far


def runs(repeat):
    return measure.timed(loaded["call"], repeat)


def first(model, case):
    """Seconds to make a session and run it once."""
    feeds, fetches = read_case(case)
    begin = time.perf_counter()
    made = session(model)
    made.run(list(fetches), feeds)
    took = time.perf_counter() - begin
    del made
    gc.collect()
    return took


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def memory(model, case):
    """Bytes by which this process, which must be new, grows from before the session to after a run."""
    feeds, fetches = read_case(case)
    before = resident()
    made = session(model)
    made.run(list(fetches), feeds)
    return resident() - before


if __name__ == "__main__":
    measure.serve({"ready": lambda: True, "make": make, "load": load, "runs": runs, "first": first, "memory": memory})
