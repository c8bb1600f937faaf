"""Runs programs of this folder with TensorFlow's dumps switched on.

dump.py OUT [--only NAME...] [--format text|binary] [--onednn 0|1] [--log-level 0|1|3]

OUT/MODE/NAME/dumps gets the dumps, OUT/MODE/NAME/log.txt what the program wrote, both streams, and OUT/MODE/NAME/library.pb all
functions that TensorFlow has at its end. MODE is text_onednn1 and the like, with _log1 or _log3 at those levels. Without --format
and --onednn all four modes are made. Needs tensorflow-cpu 2.21. Folders that are there already are made anew.
"""
import argparse
import itertools
import os
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = ("dump", "folder")
PROGRAMS = sorted(p.stem for p in HERE.glob("*.py") if p.stem not in TOOLS and not p.stem.startswith("check_"))
# Nothing of TensorFlow runs before the program does, so its own configuration is still possible. Its variables are kept to the end,
# so that no function is dropped from the library before it is written.
START = """import runpy, sys
import tensorflow as tf
from tensorflow.python.eager import context
tf.debugging.set_log_device_placement(True)
library, sys.argv = sys.argv[1], sys.argv[2:]
kept = runpy.run_path(sys.argv[0], run_name="__main__")
graph = tf.compat.v1.get_default_graph().as_graph_def()
if tf.executing_eagerly():
    functions = context.context()
    graph = tf.compat.v1.GraphDef(versions=graph.versions)
    for name in sorted(functions.list_function_names()):
        if not name.startswith("__wrapped__"):  # a kernel that ran eagerly
            graph.library.function.append(functions.get_function_def(name))
with open(library, "wb") as file:
    file.write(graph.SerializeToString(deterministic=True))
"""


def environment(folder, form, onednn, level):
    return os.environ | {
        "TF_DUMP_GRAPH_PREFIX": str(folder), "TF_DUMP_GRAPH_NAME_FILTER": "*", "TF_DUMP_GRAPH_GROUPS": "main,graph_opt_pass",
        "TF_DUMP_GRAPH_FMT": {"text": "TXT", "binary": "BIN"}[form], "TF_ENABLE_ONEDNN_OPTS": onednn,
        "TF_CPP_VMODULE": "dump_graph=1,meta_optimizer=4", "TF_CPP_MIN_LOG_LEVEL": level, "CUDA_VISIBLE_DEVICES": "",
        "PYTHONHASHSEED": "0", "PYTHONUNBUFFERED": "1"}


def dump(name, to, form, onednn, level):
    shutil.rmtree(to, ignore_errors=True)
    (to / "dumps").mkdir(parents=True)
    started = time.monotonic()
    with open(to / "log.txt", "w") as log:
        command = [sys.executable, "-c", START, to / "library.pb", HERE / f"{name}.py"]
        done = subprocess.run(command, env=environment(to / "dumps", form, onednn, level), cwd=to, stdout=log,
                              stderr=subprocess.STDOUT, timeout=300)
    files = list((to / "dumps").iterdir())
    size = sum(f.stat().st_size for f in files) / 1e6
    print(f"{to}: {len(files)} dumps, {size:.1f} MB, {time.monotonic() - started:.0f} s"
          + (f", exit status {done.returncode}: see log.txt" if done.returncode else ""), flush=True)
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", nargs="+", choices=PROGRAMS, default=PROGRAMS)
    parser.add_argument("--format", nargs="+", choices=["text", "binary"], default=["text", "binary"])
    parser.add_argument("--onednn", nargs="+", choices=["0", "1"], default=["0", "1"])
    parser.add_argument("--log-level", choices=["0", "1", "3"], default="0")
    wanted = parser.parse_args()
    level = f"_log{wanted.log_level}" if wanted.log_level != "0" else ""
    good = [dump(name, wanted.out.resolve() / f"{form}_onednn{onednn}{level}" / name, form, onednn, wanted.log_level)
            for form, onednn, name in itertools.product(wanted.format, wanted.onednn, wanted.only)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
