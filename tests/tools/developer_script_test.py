"""The script x and its helpers when something is missing or fails half-way. Other programs are fakes in PATH, except where ninja builds a
small project."""

import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAMS = "bash sh env chmod sed awk grep tail head sort cat rm mv mkdir touch dirname xargs sleep git"
FAKES = {
    "apt-get": 'echo "apt-get $*" >>"$LOG"; case $1 in update) exit 0;; esac; printf "%s\\n" "${APT_SAYS:-installed}"; exit "${APT_STATUS:-0}"',
    "apt-cache": "exit 0",
    "dpkg-query": 'for last; do :; done; case " $ABSENT " in *" $last "*) exit 1;; esac; echo "install ok installed"',
    "sudo": 'exec "$@"',
    "clang++-14": 'case $1 in -dumpversion) echo "${CLANG:-14.0.6}";; esac',
    "getconf": 'case $1 in PAGE_SIZE) echo 4096;; *) echo $((${MEGABYTES:-16000} * 256));; esac',
    "nproc": "echo 8",
    "df": 'echo "Filesystem 1M-blocks Used Available"; echo "disk 100 1 ${FREE:-5000} 1% /"; exit 0',
    "cmake": """case $1 in
  --version) echo "cmake version ${CMAKE:-3.25.1}" ;;
  --preset)
    echo "configure $*" >>"$LOG"
    if [ "$CONFIGURE_FAILS" ]; then echo "CMake Error: Could not find toml++" >&2; exit 1; fi
    mkdir -p "build/$2" && touch "build/$2/build.ninja"
    echo "-- no CUDA: no NVIDIA driver was found" ;;
  --build) echo "build $* jobs=$CMAKE_BUILD_PARALLEL_LEVEL GRAPNEL_CUDA=$GRAPNEL_CUDA" >>"$LOG" ;;
esac""",
    "ninja": "exit 0",
    "ccache": "", "protoc": "", "pkg-config": "", "groff": "",
    # Makes an environment whose pip does as PIP says; any other call is of the real interpreter.
    "python3": f"""if [ "$1 $2" != "-m venv" ]; then exec {sys.executable} "$@"; fi
mkdir -p "$3/bin"
printf '#!%s/bin/python3\\n' "$PWD/$3" >"$3/bin/tool"
echo "command = $PWD/$3" >"$3/pyvenv.cfg"
printf '#!/bin/sh\\n%s\\n' "${{PIP:-exit 0}}" >"$3/bin/pip"
chmod +x "$3/bin/pip" """,
}


class Checkout(unittest.TestCase):
    """A copy of x in a folder of its own, which finds nothing but fakes and a few programs."""

    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.root = pathlib.Path(self.scratch.name).resolve() / "checkout"
        self.bin = self.root.parent / "bin"
        self.log = self.root.parent / "log"
        self.log.touch()
        self.bin.mkdir()
        for name in ("x", "cmake/packages.txt", "scripts/build_progress.py", "scripts/build_times.py"):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        self.write(self.root / "tools/demo.sh", 'echo "demo GRAPNEL_CUDA=$GRAPNEL_CUDA" >>"$LOG"')
        for name in PROGRAMS.split():
            (self.bin / name).symlink_to(shutil.which(name))
        for name, text in FAKES.items():
            self.write(self.bin / name, text)

    @staticmethod
    def write(path, text):
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def environment(self, **more):
        return {"PATH": str(self.bin), "HOME": str(self.root), "LOG": str(self.log), **more}

    def x(self, *arguments, status=0, **environment):
        """Runs x and returns what it says."""
        done = subprocess.run([self.root / "x", *arguments], env=self.environment(**environment), capture_output=True, text=True)
        self.assertEqual(done.returncode == 0, status == 0, done.stdout + done.stderr)
        return done.stderr

    def logged(self):
        return self.log.read_text()


class Packages(Checkout):
    def test_network_gone(self):
        gone = "E: Failed to fetch http://archive/p.deb  Temporary failure resolving 'archive'"
        said = self.x("build", status=1, ABSENT="libgif-dev ninja-build", APT_SAYS=gone, APT_STATUS="100")
        self.assertIn(gone, said)
        self.assertIn("the installation of packages failed", said)
        self.assertIn("is there a network?", said)
        self.assertIn("ninja-build libgif-dev", said)
        self.assertNotIn("configure", self.logged())
        self.x("build", ABSENT="libgif-dev ninja-build")
        self.assertIn("apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 ninja-build libgif-dev", self.logged())
        self.assertIn("build --build build/release --target grapnel grapnel_modules", self.logged())

    def test_disk_full(self):
        said = self.x("build", status=1, ABSENT="libgif-dev", APT_STATUS="100", APT_SAYS="E: You don't have enough free space in /var/cache/apt/archives/.")
        self.assertIn("the disk is full", said)

    def test_unknown_package(self):
        said = self.x("build", status=1, ABSENT="clang-14", APT_STATUS="100", APT_SAYS="E: Unable to locate package clang-14")
        self.assertIn("set GRAPNEL_NO_PACKAGES=1", said)

    def test_nothing_to_install(self):
        self.x("build")
        self.assertNotIn("apt-get", self.logged())

    def test_other_system(self):
        (self.bin / "dpkg-query").unlink()
        said = self.x("build")
        self.assertRegex(said, r"libprotobuf-dev +Protocol Buffers")
        self.assertRegex(said, r"llvm-\*-dev +LLVM's Support library")
        self.assertIn("CMake found everything", said)
        self.assertNotIn("apt-get", self.logged())
        self.assertIn("build --build", self.logged())
        self.assertNotIn("libprotobuf-dev", self.x("build"))  # configured: CMake found them

    def test_other_system_lacks_a_program(self):
        (self.bin / "dpkg-query").unlink()
        (self.bin / "ninja").unlink()
        said = self.x("build", status=1)
        self.assertRegex(said, r"these are missing.*\n +ninja-build +Ninja")
        self.assertNotIn("configure", self.logged())

    def test_other_system_lacks_a_library(self):
        (self.bin / "dpkg-query").unlink()
        said = self.x("build", status=1, CONFIGURE_FAILS="1")
        self.assertIn("Could not find toml++", said)
        self.assertIn("CMake could not configure build/release", said)
        self.assertIn("cmake/packages.txt", said)
        self.assertNotIn("build --build", self.logged())
        self.x("build")

    def test_no_packages(self):
        said = self.x("build", GRAPNEL_NO_PACKAGES="1", ABSENT="libgif-dev", APT_STATUS="100")
        self.assertRegex(said, r"libgif-dev +giflib")
        self.assertNotIn("apt-get", self.logged())

    def test_every_package_is_described(self):
        text = (ROOT / "x").read_text().replace("\\\n", " ")
        needed = {word for line in re.findall(r"\bneed ((?:[a-z][\w+.-]+|\"llvm[^\"]+\"|[ ])+)", text) for word in line.replace("$llvm", "19").split()}
        needed = {word.strip('"') for word in needed}
        self.assertTrue({"libdnnl-dev", "llvm-19-dev", "chromium", "mmdebstrap", "python3-venv"} <= needed, needed)
        rows = [line.split()[0] for line in (ROOT / "cmake/packages.txt").read_text().splitlines() if line and not line.startswith("#")]
        patterns = [re.escape(row).replace(r"\*", ".*") for row in rows]
        self.assertEqual([name for name in sorted(needed) if not any(re.fullmatch(pattern, name) for pattern in patterns)], [])


class Build(Checkout):
    def test_old_compiler(self):
        said = self.x("build", status=1, CLANG="11.0.1")
        self.assertIn("too old", said)
        self.assertIn("clang++-14 is version 11.0.1", said)
        self.assertIn("install clang 14", said)
        self.assertNotIn("configure", self.logged())

    def test_another_compiler(self):
        (self.bin / "clang++-14").unlink()
        self.write(self.bin / "clang++", "echo 11.1.0")
        self.write(self.bin / "clang++-18", "echo 18.1.8")
        self.x("build")
        self.assertIn("-DCMAKE_CXX_COMPILER=clang++-18", self.logged())

    def test_old_cmake(self):
        said = self.x("build", status=1, CMAKE="3.18.4")
        self.assertIn("CMake 3.18.4 is too old", said)
        self.assertNotIn("configure", self.logged())
        self.x("build", CMAKE="4.1.0")

    def test_little_memory(self):
        said = self.x("build", MEGABYTES="3000")
        self.assertIn("3000 MB of memory", said)
        self.assertIn("jobs=2 ", self.logged())
        self.x("build", MEGABYTES="900")
        self.assertIn("jobs=1 ", self.logged())
        said = self.x("build", MEGABYTES="3000", CMAKE_BUILD_PARALLEL_LEVEL="7")
        self.assertNotIn("memory", said)
        self.assertIn("jobs=7 ", self.logged())
        self.assertNotIn("memory", self.x("build", "release", "-j3", MEGABYTES="3000"))

    def test_enough_memory(self):
        limit = pathlib.Path("/sys/fs/cgroup/memory.max")
        if limit.exists() and limit.read_text().strip().isdigit() and int(limit.read_text()) < 4 << 30:
            self.skipTest("this machine has less than 4 GB")
        self.assertNotIn("memory", self.x("build"))
        self.assertIn("jobs= ", self.logged())

    def test_disk_full_at_configuration(self):
        self.assertIn("the disk is full", self.x("build", status=1, CONFIGURE_FAILS="1", FREE="3"))
        self.assertNotIn("the disk is full", self.x("build", status=1, CONFIGURE_FAILS="1"))

    def test_cuda(self):
        self.x("build")
        self.assertIn("-DGRAPNEL_CUDA_REQUEST= ", self.logged())
        said = self.x("demo")
        self.assertIn("-DGRAPNEL_CUDA_REQUEST=DRIVER ", self.logged())
        self.assertIn("because there is no NVIDIA driver", said)
        self.x("demo", GRAPNEL_CUDA="ON")
        self.assertIn("-DGRAPNEL_CUDA_REQUEST=ON ", self.logged())
        self.assertNotRegex(self.logged(), "GRAPNEL_CUDA=O")
        self.x("build", GRAPNEL_CUDA="OFF")
        self.assertIn("-DGRAPNEL_CUDA_REQUEST=OFF ", self.logged())
        self.x("build", GRAPNEL_CUDA="/a/module.so")  # for grapnel, not for the build
        self.assertIn("GRAPNEL_CUDA=/a/module.so", self.logged())
        self.assertEqual(self.logged().splitlines()[-2].count("-DGRAPNEL_CUDA_REQUEST= "), 1)

    def test_demo_says_first_what_it_does(self):
        self.assertRegex(self.x("demo"), r"\Ax: builds grapnel, then .*build/demo\n")
        self.assertRegex(self.logged(), r"build --build build/release --target grapnel_demo\b(?!.*grapnel_modules)")


class Venv(Checkout):
    def test_made_whole(self):
        (self.root / ".venv").mkdir()  # of an earlier attempt
        (self.root / ".venv/remnant").touch()
        self.x("venv")
        self.assertEqual((self.root / ".venv/bin/tool").read_text(), f"#!{self.root}/.venv/bin/python3\n")
        self.assertTrue((self.root / ".venv/ready").exists())
        self.assertFalse((self.root / ".venv/remnant").exists())
        self.assertFalse((self.root / ".venv.partial").exists())
        self.x("venv", PIP="exit 1")  # nothing is left to do

    def test_network_gone(self):
        said = self.x("venv", status=1, PIP="echo 'ERROR: No matching distribution found for tensorflow-cpu'; exit 1")
        self.assertIn("ERROR: No matching distribution", said)
        self.assertIn("is there a network?", said)
        self.assertFalse((self.root / ".venv").exists())
        self.x("venv")
        self.assertTrue((self.root / ".venv/ready").exists())

    def test_disk_full(self):
        said = self.x("venv", status=1, PIP="cat x >/dev/full")
        self.assertIn("No space left on device", said)
        self.assertIn("the disk is full", said)

    def test_killed(self):
        started = self.root / "started"
        process = subprocess.Popen([self.root / "x", "venv"], env=self.environment(PIP=f"touch {started}; sleep 60"), stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        end = time.time() + 30
        while not started.exists() and time.time() < end:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.assertTrue(started.exists())
        self.assertFalse((self.root / ".venv").exists())
        self.x("venv")
        self.assertTrue((self.root / ".venv/ready").exists())


PROJECT = """cmake_minimum_required(VERSION 3.25)
project(small NONE)
file(GLOB inputs CONFIGURE_DEPENDS *.in)
foreach(name a b c d)
  add_custom_command(OUTPUT ${name} COMMAND sh ${CMAKE_SOURCE_DIR}/step.sh ${name} DEPENDS ${before} COMMENT "Building CXX object lib/ir/${name}.cpp.o")
  set(before ${name})
endforeach()
add_custom_target(grapnel DEPENDS d)
"""


class Progress(unittest.TestCase):
    """scripts/build_progress.py with real CMake and ninja: four steps, one after the other."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "CMakeLists.txt").write_text(PROJECT)
        self.step('touch "$1"')
        subprocess.run(["cmake", "-G", "Ninja", "-S", self.folder, "-B", self.folder / "build"], check=True, capture_output=True)
        self.command = [sys.executable, ROOT / "scripts/build_progress.py", self.folder / "build", "--target", "grapnel"]

    def step(self, text):
        (self.folder / "step.sh").write_text(text + "\n")

    def build(self, status=0, **environment):
        done = subprocess.run(self.command, capture_output=True, text=True, env={**os.environ, **environment})
        self.assertEqual(done.returncode == 0, status == 0, done.stdout + done.stderr)
        return done

    def test_builds(self):
        done = self.build(GRAPNEL_PROGRESS_SECONDS="0")
        self.assertIn("x: 4 steps to build", done.stderr)
        self.assertRegex(done.stderr, r"x: 2 of 4 steps after \d+ s, about \d+ s left")
        self.assertIn("x: built 4 steps in", done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertIn("is up to date", self.build().stderr)

    def test_estimate_follows_the_speed(self):
        sys.path.insert(0, str(ROOT / "scripts"))
        import build_progress

        build, now = build_progress.Build(str(self.folder / "build"), ["-j1"]), 1000.0
        step = "Building CXX object lib/ir/a.cpp.o"  # 1 s in the table
        with unittest.mock.patch("time.monotonic", side_effect=lambda: now):
            build.start()
            build.planned, build.seconds_planned = 1000, 1000 * build_progress.seconds_of(step)
            self.assertAlmostEqual(build.seconds_left(), 1000)
            for _ in range(300):  # from ccache: ten a second
                now += 0.1
                build.finish(step)
            self.assertAlmostEqual(build.seconds_left(), 70, delta=1)
            for _ in range(100):  # compiled by a busy machine
                now += 3
                build.finish(step)
            self.assertAlmostEqual(build.seconds_left(), 1800, delta=20)

    def test_verbose(self):
        self.command += ["--", "-v"]
        self.assertRegex(self.build().stdout, r"step\.sh a\n.*step\.sh b\n")

    def test_failing_step(self):
        self.step('for line in 1 2 3; do echo "line $line"; done; test "$1" != c && touch "$1"')
        done = self.build(status=1)
        self.assertRegex(done.stdout, r"(?s)FAILED: c .*step\.sh c\nline 1\nline 2\nline 3\n")
        self.assertIn("x: this step failed, its output is above: Building CXX object lib/ir/c.cpp.o", done.stderr)
        self.assertIn("2 of 4 steps are left", done.stderr)
        self.step('touch "$1"')
        self.assertIn("x: built 2 steps", self.build().stderr)

    def test_disk_full(self):
        self.step('cat "$0" >/dev/full && touch "$1"')
        self.assertIn("a disk is full", self.build(status=1).stderr)

    def test_out_of_memory(self):
        self.step("echo 'clang: error: unable to execute command: Killed'; exit 254")
        self.assertIn("CMAKE_BUILD_PARALLEL_LEVEL=1", self.build(status=1).stderr)

    def test_interrupted(self):
        self.step('if [ "$1" = b ]; then touch started; sleep 60; fi; touch "$1"')
        # A shell starts what it runs in the background with SIGINT ignored, and children inherit that.
        process = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip
        end = time.time() + 30
        while not (self.folder / "build/started").exists() and time.time() < end:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        said = process.communicate(timeout=30)[1]
        self.assertEqual(process.returncode, 130)
        self.assertIn("x: interrupted", said)
        self.assertIn("3 of 4 steps are left", said)
        self.step('touch "$1"')
        self.assertIn("x: built 3 steps", self.build().stderr)

    def test_terminal(self):
        controller, terminal = pty.openpty()
        process = subprocess.Popen(self.command, stdout=terminal, stderr=terminal)
        os.close(terminal)
        said = b""
        try:
            while chunk := os.read(controller, 4096):
                said += chunk
        except OSError:  # the other end is closed
            pass
        process.wait()
        os.close(controller)
        lines = said.decode().split("\r\n")
        self.assertRegex(lines[1], r"^\r1/4 steps, about \d+ s left: .*\x1b\[K\r2/4 steps.*\r4/4 steps.*\r\x1b\[K.*built 4 steps")


class CompileCommands(unittest.TestCase):
    """scripts/compile_commands.py on a folder that is written here."""

    def test_files_of_a_batch_have_their_own_commands(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            batch = folder / "lib/ir/batch_1.cpp"
            batch.parent.mkdir(parents=True)
            batch.write_text('#include "lib/ir/graph.cpp"\n#include "lib/ir/node.cpp"\n')
            alone = ROOT / "lib/ir/op_table_text.cpp"
            flags = "-Winvalid-pch -Xclang -include-pch -Xclang a.pch -Xclang -include -Xclang a.hxx -O2"
            (folder / "compile_commands.json").write_text(json.dumps([
                {"directory": scratch, "file": str(file), "command": f"clang++ {flags} -o {file.name}.o -c {file}"} for file in (batch, alone)]))
            made = subprocess.run([sys.executable, ROOT / "scripts/compile_commands.py", folder], capture_output=True, text=True, check=True).stdout
        self.assertEqual({entry["file"]: entry["command"] for entry in json.loads(made)}, {
            f"{ROOT}/lib/ir/{name}.cpp": f"clang++ -O2 -o {out}.cpp.o -c {ROOT}/lib/ir/{name}.cpp"
            for name, out in (("graph", "batch_1"), ("node", "batch_1"), ("op_table_text", "op_table_text"))})


class Times(unittest.TestCase):
    """scripts/build_times.py on a folder that is written here."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name) / "build"
        self.folder.mkdir()
        entries, steps, deps = [], ["# ninja log v5"], []
        # source, seconds, object bytes, headers
        rows = [("lib/ir/graph.cpp", 4.0, 1000, ["lib/ir/graph.h", "lib/ir/node.h", "lib/ir/in_a_batch.cpp"]), ("lib/ir/node.cpp", 0.1, 500, ["lib/ir/node.h"]),
                ("kernels/cpu/math/cast.cpp", 9.0, 3000, ["lib/ir/node.h", "/usr/include/stdio.h"])]
        for number, (source, seconds, size, headers) in enumerate(rows):
            out = f"{source}.o"
            (self.folder / out).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / out).write_bytes(bytes(size))
            entries.append({"directory": str(self.folder), "file": str(ROOT / source), "command": f"clang++ -o {out} -c {ROOT / source}"})
            steps += [f"0\t99000\t1\t{out}\t{number}", f"0\t{int(seconds * 1000)}\t1\t{out}\t{number}"]  # the latter is the latest
            deps += [f"{out}: #deps 2, deps mtime 1 (VALID)", *(f"    {ROOT / header}" for header in [source, *headers]), ""]
        steps += ["0\t2000\t1\tproto.pb.h\tp", "0\t2000\t1\tproto.pb.cc\tp"]  # one step
        (self.folder / "compile_commands.json").write_text(json.dumps(entries))
        (self.folder / ".ninja_log").write_text("\n".join(steps) + "\n")
        (self.folder / "deps").write_text("\n".join(deps) + "\n")
        Checkout.write(self.folder.parent / "bin/ninja", f"cat {self.folder}/deps")

    def times(self, *arguments, status=0):
        path = f"{self.folder.parent / 'bin'}:{os.environ['PATH']}"
        done = subprocess.run([sys.executable, ROOT / "scripts/build_times.py", self.folder, *arguments], env={**os.environ, "PATH": path},
                              capture_output=True, text=True)
        self.assertEqual(done.returncode == 0, status == 0, done.stderr)
        return done.stdout + done.stderr

    def test_directories(self):
        report = json.loads(self.times("--json"))
        self.assertEqual([(row["directory"], row["seconds"], row["object_bytes"]) for row in report["directories"]],
                         [("kernels/cpu/math", 9.0, 3000), ("lib/ir", 4.0, 1500)])
        self.assertEqual((report["seconds"], report["other_seconds"], report["cached"]), (13.0, 2.0, 1))

    def test_headers(self):
        rows = {row["header"]: row for row in json.loads(self.times("--json"))["headers"]}
        self.assertEqual((rows["lib/ir/node.h"]["objects"], rows["lib/ir/node.h"]["seconds"]), (3, 13.0))
        self.assertEqual((rows["lib/ir/graph.h"]["objects"], rows["lib/ir/graph.h"]["seconds"]), (1, 4.0))
        self.assertNotIn("lib/ir/graph.cpp", rows)
        self.assertFalse(rows["/usr/include/stdio.h"]["is_own"])

    def test_cached_objects_are_told(self):
        self.assertIn("1 of these objects came from ccache (presumably", self.times())
        source = os.path.relpath(ROOT / "kernels/cpu/math/cast.cpp", self.folder)
        (self.folder / "ccache.log").write_text(f"# {source}\ncache_miss\n# {source}\ndirect_cache_hit\nlocal_storage_hit\n"
                                                f"# {ROOT}/lib/ir/node.cpp\ncache_miss\n")
        report = json.loads(self.times("--json"))
        self.assertEqual((report["seconds"], report["cached"], report["has_ccache_log"]), (4.1, 1, True))
        self.assertIn("ccache.log says so", self.times())

    def test_table(self):
        self.assertRegex(self.times(), r"kernels/cpu/math +1 +0 +9\.0 +0\.0 +cast\.cpp +9\.0\n")

    def test_no_build(self):
        (self.folder / ".ninja_log").unlink()
        self.assertIn("run ./x build first", self.times(status=1))


if __name__ == "__main__":
    unittest.main()
