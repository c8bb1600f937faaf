"""no_values.py KNOWN.pbtxt FOLDER MODEL...: writes what view, diff, convert and cut make of each with --no-values, in all formats,
and looks in it for the values of constants (as they lie in memory, in base64, as decimals), for paths and for lines of the program.
Of KNOWN.pbtxt all that is not to be seen is known; it must be found in what is made without --no-values."""

import base64
import pathlib
import re
import struct
import subprocess
import sys

from unpacked import unpacked

SECRET, NUMBERS = "secret", (0.71828175, 0.57721566, -0.30102999, 0.14142136, 0.17320508, 0.2236068)
MANY = 40  # constants of a model
HERE = re.escape(f"/{pathlib.Path.cwd().parts[1]}".encode())
PATHS = re.compile(rb"(?:/home|/tmp|" + HERE + rb")/[^\s\"']*")


def grapnel(*arguments, code=(0,)):
    done = subprocess.run(["grapnel", *map(str, arguments)], capture_output=True, check=False)
    assert done.returncode in code, (arguments, done.returncode, done.stderr.decode()[-400:])
    return done.stdout


def floats_of(path):
    """The elements of an .npy file of float32; none of another."""
    data = path.read_bytes()
    size = struct.unpack("<H", data[8:10])[0]
    if b"'<f4'" not in data[10 : 10 + size]:
        return b""
    return data[10 + size :]


def constants(model, folder):
    """Bytes of those float constants of the main graph that have elements other than round numbers."""
    names = grapnel("query", model, "SELECT name FROM nodes WHERE op = 'Const' AND function IS NULL", "--csv").decode().split()[1:]
    found = []
    for name in names:
        path = folder / "value.npy"
        done = subprocess.run(["grapnel", "run", model, "--fetch", f"{name}={path}", "-q"], capture_output=True, check=False)
        if done.returncode == 0 and path.exists():
            data = floats_of(path)
            if len(set(struct.unpack(f"<{len(data) // 4}f", data))) >= 4:
                found.append(data)
        path.unlink(missing_ok=True)
        if len(found) == MANY:
            break
    return found


def needles(data):
    """The first elements of a constant that are not round numbers, as bytes, base64 at each offset, and decimals."""
    count = len(data) // 4
    numbers = [n for n in struct.unpack(f"<{count}f", data) if len(f"{n:.9g}") >= 10][:4]
    raw = data[: min(len(data), 48)]
    if len(raw) >= 16 and any(raw):
        yield raw
        for offset in range(3):
            yield base64.b64encode(raw[offset : offset + 12 if len(raw) < 24 else offset + 21])
    for number in numbers:
        text = f"{abs(number):.9g}"
        if "e" not in text:
            yield text[:8].encode()  # as many digits as all writers give


def files_of(model, other, folder, *more):
    """What is made of a model, by name."""
    made = {}

    def write(name, command, *arguments, code=(0,)):
        path = folder / name
        grapnel(command, *arguments, "-o", path, *more, code=code)
        made[name] = unpacked(path.read_bytes())

    for kind in "html", "svg", "dot", "json", "png":
        write(f"view.{kind}", "view", model, "--show-constants", "--function", "all")
    for kind in "html", "svg", "dot":
        write(f"diff.{kind}", "diff", model, other, "--all", code=(0, 1))
    made["diff.txt"] = grapnel("diff", model, other, "--all", *more, code=(0, 1))
    made["diff.json"] = grapnel("diff", model, other, "--json", *more, code=(0, 1))
    for kind in "pb", "pbtxt", "gtxt":
        write(f"graph.{kind}", "convert", model)
    for kind in "canonical", "model-explorer", "node-data":
        write(f"graph.{kind}", "convert", model, "--to", kind)
    write("events.out.tfevents.1", "convert", model)
    made["sync"] = grapnel("convert", model, other, "--to", "sync-navigation", "-o", "-", *more)
    last = grapnel("query", model, "SELECT n.name FROM nodes n WHERE n.function IS NULL AND n.id IN (SELECT node FROM outputs) "
                   "ORDER BY n.id DESC LIMIT 1", "--csv").decode().split()[1]
    for kind in "pb", "pbtxt", "gtxt":
        write(f"cut.{kind}", "cut", model, "--outputs", last)
    for name in "graph.pb", "graph.pbtxt", "graph.gtxt", "cut.pb", "events.out.tfevents.1":
        grapnel("info", folder / name)
    return made


def look(name, made, wanted):
    found = [f"{name}: {file}: {needle!r}" for file, data in made.items() for needle in wanted if needle in data]
    found += [f"{name}: {file}: a path: {match[0][:60]!r}" for file, data in made.items() for match in [PATHS.search(data)] if match]
    return found


def main():
    secrets, folder, models = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    folder.mkdir()
    known = [SECRET.encode(), *needles(struct.pack(f"<{len(NUMBERS)}f", *NUMBERS)), struct.pack("<2f", *NUMBERS[:2])]
    other = folder / "other.pbtxt"
    other.write_text(secrets.read_text().replace("0.14142136", "0.24142136").replace("/home/secret/config", "/home/secret/settings"))
    plain = files_of(secrets, other, folder)
    for file in "view.html", "graph.pb", "graph.pbtxt", "graph.gtxt", "graph.canonical", "cut.gtxt", "diff.html", "events.out.tfevents.1":
        assert look("plain", {file: plain[file]}, known), f"nothing is found in {file}, which has it all"
    for needle in known[1:4]:
        assert look("plain", {"graph.pb": plain["graph.pb"]}, known), needle
    made = files_of(secrets, other, folder, "--no-values")
    print(f"{secrets.name}: {len(made)} files")
    found = look(secrets.name, made, known)
    for model in models:
        wanted = [needle for data in constants(model, folder) for needle in needles(data)]
        other = folder / "other.gtxt"
        text = grapnel("convert", model, "-o", "-", "--to", "text").decode()
        other.write_text(text.replace("0.1", "0.2"))
        made = files_of(model, other, folder, "--no-values")
        print(f"{pathlib.Path(model).name}: {len(made)} files, {len(wanted)} values looked for")
        found += look(pathlib.Path(model).name, made, wanted)
    print("\n".join(found) or "nothing found")
    return 1 if found else 0


sys.exit(main())
