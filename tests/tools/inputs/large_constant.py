#!/usr/bin/env python3
"""Writes a graph with a constant of 2,500,000 floats, among them NaN, infinity and denormals; prints its statistics as `query` does.

usage: large_constant.py FILE.pb
"""

import array
import math
import random
import sys

COUNT = 2_500_000


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def attribute(key, value):
    return field(5, field(1, key) + field(2, value))


def main():
    draw = random.Random(7)
    numbers = array.array("f", (draw.gauss(3, 2) for _ in range(COUNT)))
    numbers[11], numbers[1_200_000], numbers[2_400_000] = math.nan, math.inf, math.nan
    for place in (5, 1_500_000):
        numbers[place] = 1e-40
        numbers[place + 1] = 0
    shape = field(2, field(1, COUNT))
    tensor = field(1, 1) + field(2, shape) + field(4, numbers.tobytes())
    node = field(1, b"w") + field(2, b"Const") + attribute(b"dtype", field(6, 1)) + attribute(b"value", field(8, tensor))
    with open(sys.argv[1], "wb") as file:
        file.write(field(1, node))
    finite = [x for x in numbers if math.isfinite(x)]
    mean = math.fsum(finite) / len(finite)
    deviation = math.sqrt(math.fsum((x - mean) ** 2 for x in finite) / len(finite))
    print(f"{min(finite):.6g},{max(finite):.6g},{mean:.8g},{deviation:.8g},2,1,{finite.count(0)}")


if __name__ == "__main__":
    main()
