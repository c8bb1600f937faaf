"""Times grapnel beside TensorFlow, ONNX Runtime, JAX and Graphviz, in turns, and writes the tables of docs/internals/benchmarks.md.

usage: ./x bench --peers [--only ROW]... [--busy] [--minutes N] [--bin FOLDER]
       ./x bench --peers --tables | --list

--only ROW measures and replaces that row alone: FAMILY/NAME as --list prints them, FAMILY, or a pattern with * and ?; may be
repeated. --busy measures beside a process that spins; the tables get a column of it. --tables measures nothing and writes the tables
anew, for a reason in reasons.txt. What was measured is kept in results.json. A peer has 120 s for a work; after --minutes no further
row is begun.

Two cores with nothing else on them, or the tables say that it was not so. Needs what ./x bench --peers installs and makes.
"""
import argparse
import contextlib
import fnmatch
import os
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import measure  # noqa: E402
import results  # noqa: E402
import rows_open  # noqa: E402
import rows_opt  # noqa: E402
import rows_run  # noqa: E402
import rows_start  # noqa: E402
import rows_trace  # noqa: E402
from environment import ROOT, Bench, say  # noqa: E402

FAMILIES = [family for module in (rows_opt, rows_open, rows_run, rows_start, rows_trace) for family in module.FAMILIES]


def chosen(only, busy):
    """[(id, function, unit)] of the rows to measure."""
    rows = [(f"{family.name}/{name}", measure_row, family.unit) for family in FAMILIES if family.has_busy or not busy
            for name, measure_row in family.rows.items()]
    return [row for row in rows if not only or any(fnmatch.fnmatchcase(row[0], p) or row[0].startswith(p.rstrip("/") + "/") for p in only)]


def write_tables(kept):
    kept.read()
    reasons = results.read_reasons()
    page = kept.page(FAMILIES, reasons)
    results.PAGE.write_text(results.put_between_marks(results.PAGE.read_text(), page))


def shown(row, unit):
    return ", ".join([unit(row.own)] + [f"{name} {unit(value)}" for name, value in row.peers.items()])


def measure_rows(rows, bench, kept, minutes):
    """Whether every row could be measured. Each is written as soon as it is known."""
    begin, good = time.monotonic(), True
    for row_id, measure_row, unit in rows:
        if time.monotonic() - begin - bench.seconds_making > 60 * minutes:
            say(f"{row_id}: not begun, as {minutes} minutes are over")
            good = False
            continue
        taken, started = bench.taken(), time.monotonic()
        if "other work" in taken:
            say(f"{row_id}: other work runs on this machine, and the tables will say so")
        try:
            with measure.spinning(1 if bench.busy else 0):
                row = measure_row(bench)
            kept.put(row_id, row, bench.busy, taken)
            say(f"{row_id}: {shown(row, unit)}  [{time.monotonic() - started:.0f} s]")
        except (measure.Failed, measure.TooLong) as error:
            say(f"{row_id}: FAILED: {error or 'took too long'}")
            good = False
    return good


def main():
    parser = argparse.ArgumentParser(prog="./x bench --peers", usage=argparse.SUPPRESS, description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], metavar="ROW")
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--tables", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--minutes", type=float, default=40)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "release" / "bin")
    args = parser.parse_args()
    rows = chosen(args.only, args.busy)
    if not rows and chosen(args.only, False):
        parser.error(f"{' and '.join(args.only)}: no --busy figures; the rows of 'beside' have other work beside them at any time")
    if not rows:
        parser.error(f"no row is called {' or '.join(args.only)}: --list prints them")
    if args.list:
        print("\n".join(row_id for row_id, *_ in rows))
        return
    os.chdir(ROOT)
    kept, good = results.Results(), True
    try:
        if not args.tables:
            with contextlib.closing(Bench(args.bin / "grapnel", args.busy)) as bench:
                bench.make_environment()
                good = measure_rows(rows, bench, kept, args.minutes)
    except KeyboardInterrupt:
        good = False
    write_tables(kept)  # of what there is, also where somebody ended it
    say(f"wrote {results.PAGE.relative_to(ROOT)}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
