"""A plugin that was built against another version, by its bytes; or many that are damaged, each loaded.

usage: other_version.py PLUGIN OUT
       other_version.py --damage PLUGIN FOLDER
"""
import pathlib
import random
import subprocess
import sys


def other_version(plugin, out):
    data = pathlib.Path(plugin).read_bytes()
    at = data.index(b"grapnel plugin\0")
    pathlib.Path(out).write_bytes(data[: at + 16] + b"9.8.7".ljust(32, b"\0") + data[at + 48 :])


def damage(plugin, folder):
    """Cut short, and with bytes of the headers changed: refused or loaded, never a crash of what reads them."""
    data, chance, crashed = pathlib.Path(plugin).read_bytes(), random.Random(1), 0
    pathlib.Path(folder).mkdir()
    sections = int.from_bytes(data[40:48], "little")
    for i in range(40):
        bad = bytearray(data)
        # Another version, so that what is whole enough to be loaded is not: the loader's own faults are not ours.
        at = bad.index(b"grapnel plugin\0")
        bad[at + 16 : at + 18] = b"9."
        if i < 10:
            bad = bad[: chance.randrange(len(bad))]
        for _ in range(3 if i >= 10 else 0):
            at = chance.choice([chance.randrange(64), sections + chance.randrange(len(bad) - sections)])
            bad[at] = chance.randrange(256)
        file = pathlib.Path(folder) / f"{i}.so"
        file.write_bytes(bad)
        done = subprocess.run(["grapnel", "passes", "--plugin", str(file)], capture_output=True, text=True)
        if done.returncode != 2 or f"{i}.so: " not in done.stderr:
            print(i, done.returncode, done.stderr)
            crashed += 1
    print(f"40 files, {crashed or 'none'} crashed")


if __name__ == "__main__":
    if sys.argv[1] == "--damage":
        damage(*sys.argv[2:])
    else:
        other_version(*sys.argv[1:])
