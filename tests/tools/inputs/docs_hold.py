"""What README and docs name is there, what README shows runs, and the commands of the guides print what the guides say.

usage: docs_hold.py ROOT FOLDER      `grapnel` is on PATH; FOLDER is where the commands run
"""
import difflib
import glob
import os
import re
import shlex
import subprocess
import sys
import tarfile

DIRECTORIES = "cmake|kernels|lib|passes|scripts|testdata|tests|tools"
OF_THE_READER = ("my_case", "my_saved_model")                 # files that a reader would have


def documents(root):
    return [os.path.join(root, "README.md"), os.path.join(root, "CONTRIBUTING.md"), *sorted(glob.glob(os.path.join(root, "docs/*.md")))]


def missing_files(root):
    """Files of links, and in backquotes; a header or source may be named without its ending. Names in capitals stand for others."""
    for document in documents(root):
        with open(document) as f:
            text = re.sub(r"^ *```.*?^ *```", "", f.read(), flags=re.DOTALL | re.MULTILINE)
        links = [os.path.join(os.path.dirname(document), link) for link in re.findall(r"\]\(([\w./-]+)\)", text)]
        named = [os.path.join(root, name) for name in re.findall(rf"`((?:{DIRECTORIES})/[\w./*-]+)`", text)]
        for path in links + named:
            stands_for_others = re.search(r"\b(NAME|FAMILY|LIBRARY|OPTIMIZER)(\b|_)|_FAMILY", path)
            if not stands_for_others and not glob.glob(path) and not glob.glob(path + ".*"):
                yield f"{os.path.basename(document)}: there is no {os.path.relpath(path, root)}"


def commands(readme):
    with open(readme) as f:
        blocks = f.read().split("```")[1::2]
    lines = [line for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("grapnel ") and not any(name in line for name in OF_THE_READER)]


def failing(root, folder):
    os.makedirs(folder)
    os.symlink(os.path.join(root, "testdata"), os.path.join(folder, "testdata"))
    for command in commands(os.path.join(root, "README.md")):
        done = subprocess.run(shlex.split(command), cwd=folder, capture_output=True, text=True, timeout=300)
        if done.returncode > (shlex.split(command)[1] == "diff"):  # 1: they differ, as they should
            yield f"{command}: exit code {done.returncode}: {done.stderr.strip()}"


def sessions(guide):
    """(command, lines that the guide says it prints) for what follows "$ "."""
    with open(guide) as f:
        blocks = [block.split("\n", 1)[1] for block in f.read().split("```")[1::2]]
    for block in blocks:
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            while command.endswith("\\"):
                more, _, output = output.partition("\n")
                command = command[:-1] + more
            yield command, output.splitlines()


def prints(lines, output):
    """Whether the output is that; a line of dots stands for any number of lines."""
    pattern = "".join(r"(.*\n)*?" if line.strip() == "..." else re.escape(line.rstrip()) + "\n" for line in lines)
    return re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in output.splitlines())) is not None


def guides(root):
    return sorted(glob.glob(os.path.join(root, "docs/guide-*.md")))


def other_output(root, folder):
    """Commands of guides that print something else, in folders with what docs/examples/fit.py left."""
    for guide in guides(root):
        name = os.path.basename(guide)
        place = os.path.join(folder, name)
        with tarfile.open(os.path.join(root, "docs/examples/fit.tar.xz")) as archive:
            archive.extractall(place)
        for command, lines in sessions(guide):
            done = subprocess.run(["bash", "-c", command], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
            if not prints(lines, done.stdout):
                differ = "\n".join(difflib.unified_diff(lines, [line.rstrip() for line in done.stdout.splitlines()], name, command, lineterm=""))
                yield f"{name}: {command}: prints something else:\n{differ}"


def main(root, folder):
    root = os.path.realpath(root)
    wrong = [*missing_files(root), *failing(root, folder), *other_output(root, folder)]
    shown = len(commands(os.path.join(root, "README.md"))) + sum(len(list(sessions(guide))) for guide in guides(root))
    print("\n".join(wrong + [f"{shown} commands, {len(wrong)} faults"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
