"""Makes kernels/cpu/text/unicode_script_table.h: the script of every code point, as TensorFlow's UnicodeScript numbers them.

needs: tensorflow-cpu==2.21.0        usage: scripts/make_script_table.py
"""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEAD = """\
// Made by scripts/make_script_table.py; do not edit by hand. The script of every code point, by the numbers of ICU's
// UScriptCode, as ranges that each go on to the next one.
#ifndef GRAPNEL_KERNELS_CPU_UNICODE_SCRIPT_TABLE_H_
#define GRAPNEL_KERNELS_CPU_UNICODE_SCRIPT_TABLE_H_

#include <cstdint>

namespace grapnel {

struct UnicodeScriptRange {
  int32_t first;
  int16_t script;
};

// clang-format off
inline constexpr UnicodeScriptRange kUnicodeScripts[] = {
"""
TAIL = """\
};
// clang-format on

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_UNICODE_SCRIPT_TABLE_H_
"""


def main():
    scripts = tf.strings.unicode_script(np.arange(0x110000, dtype="i4")).numpy()
    firsts = np.flatnonzero(np.diff(scripts, prepend=-99))
    cells = [f"{{{first:#x}, {scripts[first]}}}," for first in firsts]
    rows = [" ".join(cells[i:i + 8]) for i in range(0, len(cells), 8)]
    with open(os.path.join(ROOT, "kernels/cpu/text/unicode_script_table.h"), "w") as f:
        f.write(HEAD + "".join(f"    {row}\n" for row in rows) + TAIL)


if __name__ == "__main__":
    main()
