"""The guard of instruction counts: it reads callgrind's files, passes what is as before, fails on what rose and names the function,
and takes a higher count only with a reason. $GRAPNEL is the binary."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BENCH = pathlib.Path(__file__).resolve().parents[1] / "bench"
sys.path.insert(0, str(BENCH))
import callgrind
import count_instructions as guard

GRAPNEL = pathlib.Path(os.environ.get("GRAPNEL", "build/release/bin/grapnel")).resolve()

PROFILE = """version: 1
events: Ir
fl=(1) a.cpp
fn=(1) main
3 10
+2 5
cfi=(2) b.cpp
cfn=(2) grapnel::Table<int, std::less<int> >::Find(int) const
calls=2 7
* 400
fn=(2)
7 100
cfn=(2)
calls=1 7
* 50
cfn=(3) malloc
calls=3 0
* 300
fn=(3)
0 300
totals: 415
"""


def profile(**own):
    return guard.callgrind.Profile(sum(own.values()), own, {"grapnel::" + f: n for f, n in own.items()})


class Reading(unittest.TestCase):
    def test_a_function_has_its_own_instructions_and_those_of_what_it_calls(self):
        read = callgrind.read_profile(PROFILE.splitlines(keepends=True))
        self.assertEqual(read.total, 415)
        self.assertEqual(dict(read.own), {"main": 15, "grapnel::Table::Find": 100, "malloc": 300})
        self.assertEqual(dict(read.inclusive), {"main": 415, "grapnel::Table::Find": 400, "malloc": 300})

    def test_names_lose_what_changes_with_the_compiler(self):
        for name, short in (
            ("void grapnel::(anonymous namespace)::Walk<int>::Go(std::pair<int, int>)", "void grapnel::(anonymous namespace)::Walk::Go"),
            ("grapnel::Less::operator()(int, int) const", "grapnel::Less::operator()"),
            ("bool operator< <int>(A<int> const&, int)", "bool operator<"),
            ("std::ostream& operator<<(std::ostream&, char)", "std::ostream& operator<<"),
            ("a::b(int)::{lambda(int)#1}::operator()(int) const'2", "a::b"),
            ("operator new(unsigned long)", "operator new"),
            ("_int_free", "_int_free"),
        ):
            self.assertEqual(callgrind.short_name(name), short)


class Judging(unittest.TestCase):
    def setUp(self):
        self.tools = {"compiler": "clang 14"}
        self.file, refused = guard.update({}, {"place": profile(Find=900, Sort=100)}, self.tools, "", False)
        self.assertEqual(refused, [])

    def judge(self, **own):
        lines, failed = guard.judge(self.file, {"place": profile(**own)})
        return "\n".join(lines), failed

    def test_what_is_as_before_passes(self):
        self.assertFalse(self.judge(Find=900, Sort=100)[1])
        self.assertFalse(self.judge(Find=905, Sort=120)[1])

    def test_more_than_three_in_a_hundred_fails_with_the_function(self):
        said, failed = self.judge(Find=900, Sort=150)
        self.assertTrue(failed)
        self.assertIn("Sort: 100 to 150 of its own", said)
        self.assertIn("grapnel::Sort: 100 to 150 with what it calls", said)
        self.assertNotIn("Find", said)

    def test_a_function_that_is_new_is_named(self):
        self.assertIn("Hash: 100 to 300 of its own", self.judge(Find=900, Sort=100, Hash=300)[0])

    def test_fewer_passes_and_says_how_to_keep_it(self):
        said, failed = self.judge(Find=500, Sort=100)
        self.assertFalse(failed)
        self.assertIn("--write", said)

    def test_a_work_that_the_file_lacks_fails(self):
        self.assertTrue(guard.judge(self.file, {"query": profile(Find=1)})[1])

    def write(self, reason="", tools=None, seal=False, **own):
        self.file, refused = guard.update(self.file, {"place": profile(**own)}, tools or self.tools, reason, seal)
        return refused, self.file["works"]["place"]

    def test_a_lower_count_is_written_without_a_reason(self):
        refused, entry = self.write(Find=500)
        self.assertEqual((refused, entry["count"]), ([], 500))

    def test_a_higher_count_needs_a_reason_which_stays(self):
        refused, entry = self.write(Find=2000)
        self.assertEqual((refused, entry["count"]), (["place"], 1000))
        refused, entry = self.write(Find=2000, reason="reads labels too")
        self.assertEqual((refused, entry["count"], entry["reasons"]), ([], 2000, ["1,000 to 2,000: reads labels too"]))
        self.assertEqual(self.write(Find=1500)[1]["reasons"], ["1,000 to 2,000: reads labels too"])

    def test_noise_moves_nothing(self):
        self.assertEqual(self.write(Find=1002)[1]["count"], 1000)

    def test_no_reason_goes_above_a_seal(self):
        self.write(Find=1000, seal=True)
        self.assertEqual(self.write(Find=800)[1]["count"], 800)
        self.assertEqual(self.write(Find=1000, reason="back")[1]["count"], 1000)
        refused, entry = self.write(Find=1100, reason="more")
        self.assertEqual((refused, entry["count"]), (["place"], 1000))

    def test_another_toolchain_is_the_reason(self):
        refused, entry = self.write(Find=2000, tools={"compiler": "clang 15"})
        self.assertEqual(refused, [])
        self.assertIn("clang 14 to clang 15", entry["reasons"][0])


@unittest.skipUnless(shutil.which("valgrind"), "no valgrind")
class Counting(unittest.TestCase):
    """The whole program, on a file with counts that are made up."""

    def run_on(self, change, *flags):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "counts.json"
            command = [sys.executable, BENCH / "count_instructions.py", "--bin", GRAPNEL.parent, "--only", "start", "--file", path]
            subprocess.run([*command, "--write"], check=True, capture_output=True)
            file = json.loads(path.read_text())
            change(file)
            path.write_text(json.dumps(file))
            return subprocess.run([*command, *flags], capture_output=True, text=True)

    def test_the_same_count_passes(self):
        self.assertEqual(self.run_on(lambda file: None).returncode, 0)

    def test_a_count_that_rose_fails(self):
        def halve(file):
            entry = file["works"]["start"]
            entry["count"] //= 2
            entry["own"]["_int_malloc"] = 1
        run = self.run_on(halve)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertRegex(run.stdout, r"start .* too many: .*\n +_int_malloc: 1 to [\d,]+ of its own")

    def test_another_toolchain_is_skipped_by_name(self):
        def older(file):
            file["toolchain"]["compiler"] = "clang version 3.0"
        run = self.run_on(older)
        self.assertEqual(run.returncode, 77)
        self.assertIn("SKIPPED", run.stdout)
        self.assertIn("compiler clang version 3.0, here ", run.stdout)


if __name__ == "__main__":
    unittest.main()
