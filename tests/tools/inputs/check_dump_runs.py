"""check_dump_runs.py FOLDER COUNT: so many runs dumped there, none is unfinished, and each file is one run's."""

import json
import os
import sys

folder, count = sys.argv[1], int(sys.argv[2])
with open(os.path.join(folder, "index.json"), encoding="utf-8") as file:
    index = json.load(file)
runs = [index] + index["later"]
assert len(runs) == count, [run["graph"] for run in runs]
owned = ["index.json", "ledger.jsonl", "timings.json"]
for run in runs:
    assert run["stages"] and run.get("complete", True), run["graph"]
    owned += run["files"] + [run[key] for key in ("ledger", "timings") if key in run]
assert sorted(owned) == sorted(os.listdir(folder)), set(os.listdir(folder)) ^ set(owned)
