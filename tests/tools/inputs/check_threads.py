"""check_threads.py GRAPH_OR_CASE...: what is fetched has the same bits whatever the number of threads.

Also with the instructions of an older processor, for which oneDNN has other code.
"""
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from sampling import sample

THREADS = ["1", "2", "3", "4", "7", "16"]


def outputs(path, instructions):
    env = dict(os.environ, **({"ONEDNN_MAX_CPU_ISA": instructions} if instructions else {}))
    runs = [subprocess.run(["grapnel", "run", path, "--all", "--json", "--threads", threads], env=env, capture_output=True, check=False)
            for threads in THREADS]
    return {(run.returncode, run.stdout) for run in runs}


def check(path):
    for instructions in ("", "AVX2"):
        found = outputs(path, instructions)
        assert len(found) == 1, f"{path}: {len(found)} results of {len(THREADS)} runs {instructions}"
        code, text = found.pop()
        if path.endswith(".gtxt"):
            assert code == 0 and b"values" in text, (path, code)
    return code == 0


with ThreadPoolExecutor(2) as pool:
    ran = list(pool.map(check, sample(sys.argv[1:])))
print(f"{sum(ran)} of {len(ran)} run, each with the same bits")
