#!/usr/bin/env python3
"""Rewrites a .cu file for the host's compiler: `kernel<T><<<grid, threads>>>(...)` becomes a call that emulate.h runs.

usage: convert.py FROM.cu TO.cpp
"""

import pathlib
import re
import sys

LAUNCH = re.compile(r"([A-Za-z_]\w*(?:<[^<>;]*>)?)\s*<<<(.*?)>>>\s*\(", re.DOTALL)
text = pathlib.Path(sys.argv[1]).read_text()
meets = "BlockMerge" in text or "__syncthreads" in text
text = LAUNCH.sub(r"(emulated::Launch(\2) * [&](auto... emulated_args) { \1(emulated_args...); })(", text)
head = f'#define EMULATED_THREADS_MEET {str(meets).lower()}\n#include "tests/cuda/emulated/emulate.h"\n'
pathlib.Path(sys.argv[2]).write_text(head + text)
