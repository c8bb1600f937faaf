"""Places every case of a folder and compares with TensorFlow's devices, or with the start of its error.

usage: placement_cases.py FOLDER        prints a line for each case that differs, then the count; exit 1 when one does
"""
import json
import os
import subprocess
import sys


def place(arguments):
    result = subprocess.run(["grapnel", "place", *arguments, "--json"], capture_output=True, text=True, check=False)
    return json.loads(result.stdout)


def main():
    root, wrong, count = sys.argv[1], 0, 0
    for name in sorted(os.listdir(root)):
        folder = os.path.join(root, name)
        if not os.path.isdir(folder):
            continue
        count += 1
        with open(os.path.join(folder, "case.json"), encoding="utf-8") as file:
            case = json.load(file)
        flags = ["--devices", ",".join(case["devices"])] + ([] if case["soft"] else ["--hard"])
        if case["default_device"]:
            flags += ["--default-device", case["default_device"]]
        if "kernels" in case:
            flags += ["--kernels", case["kernels"]]
        got = place([os.path.join(folder, "in.pb"), *flags])
        if case["error"]:
            same = (got["error"] or "")[:40] == case["error"][:40]
        elif "placed" in case:
            want = {node: device for device, nodes in case["placed"].items() for node in nodes}
            got["placements"] = {node: device.rpartition("device:")[2] for node, device in got["placements"].items()}
            # TensorFlow's log numbers nodes of control flow that it opens as it likes.
            same = not got["error"] and all(got["placements"].get(node) == device for node, device in want.items())
        else:
            # A placed graph asks for what it got.
            want = place([os.path.join(folder, "out.pb"), *flags])["requested"]
            same = not got["error"] and got["placements"] == want
        if not same:
            wrong += 1
            print(f"{name}: differs from TensorFlow: {got['error'] or got['placements']}")
    print(f"{count - wrong} of {count} cases as TensorFlow")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
