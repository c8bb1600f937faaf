"""check_interrupt.py MODEL FOLDER: Ctrl-C and SIGTERM end reduce and bisect within a second, and the check that they run."""
import os
import signal
import subprocess
import sys
import time

model, folder = sys.argv[1:]
for command in (["reduce", model, "-o", os.path.join(folder, "small.pb")], ["bisect", model]):
    for number in (signal.SIGINT, signal.SIGTERM):
        pids = os.path.join(folder, "pids")
        check = f"trap '' INT TERM; sleep 60 & echo $$ $! > {pids}.tmp; mv {pids}.tmp {pids}; wait # {{}}"
        environment = dict(os.environ, TMPDIR=folder)
        with subprocess.Popen(["grapnel", *command, "--check", check], env=environment, stderr=subprocess.DEVNULL) as run:
            while not os.path.exists(pids):
                assert run.poll() is None, run.returncode
                time.sleep(0.01)
            begin = time.monotonic()
            run.send_signal(number)
            run.wait(10)
        assert run.returncode in (-signal.SIGINT, 128 + signal.SIGINT) and time.monotonic() - begin < 1, (command, run.returncode, time.monotonic() - begin)
        with open(pids, encoding="utf-8") as file:
            started = [int(pid) for pid in file.read().split()]
        os.remove(pids)
        for pid in started:
            while os.path.exists(f"/proc/{pid}") and time.monotonic() - begin < 3:  # a busy machine takes its time
                with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                    if file.read().rsplit(")", 1)[1].split()[0] == "Z":  # dead, but its parent has not waited for it
                        break
                time.sleep(0.01)
            else:
                assert not os.path.exists(f"/proc/{pid}"), (command, pid)
        left = [name for name in os.listdir(folder) if name.startswith("grapnel")]
        assert not left, left
