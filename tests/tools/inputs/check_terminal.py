"""check_terminal.py MODEL FOLDER: what every command says of the model holds nothing that a terminal obeys, and no name ends its line."""

import json
import os
import re
import subprocess
import sys

model, folder = sys.argv[1:]
BAD = b"a\x1b[2J\xc2\x9b\xe2\x80\xae"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")

COMMANDS = [["info"], ["info", "--unsupported"], ["info", "-v"], ["opt"], ["opt", "--print"], ["opt", "--explain", "--why-not"],
            ["run", "--fetch", BAD], ["run", "--fetch", "nothing" + "\x1b[2J"], ["run"], ["run", "--tap", "*"],
            ["place", "--devices", "cpu:1"], ["place", "--devices", "cpu:1", "--table"], ["diff", model],
            ["diff", "testdata/harmonic_mean"], ["diff", "testdata/harmonic_mean", "--color", "always", "--all"],
            ["view", "--around", BAD, "-o", os.path.join(folder, "x.dot")], ["view", "--scope", BAD, "-o", os.path.join(folder, "x.dot")],
            ["query", "SELECT * FROM nodes"], ["query", "SELECT * FROM attributes"], ["query", "path '* -> *'"],
            ["cut", "--outputs", BAD, "-o", os.path.join(folder, "cut.pb")], ["passes", "--why-not"], ["info", "--graph", BAD],
            ["bisect", "--check", "true"], ["info", "--json"], ["query", "SELECT * FROM nodes", "--json"],
            ["diff", "testdata/harmonic_mean", "--json"], ["place", "--devices", "cpu:1", "--json"]]

for command in COMMANDS:
    arguments = ["grapnel", command[0], model, *command[1:]]
    done = subprocess.run(arguments, capture_output=True, check=False)
    assert done.returncode in (0, 1, 2), (arguments, done.returncode)
    for text in (done.stdout, done.stderr):
        shown = text.decode()  # strict: raises if it is not UTF-8
        if "always" in command:
            shown = re.sub("\x1b\\[(0|31|32|33|36)m", "", shown)
        found = OBEYED.search(shown)
        assert not found, (arguments, shown[max(0, found.start() - 80):found.end() + 20])
        # Every bad name has a second line.
        split = shown.find("\ntail")
        assert split < 0, (arguments, shown[max(0, split - 160):split + 20])
    if "--json" in command and done.returncode < 2:
        json.loads(done.stdout)
