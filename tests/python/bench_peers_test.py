"""What `./x bench --peers` makes of its measurements: turns, exponents, tables, reasons, and the page, which is that of results.json."""

import math
import os
import pathlib
import sys
import tempfile
import time
import unittest

BENCH = pathlib.Path(__file__).resolve().parents[1] / "bench"
sys.path[:0] = [str(BENCH / "peers"), str(BENCH)]
import growing
import made_graphs
import measure
import results
import run
from results import Family, Goal, Results, Row


class Timing(unittest.TestCase):
    def test_a_process_is_timed_and_ended_when_its_time_is_over(self):
        self.assertGreater(measure.run(["sleep", "0.05"]), 0.05)
        begin = time.monotonic()
        with self.assertRaises(measure.TooLong):
            measure.run(["sleep", "20"], limit=0.2)
        self.assertLess(time.monotonic() - begin, 5)

    def test_a_process_that_fails_says_why(self):
        with self.assertRaisesRegex(measure.Failed, "ended with 3: no such thing"):
            measure.run(["sh", "-c", "echo no such thing >&2; exit 3"])
        measure.run(["sh", "-c", "exit 3"], fine=(0, 3))

    @unittest.skipUnless(os.path.exists("/usr/bin/time"), "no GNU time")
    def test_memory_is_the_process_and_not_who_started_it(self):
        block = bytearray(200_000_000)
        self.assertLess(measure.peak_memory(["true"]), 20_000_000)
        del block
        self.assertGreater(measure.peak_memory([sys.executable, "-c", "bytearray(100_000_000)"]), 100_000_000)

    def test_sides_take_turns_and_a_peer_that_fails_drops_out(self):
        order = []

        def side(name, seconds):
            def call():
                order.append(name)
                if seconds is None:
                    raise measure.Failed("it broke")
                return seconds
            return call

        found = measure.take_turns({"grapnel": side("grapnel", 1.0), "slow": side("slow", 3.0), "bad": side("bad", None)}, most=3)
        self.assertEqual(found, {"grapnel": 1.0, "slow": 3.0, "bad": "it broke"})
        self.assertEqual(order, ["grapnel", "slow", "bad", "grapnel", "slow", "grapnel", "slow"])

    def test_grapnel_may_not_fail(self):
        def fail():
            raise measure.Failed("wrong outputs")
        with self.assertRaisesRegex(measure.Failed, "wrong outputs"):
            measure.take_turns({"grapnel": fail})

    def test_a_side_that_has_had_its_time_is_not_asked_again(self):
        calls = []

        def slow():
            calls.append(1)
            time.sleep(0.05)
            return 0.05

        measure.take_turns({"grapnel": slow}, budget=0.04, most=9)
        self.assertEqual(len(calls), 1)

    def test_a_worker_answers_fails_and_is_started_again_when_it_took_too_long(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "worker.py"
            script.write_text(f"import sys, time; sys.path.insert(0, {str(BENCH / 'peers')!r}); import measure; print('noise')\n"
                              "measure.serve({'ready': lambda: True, 'add': lambda a, b: a + b, 'wait': lambda seconds: time.sleep(seconds)})\n")
            worker = measure.Worker(sys.executable, script)
            self.assertEqual(worker.ask("add", a=1, b=2), 3)
            with self.assertRaisesRegex(measure.Failed, "TypeError"):
                worker.ask("add", a=1, b="x")
            with self.assertRaises(measure.TooLong):
                worker.ask("wait", limit=0.05, seconds=60)
            self.assertEqual(worker.ask("add", a=2, b=2), 4)
            worker.close()


class Growth(unittest.TestCase):
    def test_exponents(self):
        sizes = [1000, 10_000, 100_000]
        self.assertAlmostEqual(measure.exponent(sizes, [n**1.5 / 1e6 for n in sizes]), 1.5)
        self.assertAlmostEqual(measure.exponent(sizes, [0.5 + n / 1e4 for n in sizes], start=0.5), 1.0)
        self.assertAlmostEqual(measure.exponent(sizes, [1e-3, "over 120 s", 1e-1]), 1.0)
        self.assertIsNone(measure.exponent(sizes, [0.5, 0.5, 0.6], start=0.5))

    def test_the_largest_row_of_a_series_has_its_exponent_and_the_goal(self):
        rows = {f"f/{kind}/{n}": Row(kind, 0.1 + n**power / 1e3, size=n, start=0.1)
                for kind, power in (("a", 1), ("b", 2)) for n in (100, 1000, 10_000)}
        growing.add_exponents(rows, goal_from=1000, limit=1.05)
        self.assertTrue(rows["f/a/10000"].exponent.startswith("1.00"))
        self.assertTrue(rows["f/b/10000"].exponent.startswith("2.00"))
        self.assertEqual(rows["f/a/1000"].exponent, "")
        self.assertAlmostEqual(rows["f/b/10000"].goals[0].got, 2.0)

    def test_a_peer_that_cannot_end_in_time_is_not_tried(self):
        class Bench:
            seen = {("s", "Grappler"): (1000, 50.0)}
        sides = {"grapnel": lambda: 1.0, "Grappler": lambda: self.fail("it was tried")}
        own, peers = growing.turns(Bench, "s", 10_000, sides)
        self.assertEqual((own, peers), (1.0, {"Grappler": "over 120 s: not tried, as 1,000 nodes took 50 s"}))

    def test_graphs_are_the_same_for_a_seed_and_grow_with_their_size(self):
        with tempfile.TemporaryDirectory() as folder:
            def made(kind, nodes, seed):
                path = pathlib.Path(folder) / "graph.pb"
                made_graphs.write(kind, nodes, path, seed)
                return path.read_bytes()
            for kind in made_graphs.KINDS:
                self.assertEqual(made(kind, 500, 1), made(kind, 500, 1))
                self.assertNotEqual(made(kind, 500, 1), made(kind, 500, 2))
                self.assertAlmostEqual(len(made(kind, 5000, 1)) / len(made(kind, 500, 1)), 10, delta=1.5)


ROWS = {
    "f/fast": Row("fast", 0.001, {"TensorFlow": 0.01}, [Goal(0.1, 0.7, "of TensorFlow")]),
    "f/slow": Row("slow", 0.02, {"TensorFlow": "over 120 s", "ONNX Runtime": 0.01},
                  [Goal(2.0, 1.0, "of ONNX Runtime"), Goal(0.02, 0.003, "s")], memory="9 MB"),
}
FAMILY = Family("f", "A family", "What it is.", dict.fromkeys(["fast", "slow"]))


class Tables(unittest.TestCase):
    def test_cells(self):
        for value, text in ((0.0123, "12.3 ms"), (123.4, "123 s"), (1.5e-5, "15 us"), (2e-8, "20 ns"), ("over 120 s", "over 120 s")):
            self.assertEqual(results.seconds(value), text)

    def test_a_row_that_fell_short_is_marked_and_has_a_reason(self):
        lines = results.table(ROWS, {}, {"f/sl*": "it is slow"}).splitlines()
        self.assertEqual(lines[0], "| work | grapnel | TensorFlow | ONNX Runtime | grapnel / TensorFlow | grapnel / ONNX Runtime | memory | "
                                   "goal | met |")
        self.assertEqual(lines[2], "| fast | 1 ms | 10 ms |  | 0.1 |  |  | 0.7 of TensorFlow | yes |")
        self.assertEqual(lines[3], "| slow | 20 ms | over 120 s | 10 ms |  | 2 | 9 MB | 1 of ONNX Runtime, 3 ms | "
                                   "**no**, 2 of ONNX Runtime, 20 ms: it is slow |")
        self.assertIn("no reason is given yet", results.table(ROWS, {}, {}))

    def test_figures_of_a_busy_core_stand_beside(self):
        busy = {"f/fast": Row("fast", 0.002, {"TensorFlow": 0.04})}
        self.assertIn("| 0.1 |  | 2 ms (0.05) |", results.table(ROWS, busy, {}))

    def test_only_what_was_measured_again_changes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "results.json"
            kept = Results(path)
            for row_id, row in ROWS.items():
                kept.put(row_id, row, False, "Taken on a machine")
            before = Results(path).page([FAMILY], {})
            again = Results(path)
            again.put("f/fast", Row("fast", 0.004, {"TensorFlow": 0.01}), False, "Taken on a machine")
            after = again.page([FAMILY], {})
            changed = [line for line in after.splitlines() if line not in before.splitlines()]
            self.assertEqual(len(changed), 1)
            self.assertIn("4 ms", changed[0])

    def test_the_text_around_the_marks_stays(self):
        page = f"before\n\n{results.BEGIN}\nold\n{results.END}\n\nafter\n"
        self.assertEqual(results.put_between_marks(page, "new"), f"before\n\n{results.BEGIN}\n\nnew\n\n{results.END}\n\nafter\n")
        with self.assertRaises(ValueError):
            results.put_between_marks("no marks", "new")

    def test_a_mean_is_of_rows_that_have_the_peer(self):
        times = [(1.0, 2.0), (1.0, 1.0), (1.0, "not converted")]
        rows = {f"run/{i}": Row("n", own, {"ONNX Runtime": other}) for i, (own, other) in enumerate(times)}
        run.rows_run.mean_of_networks(rows)
        self.assertTrue(math.isclose(rows["run/mean"].goals[0].got, 0.75))


class ThePage(unittest.TestCase):
    def test_it_is_that_of_results_json(self):
        page = results.PAGE.read_text()
        fresh = results.put_between_marks(page, Results().page(run.FAMILIES, results.read_reasons()))
        self.assertEqual(page, fresh, "docs/internals/benchmarks.md is not what results.json and reasons.txt give: ./x bench --peers --tables")

    def test_every_reason_is_of_a_row(self):
        ids = [row[0] for row in run.chosen([], False)] + ["run/mean"]
        for pattern in results.read_reasons():
            self.assertTrue(any(results.reason_for(row_id, {pattern: "x"}) for row_id in ids), pattern)

    def test_rows_are_chosen_by_name_family_and_pattern(self):
        named = lambda *only: [row[0] for row in run.chosen(list(only), False)]  # noqa: E731
        self.assertEqual(named("run/lenet"), ["run/lenet"])
        self.assertEqual(named("beside/resnet50"), ["beside/resnet50/1", "beside/resnet50/2", "beside/resnet50/3"])
        self.assertTrue(all(row.startswith("start/") for row in named("start")))
        self.assertEqual(named("*/lenet"), ["run/lenet", "memory/lenet", "view/lenet"])
        self.assertEqual(named("nothing"), [])


if __name__ == "__main__":
    unittest.main()
