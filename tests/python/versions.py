#!/usr/bin/env python3
"""Compares with other versions of TensorFlow: what each writes (version_files.py) opens here, runs, is placed and optimized as it
does itself, and tells what happened.

usage: versions.py [--doc]       --doc: writes what differs into docs/reference/tensorflow-versions.md, else that page is compared

Versions that do not install for this Python are left out, with a word.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GRAPNEL = os.environ.get("GRAPNEL", str(ROOT / "build/release/bin/grapnel"))
PAGE = ROOT / "docs" / "reference" / "tensorflow-versions.md"
VENVS = ROOT / "build" / "versions"
VERSIONS = ("2.13.1", "2.16.2", "2.21.0")
CPU = "--devices=cpu:1"
BEGIN, END = "<!-- made by tests/python/versions.py --doc -->\n", "<!-- end -->\n"
# The allowed rounding difference of a folded constant.
ROUNDING = re.compile(r" by (\d\.\d+e-\d+) at most$")


class Failed(Exception):
    pass


def python_of(version):
    """The interpreter of an environment with that TensorFlow; None where it does not install."""
    if version == "2.21.0":
        return ROOT / ".venv" / "bin" / "python"
    folder = VENVS / version
    if not (folder / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        made = subprocess.run([str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", f"tensorflow-cpu=={version}"])
        if made.returncode:
            return None
        (folder / "ready").touch()
    return folder / "bin" / "python"


def said(*words, codes=(0,)):
    done = subprocess.run([GRAPNEL, *map(str, words)], capture_output=True, text=True, cwd=ROOT)
    if done.returncode not in codes:
        raise Failed(f"grapnel {' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def document(*words, codes=(0,)):
    return json.loads(said(*words, "--json", codes=codes))


def check_networks(files):
    cases = sorted((files / "cases").iterdir())
    for case in cases:
        said("replay", case, "-q")
        said("opt", case, "-o", files / "fast.pb", "-q")
        said("place", case, CPU)
    return f"{len(cases)} of {len(cases)}"


def check_models(files):
    models = [*sorted((files / "saved_models").iterdir()), files / "meta" / "model.meta"]
    for model in models:
        said("info", model)
        said("place", model, CPU)
        said("view", model, "-o", files / "picture.svg", "-q")
        said("opt", model, "-o", files / "fast.pb", "-q")
    return f"{len(models)} of {len(models)}"


def difference(folder, work):
    """How what TensorFlow made of a graph differs from what is made here; None where it does not."""
    [after] = [file for file in folder.iterdir() if re.fullmatch(r"after_MetaOptimizer_\d+\.pbtxt", file.name)]
    before = folder / f"before_MetaOptimizer_iteration_0_{after.stem.rpartition('_')[2]}.pbtxt"
    said("opt", before, "-o", work / "ours.pb", "-q", "--device", "")
    for line in said("diff", work / "ours.pb", after, codes=(0, 1)).splitlines()[:-1]:
        rounding = ROUNDING.search(line)
        if not rounding or float(rounding[1]) > 1e-6:
            return line
    return None


def check_dumps(files):
    folders = sorted((files / "dumps").iterdir())
    for folder in folders:
        if line := difference(folder, files):
            raise Failed(f"{folder}: TensorFlow optimizes otherwise: {line}")
        if not document("timeline", folder)["stages"]:
            raise Failed(f"{folder}: no stages")
    return f"{len(folders)} of {len(folders)}"


def check_log(files):
    [graph] = [file for file in (files / "dumps" / "call").iterdir() if re.fullmatch(r"before_MetaOptimizer_iteration_0_\d+\.pbtxt", file.name)]
    placed = said("place", graph, CPU, "--log", files / "placement.log", "--nodes")
    logged = [line for line in placed.splitlines() if line.rstrip().endswith("device:CPU:0")]
    if len(logged) < 10:
        raise Failed(f"place --log: {placed}")
    return "as expected"


def check_debug(files):
    blamed = said("blame", files / "debug").splitlines()[0]
    wanted = "Log (step 0, main > make_debug > loss) made -inf x1 of 4 because its input Relu:0 holds 1 zero"
    if blamed != wanted:
        raise Failed(f"blame: {blamed}")
    return "as expected"


def check_health(files):
    """What TensorHealth said in the third step of two trainings, with the wheel, is what the folder says."""
    step, op, sentence = (files / "health.txt").read_text().rstrip().split(" ", 2)
    blamed = said("blame", files / "health").splitlines()[0]
    if (step, op) != ("2", "Log") or not sentence.startswith(blamed):
        raise Failed(f"TensorHealth: {step} {op} {sentence}; blame: {blamed}")
    return "as expected"


def keras(files):
    return (files / "keras.txt").read_text().partition(".")[0]


def number(files):
    return str(document("info", files / "saved_models" / "convnet")["graphs"][0]["producer"])


def loops(files):
    found = said("query", files / "cases" / "recurrent", "SELECT op, count(*) FROM nodes WHERE op LIKE '%While' GROUP BY op", "--csv")
    return ", ".join(f"{count} {op}" for op, count in (line.split(",") for line in found.splitlines()[1:]))


def passes(files):
    names = [re.match(r"after_MetaOptimizer_iteration_0_([a-z]\w*?)(_\d{6,}|\{)", file.name) for file in (files / "dumps" / "convnet").iterdir()]
    return {name[1] for name in names if name}


def ops(files):
    found = set()
    for case in (files / "cases").iterdir():
        found |= set(said("query", case, "SELECT DISTINCT op FROM nodes", "--csv").split()[1:])
    return found


CHECKS = {
    "networks that give TensorFlow's values": check_networks,
    "models that open, are placed, drawn and optimized": check_models,
    "graphs that are optimized as TensorFlow does": check_dumps,
    "a placement log, compared with its graph": check_log,
    "`blame` of a debug folder": check_debug,
    "two trainings with TensorHealth into one folder": check_health,
}
FACTS = {
    "Keras": keras,
    "GraphDef version": number,
    "loops of LSTM and GRU, frozen": loops,
}
SETS = {"ops that only this version writes for these networks": ops, "passes that only this version dumps": passes}


def wheel(folder):
    """The Python package, unpacked."""
    wheels = sorted((ROOT / "build" / "wheel").glob("*-cp311-cp311-*.whl"))
    if not wheels:
        raise Failed("there is no wheel: ./x wheel --debian")
    with zipfile.ZipFile(wheels[-1]) as file:
        file.extractall(folder / "wheel")
    return folder / "wheel"


def look(version, files):
    """{row of the table: cell}; of SETS, all members."""
    python = python_of(version)
    if python is None:
        return None
    # Else TensorFlow fuses as the processor is: oneDNN is on where it has VNNI, AMX or bfloat16.
    environment = os.environ | {"PYTHONPATH": str(wheel(files.parent)), "TF_ENABLE_ONEDNN_OPTS": "1"}
    subprocess.run([str(python), "tests/python/version_files.py", str(files)], check=True, cwd=ROOT, env=environment)
    return {name: row(files) for name, row in (FACTS | CHECKS | SETS).items()}


def table(columns):
    lines = ["| | " + " | ".join(columns) + " |", "|---|" + "---|" * len(columns)]
    for name in FACTS | CHECKS | SETS:
        cells = [column[name] for column in columns.values()]
        if name in SETS:
            others = [set().union(*(cell for cell in cells if cell is not mine)) for mine in cells]
            cells = [", ".join(f"`{member}`" for member in sorted(mine - other)) or "none" for mine, other in zip(cells, others)]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    if sys.argv[1:] not in ([], ["--doc"]):
        sys.exit(__doc__)
    columns = {}
    for version in VERSIONS:
        with tempfile.TemporaryDirectory() as temporary:
            try:
                columns[version] = look(version, pathlib.Path(temporary) / "files")
            except Failed as failed:
                sys.exit(f"TensorFlow {version}: {failed}")
        print(f"TensorFlow {version}: {'does not install' if columns[version] is None else 'as expected'}", flush=True)
    if None in columns.values():
        return
    text = PAGE.read_text()
    head, rest = text.split(BEGIN)
    made = head + BEGIN + "\n" + table(columns) + "\n" + END + rest.partition(END)[2]
    if sys.argv[1:] == ["--doc"]:
        PAGE.write_text(made)
    elif made != text:
        sys.exit(f"{PAGE}: not what these versions do: tests/python/versions.py --doc\n{table(columns)}")


if __name__ == "__main__":
    main()
