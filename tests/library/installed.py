#!/usr/bin/env python3
"""Installs a build to a folder of its own, moves that, and builds and runs docs/examples against it as a user would: by CMake
with the shared and with the static libraries, and by pkg-config; plugins go into the installed binary.

usage: installed.py BUILD_FOLDER
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "docs" / "examples"
COLLATZ = "1 takes 0 steps\n6 takes 8 steps\n27 takes 111 steps\n97 takes 118 steps\n"


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check(what, got, *wanted):
    for text in wanted:
        if text not in got:
            sys.exit(f"{what}: '{text}' was expected, and this came:\n{got}")


# The output of each program of docs/examples. Static programs are large and slow to link: only those that load modules, and one other.
PROGRAMS = {
    "harmonic_mean": ["HarmonicMean: float[] 1.714", "Min is gone\n", "before_model_pruner.pbtxt: 11 nodes, with Min\n",
                      "after_model_pruner.pbtxt: 9 nodes, without Min\n", "min: 1\nHarmonicMeanPrint: float[] 1.714", "Min is kept\n",
                      "after_MetaOptimizer.pbtxt: 11 nodes, with Min\n"],
    "collatz": [COLLATZ],
    "loop_values": ["step 0: 1.5\n", "step 4: 1.41421", "root 1.4142 of 1.5000 1.4167 1.4142"],
    "layer_outputs": ["layer 1: [2,8], 9 of 16 are off", "layer 3: [2,3], 0 of 6"],
    "assertions": ["mean 2.0000\n", "the run ends: ", "a geometric mean is of positive numbers",
                   "assert_rank: 'x:0' has shape [3,3], rank 1 was expected: a vector"],
    "eager_steps": ["step 1: Exp (Exp), line 18: float[3] [2.71828175,inf,20.085537]", "op 'Exp': its output is not finite",
                    "step 2: sub (Sub), line 25: float[3] [-99,0,-97]", "result: float[3] ["],
    "nan_hunt": ["loss nan", 'output 0 of graph op "Log"', "nan_hunt.cpp:45 in Naive", "Log (Log): of 500 elements 0 are NaN",
                 "mul (Mul): of 500", "With the probabilities clipped", "unseen digits: 50 of 50 are right"],
    "attention": ["head 0 looks at", "128 of 128 words are right", "axis 1 down, axis 2 across, 2 tiles by axis 0"],
    "mirrored": ["device:CPU:3 ran ", "step 199: loss 0.0000", "w of device 3: float[5,1] [", "copies are equal, and equal those of one device"],
    "train_mlp": ["step 0: loss", "unseen digits: 20 of 20 are right"],
}
STATIC = ["harmonic_mean", "attention", "train_mlp"]


def check_programs(folder, how, programs):
    for name in programs:
        written = {"harmonic_mean": [folder / "dumps"], "attention": [folder], "train_mlp": [folder / "trained_mlp"]}.get(name, [])
        check(f"{name}, {how}", run(folder / name, *written), *PROGRAMS[name])
    for picture in ("attention_before.png", "attention_after.png"):
        check(f"{picture}, {how}", (folder / picture).read_bytes()[:8].hex(), b"\x89PNG\r\n\x1a\n".hex())


def check_modules(folder, programs):
    """Programs of one folder, linked at the same time, make the same links to the modules: none may fail for the others."""
    check("modules of static programs", " ".join(os.listdir(folder)), "grapnel_onednn.so", "grapnel_eigen.so")
    linked = [run("ninja", "-C", folder, "-t", "commands", "-s", name).replace("\n", " && ").split(" && ") for name in programs]
    placed = [" && ".join(command for command in commands if re.search(r"-E (create_symlink|rename) ", command)) for commands in linked]
    check("how modules are placed", placed[0], "grapnel_onednn.so")
    with concurrent.futures.ThreadPoolExecutor(len(placed)) as threads:
        list(threads.map(lambda command: run("sh", "-c", command), placed * 20))
    check("modules", (folder / "grapnel_onednn.so").readlink().name, "grapnel_onednn.so")


def check_plugins(grapnel, folder, work):
    graph = work / "reversed.gtxt"
    graph.write_text("fetch %y\n%x = Placeholder {dtype=float, shape=[3]}\n%a = ReverseV2(%x, [0])\n%b = ReverseV2(%a, [0])\n"
                     "%y = Neg(%b)\n")
    plugin = folder / "plugin_pass.so"
    check("opt", run(grapnel, "opt", graph, "--plugin", plugin, "--print"), "%y = Neg(%x)")
    check("passes", run(grapnel, "passes", "--plugin", plugin), "reverse_remover", f"of {plugin}")
    mean = run(grapnel, "trace", EXAMPLES / "harmonic_mean.cpp:HarmonicMean")
    check("trace", mean, "%truediv_1 = RealDiv(")


def check_loading(work, plugin, faulty, paths):
    """A program of C++'s other compiler, with libgrapnel.so, loads plugins."""
    graph = work / "reversed.gtxt"
    check("load_plugin", run(work / "load_plugin", graph, "reverse_remover", plugin, plugin, env=paths), "loaded\nloaded\n1 rewrites")
    failed = run(work / "load_plugin", graph, "failer", faulty / "throws.so", faulty / "fault4.so", faulty / "fault4.so", env=paths)
    check("load_plugin", str(failed.count("NotThere(int)")), "2")  # a plugin that failed fails again
    check("load_plugin", failed, "loaded\nrefused: ", "text: pass 'failer': ", "a pass refused", "NotThere(int)")
    failed = run(work / "load_plugin", graph, "thrower", faulty / "throws.so", env=paths)
    check("load_plugin", failed, "text: pass 'thrower': ", "a pass threw this")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        run("cmake", "--install", build, "--prefix", work / "first")
        prefix = work / "moved"
        (work / "first").rename(prefix)  # nothing may remember where it was
        grapnel = prefix / "bin" / "grapnel"
        check("--version", run(grapnel, "--version"), "grapnel 0.")

        for how, option in (("shared", "OFF"), ("static", "ON")):
            into = work / how
            run("cmake", "-S", EXAMPLES, "-B", into, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DSTATIC={option}")
            plugins = ["plugin_pass"] if how == "shared" else []
            programs = list(PROGRAMS) if how == "shared" else STATIC
            run("cmake", "--build", into, "--target", *programs, *plugins)
            check_programs(into, how, programs)
            if how == "shared":
                check_plugins(grapnel, into, work)
        check_modules(work / "static", STATIC)

        libraries = next(prefix.glob("lib*/pkgconfig"))
        flags = run("pkg-config", "--cflags", "--libs", "grapnel", env=os.environ | {"PKG_CONFIG_PATH": str(libraries)}).split()
        run("c++", "-std=c++20", EXAMPLES / "collatz.cpp", *flags, "-o", work / "collatz")
        paths = os.environ | {"LD_LIBRARY_PATH": str(libraries.parent)}
        check("collatz, pkg-config", run(work / "collatz", env=paths), COLLATZ)
        run("c++", "-std=c++20", ROOT / "tests" / "library" / "load_plugin.cpp", *flags, "-o", work / "load_plugin")
        check_loading(work, work / "shared" / "plugin_pass.so", build / "plugins", paths)
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
