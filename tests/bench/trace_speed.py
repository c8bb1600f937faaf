"""Times tracing, gradients and eager ops of grapnel beside TensorFlow and JAX, in one run, and prints tables for docs/.

usage: trace_speed.py [--bin build/release/bin] [--ops N...] [--repeat N] [--full] [--json FILE]

All run the same programs: those of tests/trace/sized_programs.h named below, and the ops of eager_bench.cpp. TensorFlow is the one in
.venv; JAX has a separate virtual environment in build/jax, because they need different versions of numpy. Each side is a process, one
after the other, REPEAT times in turns; a figure is the median over the turns. --full: grapnel up to 1,000,000 ops.

Times. Trace: grapnel from the construction of the Tracer to the verified module; TensorFlow get_concrete_function; JAX make_jaxpr, which
makes no graph but is its nearest equivalent. Divided by the nodes of the graph, or equations of the jaxpr. Gradient: for grapnel and
TensorFlow the tape's gradient alone, for JAX make_jaxpr of the gradient minus that of the function; divided by the nodes of the
program and of its gradient. Eager: one op on small tensors, with tf.raw_ops in TensorFlow, jax.lax or jax.numpy in JAX. All times are
CPU time, which depends little on other load.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PROGRAMS = ("chain", "layers", "wide")
EAGER_OPS = ("AddV2", "MatMul", "Mul", "Tanh", "Relu", "Softmax", "Sum", "Reshape", "Transpose", "ConcatV2", "GatherV2", "StridedSlice", "Cast",
             "Unpack")


def program(name, size, tanh, add_n):
    """A function of x, a float[8,8]."""
    def chain(x):
        y = x
        for i in range(size):
            y = y + x if i % 2 == 0 else y * x
        return y

    def layers(x):
        y = x
        for _ in range(size // 4):
            y = tanh(y @ x + x) * y
        return y

    def wide(x):
        return add_n([tanh(x) for _ in range(size)])

    return {"chain": chain, "layers": layers, "wide": wide}[name]


def eager_times(calls, wait=lambda result: None, count=5000, repeat=5):
    """{op: seconds a call}, the least of several."""
    times = {}
    for name, call in calls.items():
        for _ in range(200):
            call()
        best = float("inf")
        for _ in range(repeat):
            begin = time.process_time()
            for _ in range(count):
                result = call()
            wait(result)
            best = min(best, (time.process_time() - begin) / count)
        times[f"eager/{name}"] = best
    return times


def tensorflow_times(sizes):
    import numpy as np
    import tensorflow as tf
    spec, times = tf.TensorSpec([8, 8], tf.float32), {}
    tf.function(lambda x: tf.tanh(x @ x)).get_concrete_function(spec)  # what is done once
    for name in PROGRAMS:
        for size in sizes:
            fn = program(name, size, tf.tanh, tf.add_n)
            seconds = {}

            def with_gradient(x):
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    y = fn(x)
                begin = time.process_time()
                gradient = tape.gradient(y, x)
                seconds["gradient"] = time.process_time() - begin
                return gradient

            begin = time.process_time()
            graph = tf.function(fn, autograph=False).get_concrete_function(spec).graph
            took = time.process_time() - begin
            times[f"trace/{name}/{size}"] = took / len(graph.get_operations())
            graph = tf.function(with_gradient, autograph=False).get_concrete_function(spec).graph
            times[f"gradient/{name}/{size}"] = seconds["gradient"] / len(graph.get_operations())
    raw, ones = tf.raw_ops, lambda *dims: tf.constant(np.ones(dims, np.float32))
    ints = lambda *values: tf.constant(values, tf.int32)  # noqa: E731
    scalar, vector, matrix, pair = ones(), ones(8), ones(8, 8), ones(2, 2)
    wide, four, tall, zero = ones(2, 4), ones(4), ones(8, 2), tf.constant(0)
    eight, first, swapped, picked = ints(8), ints(0), ints(1, 0), ints(1, 3)
    begin_at, end_at, step = ints(1), ints(5), ints(2)
    return times | eager_times({
        "AddV2": lambda: raw.AddV2(x=scalar, y=scalar),
        "MatMul": lambda: raw.MatMul(a=pair, b=pair),
        "Mul": lambda: raw.Mul(x=matrix, y=vector),
        "Tanh": lambda: raw.Tanh(x=vector),
        "Relu": lambda: raw.Relu(features=vector),
        "Softmax": lambda: raw.Softmax(logits=wide),
        "Sum": lambda: raw.Sum(input=matrix, axis=first),
        "Reshape": lambda: raw.Reshape(tensor=wide, shape=eight),
        "Transpose": lambda: raw.Transpose(x=wide, perm=swapped),
        "ConcatV2": lambda: raw.ConcatV2(values=[four, four], axis=zero),
        "GatherV2": lambda: raw.GatherV2(params=tall, indices=picked, axis=zero),
        "StridedSlice": lambda: raw.StridedSlice(input=vector, begin=begin_at, end=end_at, strides=step),
        "Cast": lambda: raw.Cast(x=vector, DstT=tf.float64),
        "Unpack": lambda: raw.Unpack(value=wide, num=2),
    })


def jax_times(sizes):
    import jax
    import jax.numpy as jnp
    x, times = jnp.ones((8, 8), jnp.float32), {}
    sys.setrecursionlimit(1_000_000)

    def add_n(values):
        return sum(values[1:], values[0])

    for name in PROGRAMS:
        for size in sizes:
            fn = program(name, size, jnp.tanh, add_n)
            begin = time.process_time()
            count = len(jax.make_jaxpr(fn)(x).eqns)
            took = time.process_time() - begin
            times[f"trace/{name}/{size}"] = took / count
            begin = time.process_time()
            both = len(jax.make_jaxpr(jax.grad(lambda x: fn(x).sum()))(x).eqns)
            times[f"gradient/{name}/{size}"] = max(0, time.process_time() - begin - took) / both
    lax, scalar, vector, pair = jax.lax, jnp.float32(1) + 0, jnp.ones(8), jnp.ones((2, 2))
    row, wide, four, tall, picked = jnp.ones((1, 8)), jnp.ones((2, 4)), jnp.ones(4), jnp.ones((8, 2)), jnp.array([1, 3])
    return times | eager_times({
        "AddV2": lambda: lax.add(scalar, scalar),
        "MatMul": lambda: lax.dot(pair, pair),
        "Mul": lambda: jnp.multiply(x, row),
        "Tanh": lambda: lax.tanh(vector),
        "Relu": lambda: jax.nn.relu(vector),
        "Softmax": lambda: jax.nn.softmax(wide),
        "Sum": lambda: jnp.sum(x, axis=0),
        "Reshape": lambda: lax.reshape(wide, (8,)),
        "Transpose": lambda: lax.transpose(wide, (1, 0)),
        "ConcatV2": lambda: lax.concatenate([four, four], 0),
        "GatherV2": lambda: jnp.take(tall, picked, axis=0),
        "StridedSlice": lambda: lax.slice(vector, (1,), (5,), (2,)),
        "Cast": lambda: lax.convert_element_type(vector, jnp.bfloat16),
        "Unpack": lambda: jnp.split(wide, 2),
    }, wait=lambda result: jax.block_until_ready(result), count=1000)


def benchmarks(program_path, pattern, *more):
    out = subprocess.run([program_path, f"--benchmark_filter={pattern}", "--benchmark_format=json", *more], check=True, capture_output=True,
                         text=True).stdout
    return json.loads(out)["benchmarks"]


def grapnel_times(folder, sizes):
    times = {}
    names, of_sizes = "|".join(PROGRAMS), "|".join(map(str, sizes))
    for run in benchmarks(os.path.join(folder, "grapnel_trace_bench"), f"^(trace|gradient)/({names})/({of_sizes})/", "--benchmark_min_time=0.05"):
        times[run["name"].removesuffix("/manual_time")] = run["real_time"] / 1e3 / run["nodes"]
    for run in benchmarks(os.path.join(folder, "grapnel_eager_bench"), "^(Kernel|Eager|Taped)/", "--benchmark_min_time=0.05"):
        kind, name = run["name"].split("/")[:2]
        times[f"{kind.lower()}/{name}"] = run["real_time" if kind == "Taped" else "cpu_time"] / 1e9
    return times


def jax_python():
    python = os.path.join(ROOT, "build", "jax", "bin", "python")
    if not os.path.exists(python):
        print("making build/jax, with JAX from PyPI", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", os.path.join(ROOT, "build", "jax")], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "jax[cpu]"], check=True)
    return python


def side_times(python, side, sizes):
    env = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu"}
    out = subprocess.run([python, os.path.abspath(__file__), "--side", side, "--ops", *map(str, sizes)], check=True, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True, env=env).stdout
    return json.loads(out.splitlines()[-1])


def table(title, kind, rows, sides, others):
    print(f"\n| {title} | grapnel | TensorFlow | JAX | TensorFlow/grapnel | JAX/grapnel |\n|---|---|---|---|---|---|")
    for row in rows:
        key = f"{kind}/{row}"
        own, other = sides["grapnel"].get(key), [sides[side].get(key) for side in others]
        shown = [f"{t * 1e6:.3g}" if t else "" for t in [own, *other]]
        ratios = [f"{t / own:.3g}" if own and t else "" for t in other]
        print("|", " | ".join([row.replace("/", ", "), *shown, *ratios]), "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "release", "bin"))
    parser.add_argument("--ops", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--json", help="write {side: {what: seconds}} there too")
    parser.add_argument("--side", choices=("tensorflow", "jax"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.side:
        print(json.dumps((tensorflow_times if args.side == "tensorflow" else jax_times)(args.ops)))
        return
    own_sizes = args.ops + ([100_000, 1_000_000] if args.full else [])
    runs = {
        "grapnel": lambda: grapnel_times(args.bin, own_sizes),
        "tensorflow": lambda: side_times(os.path.join(ROOT, ".venv", "bin", "python"), "tensorflow", args.ops),
        "jax": lambda: side_times(jax_python(), "jax", args.ops),
    }
    found = {side: [] for side in runs}
    for turn in range(args.repeat):
        for side, run in runs.items():
            print(f"turn {turn + 1} of {args.repeat}: {side}", file=sys.stderr)
            found[side].append(run())
    sides = {side: {key: statistics.median(turn[key] for turn in turns) for key in turns[0]} for side, turns in found.items()}
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(sides, file)
    rows = [f"{name}/{size}" for name in PROGRAMS for size in own_sizes]
    table("tracing, us a node", "trace", rows, sides, ("tensorflow", "jax"))
    table("gradient, us a node", "gradient", rows, sides, ("tensorflow", "jax"))
    table("an eager op, us", "eager", EAGER_OPS, sides, ("tensorflow", "jax"))
    print("\n| an eager op, us | kernel | beyond it | beyond it, with a tape |\n|---|---|---|---|")
    for name in EAGER_OPS:
        kernel, eager, taped = (sides["grapnel"][f"{kind}/{name}"] * 1e6 for kind in ("kernel", "eager", "taped"))
        print(f"| {name} | {kernel:.2f} | {eager - kernel:.2f} | {taped - kernel:.2f} |")


if __name__ == "__main__":
    main()
