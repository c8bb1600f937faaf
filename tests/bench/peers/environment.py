"""What a run of the benchmarks has at hand: grapnel, the peers' Python environments and processes, made graphs and networks."""
import contextlib
import hashlib
import json
import os
import pathlib
import platform
import re
import resource
import subprocess
import sys
import time

import measure

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parent))
import made_graphs  # noqa: E402

SEED = 1
CONVERSION = 300  # seconds of a core's time that tf2onnx has for a graph: what else runs then decides nothing


def say(*words):
    print("bench:", *words, file=sys.stderr, flush=True)


def hash_of(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()[:8]


class Bench:
    """Everything is made when first asked for and kept in build/, under names that change with the scripts that make it."""

    def __init__(self, binary=ROOT / "build" / "release" / "bin" / "grapnel", busy=False):
        self.grapnel, self.busy = binary, busy
        self.folder = ROOT / "build" / "bench"
        self.folder.mkdir(parents=True, exist_ok=True)
        quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "TF_USE_LEGACY_KERAS": "0"}
        self.python = ROOT / ".venv" / "bin" / "python"
        self.peers_python = ROOT / "build" / "peers" / "bin" / "python"
        self.quiet = quiet
        self.tensorflow = measure.Worker(self.python, HERE / "tensorflow_worker.py", **quiet)
        self.onnx = measure.Worker(self.peers_python, HERE / "onnx_worker.py")
        self.seen = {}  # {(series, side): (largest size so far, what it took)}
        self.seconds_making = 0.0
        self.traced = None  # what trace_speed.py said
        self._start = self._rates = self._machine = None

    def close(self):
        self.tensorflow.close()
        self.onnx.close()

    def make_environment(self):
        """ONNX Runtime and what converts for it, in build/peers. TensorFlow is that of ./x venv; JAX makes its own."""
        ready = self.peers_python.parents[1] / f"ready-{hash_of(HERE / 'requirements.txt')}"
        if ready.exists():
            return
        say("making build/peers, with ONNX Runtime and tf2onnx from PyPI")
        subprocess.run([sys.executable, "-m", "venv", "--clear", ready.parent], check=True)
        pip = [self.peers_python, "-m", "pip", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--quiet", "-r", HERE / "requirements.txt"], check=True)
        ready.touch()

    @contextlib.contextmanager
    def making(self):
        """What is made once and kept is not of the time that measuring may take."""
        begin = time.monotonic()
        try:
            yield
        finally:
            self.seconds_making += time.monotonic() - begin

    def graph(self, kind, nodes):
        """A made graph's file."""
        folder = self.folder / f"made-{hash_of(HERE.parent / 'made_graphs.py')}"
        folder.mkdir(exist_ok=True)
        path = folder / f"{kind}-{nodes}.pb"
        if not path.exists():
            with self.making():
                made_graphs.write(kind, nodes, path.with_suffix(".part"), SEED)
            os.replace(path.with_suffix(".part"), path)
        return path

    def network(self, name):
        """A case folder: graph.pb, case.json, feeds, and the outputs that TensorFlow gives."""
        folder = self.folder / f"networks-{hash_of(HERE / 'networks.py')}" / name
        if not (folder / "case.json").exists():
            say("making", name, "with TensorFlow")
            with self.making():
                run = subprocess.run([self.python, HERE / "networks.py", folder.parent, name], env=os.environ | self.quiet,
                                     capture_output=True, text=True, check=False)
            if run.returncode:
                raise measure.Failed(f"cannot make {name}: {run.stderr.strip()[-300:]}")
        return folder

    def onnx_model(self, graph, feeds=("x",), fetches=("y",)):
        """What tf2onnx makes of a GraphDef, beside it. Failed where it makes nothing in the time that a peer has."""
        model, failed = graph.with_suffix(".onnx"), graph.with_suffix(".not_onnx")
        if not model.exists() and not failed.exists():
            say("converting", graph.parent.name, graph.name)
            command = [self.peers_python, HERE / "to_onnx.py", graph, model, ",".join(feeds), ",".join(fetches)]
            with self.making():
                limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (CONVERSION, CONVERSION + 5))  # noqa: E731
                run = subprocess.run(command, env=os.environ | self.quiet, capture_output=True, text=True, check=False, preexec_fn=limit)
            if run.returncode < 0:
                failed.write_text(f"not in {CONVERSION} s of a core's time")
            elif run.returncode:
                failed.write_text(run.stderr.strip().splitlines()[-1][:200])
        if failed.exists():
            raise measure.Failed("not converted: " + failed.read_text())
        return model

    def optimized(self, kind, nodes):
        """What `opt` makes of a made graph, made now if it is not there."""
        source = self.graph(kind, nodes)
        path = source.with_suffix(".opt.pb")
        if not path.exists():
            measure.run(self.command("opt", source, "-o", path, "--quiet", "--fetch", "y"), limit=600)
        return path

    def case(self, name):
        return json.loads((self.network(name) / "case.json").read_text())

    def output(self, *arguments):
        return subprocess.run([self.grapnel, *arguments], check=True, capture_output=True, text=True).stdout

    def command(self, *arguments, threads=2):
        return [self.grapnel, *arguments, "--threads", str(threads)]

    def start(self):
        """Seconds of a process with nearly nothing to do."""
        if self._start is None:
            tiny = ROOT / "testdata" / "harmonic_mean" / "graph.pb"
            self._start = measure.take_turns({"own": lambda: measure.run([self.grapnel, "info", tiny])}, 0.5, most=31)["own"]
        return self._start

    def rates(self):
        """(operations, bytes) a second that this machine reaches at best."""
        if self._rates is None:
            self._rates = self.tensorflow.ask("rates")
        return self._rates

    def empty_memory(self):
        """The most bytes resident of a process with nearly nothing to do."""
        return measure.peak_memory([self.grapnel, "info", ROOT / "testdata" / "harmonic_mean" / "graph.pb"])

    def taken(self):
        """The line that the page has on where a row is measured. To be asked before anything of it runs."""
        if not self._machine:
            cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
            self._machine = f"Taken on {os.cpu_count()} cores ({cpu[1] if cpu else platform.machine()}), {self.versions()}"
        noisy = "; **other work ran beside it, so this is not final**" if measure.others_busy() > 0.1 else ""
        return self._machine + noisy

    def versions(self):
        def of(python, *packages):
            script = "import importlib.metadata as m, sys; print(', '.join(m.version(p) for p in sys.argv[1:]))"
            run = subprocess.run([python, "-c", script, *packages], capture_output=True, text=True, check=False)
            return run.stdout.strip().split(", ") if run.returncode == 0 else ["?"] * len(packages)

        tensorflow, = of(self.python, "tensorflow-cpu")
        runtime, converter, onnx = of(self.peers_python, "onnxruntime", "tf2onnx", "onnx")
        return f"TensorFlow {tensorflow}, ONNX Runtime {runtime} (tf2onnx {converter}, onnx {onnx})"
