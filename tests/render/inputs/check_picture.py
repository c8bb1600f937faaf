#!/usr/bin/env python3
"""Checks that pictures are readable: lines run at right angles and not under boxes, words overlap no words and no boxes, and fit their own box.

usage: check_picture.py GRAPNEL SEED COUNT MODEL...    draws the models and COUNT graphs made at random, in all directions
       check_picture.py --self-test                    shows that it can fail
"""

import importlib.util
import itertools
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parents[3]
SVG = "{http://www.w3.org/2000/svg}"
FONTS = pathlib.Path("/usr/share/fonts/truetype/dejavu")
LABEL, HAIR = 11, 0.1  # the size of words on lines; how far two may be into one another


def fonts():
    """The fonts themselves, plain and bold: pictures are measured with a table made of them."""
    spec = importlib.util.spec_from_file_location("widths", ROOT / "scripts" / "make_font_widths.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {bold: module.Font(FONTS / name) for bold, name in ((False, "DejaVuSans.ttf"), (True, "DejaVuSans-Bold.ttf"))}


class Picture:
    """The contents of an SVG of grapnel: closed boxes and frames as (x0, y0, x1, y1), the words in each box, lines as points, labels."""

    def __init__(self, text, faces):
        self.faces, self.boxes, self.frames, self.lines, self.labels = faces, [], [], [], []
        last = None
        for element in xml.fromstring(text):
            if element.tag == SVG + "g":
                self.group(element)
            elif element.tag == SVG + "text":
                if last is not None and last.text == element.text and last.get("fill") == "none" and element.get("font-size") == str(LABEL):
                    self.labels.append(self.extent(element))
                last = element

    def group(self, group):
        rects, texts, paths = (group.findall(SVG + tag) for tag in ("rect", "text", "path"))
        if paths:
            self.lines.append(points(paths[0].get("d")))
        elif texts:
            self.boxes.append((area(rects[-1]), [(text.text, self.extent(text)) for text in texts]))
        else:
            self.frames.append(area(rects[-1]))

    def extent(self, text):
        size, bold = float(text.get("font-size")), text.get("font-weight") == "bold"
        width = sum(self.faces[bold].width(ord(letter)) for letter in text.text) * size / 1000
        x, y = float(text.get("x")) - (width / 2 if text.get("text-anchor") == "middle" else 0), float(text.get("y"))
        return x, y - 0.73 * size, x + width, y

    def problems(self):
        areas = [box for box, _ in self.boxes]
        for line in self.lines:
            for (ax, ay), (bx, by) in itertools.pairwise(line):
                if abs(ax - bx) > HAIR and abs(ay - by) > HAIR:
                    yield f"a line is not at right angles: {ax},{ay} to {bx},{by}"
                piece = min(ax, bx), min(ay, by), max(ax, bx), max(ay, by)
                if any(meet(piece, box) for box in areas):
                    yield f"a line runs under a box: {piece}"
                if ay == by and any(y0 < ay < y1 and any(piece[0] < x - 1 and x + 1 < piece[2] for x in (x0, x1))
                                    for x0, y0, x1, y1 in self.frames):
                    yield f"a line crosses the side of a frame: {piece}"
        for one, other in itertools.combinations(self.labels, 2):
            if meet(one, other):
                yield f"words lie on words: {one}, {other}"
        for label in self.labels:
            if any(meet(label, box) for box in areas):
                yield f"words lie on a box: {label}"
        for (x0, _, x1, y1), texts in self.boxes:
            for text, (left, _, right, bottom) in texts:
                if left < x0 - HAIR or right > x1 + HAIR or bottom > y1:
                    yield f"'{text}' is wider than its box"
                if text.startswith(" "):
                    yield f"'{text}' begins with a blank, which browsers drop"
                if re.search(r"\u2026\W*\u2026", text):
                    yield f"'{text}' says nothing"
        for one, other in itertools.combinations(areas, 2):
            if meet(one, other):
                yield f"boxes lie on one another: {one}, {other}"


def area(rect):
    x, y, w, h = (float(rect.get(key)) for key in ("x", "y", "width", "height"))
    return x, y, x + w, y + h


def meet(one, other):
    return all(one[i] < other[i + 2] - HAIR and other[i] < one[i + 2] - HAIR for i in (0, 1))


def points(path):
    """The corner points of a path with rounded corners."""
    found = []
    for command, numbers in re.findall(r"([MLQ])([^MLQ]*)", path):
        values = [float(number) for number in numbers.split()]
        if command == "Q":
            found[-1] = tuple(values[:2])  # the corner, instead of where its rounding begins
        else:
            found.append(tuple(values))
    return found


def graph(seed, prefix=""):
    """Nodes in scopes, each read by some later ones; sometimes a loop, a control edge, a long name. `prefix`: for all names."""
    pick = random.Random(seed)
    count, names, nodes = pick.randrange(5, 60), [], []
    for i in range(count):
        scope = "/".join(f"part_{pick.randrange(3)}" for _ in range(pick.randrange(3)))
        name = prefix + (scope + "/" if scope else "") + pick.choice(["add", "layer", "a_name_that_is_long_and_goes_on_and_on" * 4]) + f"_{i}"
        inputs = pick.sample(names[-12:], min(len(names), pick.choice([0, 1, 1, 1, 2, 2, 3, 5])))
        inputs += ["^" + other for other in names if pick.random() < 0.03]
        if not [other for other in inputs if other[0] != "^"]:
            nodes.append((name, "Placeholder", inputs, 'attr { key: "dtype" value { type: DT_FLOAT } }'))
        else:
            data = [other for other in inputs if other[0] != "^"]
            attrs = f'attr {{ key: "T" value {{ type: DT_FLOAT }} }} attr {{ key: "N" value {{ i: {len(data)} }} }}'
            nodes.append((name, "AddN", data + [other for other in inputs if other[0] == "^"], attrs))
        names.append(name)
    for i in range(pick.randrange(3)):
        source = pick.choice(names)
        merged = 'attr { key: "T" value { type: DT_FLOAT } } attr { key: "N" value { i: 2 } }'
        nodes.append((f"{prefix}loop_{i}/merge", "Merge", [source, f"{prefix}loop_{i}/next"], merged))
        nodes.append((f"{prefix}loop_{i}/body", "Identity", [f"{prefix}loop_{i}/merge"], 'attr { key: "T" value { type: DT_FLOAT } }'))
        nodes.append((f"{prefix}loop_{i}/next", "NextIteration", [f"{prefix}loop_{i}/body"], 'attr { key: "T" value { type: DT_FLOAT } }'))
    return "".join(f'node {{ name: "{name}" op: "{op}" {" ".join(f"input: {chr(34)}{one}{chr(34)}" for one in inputs)} {attrs} }}\n'
                   for name, op, inputs, attrs in nodes)


def check(grapnel, model, faces, *flags):
    drawn = subprocess.run([grapnel, "view", model, "-o", "-", "--format", "svg", "-q", *flags], capture_output=True, text=True)
    if drawn.returncode:
        return None, [drawn.stderr.strip()]
    picture = Picture(drawn.stdout, faces)
    return picture, list(picture.problems())


def main(grapnel, seed, count, *models):
    faces, wrong, lines, labels = fonts(), 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(int(seed), int(seed) + int(count)):
            path = pathlib.Path(folder) / f"random_{i}.pbtxt"
            path.write_text(graph(i))
            models += (str(path),)
        for i, model in enumerate(models):
            for direction in ("down", "up", "right"):
                depth = ("--depth", str(i % 3)) if "random" in model else ()
                picture, found = check(grapnel, model, faces, "--direction", direction, *depth)
                for problem in found[:3]:
                    print(f"{model}, {direction}: {problem}")
                wrong += bool(found)
                lines += len(picture.lines) if picture else 0
                labels += len(picture.labels) if picture else 0
    print(f"{len(models)} graphs, {lines} lines, {labels} labels: {wrong} pictures cannot be read")
    return 1 if wrong or not lines or not labels else 0


BOX = '<g><title>a</title><rect x="{x}" y="10" width="40" height="20"/><text x="{x}" y="25" font-size="13" fill="#000">{text}</text></g>'
WORDS = '<text x="{x}" y="60" font-size="11" fill="none">int32[]</text><text x="{x}" y="60" font-size="11" fill="#000">int32[]</text>'
WRONG = {
    "right angles": '<g><path d="M0 0L10 10"/></g>',
    "under a box": BOX.format(x=10, text="a") + '<g><path d="M0 20L30 20"/></g>',
    "side of a frame": '<g><rect x="10" y="10" width="40" height="20"/></g><g><path d="M0 20L60 20"/></g>',
    "words lie on words": WORDS.format(x=10) + WORDS.format(x=20),
    "words lie on a box": BOX.format(x=10, text="a") + WORDS.format(x=10).replace('y="60"', 'y="20"'),
    "wider than its box": BOX.format(x=10, text="a name"),
    "begins with a blank": BOX.format(x=10, text=" a"),
    "says nothing": BOX.format(x=10, text="\u2026 \u2026"),
    "boxes lie on one another": BOX.format(x=10, text="a") + BOX.format(x=30, text="a"),
}


def self_test():
    faces = fonts()
    for expected, body in WRONG.items():
        found = list(Picture(f'<svg xmlns="http://www.w3.org/2000/svg">{body}</svg>', faces).problems())
        if len(found) != 1 or expected not in found[0]:
            print(f"self-test: {expected}: {found}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1:] == ["--self-test"] else main(*sys.argv[1:]))
