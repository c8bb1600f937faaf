#!/usr/bin/env python3
"""Rewrites a file for the host's compiler: `kernel<T><<<grid, threads>>>(...)` becomes a call that emulate.h runs.

usage: convert.py FROM.cu TO.cpp
       convert.py FROM.cuh TO.cuh
"""

import pathlib
import re
import sys

LAUNCH = re.compile(r"([A-Za-z_]\w*(?:<[^<>;]*>)?)\s*<<<(.*?)>>>\s*\(", re.DOTALL)
source = pathlib.Path(sys.argv[1])
text = source.read_text()
# Whether the threads of a block use barriers: in this file, or in a kernel of a header that it launches.
headers = [source.parent / name for name in re.findall(r'#include "kernels/cuda/(\w+\.cuh)"', text)]
started = text + "".join(header.read_text() for header in headers if header.exists() and "<<<" in header.read_text())
meets = "BlockMerge" in started or "__syncthreads" in started
text = LAUNCH.sub(r"(emulated::Launch(\2) * [&](auto... emulated_args) { \1(emulated_args...); })(", text)
head = f'#define EMULATED_THREADS_MEET {str(meets).lower()}\n#include "tests/cuda/emulated/emulate.h"\n'
pathlib.Path(sys.argv[2]).write_text(text if source.suffix == ".cuh" else head + text)
