#!/usr/bin/env python3
"""Lists the panels of a page in a file that show the value of a variable: op, variable, and the number of elements in the statistics.

usage: page_values.py FILE.html
"""

import base64
import gzip
import json
import re
import sys


class Reader:
    """Reads the columns of lib/render/columns.h."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def texts(self):
        count = self.number()
        common = [self.number() for _ in range(count)]
        sizes = [self.number() for _ in range(count)]
        rest = self.data[self.at :].decode()
        texts, last = [], ""
        for same, size in zip(common, sizes):
            last, rest = last[:same] + rest[:size], rest[size:]
            texts.append(last)
        return texts

    def columns(self):
        while self.at < len(self.data):
            self.take(self.take(1)[0])  # the name
            kind = self.take(1)
            values = Reader(self.take(self.number()))
            if kind == b"t":
                yield values.texts()


def main():
    with open(sys.argv[1], encoding="utf-8") as page:
        text = page.read()
    found = set()
    for packed in re.findall(r'id="data texts/panel/\d+">([^<]*)</script>', text):
        for texts in Reader(gzip.decompress(base64.b64decode(packed))).columns():
            for panel in map(json.loads, filter(None, texts)):
                if "variable" in panel:
                    op = re.match(r"%\S* = (\w+)", panel["text"])[1]
                    found.add((op, panel["variable"], panel.get("statistics", {}).get("elements", "")))
    for panel in sorted(found, key=str):
        print(*panel)


if __name__ == "__main__":
    main()
