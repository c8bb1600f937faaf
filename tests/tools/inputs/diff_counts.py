"""diff_counts.py FILE OUT.html [OPTION...]: a diff's words, its JSON and the lists of its page count alike, and call nodes as the graphs do.

FILE holds both graphs.
"""

import json
import re
import subprocess
import sys


def grapnel(*arguments):
    return subprocess.run(["grapnel", "diff", *arguments], capture_output=True, text=True).stdout


def faults(files, page, options):
    said = grapnel(*files, *options).splitlines()[-1]
    words = {kind: int(number.replace(",", "")) for number, kind in re.findall(r"([\d,]+) (removed|added|changed|replaced)", said)}
    told = json.loads(grapnel(*files, *options, "--json"))
    of_json = {
        "removed": len(told["removed"]),
        "added": len(told["added"]),
        "changed": sum(pair["changed"] for pair in told["matched"]),
        "replaced": len(told["groups"]),
    }
    grapnel(*files, *options, "-o", page)
    with open(page) as file:
        html = file.read()
    # The first is of both graphs drawn as one.
    counts = json.loads(re.search(r'"marked_counts":(\[[^]]*\])', html).group(1))
    listed = json.loads(re.search(r'"marked":(\[\[.*?\]\]|\[\])', html).group(1))
    kinds = ["removed", "added", "changed", "replaced"]
    for kind, count in zip(kinds, counts):
        if not words.get(kind, 0) == of_json[kind] == count:
            yield f"{kind}: {words.get(kind, 0)} in words, {of_json[kind]} in JSON, {count} on the page"
    removed = sorted(name for _, _, kind, _, name in listed if kind == 0)
    missing = [name for name in removed if not any(f"/{whole}".endswith(f"/{name}") for whole in told["removed"])]
    if missing:
        yield f"removed are {told['removed']}, and the page says {missing}"


def main(page, *arguments):
    files = [word for word in arguments if not word.startswith("--")]
    options = [word for word in arguments if word.startswith("--")]
    wrong = list(faults(files, page, options))
    print("\n".join([*wrong, f"{len(wrong)} faults"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
