#!/usr/bin/env python3
"""marked_boxes.py FILE.json: prints the id and the color of each box of a picture that has one, and how many have none."""

import json
import sys


def main(path):
    with open(path) as file:
        boxes = json.load(file)["boxes"]
    for box in boxes:
        if "color" in box:
            print(f"{box['id']} is {box['color']}")
    print(f"{sum('color' not in box for box in boxes)} others")


if __name__ == "__main__":
    main(*sys.argv[1:])
