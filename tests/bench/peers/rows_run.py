"""Networks run beside TensorFlow and ONNX Runtime: idle, beside processes that spin, from nothing, and the memory that it takes."""
import json
import math
import statistics
import subprocess
import time

import results
from measure import Failed, Worker, peak_memory, run, spinning, take_turns
from results import Family, Goal, Row, number, ratio

NETWORKS = ("lenet", "lstm_text", "transformer_small", "mobilenet_v2", "mobilenet_v3_large", "efficientnet_b0", "nasnet_mobile",
            "densenet121", "resnet50", "inception_v3", "xception", "unet")
AGREE = 0.02  # of the spread of what is expected
NEAR = 1.1    # a peer whose time is at most so many times the roofline is near it


def replay(bench, case, repeat):
    """Median seconds of a run, optimized first, whose outputs are as expected. It is grapnel that takes that time, so the whole may
    not have been shorter."""
    begin = time.perf_counter()
    command = bench.command("replay", case, "--optimize", "--repeat", str(repeat), "--json")
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in process.stdout.splitlines() if line.startswith("{")]
    answer = json.loads(lines[-1]) if lines else {"status": "error", "message": process.stderr[-300:]}
    if answer["status"] != "pass":
        raise Failed(f"grapnel replay {case}: {answer['status']}: {answer['message']}")
    median = answer["median_ms"] / 1e3
    if time.perf_counter() - begin < 0.9 * repeat * median:
        raise Failed(f"grapnel replay {case}: {repeat} runs of {results.seconds(median)} took less than that")
    return median


def agrees(far):
    if not far <= AGREE:
        raise Failed(f"outputs differ, by {number(far)} of their spread")


def sides_of(bench, name, peers=("TensorFlow", "ONNX Runtime")):
    """({side: function that gives the median seconds of a run}, {peer: why there is none}), each shown to compute what is expected.
    A turn has as many runs as take about half a second."""
    case, sides, missing = bench.network(name), {}, {}
    repeat = max(3, min(2000, math.ceil(0.5 / replay(bench, case, 3))))
    sides["grapnel"] = lambda: replay(bench, case, repeat)
    if "TensorFlow" in peers:
        agrees(bench.tensorflow.load(case=str(case)))
        sides["TensorFlow"] = lambda: bench.tensorflow.ask("runs", repeat=repeat)
    if "ONNX Runtime" in peers:
        try:
            agrees(bench.onnx.load(model=str(model_of(bench, name)), case=str(case)))
            sides["ONNX Runtime"] = lambda: bench.onnx.ask("runs", repeat=repeat)
        except Failed as error:
            missing["ONNX Runtime"] = str(error)
    return sides, missing


def model_of(bench, name):
    case = bench.case(name)
    return bench.onnx_model(bench.network(name) / "graph.pb", case["feeds"], case["fetches"])


def roofline(bench, name):
    """Seconds that a run takes at least: its operations at the best rate that a product of matrices reaches here, or its bytes at
    that of a copy."""
    costs = json.loads(bench.output("info", bench.network(name), "--costs", "--json"))["graphs"][0]["run"]
    flops, memory = bench.rates()
    return max(costs["flops"] / flops, costs["bytes"] / memory)


def idle(name):
    def measure_row(bench):
        sides, missing = sides_of(bench, name)
        found = take_turns(sides, 5.0)
        own, peers = found.pop("grapnel"), found | missing
        goals = [Goal(ratio(own, peers["TensorFlow"]), 0.7, "of TensorFlow")]
        if ratio(own, peers["ONNX Runtime"]) is not None:
            near = peers["ONNX Runtime"] <= NEAR * roofline(bench, name)
            goals.append(Goal(ratio(own, peers["ONNX Runtime"]), 1.05 if near else 1.0, "of ONNX Runtime"))
        return Row(name, own, peers, goals)
    return measure_row


def mean_of_networks(rows):
    """A last row: the mean of the ratios to ONNX Runtime."""
    ratios = [ratio(row.own, row.peers.get("ONNX Runtime", "")) for row in rows.values()]
    ratios = [r for r in ratios if r is not None]
    if len(ratios) > 1:
        mean = statistics.fmean(ratios)
        rows["run/mean"] = Row(f"mean of the ratios: {number(mean)}", "", {}, [Goal(mean, 0.85, "of ONNX Runtime")])


def beside(name, spinners):
    def measure_row(bench):
        with spinning(spinners):
            sides, _ = sides_of(bench, name, ("TensorFlow",))
            found = take_turns(sides, 3.0, least=2)
        own = found.pop("grapnel")
        return Row(f"{name}, {spinners} spinning", own, found, [Goal(ratio(own, found["TensorFlow"]), 0.9, "of TensorFlow")])
    return measure_row


def first(name):
    def measure_row(bench):
        case = bench.network(name)
        sides = {"grapnel": lambda: run(bench.command("replay", case, "--optimize")),
                 "TensorFlow": lambda: bench.tensorflow.ask("first", case=str(case))}
        missing = {}
        try:
            model = str(model_of(bench, name))
            sides["ONNX Runtime"] = lambda: bench.onnx.ask("first", model=model, case=str(case))
        except Failed as error:
            missing["ONNX Runtime"] = str(error)
        found = take_turns(sides, 6.0)
        own = found.pop("grapnel")
        return Row(name, own, found | missing, [Goal(own, 0.2, "s")] if name == "resnet50" else [])
    return measure_row


def memory(name):
    def measure_row(bench):
        case = bench.network(name)
        own, peers = peak_memory(bench.command("replay", case, "--optimize")) / 1e6, {}
        try:
            fresh = Worker(bench.onnx.command[0], bench.onnx.command[1])
            peers["ONNX Runtime"] = fresh.ask("memory", model=str(model_of(bench, name)), case=str(case)) / 1e6
            fresh.close()
        except Failed as error:
            peers["ONNX Runtime"] = str(error)
        share = ratio(own, peers["ONNX Runtime"])
        return Row(name, own, peers, [] if share is None else [Goal(share, 1.0, "of ONNX Runtime")])
    return measure_row


def megabytes(value):
    return value if isinstance(value, str) else f"{number(value)} MB"


FAMILIES = [
    Family("run", "A run",
           "`replay CASE --optimize --threads 2`: the median of consecutive runs, after a comparison of outputs. TensorFlow: a session "
           "with two threads and its optimizers; ONNX Runtime: the default session with two threads. Weights are random, from a seed.",
           {name: idle(name) for name in NETWORKS}, finish=mean_of_networks, has_busy=False),
    Family("beside", "A run beside processes that spin",
           "The same, while one, two or three other processes keep the two cores busy.",
           {f"{name}/{spinners}": beside(name, spinners) for name in NETWORKS for spinners in (1, 2, 3)}, has_busy=False),
    Family("first", "A first run",
           "Whole processes with the files in the page cache: open, optimize, pack weights, run, compare. TensorFlow: parse, import, make a "
           "session and run; ONNX Runtime: make a session and run; the import of their packages is not counted.",
           {name: first(name) for name in ("transformer_small", "mobilenet_v2", "nasnet_mobile", "resnet50")}),
    Family("memory", "Memory of a run",
           "The peak resident memory of the process in a first run, including weights and mapped files. ONNX Runtime: how much its process "
           "grows from before the session to after a run, with the default arena.",
           {name: memory(name) for name in NETWORKS}, unit=megabytes, has_busy=False),
]
