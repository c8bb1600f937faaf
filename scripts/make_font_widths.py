#!/usr/bin/env python3
"""Writes lib/render/web/font_widths.js: the widths of the letters in the pictures' font, read from the font itself, so that text has
the same measurements in every browser and without one.

usage: make_font_widths.py [FOLDER]     (of DejaVuSans.ttf and DejaVuSans-Bold.ttf; default: where Debian's fonts-dejavu-core has them)
"""

import pathlib
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = "/usr/share/fonts/truetype/dejavu"
RANGES = [(0x20, 0x7E), (0xA0, 0x17F), (0x386, 0x3CE), (0x400, 0x45F), (0x2010, 0x2044), (0x2190, 0x2193), (0x25B8, 0x25BE)]
HEAD = """// How wide letters of DejaVu Sans are, in thousandths of its size. Made by scripts/make_font_widths.py.

// [first code point, plain widths, bold widths]
export const WIDTHS = [
"""


class Font:
    """The parts of a TrueType font that define letter widths: the tables head, hhea, hmtx and cmap (format 4)."""

    def __init__(self, path):
        self.data = path.read_bytes()
        (count,) = struct.unpack_from(">H", self.data, 4)
        entries = (struct.unpack_from(">4sIII", self.data, 12 + 16 * i) for i in range(count))
        self.tables = {tag.decode(): offset for tag, _, offset, _ in entries}
        (self.units,) = struct.unpack_from(">H", self.data, self.tables["head"] + 18)
        (self.metrics,) = struct.unpack_from(">H", self.data, self.tables["hhea"] + 34)
        self.glyphs = self.read_map()

    def read_map(self):
        cmap, glyphs = self.tables["cmap"], {}
        (count,) = struct.unpack_from(">H", self.data, cmap + 2)
        for i in range(count):
            *_, offset = struct.unpack_from(">HHI", self.data, cmap + 4 + 8 * i)
            at = cmap + offset
            if struct.unpack_from(">H", self.data, at)[0] == 4:
                glyphs |= self.read_segments(at)
        return glyphs

    def read_segments(self, at):
        n = struct.unpack_from(">H", self.data, at + 6)[0] // 2
        ends, starts, deltas, offsets = (struct.unpack_from(f">{n}H", self.data, at + begin) for begin in
                                         (14, 16 + 2 * n, 16 + 4 * n, 16 + 6 * n))
        glyphs = {}
        for i in range(n):
            for code in range(starts[i], min(ends[i], 0xFFFE) + 1):
                glyph = code
                if offsets[i]:
                    where = at + 16 + 6 * n + 2 * i + offsets[i] + 2 * (code - starts[i])
                    (glyph,) = struct.unpack_from(">H", self.data, where)
                if glyph or not offsets[i]:
                    glyphs[code] = (glyph + deltas[i]) & 0xFFFF
        return glyphs

    def width(self, code):
        glyph = min(self.glyphs.get(code, 0), self.metrics - 1)
        (advance,) = struct.unpack_from(">H", self.data, self.tables["hmtx"] + 4 * glyph)
        return round(1000 * advance / self.units)


def wrapped(numbers):
    lines, line = [], "   "
    for number in numbers:
        word = f" {number},"
        if len(line) + len(word) > 106:
            lines.append(line)
            line = "   "
        line += word
    return "\n".join([*lines, line])


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else FOLDER)
    fonts = [Font(folder / name) for name in ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf")]
    text = HEAD
    for first, last in RANGES:
        plain, bold = (wrapped([font.width(code) for code in range(first, last + 1)]) for font in fonts)
        text += f"  [0x{first:x}, [\n{plain}\n  ], [\n{bold}\n  ]],\n"
    (ROOT / "lib" / "render" / "web" / "font_widths.js").write_text(text + "];\n")


if __name__ == "__main__":
    main()
