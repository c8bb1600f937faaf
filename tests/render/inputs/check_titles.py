#!/usr/bin/env python3
"""The title of a closed box is true: it is a layer's name, or a scope's only if the box holds nodes of this scope and no others.

  check_titles.py MODEL_OR_FOLDER...    draws each model as JSON, all scopes closed, some open, many open; exit 1 at a false title.
                                        Looks for models in folders at any depth, and skips files of more than 3 MB
  check_titles.py --self-test           shows that it can fail
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

GRAPNEL = os.environ.get("GRAPNEL_BINARY", "grapnel")
LARGEST = 3_000_000
WAYS = (["--depth", "0"], [], ["--depth", "2", "--max-boxes", "300"], ["--function", "all", "--whole"])
SUFFIXES = (".pb", ".pbtxt", ".gtxt", ".gz", ".meta")


def draw(model, flags):
    """The picture, or None of what cannot be drawn, such as an empty graph."""
    drawn = subprocess.run([GRAPNEL, "view", model, "-o", "-", "--format", "json", "-q", *flags], capture_output=True, text=True)
    if drawn.returncode not in (0, 2):
        raise RuntimeError(f"{model}: {drawn.stderr[-300:]}")
    return json.loads(drawn.stdout) if drawn.returncode == 0 else None


def scopes_of(names):
    """The paths of all scopes. A slash at the end of a name, or the second of two, is a part of it."""
    scopes = set()
    for name in names:
        at = name.find("/", 1)
        while 0 < at < len(name) - 1:
            scopes.add(name[:at])
            at = name.find("/", at + 2)
    return scopes


def paths_of(box, frames):
    """What the title may mean: within each of the frames around the box."""
    yield box["title"]
    at = box.get("frame")
    while at is not None:
        path = frames[at]["id"].rstrip("/").split(" (")[0]
        yield f"{path}/{box['title']}"
        if "/" in path:  # a function's frames begin with its name
            yield f"{path.split('/', 1)[1]}/{box['title']}"
        at = frames[at].get("parent")


def problems_of(picture, scopes):
    for box in picture["boxes"]:
        if box["kind"] != "scope":
            continue
        if "layer" in box:
            if box["title"].split(" + ")[0] != box["layer"] and not box["layer"].endswith(f"/{box['title'].split(' + ')[0]}"):
                yield f"box {box['title']!r} is the layer {box['layer']!r}"
            continue
        nodes = [name for part in box["parts"] for name in part]
        named = [path for path in paths_of(box, picture["frames"]) if path in scopes]
        beside = [[name for name in nodes if name != path and not name.startswith(f"{path}/")] for path in named] or [nodes]
        if box.get("made_up") and named:
            yield f"a box that grapnel made up has the name of the scope {named[0]}"
        if not box.get("made_up") and all(beside):
            yield f"box {box['title']!r} holds {beside[0][0]}"


def check(model):
    pictures = [picture for flags in WAYS if (picture := draw(model, flags))]
    names = {name for picture in pictures for box in picture["boxes"] for part in box.get("parts", []) for name in part}
    every = draw(model, ["--depth", "0", "--show-constants", "--show-control"])
    names.update(name for box in (every or {"boxes": []})["boxes"] for part in box.get("parts", []) for name in part)
    scopes, boxes = scopes_of(names), 0
    found = []
    for picture in pictures:
        boxes += sum(box["kind"] == "scope" for box in picture["boxes"])
        found += problems_of(picture, scopes)
    return boxes, found


def models_in(paths):
    for path in map(pathlib.Path, paths):
        if path.is_file():
            yield str(path)
            continue
        for file in sorted(path.rglob("*")):
            if file.is_file() and file.suffix in SUFFIXES and file.stat().st_size <= LARGEST and file.name != "keras_metadata.pb":
                yield str(file)


def main(*paths):
    models, boxes, wrong = list(models_in(paths)), 0, 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for model, (count, found) in zip(models, pool.map(check, models)):
            boxes += count
            wrong += len(found)
            for problem in found[:3]:
                print(f"{model}: {problem}")
    print(f"{len(models)} graphs, {boxes} closed boxes, {wrong} titles are not true")
    return 1 if wrong or not boxes else 0


def self_test():
    box = {"kind": "scope", "id": "a/b/", "title": "b", "frame": 0, "parts": [["a/b/x", "a/b"]]}
    frames = [{"id": "a/", "title": "a"}]
    for change, is_right in (
        ({}, True),
        ({"parts": [["a/b/x", "a/c"]]}, False),
        ({"title": "x \u2026 c", "parts": [["a/b/x", "a/c"]]}, False),
        ({"title": "x \u2026 c", "parts": [["a/b/x", "a/c"]], "made_up": True}, True),
        ({"made_up": True}, False),
        ({"title": "conv", "layer": "net/conv"}, True),
        ({"title": "b", "layer": "net/conv"}, False),
        ({"title": "c"}, False),
    ):
        found = list(problems_of({"boxes": [{**box, **change}], "frames": frames}, scopes_of(["a/b/x", "a/c"])))
        if bool(found) == is_right:
            print(f"self-test: {change}: {found}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1:] == ["--self-test"] else main(*sys.argv[1:]))
