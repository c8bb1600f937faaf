"""The program `grapnel` that the wheel installs behaves like the binary: output, exit codes, signals, terminal."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest
from conftest import LENET, ROOT

BIN = pathlib.Path(sys.executable).parent
PROGRAM = (str(BIN / "grapnel"),)
MODULE = (sys.executable, "-m", "tfgrapnel")
INPUTS = ROOT / "tests" / "tools" / "inputs"


def end_of(*command, **options):
    """Runs a command: exit code, standard output, standard error."""
    done = subprocess.run(command, capture_output=True, timeout=120, **options)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("program", [PROGRAM, MODULE], ids=["program", "module"])
@pytest.mark.parametrize(
    "code, arguments",
    [
        (0, ["--version"]),
        (0, ["--help"]),
        (0, ["help", "serve"]),
        (0, ["info", LENET]),
        (0, ["info", LENET, "--json"]),
        (0, ["view", LENET, "--depth", "1", "--format", "dot", "-o", "-"]),
        (0, ["opt", LENET, "--passes", "remapper", "--print"]),
        (0, ["run", LENET, "--fetch", "Identity"]),
        (0, ["replay", LENET, "testdata/ops/UnicodeDecodeWithOffsets_shift_jis.zip"]),
        (0, ["debug", LENET, "--command", "s", "--command", "ni x"]),
        (1, ["diff", LENET, "testdata/models/transformer_block"]),
        (2, []),
        (2, ["inof", LENET]),
        (2, ["info", "no_such_file"]),
        (2, ["opt", LENET, "--fetch", "NoOq"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_same_as_the_binary(program, code, arguments):
    expected = end_of(os.environ["GRAPNEL"], *arguments)
    found = end_of(*program, *arguments)
    assert expected[0] == code
    assert found == expected


def test_files(tmp_path):
    odd = os.fsencode(tmp_path) + b"/\xff.pb"  # not UTF-8
    with open(odd, "wb") as file:
        file.write(pathlib.Path(LENET, "graph.pb").read_bytes())
    expected = end_of(os.environ["GRAPNEL"], "info", odd)
    assert expected[0] == 0 and end_of(*PROGRAM, "info", odd) == expected
    picture = tmp_path / "lenet.png"
    assert end_of(*PROGRAM, "view", LENET, "-o", picture)[0] == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert end_of(*PROGRAM, "opt", LENET, "-q", "-o", tmp_path / "fast.pb")[0] == 0
    with open(tmp_path / "fast.pb", "rb") as file:
        code, out, _ = end_of(*PROGRAM, "info", "-", "--json", stdin=file)
    assert code == 0 and json.loads(out)


def test_start_is_light():
    code = "import sys; from tfgrapnel.__main__ import main; sys.argv[1:] = ['--version']; assert main() == 0; print(*sys.modules)"
    modules = set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())
    assert "tfgrapnel" in modules
    assert not {"numpy", "asyncio", "inspect", "typing"} & modules

    def seconds(*command):
        best = 1e9
        for _ in range(5):
            begin = time.perf_counter()
            subprocess.run(command, capture_output=True, check=True)
            best = min(best, time.perf_counter() - begin)
        return best

    extra = seconds(*MODULE, "info", LENET) - seconds(sys.executable, "-c", "pass") - seconds(os.environ["GRAPNEL"], "info", LENET)
    assert extra < 0.05 * float(os.environ.get("GRAPNEL_SLOWER", "2"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serve(number):
    with subprocess.Popen([*PROGRAM, "serve", "--quiet", LENET], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            url = server.stdout.readline().strip()
            assert url.startswith("http://127.0.0.1:"), server.stderr.read() if server.poll() is not None else url
            with urllib.request.urlopen(url, timeout=60) as page:
                assert page.status == 200 and "<!doctype html>" in page.read().decode().lower()
            with pytest.raises(urllib.error.HTTPError):
                urllib.request.urlopen(urllib.parse.urljoin(url, "/no_such_page"), timeout=60)
            server.send_signal(number)
            assert server.wait(60) == 0
            assert server.stderr.read() == ""
        finally:
            server.kill()


def test_debug_reads_a_pipe():
    typed = b"s\nni x\nno_such_command\nexit\n"
    expected = end_of(os.environ["GRAPNEL"], "debug", LENET, input=typed)
    assert b"(grapnel) ni x" in expected[1]
    assert end_of(*PROGRAM, "debug", LENET, input=typed) == expected


def test_debug_at_a_terminal(tmp_path):
    """Completion, history and Ctrl-C work, with the wheel's own library for line editing."""
    log = tmp_path / "loaded"
    path = {"PATH": f"{BIN}:{os.environ['PATH']}"}
    spied = os.environ | path | {"LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": str(log)}
    command = (sys.executable, str(INPUTS / "debug_terminal.py"), str(INPUTS / "forever.gtxt"), str(tmp_path))
    code, out, err = end_of(*command, env=spied)
    assert (code, err) == (0, b""), out + err
    assert out.decode().splitlines() == ["exit code 0, a history", "run --break: exit code 1"]
    loaded = "".join(file.read_text() for file in tmp_path.glob("loaded.*"))
    assert "/tfgrapnel/libedit.so.2" in loaded and "calling init: /lib/x86_64-linux-gnu/libedit" not in loaded


@pytest.mark.parametrize(
    "script, arguments, answer",
    [
        ("run_interrupt.py", [INPUTS / "endless.gtxt", "testdata/keras"], ""),
        ("serve_ends.py", [INPUTS / "long_kernel.gtxt", "y"], "SIGINT: running, exit 0, at once\nSIGTERM: running, exit 0, at once\n"),
    ],
    ids=["run", "serve"],
)
def test_ctrl_c_while_it_works(script, arguments, answer, tmp_path):
    folder = [tmp_path] if script == "run_interrupt.py" else []
    code, out, err = end_of(sys.executable, INPUTS / script, *arguments, *folder, env=os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}"})
    assert (code, out.decode(), err.decode()) == (0, answer, "")


def wait_until_it_reads(process):
    """Returns once the command has replaced Python's handling of Ctrl-C."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        status = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines() if ":\t" in line)
        is_caught = int(status["SigCgt"], 16) >> (signal.SIGINT - 1) & 1
        is_pipe_ignored = int(status["SigIgn"], 16) >> (signal.SIGPIPE - 1) & 1
        if not is_caught and not is_pipe_ignored and "_tfgrapnel" in pathlib.Path(f"/proc/{process.pid}/maps").read_text():
            return
        time.sleep(0.01)
    raise TimeoutError


@pytest.mark.parametrize("program", [PROGRAM, MODULE], ids=["program", "module"])
def test_ctrl_c_while_it_reads(program):
    with subprocess.Popen([*program, "info", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_until_it_reads(process)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == -signal.SIGINT
        assert process.stdout.read() + process.stderr.read() == b""  # no traceback


def test_ctrl_c_that_the_shell_ignores():
    model = pathlib.Path(LENET, "graph.pb").read_bytes()
    command = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *PROGRAM, "info", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_until_it_reads(process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(model, timeout=60)
        assert (process.returncode, err) == (0, b"") and b"Conv2D" in out


def test_a_reader_that_ends_early():
    sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT i FROM n"
    ends = []
    for program in ((os.environ["GRAPNEL"],), PROGRAM):
        with subprocess.Popen([*program, "query", LENET, sql], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.read(1)
            process.stdout.close()
            ends.append((process.stderr.read(), process.wait(60)))
    assert ends[0] == ends[1] == (b"", -signal.SIGPIPE)


def test_git_calls_the_program(tmp_path):
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    for program, path in ((PROGRAM, "/usr/bin:/bin"), (MODULE, "/usr/bin:/bin"), (PROGRAM, f"{BIN}:/usr/bin:/bin")):
        code, _, err = end_of(*program, "git-setup", cwd=tmp_path, env={"PATH": path, "HOME": str(tmp_path)})
        assert (code, err) == (0, b"")
        told = subprocess.run(["git", "config", "diff.grapnel.textconv"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        name = "grapnel" if str(BIN) in path else PROGRAM[0]
        assert told.rstrip() in (f"{name} git-setup --show", f"'{name}' git-setup --show"), told
