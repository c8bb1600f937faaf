"""Whether `grapnel replay --json`, on stdin, passed every case that testdata's README lists, and those alone.

usage: grapnel replay testdata/ops/* --json | replayed.py testdata/README.md ops [--but CASE]
"""
import json
import re
import sys


def main(readme, folder, but=None):
    with open(readme) as f:
        listed = set(re.findall(rf"^\| `{folder}/([^`]+)` \|", f.read(), re.MULTILINE)) - {but}
    results = {}
    for line in sys.stdin:
        case = json.loads(line)
        results[case["case"]] = case
    for name in sorted(listed | set(results)):
        case = results.get(name)
        if name not in listed:
            print(f"{name}: is not in {readme}")
        elif case is None:
            print(f"{name}: did not run")
        elif case["status"] != "pass":
            print(f"{name}: {case['status']} {case['message']}")
    passed = {name for name, case in results.items() if case["status"] == "pass"}
    print(f"{len(passed)} of {len(listed)} passed")
    return 0 if passed == listed == set(results) and listed else 1


if __name__ == "__main__":
    args = sys.argv[1:]
    sys.exit(main(args[0], args[1], args[3] if len(args) > 2 else None))
