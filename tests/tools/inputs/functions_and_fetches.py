"""Whether `grapnel run` computes what TensorFlow does: of the functions of objects (testdata/object_functions), and of tensors inside of
calls (testdata/inner_fetches).

usage: functions_and_fetches.py object_functions|inner_fetches TESTDATA FOLDER     `grapnel` is on PATH; FOLDER is for files of the test

Prints what is wrong, and last how many models are as they should be.
"""
import json
import pathlib
import shutil
import subprocess
import sys

from signatures import is_like


def run(model, *words):
    done = subprocess.run(["grapnel", "run", str(model), "-q", *map(str, words)], capture_output=True, text=True)
    return done.returncode, (done.stdout + done.stderr).strip()


def feeds_of(folder, feeds):
    return [word for key, file in feeds.items() for word in ("--feed", f"{key}={folder / file}")]


def wrong_calls(folder, scratch):
    for call in json.loads((folder / "calls.json").read_text()):
        got = {key: scratch / f"{i}.npy" for i, key in enumerate(call["results"])}
        words = [word for key, file in got.items() for word in ("--fetch", f"{key}={file}")]
        code, text = run(folder / "model", "--function", call["function"], *feeds_of(folder, call["feeds"]), *words, "--repeat", call["runs"])
        if code:
            yield f"{call['function']}: {text}"
            continue
        for key, file in call["results"].items():
            if not is_like(got[key], folder / file):
                yield f"{call['function']}: {key} differs"


def wrong_fetches(folder, scratch):
    told = json.loads((folder / "fetches.json").read_text())
    feeds = feeds_of(folder, told["feeds"])
    for i, fetch in enumerate(told["fetches"]):
        got = scratch / f"{i}.npy"
        code, text = run(folder / "model", *feeds, "--fetch", f"{fetch['name']}={got}")
        if "error" in fetch:
            if code != 2 or fetch["error"] not in text:
                yield f"{fetch['name']}: exit code {code}, {text or 'no error'}"
        elif code:
            yield text
        elif not is_like(got, folder / fetch["file"]):
            yield f"{fetch['name']} differs"
    whole = {f["name"]: scratch / f"all{i}.npy" for i, f in enumerate(told["fetches"]) if "file" in f}
    code, text = run(folder / "model", *feeds, *(word for name, file in whole.items() for word in ("--fetch", f"{name}={file}")))
    if code:
        yield f"all: {text}"
    for fetch in told["fetches"]:
        if "file" in fetch and not code and not is_like(whole[fetch["name"]], folder / fetch["file"]):
            yield f"all: {fetch['name']} differs"


def main(kind, testdata, scratch):
    folders = sorted(path.parent for path in (pathlib.Path(testdata) / kind).glob("*/model"))
    fine = 0
    for folder in folders:
        own = pathlib.Path(scratch) / folder.name
        shutil.rmtree(own, ignore_errors=True)
        own.mkdir(parents=True)
        wrong = list({"object_functions": wrong_calls, "inner_fetches": wrong_fetches}[kind](folder, own))
        fine += not wrong
        for line in wrong:
            print(f"{folder.name}: {line}")
    print(f"{fine} of {len(folders)} models")


if __name__ == "__main__":
    main(*sys.argv[1:])
