#!/usr/bin/env python3
"""Optimizes random graphs under every field of TensorFlow's RewriterConfig, with TensorFlow's Grappler and with `grapnel opt`, and compares
the graphs.

usage: rewriter_configs.py GRAPNEL SEED COUNT [--only TEXT]

TF_ENABLE_ONEDNN_OPTS=0 or =1 chooses which of its two optimizers TensorFlow is, and which `grapnel opt` imitates. Each config sets one
field, to each of its values that change what runs; the last ones set several. --only: configs that hold this text. A line for each graph
that differs, and for each config that TensorFlow refuses. Exit code 1 where something differs.
needs: tensorflow-cpu==2.21.0
"""
import argparse
import collections
import os
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import random_graphs
from google.protobuf import text_format
from tensorflow.core.framework import graph_pb2
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.grappler import tf_optimizer

import graph_likeness

TOGGLES = [
    "layout_optimizer", "constant_folding", "shape_optimization", "remapping", "common_subgraph_elimination", "arithmetic_optimization",
    "dependency_optimization", "loop_optimization", "function_optimization", "debug_stripper", "scoped_allocator_optimization",
    "pin_to_host_optimization", "implementation_selector", "auto_mixed_precision", "auto_mixed_precision_mkl",
    "auto_mixed_precision_onednn_bfloat16", "auto_mixed_precision_cpu", "use_plugin_optimizers", "experimental_conditional_code_motion",
]
MEMORY = ["NO_MEM_OPT", "MANUAL", "SWAPPING_HEURISTICS", "RECOMPUTATION_HEURISTICS", "SCHEDULING_HEURISTICS", "HEURISTICS"]
# Excluded: auto_parallel, whose replicas need a model that trains (tests/passes/auto_parallel*.gtxt).
CONFIGS = [
    *(f"{toggle}: {value}" for toggle in TOGGLES for value in ("ON", "OFF", "AGGRESSIVE")),
    *(f"memory_optimization: {value}" for value in MEMORY),
    *(f"cpu_layout_conversion: {value}" for value in ("NCHW_TO_NHWC", "NHWC_TO_NCHW")),
    *(f"meta_optimizer_iterations: {value}" for value in ("ONE", "TWO")),
    "disable_model_pruning: true",
    "disable_meta_optimizer: true",
    "disable_tfg_optimizer: true",
    "experimental_disable_compressed_tensor_optimization: true",
    "experimental_disable_folding_quantization_emulation: true",
    "fail_on_optimizer_errors: true",
    "min_graph_nodes: 100000",
    "meta_optimizer_timeout_ms: 100000",
    'memory_optimizer_target_node_name_scope: "gradients/"',
    "inter_optimizer_verifier_config { structure_verifier: ON }",
    "post_optimization_verifier_config { structure_verifier: ON }",
    'scoped_allocator_optimization: ON scoped_allocator_opts { enable_op: "CollectiveReduce" }',
    'optimizers: ["remap", "constfold", "arithmetic", "pruning"]',
    'optimizers: ["layout", "shape", "dependency", "loop", "function", "memory"]',
    'optimizers: "pruning" custom_optimizers { name: "constfold" } custom_optimizers { name: "pruning" }',
    'optimizers: ["auto_mixed_precision_mkl", "remap"] meta_optimizer_iterations: ONE',
    "constant_folding: AGGRESSIVE shape_optimization: AGGRESSIVE remapping: AGGRESSIVE arithmetic_optimization: AGGRESSIVE "
    "dependency_optimization: AGGRESSIVE loop_optimization: AGGRESSIVE layout_optimizer: AGGRESSIVE",
]
# On a processor without bfloat16 arithmetic, TensorFlow's remapper does not fuse it; grapnel's result does not depend on the processor.
OF_THE_PROCESSOR = ("auto_mixed_precision_mkl", "auto_mixed_precision_onednn_bfloat16")


def fuses_bfloat16():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        flags = next((line for line in f if line.startswith("flags")), "").split()
    return bool({"avx512_bf16", "amx_bf16", "avx512f"} & set(flags))


def optimized(meta, text):
    config = config_pb2.ConfigProto()
    rewrites = config.graph_options.rewrite_options
    rewrites.min_graph_nodes = -1
    text_format.Merge(text, rewrites)
    return tf_optimizer.OptimizeGraph(config, meta, graph_id=b"graph_to_optimize"), text_format.MessageToString(rewrites)


def compared(grapnel, folder, meta, fetches, text):
    want, config = optimized(meta, text)
    out = folder + "/grapnel.pb"
    command = [grapnel, "opt", folder + "/in.pb", "--rewriter-config", config, "--fetch", ",".join(fetches), "-o", out, "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=60, check=False)
    if done.returncode:
        return "error: " + " ".join(done.stderr.split())[-200:]
    with open(out, "rb") as f:
        said = graph_likeness.likeness(want, graph_pb2.GraphDef.FromString(f.read()))
    return "" if said in ("same", "renamed") else said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grapnel")
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    tally = collections.Counter()
    configs = [text for text in CONFIGS if args.only in text]
    if not fuses_bfloat16() and os.environ.get("TF_ENABLE_ONEDNN_OPTS") == "1":
        configs = [text for text in configs if not any(name in text for name in OF_THE_PROCESSOR)]
    for seed in range(args.seed, args.seed + args.count):
        meta, fetches, _ = random_graphs.made(seed, random_graphs.FAMILIES[seed % len(random_graphs.FAMILIES)])
        with tempfile.TemporaryDirectory() as folder:
            random_graphs.write(folder + "/in.pb", meta.graph_def)
            for text in configs:
                try:
                    said = compared(os.path.abspath(args.grapnel), folder, meta, fetches, text)
                except Exception as error:                    # pylint: disable=broad-except
                    tally["refused"] += 1
                    print(f"seed {seed}: {text}: TensorFlow: {random_graphs.text_of(error)[:150]}")
                    continue
                tally["differ" if said else "same"] += 1
                if said:
                    print(f"seed {seed}: {text}: {said[:200]}", flush=True)
    print(f"{tally['same']} the same, {tally['differ']} differ, {tally['refused']} refused by TensorFlow")
    return 1 if tally["differ"] or not tally["same"] else 0


if __name__ == "__main__":
    sys.exit(main())
