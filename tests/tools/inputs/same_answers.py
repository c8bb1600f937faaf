"""same_answers.py GRAPH...: `passes --why-not` and `opt --why-not` refuse the same, for the same reasons."""

import json
import subprocess
import sys


def refusals(*command):
    done = subprocess.run(["grapnel", *command, "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout).get("near_misses", [])


def main(graphs):
    answers = 0
    for graph in graphs:
        of_passes, of_opt = refusals("passes", "--why-not", graph), refusals("opt", graph, "--why-not")
        if of_passes != of_opt:
            print(f"{graph}: passes: {of_passes}\nopt: {of_opt}")
            return 1
        answers += len(of_opt)
    print(f"{len(graphs)} graphs, {answers} answers, all the same")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
