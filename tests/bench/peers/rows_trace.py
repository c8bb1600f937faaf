"""Tracing, gradients and eager ops beside TensorFlow and JAX: the figures of trace_speed.py."""
import json
import subprocess
import sys
import tempfile

import growing
import trace_speed
from measure import Failed
from results import Family, Row

SIZE = 10_000  # ops at which the peers are compared


def figures(bench):
    """{side: {what: seconds}} of one run of trace_speed.py for all rows."""
    if not bench.traced:
        with tempfile.NamedTemporaryFile("r", suffix=".json") as out:
            command = [sys.executable, trace_speed.__file__, "--full", "--json", out.name]
            process = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
            if process.returncode:
                raise Failed("trace_speed.py failed")
            bench.traced = json.load(out)
    return bench.traced


def program(kind, name, size):
    def measure_row(bench):
        sides, key = figures(bench), f"{kind}/{name}/{size}"
        peers = {label: sides[side][key] for label, side in (("TensorFlow", "tensorflow"), ("JAX", "jax")) if key in sides[side]}
        return Row(f"{kind}, {name}, {size:,} ops", sides["grapnel"][key], peers, size=size)
    return measure_row


def eager(op):
    def measure_row(bench):
        own, tensorflow, jax = (figures(bench)[side][f"eager/{op}"] for side in ("grapnel", "tensorflow", "jax"))
        return Row(op, own, {"TensorFlow": tensorflow, "JAX": jax})
    return measure_row


def add_exponents(rows):
    """Rows have time a node; what grows is that of all nodes."""
    whole = {i: Row(row.work, row.own * row.size, size=row.size) for i, row in rows.items()}
    growing.add_exponents(whole)
    for row_id, row in rows.items():
        row.exponent = whole[row_id].exponent


FAMILIES = [
    Family("trace", "Tracing and gradients, per node",
           "`tests/bench/trace_speed.py`: CPU time divided by nodes. A trace ends with the verified module, in TensorFlow with the concrete "
           "function, in JAX with the jaxpr; a gradient is timed alone.",
           {f"{kind}_{name}/{size}": program(kind, name, size)
            for kind in ("trace", "gradient") for name in trace_speed.PROGRAMS for size in growing.SIZES},
           finish=add_exponents, has_busy=False),
    Family("eager", "An eager op", "On small tensors, compared with TensorFlow's raw op and with jax.lax or jax.numpy. CPU time of a call.",
           {op: eager(op) for op in trace_speed.EAGER_OPS}, has_busy=False),
]
