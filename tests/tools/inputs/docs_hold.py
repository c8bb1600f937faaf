"""Checks that the files and links in README and docs exist, and that the sessions in ```console blocks print what the page shows.

usage: docs_hold.py ROOT FOLDER      `grapnel` is on PATH; FOLDER is where the commands run

README's sessions run beside testdata, those of docs/guide beside what docs/examples/fit.py left (fit.tar.xz), those of its layers.md beside
what docs/examples/layers.py left.
"""
import difflib
import glob
import os
import re
import subprocess
import sys
import tarfile

DIRECTORIES = "cmake|docs|kernels|lib|passes|scripts|testdata|tests|tools"


def documents(root):
    pages = glob.glob(os.path.join(root, "docs/**/*.md"), recursive=True)
    return [os.path.join(root, "README.md"), os.path.join(root, "CONTRIBUTING.md"), *sorted(pages)]


def missing_files(root):
    """Files that links or backquotes name; a header or source may be named without its ending. Names in capitals stand for others."""
    for document in documents(root):
        with open(document) as f:
            text = re.sub(r"^ *```.*?^ *```", "", f.read(), flags=re.DOTALL | re.MULTILINE)
        links = [os.path.join(os.path.dirname(document), link) for link in re.findall(r"\]\s?\(([\w./-]+)(?:#[\w-]+)?\)", text)]
        named = [os.path.join(root, name) for name in re.findall(rf"`((?:{DIRECTORIES})/[\w./*-]+)`", text)]
        for path in links + named:
            stands_for_others = re.search(r"\b(NAME|FAMILY|LIBRARY|OPTIMIZER)(\b|_)|_FAMILY", path)
            if not stands_for_others and not glob.glob(path) and not glob.glob(path + ".*"):
                yield f"{os.path.relpath(document, root)}: there is no {os.path.relpath(path, root)}"


def sessions(page):
    """(command, lines that the page shows as its output) for each "$ " of a ```console block."""
    with open(page) as f:
        blocks = re.findall(r"^```console\n(.*?)^```", f.read(), flags=re.DOTALL | re.MULTILINE)
    for block in blocks:
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            while command.endswith("\\"):
                more, _, output = output.partition("\n")
                command = command[:-1] + more
            yield command, output.splitlines()


def prints(lines, output):
    """True if the command printed these lines; a line of dots stands for any number of lines."""
    pattern = "".join(r"(.*\n)*?" if line.strip() == "..." else re.escape(line.rstrip()) + "\n" for line in lines)
    return re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in output.splitlines())) is not None


def pages_with_sessions(root):
    pages = [os.path.join(root, "README.md"), *sorted(glob.glob(os.path.join(root, "docs/guide/*.md")))]
    return [page for page in pages if any(sessions(page))]


def set_up(root, page, folder):
    os.makedirs(folder)
    if os.path.basename(page) == "README.md":
        os.symlink(os.path.join(root, "testdata"), os.path.join(folder, "testdata"))
        return
    example = "layers" if os.path.basename(page) == "layers.md" else "fit"
    with tarfile.open(os.path.join(root, f"docs/examples/{example}.tar.xz")) as archive:
        archive.extractall(folder)


def other_output(root, folder):
    """Sessions whose commands print something else."""
    for page in pages_with_sessions(root):
        name = os.path.basename(page)
        place = os.path.join(folder, name)
        set_up(root, page, place)
        for command, lines in sessions(page):
            done = subprocess.run(["bash", "-c", command], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
            if not prints(lines, done.stdout):
                differ = "\n".join(difflib.unified_diff(lines, [line.rstrip() for line in done.stdout.splitlines()], name, command, lineterm=""))
                yield f"{name}: {command}: prints something else:\n{differ}"


def main(root, folder):
    root = os.path.realpath(root)
    wrong = [*missing_files(root), *other_output(root, folder)]
    shown = sum(len(list(sessions(page))) for page in pages_with_sessions(root))
    print("\n".join(wrong + [f"{shown} commands, {len(wrong)} faults"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
