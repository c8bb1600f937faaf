"""run_interrupt.py ENDLESS KERAS FOLDER: Ctrl-C while `run` runs, once or twice; what was made until then is kept."""
import json
import os
import signal
import subprocess
import sys
import time

endless, keras, folder = sys.argv[1:]
signal.signal(signal.SIGINT, signal.default_int_handler)  # a test that runs in the background has it ignored
signal.alarm(60)


def interrupt(*arguments, presses=1):
    """Gives what is said on stderr and the process's end; each press waits for the answer to the one before."""
    with subprocess.Popen(["grapnel", "run", *arguments], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as run:
        time.sleep(1)
        said = ""
        for _ in range(presses):
            run.send_signal(signal.SIGINT)
            for line in run.stderr:
                said += line
                if "Ctrl-C again" in line:
                    break
        said += run.stderr.read()
    return said, run.returncode


def path(name):
    return os.path.join(folder, name)


# With many runs, the current one ends, and its taps are complete.
said, code = interrupt(endless, "--fetch", "quick", "-q", "--repeat", "1000000000", "--tap", "quick", "--tap-file", path("taps"))
assert code == -signal.SIGINT and "stopping after this run (Ctrl-C again: now)" in said, (said, code)
assert "stopped by Ctrl-C after " in said and "of 1,000,000,000 runs" in said, said
with open(path("taps"), encoding="utf-8") as file:
    runs = [json.loads(line)["run"] for line in file]
assert runs == list(range(1, len(runs) + 1)) and runs, len(runs)

# One run ends where it is.
said, code = interrupt(endless, "--fetch", "w", "--tap", "j", "--tap-file", path("one"))
assert code == -signal.SIGINT and "stopping, keeping the results so far (Ctrl-C again: keeps nothing)" in said, (said, code)
assert os.path.getsize(path("one")) > 0

# So does one of many when it is asked again.
said, code = interrupt(endless, "--fetch", "w", "--repeat", "3", "--tap", "j", "--tap-file", path("two"), presses=2)
assert code == -signal.SIGINT and "stopped by Ctrl-C after 0 of 3 runs" in said, (said, code)
assert os.path.getsize(path("two")) > 0

# The training state so far is saved.
said, code = interrupt(os.path.join(keras, "model"), "--feed", "keras_tensor=" + os.path.join(keras, "x.npy"), "-q",
                       "--repeat", "1000000000", "--save-variables", path("v"))
assert code == -signal.SIGINT and os.path.exists(path("v.index")), (said, code)

# Where nothing is kept the process ends at once, without a word.
said, code = interrupt(endless, "--fetch", "w")
assert code == -signal.SIGINT and said == "", (said, code)
