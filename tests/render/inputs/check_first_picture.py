#!/usr/bin/env python3
"""Whether the first picture of a model shows its layers, as model.summary() lists them, and can be read as its flow.

  check_first_picture.py FOLDER [NAME...]    the folder has NAME/model and NAME/summary.json (testdata/keras_models)
  check_first_picture.py --self-test         shows that it can fail

Draws each model with `grapnel view`, and opens nothing. Of a model with at most MOST layers, each layer that left ops in the file must be
a box or a frame with its name. A layer that reads another, directly or over others, must be below it. Of models with more, groups of
layers are boxes: each node that computes something must be in one. Frames around layers must be layers themselves, not the scopes of
the model's call; and closed boxes are layers, parts of opened ones, or marked as made up.

A picture can be read if it has 7 to 60 boxes (fewer only if the graph has fewer ops, or if each box is a layer or an end of the graph), no
box on a cycle of data edges (one that holds the first and the last op of a network is in its own future), at most 2.0 edges a box, and no
closed box with more than 60 % of the ops, except a layer, and one that is a series of equal parts (its title has the sign of
multiplication). It is seen as a whole: it fits the page's place for it in a window of 1280 x 800 pixels with text of 11 pixels. Then data
flows down, or on to a column further to the right.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

GRAPNEL = os.environ.get("GRAPNEL_BINARY", "grapnel")
MOST = 24  # kGroupAbove in lib/render/scope_tree.h
NUMBER = r"\"([-\d.]+)\""
GROUP = re.compile(rf"<g><title>([^<]*)</title><rect x={NUMBER} y={NUMBER} width={NUMBER} height={NUMBER}")
PLACE, TEXT_SIZE, READABLE, MARGIN = (914, 586), 13, 11, 16  # of the page; of titles; of what can be read; around the boxes
TOO_LARGE = ()  # models whose pictures do not fit PLACE
TEXT = re.compile(r"<text x=\"[-\d.]+\" y=\"([-\d.]+)\" font-size=\"[\d.]+\" font-weight=\"bold\"[^>]*>([^<]*)</text>")
ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&"))


def draw(model, form):
    run = subprocess.run([GRAPNEL, "view", model, "-o", "-", "--format", form, "-q"], capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"{model}: {run.stderr[-300:]}")
    return run.stdout


def places(svg):
    """The area (x, y, w, h) of each box and frame, by the beginning of its tooltip, which is its id; and the bold texts."""
    found = {}
    for tip, *area in GROUP.findall(svg):
        for entity, letter in ENTITIES:
            tip = tip.replace(entity, letter)
        found.setdefault(re.split(r", [\d,]+ ops?\b| on ", tip)[0], tuple(map(float, area)))
    return found, {text for _, text in TEXT.findall(svg)}


def is_after(a, b):
    """Is the area `b` below the upper end of `a`, or in a column further to the right?"""
    return b[1] > a[1] or b[0] >= a[0] + a[2]


def on_cycles(edges):
    """The boxes from which edges lead back to themselves."""
    to = {}
    for a, b in edges:
        to.setdefault(a, set()).add(b)
    reach = {}

    def reached(a):
        if a not in reach:
            seen, stack = set(), [a]
            while stack:
                for b in to.get(stack.pop(), ()):
                    if b not in seen:
                        seen.add(b)
                        stack.append(b)
            reach[a] = seen
        return reach[a]

    return {a for a in to if a in reached(a)}, reached


class Drawn:
    """A picture: its boxes and frames, called items here, and which of them are layers."""

    def __init__(self, picture, svg):
        self.boxes, self.frames = picture["boxes"], picture.get("frames", [])
        self.ops = int(re.search(r"(\d[\d,]*) ops?\b[^\n]*: \d+ box", "\n".join(picture["header"]))[1].replace(",", ""))
        self.edges = {(edge["from"], edge["to"]) for edge in picture["edges"] if edge["kind"] == "data" and edge["from"] != edge["to"]
                      and not edge.get("back")}
        self.places, self.bold = places(svg)
        self.place = lambda item: self.places.get(item["id"].removesuffix("/"))

    def layers(self):
        """By path: the boxes and frames of the layer."""
        layers = {}
        for item in [*self.frames, *self.boxes]:
            if "layer" in item:
                layers.setdefault(item["layer"], []).append(item)
        return layers

    def inside(self, item):
        """The indices of the boxes that an item is or contains."""
        if any(item is box for box in self.boxes):
            return {next(i for i, box in enumerate(self.boxes) if box is item)}
        at = next(i for i, frame in enumerate(self.frames) if frame is item)
        return {i for i, box in enumerate(self.boxes) if at in self.around(box)}

    def around(self, item):
        at = item.get("frame", item.get("parent"))
        while at is not None:
            yield at
            at = self.frames[at].get("parent")

    def problems(self, rows, ordered=True):
        cyclic, reached = on_cycles(self.edges)
        whole = all("layer" in box or re.match("(arg|result) [0-9]", box["title"]) for box in self.boxes)
        if not (7 <= len(self.boxes) <= 60 or self.ops < 20 or (whole and len(self.boxes) < 7)):
            yield f"{len(self.boxes)} boxes"
        if self.size() < READABLE:
            yield f"text has {self.size():.1f} pixels when all is in view"
        if cyclic:
            yield f"boxes on cycles: {sorted(self.boxes[i]['title'] for i in cyclic)}"
        if len(self.edges) > 2 * len(self.boxes):
            yield f"{len(self.edges)} edges between {len(self.boxes)} boxes"
        for box in self.boxes:
            held = sum(map(len, box.get("parts", [])))
            if held > .6 * self.ops and box["kind"] == "scope" and "×" not in box["title"] and "layer" not in box:
                yield f"'{box['title']}' hides {held} of {self.ops} ops"
        yield from self.named()
        for a, b in self.edges:
            ends = [self.place(self.boxes[i]) for i in (a, b)]
            if None not in ends and not is_after(*ends):
                yield f"'{self.boxes[b]['title']}' is not below '{self.boxes[a]['title']}', which it reads"
        if len(rows) <= MOST:
            yield from self.lacking(rows)
            yield from self.misplaced(rows, reached)

    def size(self):
        """The size of the text when the whole picture is in view."""
        sides = [max(area[i] + area[i + 2] for area in self.places.values()) - min(area[i] for area in self.places.values()) + 2 * MARGIN
                 for i in (0, 1)]
        return TEXT_SIZE * min(place / side for place, side in zip(PLACE, sides))

    def named(self):
        """The names of frames and closed boxes are those of layers, or say what is in them."""
        for at, frame in enumerate(self.frames):
            holds = any("layer" in item and at in self.around(item) for item in [*self.boxes, *self.frames])
            if holds and "layer" not in frame and not frame.get("made_up"):
                yield f"the frame '{frame['title']}' around layers is not a layer"
        for box in self.boxes:
            in_layer = any("layer" in self.frames[at] for at in self.around(box))
            if box["kind"] == "scope" and not ("layer" in box or box.get("made_up") or in_layer):
                yield f"the box '{box['title']}' is not a layer"

    def lacking(self, rows):
        layers = self.layers()
        for row in rows:
            if row["name"] not in layers:
                yield f"'{row['name']}' has no box"
                continue
            for item in layers[row["name"]]:
                if item["title"].split(" + ")[0] != row["name"]:
                    yield f"the box of '{row['name']}' is called '{item['title']}'"
            if not any(re.sub(r" (×.*|· .*|\+ \d+ ops?)$", "", text) == row["name"] for text in self.bold) and len(row["name"]) < 30:
                yield f"'{row['name']}' is not written in the picture"

    def misplaced(self, rows, reached):
        layers = self.layers()
        at = {row["name"]: [(self.place(item), self.inside(item)) for item in layers.get(row["name"], [])] for row in rows}
        for i, upper in enumerate(rows):
            for lower in rows[i + 1:]:
                for first, boxes in at[upper["name"]]:
                    for second, others in at[lower["name"]]:
                        follows = any(others & reached(box) for box in boxes)
                        if follows and None not in (first, second) and not is_after(first, second):
                            yield f"'{lower['name']}' is not below '{upper['name']}'"


def check(folder):
    truth = json.loads((folder / "summary.json").read_text())
    rows = [row for row in truth["layers"] if row["in_export"] and row["ops"]]
    drawn = Drawn(json.loads(draw(folder / "model", "json")), draw(folder / "model", "svg"))
    found = [problem for problem in drawn.problems(rows) if not (folder.name in TOO_LARGE and problem.startswith("text has"))]
    return len(rows), [f"{folder.name}: {problem}" for problem in found]


def self_test():
    boxes = [{"id": f"m/{name}/", "kind": "scope", "title": name, "layer": name, "parts": [["x"]]} for name in ("a", "b")]
    picture = {"header": ["12 ops: 2 boxes"], "boxes": boxes, "frames": [], "edges": [{"from": 0, "to": 1, "kind": "data"}]}
    at = {"m/a": 10, "m/b": 50}

    def count(x=1, **changes):
        svg = "".join(f"<g><title>{name}, 1 op</title><rect x=\"{x if name == 'm/b' else 1}\" y=\"{y}\" width=\"9\" height=\"9\"/>"
                      f"<text x=\"1\" y=\"1\" font-size=\"13\" font-weight=\"bold\" fill=\"x\">{name[2:]}</text></g>"
                      for name, y in changes.pop("at", at).items())
        return len(list(Drawn({**picture, **changes}, svg).problems([{"name": "a"}, {"name": "b"}])))

    assert count() == 0
    assert count(at={"m/a": 50, "m/b": 10}) == 2  # the edge runs up, and the order is wrong
    assert count(x=20, at={"m/a": 50, "m/b": 10}) == 0  # in the next column
    assert count(at={"m/a": 50, "m/b": 950}) == 1  # too tall
    assert count(boxes=[boxes[0], {**boxes[1], "layer": "c"}]) == 1
    assert count(boxes=[boxes[0], {**boxes[1], "title": "m/b"}]) == 1
    assert count(boxes=[{**boxes[0], "frame": 0}, boxes[1]], frames=[{"id": "m/", "title": "m"}]) == 1
    assert count(edges=[*picture["edges"], {"from": 1, "to": 0, "kind": "data"}]) > 1
    assert count(boxes=[{"id": "m/a/", "kind": "scope", "title": "a", "made_up": True, "parts": [["x"] * 8]}, boxes[1]]) == 2
    print("it can fail")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    folder, *names = sys.argv[1:]
    folders = sorted(path.parent for path in pathlib.Path(folder).glob("*/summary.json") if not names or path.parent.name in names)
    layers, problems = 0, []
    for one in folders:
        count, found = check(one)
        layers += count
        problems += found
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"{len(folders)} models with {layers} layers, {len(problems)} problems")
    sys.exit(bool(problems) or not folders)


main()
